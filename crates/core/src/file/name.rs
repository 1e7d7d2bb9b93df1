//! The words of context files: names, keywords, recipients and categories.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::id::{BadName, SetName, name, words};

name! {
    /// The name of a context file, without folder and ending: 1 to 100 characters, at most 200 bytes, safe in a file name.
    TaskName, parse_task_name;

    /// A word under which a context file is found: 1 to 100 characters without a comma.
    Keyword, parse_keyword;

    /// The recipient of a context file: an agent's name or `all`, 1 to 128 characters.
    Recipient, parse_recipient;
}

/// How many of the given keywords a file must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// At least one.
    #[default]
    Any,
    /// All.
    All,
}

words! {
    /// The category of a context file, which is also its folder.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = ContextFileCategory))]
    #[serde(rename_all = "snake_case")]
    pub enum Category {
        /// Development of features.
        Features = "features",
        /// Documentation.
        Documentation = "documentation",
        /// Code.
        Code = "code",
        /// Refactoring.
        Refactoring = "refactoring",
        /// Testing.
        Testing = "testing",
        /// Breaking a task down into smaller ones.
        Tasks = "tasks",
        /// Anything else.
        #[default]
        General = "general",
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Category {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        const RULE: &str = "use features, documentation, code, refactoring, testing, tasks or general";
        Self::named(text).ok_or_else(|| BadName::new("category", text, RULE))
    }
}

impl TaskName {
    /// The name as a title: `user-auth` is `User Auth`.
    pub fn title(&self) -> String {
        let words = self.0.split(['-', '_', ' ']).filter(|word| !word.is_empty());
        let capital = |word: &str| {
            let mut chars = word.chars();
            chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
        };
        words.map(capital).collect::<Vec<_>>().join(" ")
    }
}

impl Keyword {
    /// The keyword as it is compared: upper and lower case are the same.
    pub fn folded(&self) -> String {
        self.0.to_lowercase()
    }
}

impl Recipient {
    /// Whether a recipient that was written down is this one: `@coder` is the agent `coder`.
    pub fn is(&self, written: &str) -> bool {
        bare(self.as_str()) == bare(written)
    }
}

fn parse_task_name(text: &str) -> Result<String, BadName> {
    const WHAT: &str = "name of a context file";
    let name = label(WHAT, text, 100, "use 1 to 100 characters, no control characters")?;
    let rule = |rule| Err(BadName::new(WHAT, text, rule));
    if name.len() > 200 {
        return rule("use no more than 200 bytes");
    }
    if name.contains(['/', '\\']) {
        return rule("use no / and no \\: the folder is the category");
    }
    if name.starts_with(['.', '-']) {
        return rule("begin with another character than . or -");
    }
    Ok(name)
}

fn parse_keyword(text: &str) -> Result<String, BadName> {
    const RULE: &str = "use 1 to 100 characters, no commas and no control characters";
    let word = label("keyword", text, 100, RULE)?;
    if word.contains(',') { Err(BadName::new("keyword", text, RULE)) } else { Ok(word) }
}

fn parse_recipient(text: &str) -> Result<String, BadName> {
    label("recipient", text, 128, "use 1 to 128 characters, no control characters")
}

/// The name of an agent without the `@` that people write before it.
pub(super) fn bare(name: &str) -> &str {
    name.strip_prefix('@').unwrap_or(name)
}

/// A trimmed and composed text of one line.
fn label(what: &'static str, text: &str, chars: usize, rule: &'static str) -> Result<String, BadName> {
    // The rules for names of context sets hold here too: no control characters, no line ends, nothing that turns text.
    let label = text.parse::<SetName>().map_err(|_| BadName::new(what, text, rule))?;
    let fits = label.as_str().chars().count() <= chars;
    if fits { Ok(label.into()) } else { Err(BadName::new(what, text, rule)) }
}

#[cfg(feature = "schema")]
#[allow(dead_code, reason = "these types are read by the OpenAPI document alone")]
mod schema {
    use super::{Keyword, Recipient, TaskName};
    use crate::{plain_character, schema::NON_BLANK_LINE, text_schema};

    /// One line with something in it, that leads to no other folder and is not hidden.
    const FILE_NAME: &str = concat!("^\\s*", plain_character!("\\s/\\\\.-"), plain_character!("/\\\\"), "*$");

    /// One line with something in it, without commas.
    const KEYWORD: &str =
        concat!("^", plain_character!(","), "*", plain_character!("\\s,"), plain_character!(","), "*$");

    text_schema! {
        /// The name of a context file, without its folder and ending; at most 200 bytes.
        TaskName as "ContextFileName", |text| text.pattern(Some(FILE_NAME)).min_length(Some(1)).max_length(Some(100));

        /// A word under which a context file is found.
        Keyword as "ContextFileKeyword", |text| text.pattern(Some(KEYWORD)).min_length(Some(1)).max_length(Some(100));

        /// The recipient of a context file: the name of an agent, or `all`.
        Recipient as "ContextFileRecipient",
            |text| text.pattern(Some(NON_BLANK_LINE)).min_length(Some(1)).max_length(Some(128));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_leave_its_folder() {
        let long = "x".repeat(300);
        for name in
            ["", " ", "..", ".", "a/b", "/etc/passwd", "a\\b", "a\nb", "a\0b", ".hidden", "-rf", &long, "\u{202e}x"]
        {
            assert!(name.parse::<TaskName>().is_err(), "{name:?}");
        }
        for name in ["user-auth", "Über uns", "v1.2", "日本語"] {
            assert!(name.parse::<TaskName>().is_ok(), "{name:?}");
        }
    }

    #[test]
    fn a_title_is_made_of_the_words_of_a_name() {
        let title = |name: &str| name.parse::<TaskName>().unwrap().title();
        assert_eq!([title("user-auth"), title("_über__uns")], ["User Auth", "Über Uns"]);
    }

    #[test]
    fn a_keyword_has_no_comma() {
        assert!("a,b".parse::<Keyword>().is_err() && "".parse::<Keyword>().is_err());
        assert_eq!(" User-Auth ".parse::<Keyword>().unwrap().folded(), "user-auth");
    }

    #[test]
    fn an_agent_is_the_same_with_and_without_its_sign() {
        let is = |recipient: &str, written: &str| recipient.parse::<Recipient>().unwrap().is(written);
        assert!(is("coder", "@coder") && is("@coder", "coder") && is("@coder", "@coder") && is("coder", "coder"));
        assert!(!is("coder", "@@coder") && !is("coder", "@code") && !is("@coder", "all"));
    }

    #[test]
    fn a_recipient_may_be_any_agent() {
        assert!("@subagents/core/task-manager".parse::<Recipient>().is_ok() && "all".parse::<Recipient>().is_ok());
        assert!("a\nb".parse::<Recipient>().is_err());
    }
}
