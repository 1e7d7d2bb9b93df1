//! Databases and other programs that tests start themselves, on loopback and with temporary data.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use crate::{command, progress::Progress};

/// A program that tests need, and its Debian package.
struct Service {
    program: &'static str,
    package: &'static str,
    /// If the package installs it outside of PATH: the folder with a folder for each version.
    beside: Option<&'static str>,
}

const SERVICES: &[Service] = &[
    Service { program: "curl", package: "curl", beside: None },
    Service { program: "redis-server", package: "redis-server", beside: None },
    Service { program: "initdb", package: "postgresql", beside: Some("/usr/lib/postgresql") },
    CHROMIUM,
];

/// The browser of sessions, in which the page is tested too.
const CHROMIUM: Service = Service { program: "chromium", package: "chromium", beside: None };

/// Installs missing programs if permitted, else says what to install.
pub(crate) fn bring() -> anyhow::Result<()> {
    bring_all(SERVICES)
}

/// The path of Chromium. Installs it if it is missing.
pub(crate) fn chromium() -> anyhow::Result<PathBuf> {
    if let Some(path) = in_path(CHROMIUM.program) {
        return Ok(path);
    }
    bring_all(&[CHROMIUM])?;
    in_path(CHROMIUM.program).context("Chromium was installed, and is not in PATH")
}

fn bring_all(services: &[Service]) -> anyhow::Result<()> {
    let missing: Vec<_> =
        services.iter().filter(|service| !service.is_there()).map(|service| service.package).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names = missing.join(" ");
    if !(is_root() && in_path("apt-get").is_some()) {
        bail!("the tests need {names}: install it, for instance with `sudo apt-get install {names}`, and try again");
    }
    let mut progress = Progress::of(names.clone());
    progress.wait("installing with apt-get, which takes a minute or two");
    let install = ["install", "--yes", "--quiet", "--no-install-recommends"];
    apt_get(&["update", "--quiet"])
        .and_then(|()| apt_get(&[&install[..], &missing].concat()))
        .with_context(|| format!("cannot install {names}, which the tests need"))?;
    progress.done();
    Ok(())
}

fn apt_get(arguments: &[&str]) -> anyhow::Result<()> {
    let mut apt_get = Command::new("apt-get");
    command::output(apt_get.args(arguments).env("DEBIAN_FRONTEND", "noninteractive")).map(drop)
}

impl Service {
    fn is_there(&self) -> bool {
        in_path(self.program).is_some() || self.beside.is_some_and(|folder| beside(Path::new(folder), self.program))
    }
}

fn beside(folder: &Path, program: &str) -> bool {
    let versions = folder.read_dir().into_iter().flatten().flatten();
    versions.into_iter().any(|version| version.path().join("bin").join(program).is_file())
}

fn in_path(program: &str) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| String::from_utf8_lossy(&id.stdout).trim() == "0")
}
