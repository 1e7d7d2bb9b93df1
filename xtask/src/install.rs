//! Programs that Cargo builds, each version in a folder of its own in the user's cache.

use std::path::PathBuf;

use anyhow::Context as _;

use crate::{cache, command};

/// The path of the program of this package. Installs it with these options more if it is missing.
pub(crate) fn bring(package: &str, version: &str, does: &str, options: &[&str]) -> anyhow::Result<PathBuf> {
    let folder = cache::folder(package)?;
    let place = folder.join(version);
    let program = place.join("bin").join(package);
    let _lock = cache::Lock::of(&folder, package)?;
    if !command::answers(&program.to_string_lossy(), "--version") {
        eprintln!("installing {package} {version}, once, which {does}; this takes a few minutes");
        let mut install = command::cargo();
        install.args(["install", package, "--version", version, "--locked", "--quiet"]);
        // It is built faster than the time that optimising it would save.
        install.arg("--debug").args(options).arg("--root").arg(&place);
        // It is built in a folder of its own, which goes with it.
        command::output(install.env_remove("CARGO_TARGET_DIR")).with_context(|| format!("cannot install {package}"))?;
    }
    Ok(program)
}
