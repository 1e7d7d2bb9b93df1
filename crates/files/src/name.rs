//! Words that are checked where they come in.

use std::{fmt, str::FromStr};

use callboard_core::id::{BadName, SetName};
use serde::{Deserialize, Serialize};

/// Declares a checked word: a newtype over text whose only way in is its `parse` function.
macro_rules! word {
    ($(#[$doc:meta])* $type:ident, $parse:path) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $type(String);

        impl $type {
            /// The word as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $type {
            type Err = BadName;

            fn from_str(text: &str) -> Result<Self, BadName> {
                $parse(text).map(Self)
            }
        }

        impl TryFrom<String> for $type {
            type Error = BadName;

            fn try_from(text: String) -> Result<Self, BadName> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(word: $type) -> Self {
                word.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

word! {
    /// What a context file is called: 1 to 100 characters and no more than 200 bytes, that are good for a file's name.
    TaskName, parse_task_name
}

word! {
    /// A word under which a context file is found: 1 to 100 characters, no comma among them.
    Keyword, parse_keyword
}

word! {
    /// For whom a context file is: the name of an agent, or `all`; 1 to 128 characters.
    Recipient, parse_recipient
}

#[cfg(feature = "schema")]
mod schema {
    use callboard_core::{plain_character, schema::NON_BLANK_LINE, text_schema};

    use super::{Keyword, Recipient, TaskName};

    /// One line with something in it, that leads to no other folder and is not hidden.
    const FILE_NAME: &str = concat!("^\\s*", plain_character!("\\s/\\\\.-"), plain_character!("/\\\\"), "*$");

    /// One line with something in it, without commas.
    const KEYWORD: &str =
        concat!("^", plain_character!(","), "*", plain_character!("\\s,"), plain_character!(","), "*$");

    text_schema! {
        /// What a context file is called, without its folder and ending; no more than 200 bytes.
        TaskName as "ContextFileName", |text| text.pattern(Some(FILE_NAME)).min_length(Some(1)).max_length(Some(100));

        /// A word under which a context file is found.
        Keyword as "ContextFileKeyword", |text| text.pattern(Some(KEYWORD)).min_length(Some(1)).max_length(Some(100));

        /// For whom a context file is: the name of an agent, or `all`.
        Recipient as "ContextFileRecipient",
            |text| text.pattern(Some(NON_BLANK_LINE)).min_length(Some(1)).max_length(Some(128));
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

fn parse_task_name(text: &str) -> Result<String, BadName> {
    const WHAT: &str = "name of a context file";
    let name = label(WHAT, text, 100, "use 1 to 100 characters, no control characters")?;
    let rule = |rule| Err(bad(WHAT, text, rule));
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
    if word.contains(',') { Err(bad("keyword", text, RULE)) } else { Ok(word) }
}

fn parse_recipient(text: &str) -> Result<String, BadName> {
    label("recipient", text, 128, "use 1 to 128 characters, no control characters")
}

/// A trimmed and composed text of one line.
fn label(what: &'static str, text: &str, chars: usize, rule: &'static str) -> Result<String, BadName> {
    // The rules for names of context sets hold here too: no control characters, no line ends, nothing that turns text.
    let label = text.parse::<SetName>().map_err(|_| bad(what, text, rule))?;
    let fits = label.as_str().chars().count() <= chars;
    if fits { Ok(label.into()) } else { Err(bad(what, text, rule)) }
}

pub(crate) fn bad(what: &'static str, text: &str, rule: &'static str) -> BadName {
    BadName { what, text: text.chars().take(60).collect(), rule }
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
    fn a_recipient_may_be_any_agent() {
        assert!("@subagents/core/task-manager".parse::<Recipient>().is_ok() && "all".parse::<Recipient>().is_ok());
        assert!("a\nb".parse::<Recipient>().is_err());
    }
}
