//! The page: npm builds it from `web/` into `crates/server/page/`, from where the server takes it. What is built is kept in the
//! tree, so that nobody needs Node to build Callboard.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};

use crate::{binary, cache, command, npm, services};

/// The OpenAPI document, as a test of the server keeps it.
const DOCUMENT: &str = "crates/server/tests/server/snapshots/server__document__the_document_is_as_it_was.snap";

/// The built page.
const PAGE: &str = "crates/server/page";

/// The types of the calls, generated from the OpenAPI document.
const TYPES: &str = "web/src/api/schema.d.ts";

/// Where the screenshots are.
const SCREENSHOTS: &str = "docs/page";

/// Builds the page, or does what an option says.
pub(crate) fn page(arguments: &[String]) -> anyhow::Result<()> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => build(),
        ["--check"] => check(),
        ["--test"] => test(),
        ["--screenshots"] => screenshots(),
        ["--speed"] => in_browser("speed", &[]),
        _ => bail!("`cargo xtask page` takes one of --check, --test, --screenshots and --speed, or nothing"),
    }
}

/// Builds the page into the tree.
fn build() -> anyhow::Result<()> {
    npm::PAGE.bring()?;
    let repository = cache::repository();
    write_types(&repository.join(TYPES))?;
    command::run(npm::PAGE.npm()?.args(["run", "build"]))
}

/// Checks the source, and that what is kept in the tree is what the source makes.
pub(crate) fn check() -> anyhow::Result<()> {
    npm::PAGE.bring()?;
    command::run(npm::PAGE.npm()?.args(["run", "check"]))?;
    let repository = cache::repository();
    let made = binary::target().join("page");
    cache::remove(&made)?;
    let (page, types) = (made.join("page"), made.join("schema.d.ts"));
    write_types(&types)?;
    command::run(npm::PAGE.npm()?.args(["run", "build", "--", "--emptyOutDir", "--outDir"]).arg(&page))?;
    let mut stale = differences(&files(&page)?, &files(&repository.join(PAGE))?, PAGE);
    if fs::read(&types)? != fs::read(repository.join(TYPES)).unwrap_or_default() {
        stale.push(TYPES.to_owned());
    }
    if !stale.is_empty() {
        bail!("not what the source makes; run `cargo xtask page` and commit it:\n  {}", stale.join("\n  "));
    }
    Ok(())
}

/// Runs the tests of the page, in Chromium against the real program.
pub(crate) fn test() -> anyhow::Result<()> {
    in_browser("test", &[])
}

/// Writes pictures of each view.
fn screenshots() -> anyhow::Result<()> {
    let folder = cache::repository().join(SCREENSHOTS);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    in_browser("screenshots", &[("CALLBOARD_SCREENSHOTS", &folder)])
}

/// Runs a script of the page that needs a browser and the program.
fn in_browser(script: &str, variables: &[(&str, &Path)]) -> anyhow::Result<()> {
    npm::PAGE.bring()?;
    let chromium = services::chromium()?;
    let callboard = binary::bring()?;
    let mut run = npm::PAGE.npm()?;
    run.args(["run", script]).env("CHROMIUM", chromium).env("CALLBOARD_BIN", callboard);
    command::run(run.envs(variables.iter().copied()))
}

/// Generates the types of the calls.
fn write_types(types: &Path) -> anyhow::Result<()> {
    let repository = cache::repository();
    let snapshot = fs::read_to_string(repository.join(DOCUMENT)).with_context(|| format!("cannot read {DOCUMENT}"))?;
    let target = binary::target();
    fs::create_dir_all(&target).with_context(|| format!("cannot make the folder {}", target.display()))?;
    let document = target.join("openapi.json");
    fs::write(&document, body(&snapshot)?).with_context(|| format!("cannot write {}", document.display()))?;
    let generate = ["exec", "--", "openapi-typescript"];
    command::run(npm::PAGE.npm()?.args(generate).arg(&document).arg("--output").arg(types))
}

/// What a snapshot says, without its head.
fn body(snapshot: &str) -> anyhow::Result<&str> {
    let rest = snapshot.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n"));
    rest.map(|(_, body)| body).context("this is not a snapshot of insta")
}

/// The files of a folder and of all folders in it, by their paths.
fn files(folder: &Path) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let file = |path: PathBuf| Ok((path.strip_prefix(folder)?.to_string_lossy().into_owned(), fs::read(&path)?));
    cache::files_below(folder)?.into_iter().map(file).collect()
}

/// The files that are not the same in both, or only in one.
fn differences(made: &BTreeMap<String, Vec<u8>>, kept: &BTreeMap<String, Vec<u8>>, folder: &str) -> Vec<String> {
    let mut names: Vec<_> = made.keys().chain(kept.keys()).collect();
    names.sort_unstable();
    names.dedup();
    names.retain(|name| made.get(*name) != kept.get(*name));
    names.into_iter().map(|name| format!("{folder}/{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_differ_or_are_missing_are_named() {
        let files = |all: &[(&str, &str)]| -> BTreeMap<String, Vec<u8>> {
            all.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
        };
        let made = files(&[("a.js", "1"), ("b.js", "2"), ("c.js", "3")]);
        let kept = files(&[("a.js", "1"), ("b.js", "old"), ("d.js", "4")]);
        assert_eq!(differences(&made, &kept, "page"), ["page/b.js", "page/c.js", "page/d.js"]);
        assert_eq!(differences(&made, &made, "page"), Vec::<String>::new());
    }

    #[test]
    fn the_document_stands_behind_the_head_of_its_snapshot() {
        assert_eq!(body("---\nsource: x\n---\n{\n}\n").unwrap(), "{\n}\n");
        assert!(body("{}").is_err());
    }
}
