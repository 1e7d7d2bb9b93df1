//! The Rust files of our crates, as the audit reads them.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use crate::cache;

/// A file: its path from the root of the repository, and what it says.
pub(super) type Source = (PathBuf, String);

/// All Rust files in these folders of the repository, in the order of their paths.
pub(super) fn read(repository: &Path, folders: &[&str]) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for folder in folders {
        for path in cache::files_below(&repository.join(folder))? {
            if path.extension().is_some_and(|extension| extension == "rs") {
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
