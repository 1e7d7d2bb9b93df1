//! Import cycles: files, and folders, that import each other cannot be understood one by one.
//!
//! An arrow goes from a file to each file of the same crate that it names by `crate::…`, `super::…`, `self::…` or, in a
//! `use`, by one of its own modules. There are two exceptions. A file may use items of its parent modules up to the root of
//! the crate (`use super::X`). And a file may re-export items of its own modules (`pub use`).
//!
//! The folders at the root of a crate, each with the file of its name, have the arrows of all of their files but tests, and
//! re-exports from other folders count. The only exception is [`SHARED`].

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    path::{Path, PathBuf},
};

use super::sources::Source;

/// The path of a module from the root of its crate.
type Module = Vec<String>;

/// In `core`, the state consists of what the nouns hold, and their facts change it; a view shows it.
const SHARED: [&str; 2] = ["crates/core/src/state", "crates/core/src/view"];

/// What each file of a crate imports, or each folder.
type Arrows = BTreeMap<PathBuf, BTreeSet<PathBuf>>;

/// The import cycles in each crate, each in one line.
pub(super) fn circles(sources: &[Source]) -> Vec<String> {
    let mut crates: BTreeMap<PathBuf, BTreeMap<Module, (PathBuf, String)>> = BTreeMap::new();
    for (path, text) in sources {
        if let Some((folder, module)) = module_of(path) {
            crates.entry(folder).or_default().insert(module, (path.clone(), text.clone()));
        }
    }
    crates.values().flat_map(circles_in).collect()
}

/// The folder of the crate that has a file in its `src`, and the module that the file is.
fn module_of(path: &Path) -> Option<(PathBuf, Module)> {
    let path = path.with_extension("");
    let mut parts = path.iter();
    let folder = parts.by_ref().take_while(|part| *part != "src").collect();
    let module: Module = parts.map(|part| part.to_string_lossy().into_owned()).collect();
    match module.as_slice() {
        [] => None,
        [name] if name == "lib" || name == "main" => Some((folder, Vec::new())),
        _ => Some((folder, module)),
    }
}

/// The import cycles of the files of a crate; where there are none, those of its folders.
fn circles_in(files: &BTreeMap<Module, (PathBuf, String)>) -> Vec<String> {
    let of_files = circles_of(&arrows(files, false));
    if of_files.is_empty() { circles_of(&folders(files)) } else { of_files }
}

/// The arrows between the folders at the root of a crate.
fn folders(files: &BTreeMap<Module, (PathBuf, String)>) -> Arrows {
    let roots: BTreeMap<&PathBuf, PathBuf> = files
        .iter()
        .filter(|(module, _)| !module.iter().any(|name| matches!(&**name, "tests" | "testing")))
        .filter_map(|(module, (path, _))| {
            let below = module.len().saturating_sub(1);
            let root = path.ancestors().nth(below).map(|root| root.with_extension(""))?;
            (!module.is_empty() && !SHARED.iter().any(|shared| root.ends_with(shared))).then_some((path, root))
        })
        .collect();
    let mut between = Arrows::new();
    for (file, others) in arrows(files, true) {
        let Some(from) = roots.get(&file) else { continue };
        let others = others.iter().filter_map(|other| roots.get(other)).filter(|to| *to != from);
        between.entry(from.clone()).or_default().extend(others.cloned());
    }
    between
}

/// The arrows between the files of a crate; `with_re_exports` from other files too.
fn arrows(files: &BTreeMap<Module, (PathBuf, String)>, with_re_exports: bool) -> Arrows {
    let arrows_of = |module: &Module, text: &str| {
        let own = |name: &str| files.contains_key(&[module.as_slice(), &[name.to_owned()]].concat());
        let named = named(&code(text, with_re_exports), module, own);
        let file_of = |path: Module| {
            (0..=path.len())
                .rev()
                .find_map(|length| path.get(..length).filter(|it| files.contains_key(*it)).map(<[_]>::to_vec))
        };
        let others = named.into_iter().filter_map(file_of).filter(|other| !module.starts_with(other));
        others.filter_map(|other| Some(files.get(&other)?.0.clone())).collect()
    };
    files.iter().map(|(module, (path, text))| (path.clone(), arrows_of(module, text))).collect()
}

/// The paths that a file names, from the root of the crate. `is_own` says whether a name is a module right below it.
fn named(text: &str, module: &Module, is_own: impl Fn(&str) -> bool) -> Vec<Module> {
    let mut paths = Vec::new();
    let mut rest = text;
    let mut before = ' ';
    while let Some(next) = rest.chars().next() {
        let is_start = !before.is_alphanumeric() && !matches!(before, '_' | ':' | '$');
        let word_end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if !is_start || word_end == 0 {
            before = next;
            rest = rest.get(next.len_utf8()..).unwrap_or_default();
            continue;
        }
        let (word, after) = rest.split_at(word_end);
        match word {
            "crate" if after.starts_with("::") => tree(after, &mut Vec::new(), &mut paths),
            "self" if after.starts_with("::") => tree(after, &mut module.clone(), &mut paths),
            "super" if after.starts_with("::") => tree(after, &mut parent(module), &mut paths),
            "use" => {
                let path = after.trim_start();
                let end = path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
                if path.get(..end).is_some_and(&is_own) {
                    tree(&format!("::{path}"), &mut module.clone(), &mut paths);
                }
            }
            _ => {}
        }
        before = 'a';
        rest = after;
    }
    paths
}

