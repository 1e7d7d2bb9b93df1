//! Similar commands: what somebody may have meant who typed a command that does not exist.

use clap::error::{ContextKind, ContextValue};

use crate::commands;

/// So many letters may be wrong, missing, too many or swapped.
const MAX_DISTANCE: usize = 2;

/// The commands of this name under another one (for `fork`, `session fork`), else those that are spelled almost like it.
pub(crate) fn commands(typed: &str, error: &clap::Error) -> Vec<String> {
    let elsewhere = under_nouns(typed);
    if !elsewhere.is_empty() {
        return elsewhere;
    }
    match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::Strings(offered)) => {
            let all = commands::command();
            let near = offered.iter().filter(|name| is_near(typed, name));
            near.map(|name| own_name(&all, name)).fold(Vec::new(), |mut names, name| {
                if !names.contains(&name) {
                    names.push(name);
                }
                names
            })
        }
        _ => Vec::new(),
    }
}

/// Whether one is spelled almost like the other. Where more than one letter is wrong, they begin with the same one.
fn is_near(typed: &str, name: &str) -> bool {
    match strsim::osa_distance(typed, name) {
        0 | 1 => true,
        distance => distance <= MAX_DISTANCE && typed.chars().next() == name.chars().next(),
    }
}

/// The name of a noun that has this one beside it, or the name itself.
fn own_name(all: &clap::Command, name: &str) -> String {
    let noun = all.get_subcommands().find(|noun| noun.get_all_aliases().any(|alias| alias == name));
    noun.map_or(name, clap::Command::get_name).to_owned()
}

fn under_nouns(typed: &str) -> Vec<String> {
    let all = commands::command();
    let named = |noun: &clap::Command| {
        let has = noun.get_subcommands().any(|command| command.get_name() == typed);
        has.then(|| format!("{} {typed}", noun.get_name()))
    };
    all.get_subcommands().filter(|noun| noun.get_name() != "help").filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similar(words: &[&str]) -> Vec<String> {
        let error = commands::command().try_get_matches_from(words).unwrap_err();
        commands(words.last().unwrap(), &error)
    }

    #[test]
    fn what_is_suggested_is_spelled_almost_the_same() {
        assert_eq!(similar(&["callboard", "sesion"]), ["session"]);
        assert_eq!(similar(&["callboard", "session", "shwo"]), ["show"]);
        for other in ["flub", "version", "contextset", "log"] {
            assert_eq!(similar(&["callboard", other]), Vec::<String>::new(), "{other}");
        }
        let near = similar(&["callboard", "tols"]);
        assert_eq!(near.iter().filter(|name| *name == "tools").count(), 1, "a noun is named once: {near:?}");
    }

    #[test]
    fn a_command_of_a_noun_is_found_without_the_noun() {
        assert_eq!(similar(&["callboard", "fork"]), ["session fork"]);
        assert!(similar(&["callboard", "list"]).contains(&"thread list".to_owned()));
    }
}
