//! No name of a type means two things. A name that types in three places have is refused, unless [`SHARED`] says why
//! they may share it.

use std::collections::BTreeMap;

use super::sources::{Source, is_test};

/// How many types may not have the same name.
const MANY: usize = 3;

/// What a type may be.
const KINDS: [&str; 4] = ["struct ", "enum ", "trait ", "type "];

/// The names that types in three places or more have, each with the reason.
const SHARED: &[(&str, &str)] = &[
    ("Added", "a fact's own name, in the module of its noun; the answer of the API that says so"),
    ("Browser", "the browser of a session: what drives it, what the API tells of it, its commands"),
    ("Compress", "the wish to compress: a command, its body in the API, its arguments"),
    ("Directive", "a manager's directive, as it is decided, as the API takes it, its arguments"),
    ("Error", "what a crate fails with"),
    ("Files", "the context files: in the state, on the server's disk, their commands"),
    ("Form", "a form, as it is decided, as the API shows it, its commands"),
    ("Limits", "the most that a crate allows"),
    ("Passage", "a passage that recall finds: here, elsewhere, and as a prompt shows it"),
    ("Plan", "the plan, as it is decided, as the API shows it, its command"),
    ("Prompt", "a prompt, as it is built, as the API shows it, its command"),
    ("Removed", "a fact's own name, in the module of its noun"),
    ("Run", "a run, as it is decided, as the API shows it; the commands that run something"),
    ("Session", "a session: its state, its open journal, its folder, as the API shows it, its commands"),
    ("Settings", "what a crate can be told to do otherwise"),
    ("Tab", "a tab of the browser: in it, as a prompt shows it, its command"),
    ("Thread", "a thread, as it is decided, as the API shows it, its commands"),
    ("Updated", "a fact's own name, in the module of its noun"),
    ("Variable", "a variable, as it is decided, as the API shows it, its commands"),
];

/// The names that too many types have, and the exceptions that are not needed.
pub(super) fn faults(sources: &[Source]) -> Vec<String> {
    faults_but(SHARED, sources)
}

fn faults_but(shared: &[(&str, &str)], sources: &[Source]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (path, text) in sources.iter().filter(|(path, _)| path.iter().any(|part| part == "src") && !is_test(path)) {
        for (line, name) in (1..).zip(text.lines()).filter_map(|(line, code)| Some((line, defined_in(code)?))) {
            places.entry(name).or_default().push(format!("{}:{line}", path.display()));
        }
    }
    places.retain(|_, places| places.len() >= MANY);
    let is_shared = |name: &str| shared.iter().any(|(known, _)| *known == name);
    let many = places.iter().filter(|(name, _)| !is_shared(name));
    let many = many.map(|(name, places)| format!("{} types are named {name}: {}", places.len(), places.join(", ")));
    let unneeded = shared.iter().filter(|(name, _)| !places.contains_key(name));
    let unneeded = unneeded.map(|(name, _)| format!("fewer than {MANY} types are named {name}: it is no exception"));
    many.chain(unneeded).collect()
}

/// The name of the type that a line defines for all of its crate or for others.
fn defined_in(code: &str) -> Option<&str> {
    let code = code.trim_start();
    let code = code.strip_prefix("pub ").or(code.strip_prefix("pub(crate) "))?;
    let name = KINDS.iter().find_map(|kind| code.strip_prefix(kind))?;
    // In a macro it is given from outside.
    name.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(texts: &[(&str, &str)]) -> Vec<Source> {
        texts.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect()
    }

    #[test]
    fn the_third_type_with_a_name_is_refused() {
        let two = [
            ("crates/a/src/b.rs", "pub struct Found {"),
            ("crates/a/src/c.rs", "//! Finds.\n\n    pub(crate) enum Found<'a> {"),
            (
                "crates/a/src/d.rs",
                "struct Found;\npub struct $a;\npub struct $b;\npub struct $c;\npub struct FoundFile;\npub fn found() {}\nuse b::Found;",
            ),
            ("crates/a/src/e/tests.rs", "pub struct Found;"),
            ("crates/a/tests/found.rs", "pub struct Found;"),
        ];
        assert_eq!(faults_but(&[], &sources(&two)), Vec::<String>::new());
        let three = sources(&[&two[..], &[("crates/b/src/lib.rs", "pub type Found = u64;")]].concat());
        let places = "crates/a/src/b.rs:1, crates/a/src/c.rs:3, crates/b/src/lib.rs:1";
        assert_eq!(faults_but(&[], &three), [format!("3 types are named Found: {places}")]);
        assert_eq!(faults_but(&[("Found", "they are one thing")], &three), Vec::<String>::new());
    }

    #[test]
    fn an_exception_that_is_not_needed_is_refused() {
        let faults =
            faults_but(&[("Found", "they are one thing")], &sources(&[("crates/a/src/b.rs", "pub trait Found {")]));
        assert_eq!(faults, ["fewer than 3 types are named Found: it is no exception"]);
    }
}