/// Parses `::a::{b, c::d}` after `path`.
fn tree(text: &str, path: &mut Module, paths: &mut Vec<Module>) {
    let Some(rest) = text.strip_prefix("::").map(str::trim_start) else { return paths.push(path.clone()) };
    if let Some(group) = rest.strip_prefix('{') {
        for branch in branches(group) {
            tree(&format!("::{branch}"), &mut path.clone(), paths);
        }
        return;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    match name {
        "" => return paths.push(path.clone()),
        "super" => drop(path.pop()),
        "self" => {}
        name => path.push(name.to_owned()),
    }
    tree(rest, path, paths);
}

/// The parts of a group up to its closing brace. Groups within it are not split.
fn branches(group: &str) -> Vec<&str> {
    let (mut depth, mut from, mut branches) = (0_usize, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                branches.extend(group.get(from..at).map(str::trim).filter(|branch| !branch.is_empty()));
                from = at + 1;
                if c == '}' {
                    break;
                }
            }
            _ => {}
        }
    }
    branches
}

fn parent(module: &Module) -> Module {
    module.split_last().map(|(_, parent)| parent.to_vec()).unwrap_or_default()
}

/// A file without comments, attributes, the tests at its end and, unless they are wanted, re-exports.
fn code(text: &str, with_re_exports: bool) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//") && !line.trim_start().starts_with("#["))
        .collect::<Vec<_>>()
        .join("\n");
    if with_re_exports {
        return code;
    }
    // A re-export is no import.
    ["pub use ", "pub(crate) use ", "pub(super) use "].iter().fold(code, |code, hands_on| {
        code.replace(&format!("{hands_on}self::"), "handed_on ").replace(hands_on, "handed_on ")
    })
}

/// The shortest cycle of each file or folder that reaches itself, once for each set of them.
fn circles_of(arrows: &Arrows) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in arrows.keys().filter(|file| reaches(arrows, file, file).is_some()) {
        if seen.contains(start) {
            continue;
        }
        let is_with =
            |file: &&PathBuf| reaches(arrows, start, file).is_some() && reaches(arrows, file, start).is_some();
        let all: Vec<_> = arrows.keys().filter(is_with).collect();
        seen.extend(all.iter().copied());
        let way = reaches(arrows, start, start).unwrap_or_default();
        let way: Vec<_> = way.iter().map(|file| file.display().to_string()).collect();
        let more = if all.len() + 1 > way.len() { format!(" ({} in all)", all.len()) } else { String::new() };
        found.push(format!("import cycle: {}{more}", way.join(" -> ")));
    }
    found
}

/// The shortest path along at least one arrow.
fn reaches<'a>(arrows: &'a Arrows, from: &'a PathBuf, to: &PathBuf) -> Option<Vec<&'a PathBuf>> {
    let mut ways = VecDeque::from([vec![from]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in way.last().and_then(|last| arrows.get(*last)).into_iter().flatten() {
            let on = [way.as_slice(), &[next]].concat();
            if next == to {
                return Some(on);
            }
            if seen.insert(next) {
                ways.push_back(on);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(name, text): &(&str, &str)| {
            let module = name.split('/').filter(|name| *name != "lib").map(str::to_owned).collect();
            (module, (PathBuf::from(name), (*text).to_owned()))
        };
        circles_in(&files.iter().map(file).collect())
    }

    #[test]
    fn files_that_import_each_other_are_named_in_order() {
        let circle = [
            ("lib", "mod a;\nmod b;\nmod c;"),
            ("a", "use std::io;\nuse crate::{b::{self, B}, other};"),
            ("b", "fn f() { crate::c::g(1) }"),
            ("c", "use super::a::A;\n\n#[cfg(test)]\nmod tests {\n    use crate::lonely::X;\n}\n"),
            ("lonely", "use crate::a::A;"),
        ];
        assert_eq!(found(&circle), ["import cycle: a -> b -> c -> a"]);
    }

    #[test]
    fn a_part_may_use_its_whole() {
        assert_eq!(
            found(&[("lib", "pub use a::A;"), ("a", "use self::b::B;"), ("a/b", "use super::A;\nuse crate::X;")]),
            [""; 0]
        );
    }

    #[test]
    fn a_circle_through_a_part_is_one() {
        let files = [("a", "mod b;\nuse b::B;"), ("a/b", "use crate::c::C;"), ("c", "// crate::x\nuse crate::a;")];
        assert_eq!(found(&files), ["import cycle: a -> a/b -> c -> a"]);
    }

    #[test]
    fn folders_that_import_each_other_through_their_parts_are_named() {
        let files = [("a", "mod x;"), ("a/x", "use crate::b::B;"), ("b", "mod y;"), ("b/y", "pub use crate::a::A;")];
        assert_eq!(found(&files), ["import cycle: a -> b -> a"]);
        let apart = [("a", "mod tests;"), ("a/tests", "use crate::b::B;"), ("b", "use crate::a::A;")];
        assert_eq!(found(&apart), [""; 0]);
    }

    #[test]
    fn what_only_reads_like_an_import_is_none() {
        assert_eq!(
            found(&[("a", "pub(crate) use crate::b::B;\n"), ("b", "/// See crate::a.\npub(crate) fn a() {}")]),
            [""; 0]
        );
    }
}
