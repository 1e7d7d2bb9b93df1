//! The Rust files of our crates, as the audit reads them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

/// A file: its path from the root of the repository, and what it says.
pub(super) type Source = (PathBuf, String);

/// All Rust files in these folders of the repository, in the order of their paths.
pub(super) fn read(repository: &Path, folders: &[&str]) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    let mut folders: Vec<_> = folders.iter().map(|folder| repository.join(folder)).collect();
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                sources.push((path.strip_prefix(repository).unwrap_or(&path).to_owned(), text));
            }
        }
    }
    sources.sort();
    Ok(sources)
}

/// Whether all of a file is for tests.
pub(super) fn is_test(path: &Path) -> bool {
    path.iter().any(|part| part == "tests" || part == "testing") || path.ends_with("tests.rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_tests_are_known_by_their_paths() {
        for test in ["crates/a/tests/b.rs", "crates/a/src/b/tests.rs", "crates/a/src/testing/c.rs"] {
            assert!(is_test(Path::new(test)), "{test}");
        }
        assert!(!is_test(Path::new("crates/a/src/b.rs")));
    }
}
