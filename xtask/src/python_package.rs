//! Programs from Python packages, each in a virtual environment of its own.

use std::{path::PathBuf, process::Command};

use anyhow::Context as _;

use crate::{cache, command};

/// The virtual environment in which these versions of packages are installed, such as `schemathesis==4.32.5`, under this name.
/// Installs them if they are missing.
pub(crate) fn bring(name: &str, packages: &[&str]) -> anyhow::Result<PathBuf> {
    let folder = cache::folder(name)?;
    let place = folder.join(packages.join("+").replace("==", "-"));
    let (python, done) = (place.join("bin/python"), place.join("installed"));
    let _lock = cache::Lock::of(&folder, name)?;
    if done.exists() && command::answers(&python.to_string_lossy(), "--version") {
        return Ok(place);
    }
    eprintln!("installing {}, which the tests need", packages.join(", "));
    let made = command::run(command::python()?.args(["-m", "venv", "--clear"]).arg(&place));
    made.context("python3 cannot make a virtual environment; install `python3-venv` on Debian")?;
    command::run(Command::new(&python).args(["-m", "pip", "install", "--quiet"]).args(packages))?;
    std::fs::write(&done, packages.join("\n"))?;
    Ok(place)
}
