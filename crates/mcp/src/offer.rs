//! Which tools are offered.

use std::{collections::BTreeSet, str::FromStr};

use callboard_core::tool::own_names;

use crate::{extra, form};

/// Which tools are offered to a client, of those that its caller may use. Each costs the client tokens, so that by default
/// it is a handful.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Offer {
    /// Those that most need: sessions, context sets, messages, the prompt, the plan, recall and context files.
    #[default]
    Usual,
    /// All of them.
    All,
    /// Those with these names.
    Named(BTreeSet<String>),
}

/// The tools that most need, besides those for sessions.
const USUAL: &[&str] = &[
    "add_file",
    "find_files",
    "get_current_plan",
    "get_prompt",
    "list_context_sets",
    "read_context_set",
    "read_file",
    "read_message",
    "read_messages",
    "recall",
    "search",
    "send_message",
    "update_plan",
    "write_context_set",
    "list_sessions",
    "create_session",
    "fork_session",
    "answer_forms",
];

impl Offer {
    /// Whether the tool with this name is offered.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Self::Usual => USUAL.contains(&name),
            Self::All => true,
            Self::Named(names) => names.contains(name),
        }
    }
}

/// `all`, or the names of tools, separated by commas.
impl FromStr for Offer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::All);
        }
        let mut names = BTreeSet::new();
        for name in text.split(',').map(str::trim) {
            if extra::named(name).is_some() || name == form::ANSWER_FORMS {
                names.insert(name.to_owned());
                continue;
            }
            let own = own_names(&[name.to_owned()])
                .map_err(|_| format!("there is no tool {name:?}: give `all`, or names separated by commas"))?;
            names.extend(own.iter().map(|name| name.to_string()));
        }
        Ok(Self::Named(names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_offered_by_name_or_all() {
        assert!("all".parse::<Offer>().unwrap().has("clear_variable"));
        let named: Offer = "read, send_message".parse().unwrap();
        assert!(named.has("send_message") && named.has("recall") && !named.has("update_plan"));
        assert!("read,dance".parse::<Offer>().unwrap_err().contains("there is no tool \"dance\""));
        assert!("".parse::<Offer>().is_err());
        assert!(USUAL.iter().all(|name| name.parse::<Offer>().is_ok()));
    }
}
