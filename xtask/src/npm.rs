//! Packages of npm: those that the page, the clients of the tests and the example in TypeScript need.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use crate::{cache, command};

/// A folder with a `package-lock.json`, by its path in the repository.
#[derive(Clone, Copy)]
pub(crate) struct Packages(&'static str);

/// What the page is built and tested with.
pub(crate) const PAGE: Packages = Packages("web");
/// The conformance suite and the clients of the Model Context Protocol.
pub(crate) const CLIENTS: Packages = Packages("xtask/mcp");
/// What the example in TypeScript needs.
pub(crate) const EXAMPLE: Packages = Packages("examples/typescript");

impl Packages {
    /// Installs the packages as the lock file says, if they are not installed.
    pub(crate) fn bring(self) -> anyhow::Result<()> {
        if self.is_installed() {
            return Ok(());
        }
        let installed = command::output(self.npm()?.args(["ci", "--no-audit", "--no-fund"]));
        installed.map(drop).with_context(|| format!("cannot install the packages of npm that {} needs", self.0))
    }

    /// `npm` in this folder.
    pub(crate) fn npm(self) -> anyhow::Result<Command> {
        if !command::answers("npm", "--version") {
            bail!("npm is missing; install Node 20 or later with npm (`nodejs npm` on Debian), and try again");
        }
        let mut npm = Command::new("npm");
        npm.current_dir(self.folder());
        Ok(npm)
    }

    fn folder(self) -> PathBuf {
        cache::repository().join(self.0)
    }

    /// npm notes at its end what it installed. An older note belongs to another lock file.
    fn is_installed(self) -> bool {
        let modified = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
        let folder = self.folder();
        let note = modified(&folder.join("node_modules/.package-lock.json"));
        note.is_some() && note >= modified(&folder.join("package-lock.json"))
    }
}
