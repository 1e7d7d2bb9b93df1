//! Names of tools that providers refuse, in a form that they take. Such names come from histories that another provider or
//! client wrote, such as `fs.read`; tools of one's own are checked when an agent gets them. What such a name becomes depends on
//! the name alone, so that it stays the same from prompt to prompt, whatever else is called or on offer.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use callboard_core::{agent::Tool, entry::Hash, prompt::Format};

use crate::provider::Provider;

/// The most characters of a name in most formats.
const LONGEST: usize = 64;

/// The same for Anthropic.
const LONGEST_OF_ANTHROPIC: usize = 128;

/// So many digits of the hash of a name tell it from others that look alike.
const DIGITS: usize = 6;

/// What the tools of a prompt are called in it. No two have the same name, and what is on offer keeps its own.
pub(super) struct ToolNames {
    longest: usize,
    written: BTreeMap<String, String>,
    taken: BTreeSet<String>,
}

impl ToolNames {
    /// The names in a prompt whose messages have calls of `called`, and with which `offered` are on offer.
    pub(super) fn new<'a>(
        format: Format,
        provider: Provider,
        offered: impl IntoIterator<Item = &'a str>,
        called: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let longest = if format == Format::Anthropic { LONGEST_OF_ANTHROPIC } else { LONGEST };
        let mut names = Self { longest, written: BTreeMap::new(), taken: BTreeSet::new() };
        let is_for_gemini = provider == Provider::Gemini && format == Format::OpenAi;
        let all = offered.into_iter().chain(called);
        let (fine, others): (Vec<_>, Vec<_>) =
            all.partition(|name| is_taken(name, longest) && (!is_for_gemini || begins_well(name)));
        names.taken.extend(fine.into_iter().map(str::to_owned));
        others.into_iter().for_each(|name| names.add(name));
        names
    }

    fn add(&mut self, name: &str) {
        if self.written.contains_key(name) {
            return;
        }
        let free = |name: &String| !self.taken.contains(name);
        let written = (DIGITS..self.longest).map(|digits| with_hash(name, digits, self.longest)).find(free);
        if let Some(written) = written {
            self.taken.insert(written.clone());
            self.written.insert(name.to_owned(), written);
        }
    }

    /// What a tool is called in the prompt.
    #[cfg(test)]
    fn of<'a>(&'a self, name: &'a str) -> &'a str {
        self.written.get(name).map_or(name, String::as_str)
    }

    /// Writes the name in the field `name` of a call.
    pub(super) fn write(&self, call: &mut Value) {
        if let Some(name) = call.get_mut("name")
            && let Some(written) = name.as_str().and_then(|name| self.written.get(name))
        {
            *name = written.as_str().into();
        }
    }

    /// The names that stand in the prompt in the place of others, each with that other one.
    pub(super) fn renamed(self) -> BTreeMap<String, String> {
        self.written.into_iter().map(|(name, written)| (written, name)).collect()
    }
}

/// A tool under the name that a prompt has for it.
pub(super) fn as_written(tool: Tool, renamed: &BTreeMap<String, String>) -> Tool {
    match renamed.iter().find(|(_, name)| **name == tool.name) {
        Some((written, _)) => Tool { name: written.clone(), ..tool },
        None => tool,
    }
}

/// The text of which the tokens are counted for a name, at the most: one that is taken as it is, and any other as it is
/// written.
pub(super) fn counted(name: &str) -> String {
    let is_fine = is_taken(name, LONGEST) && begins_well(name);
    if is_fine { name.to_owned() } else { with_hash(name, DIGITS, LONGEST_OF_ANTHROPIC) }
}

/// A name in the characters that are taken, and so many digits of its hash.
fn with_hash(name: &str, digits: usize, longest: usize) -> String {
    let hash = Hash::of(name.as_bytes()).to_string();
    let end = format!("_{}", hash.get(..digits).unwrap_or(&hash));
    let name = cleaned(name, longest);
    let begin = if begins_well(&name) { "" } else { "_" };
    let room = longest.saturating_sub(begin.len() + end.len());
    format!("{begin}{}{end}", name.get(..room).unwrap_or(&name))
}

/// Whether a name begins as Gemini wants it: with a letter or `_`.
fn begins_well(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
}

/// Whether a provider takes this name.
fn is_taken(name: &str, longest: usize) -> bool {
    !name.is_empty() && name.len() <= longest && name.chars().all(is_allowed)
}

fn is_allowed(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-".contains(character)
}

/// A name in the characters that are taken.
pub(super) fn cleaned(name: &str, longest: usize) -> String {
    let allowed = name.chars().take(longest).map(|character| if is_allowed(character) { character } else { '_' });
    let name: String = allowed.collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use callboard_core::prompt::Format;

    use crate::{provider::Provider, tool_names::ToolNames};

    #[test]
    fn for_gemini_a_name_begins_with_a_letter() {
        let called = ["3d.render", "-a"];
        let names = ToolNames::new(Format::OpenAi, Provider::Gemini, ["3d", "_3d", "look"], called);
        let written = ["3d", "_3d", "look", "3d.render", "-a"].map(|name| names.of(name));
        assert_eq!(written[1..3], ["_3d", "look"]);
        for (begin, name) in [("_3d_", written[0]), ("_3d_render_", written[3]), ("_-a_", written[4])] {
            assert!(name.strip_prefix(begin).is_some_and(|hash| hash.len() == 6), "{name}");
        }
        let others = ToolNames::new(Format::OpenAi, Provider::OpenAi, ["3d"], []);
        assert_eq!(others.of("3d"), "3d");
    }

    #[test]
    fn what_is_on_offer_keeps_its_name_and_others_get_one_of_their_own() {
        let names = ToolNames::new(
            Format::OpenAi,
            Provider::OpenAi,
            ["fs_read"],
            ["fs.read", "fs/read", "look", "", "fs.read", "a.b"],
        );
        assert_eq!(
            ["fs_read", "fs.read", "fs/read", "look", "", "a.b"].map(|name| names.of(name)),
            ["fs_read", "fs_read_4074bc", "fs_read_963799", "look", "tool_e3b0c4", "a_b_2e7336"]
        );
        assert_eq!(names.renamed()["fs_read_4074bc"], "fs.read");
    }

    #[test]
    fn a_name_stays_the_same_when_others_are_shown_no_more() {
        let all = ToolNames::new(Format::OpenAi, Provider::OpenAi, [], ["fs.read", "fs/read", "fs_read"]);
        let fewer = ToolNames::new(Format::OpenAi, Provider::OpenAi, [], ["fs/read"]);
        assert_eq!(all.of("fs/read"), fewer.of("fs/read"));
    }

    #[test]
    fn a_name_that_is_on_offer_is_given_to_no_other() {
        let names = ToolNames::new(Format::OpenAi, Provider::OpenAi, ["fs_read_4074bc"], ["fs.read"]);
        let written = names.of("fs.read");
        assert!(written.starts_with("fs_read_4074bc") && written.len() == "fs_read_4074bc".len() + 1, "{written}");
    }

    #[test]
    fn a_name_is_as_long_as_its_format_takes() {
        let long = "x".repeat(100);
        let both = [Format::OpenAi, Format::Anthropic].map(|format| {
            let names = ToolNames::new(format, Provider::OpenAi, [], [long.as_str()]);
            names.of(&long).len()
        });
        assert_eq!(both, [64, 100]);
    }
}
