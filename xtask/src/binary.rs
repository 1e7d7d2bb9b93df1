//! The built binary: the one that is there where it is not older than what it is made of, else a new one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::SystemTime;

use crate::progress::Progress;
use crate::{cache, command};

/// The folder that Cargo builds in.
pub(crate) fn target() -> PathBuf {
    let repository = cache::repository();
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| repository.join("target"), |target| repository.join(target))
}

/// The path of a binary of the present sources. Builds it, with one line of progress, if there is none.
pub(crate) fn bring() -> anyhow::Result<PathBuf> {
    let built = ["release", "debug"].map(|profile| target().join(profile).join(NAME));
    if let Some(newest) = newest_source(&cache::repository())
        && let Some(path) = built.iter().find(|path| modified(path).is_some_and(|at| at >= newest))
    {
        return Ok(path.clone());
    }
    let mut progress = Progress::of("callboard");
    progress.wait("building");
    let mut built = 0;
    let mut build = command::cargo();
    build.args(["build", "--package", "callboard", "--color", "never"]).stdin(Stdio::null());
    command::follow(&mut build, |line| {
        if let Some(package) = line.trim_start().strip_prefix("Compiling ") {
            built += 1;
            let name = package.split(' ').next().unwrap_or_default();
            progress.wait(&format!("building {name}, package {built}"));
        }
    })?;
    progress.done();
    Ok(target().join("debug").join(NAME))
}

const NAME: &str = if cfg!(windows) { "callboard.exe" } else { "callboard" };

/// When the newest of the files was changed that the binary is made of.
fn newest_source(repository: &Path) -> Option<SystemTime> {
    // Tests are not part of the binary.
    let is_of_tests =
        |path: &PathBuf| path.strip_prefix(repository).is_ok_and(|path| path.iter().any(|part| part == "tests"));
    let mut files = cache::files_below(&repository.join("crates")).ok()?;
    files.retain(|path| !is_of_tests(path));
    files.extend(["Cargo.toml", "Cargo.lock"].map(|name| repository.join(name)));
    files.iter().filter_map(|path| modified(path)).max()
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_file_counts_wherever_it_is() {
        let folder = std::env::temp_dir().join(format!("callboard-binary-{}", std::process::id()));
        let file = |path: &str| folder.join("crates").join(path);
        fs::create_dir_all(file("a/b")).unwrap();
        fs::create_dir_all(file("a/tests")).unwrap();
        fs::write(file("a/one"), "").unwrap();
        fs::write(file("a/b/two"), "").unwrap();
        let later = modified(&file("a/b/two")).unwrap() + std::time::Duration::from_secs(60);
        fs::File::open(file("a/one")).unwrap().set_modified(later).unwrap();
        fs::write(file("a/tests/three"), "").unwrap();
        let much_later = later + std::time::Duration::from_secs(60);
        fs::File::open(file("a/tests/three")).unwrap().set_modified(much_later).unwrap();
        assert_eq!(newest_source(&folder), Some(later));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn sources_that_cannot_be_listed_may_be_newer_than_any_binary() {
        let folder = std::env::temp_dir().join(format!("callboard-sources-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("Cargo.toml"), "").unwrap();
        assert_eq!(newest_source(&folder), None);
        fs::remove_dir_all(folder).unwrap();
    }
}
