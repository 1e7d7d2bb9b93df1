//! Python, and packages for it from a package index.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use crate::{cache, command, progress::Progress};

/// Where Python may be found. The `python3` of some systems is too old, and a newer one is beside it.
const NAMES: &[&str] = &["python3", "python3.14", "python3.13", "python3.12", "python3.11", "python3.10"];

/// Fails if Python is older than 3.10; prints its version.
const VERSION: &str = "import sys; print('%d.%d' % sys.version_info[:2]); sys.exit(sys.version_info < (3, 10))";

/// An installed Python with pip.
pub(crate) struct Python {
    name: &'static str,
    version: String,
}

impl Python {
    /// Finds Python 3.10 or later with pip.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let version = |name: &&'static str| {
            let version = command::output(Command::new(name).args(["-c", VERSION])).ok()?;
            Some(Self { name, version: version.trim().to_owned() })
        };
        let Some(python) = NAMES.iter().find_map(version) else {
            bail!(
                "Python 3.10 or later is missing: install it with pip (`python3 python3-pip` on Debian, `python` of \
                 Homebrew on macOS), and try again"
            );
        };
        let name = python.name;
        if command::output(python.command().args(["-m", "pip", "--version"])).is_err() {
            bail!("{name} has no pip: install it (`python3-pip` on Debian, else `{name} -m ensurepip`), and try again");
        }
        Ok(python)
    }

    /// A command that runs it.
    pub(crate) fn command(&self) -> Command {
        Command::new(self.name)
    }
}

/// Packages in a folder of their own. Nothing else of the system changes.
pub(crate) struct Packages {
    python: Python,
    folder: PathBuf,
}

impl Packages {
    /// The packages in the file `requirements` of this repository, as `name`. Installs them if they are missing.
    pub(crate) fn bring(name: &str, requirements: &str) -> anyhow::Result<Self> {
        let python = Python::find()?;
        let file = cache::repository().join(requirements);
        let wanted = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let folder = cache::folder("python")?;
        // Compiled packages are for one version of Python.
        let place = folder.join(format!("{name}-{}", python.version));
        let lock = cache::Lock::of(&folder, name)?;
        if fs::read_to_string(place.join(INSTALLED)).ok().as_ref() != Some(&wanted) {
            let install = install(&python, &file, &place, &lock).and_then(|new| finish(&new, &wanted, &place));
            install.with_context(|| format!("cannot install {name} in {}", folder.display()))?;
        }
        Ok(Self { python, folder: place })
    }

    /// Where they are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A command that runs Python with these packages.
    pub(crate) fn python(&self) -> Command {
        let mut command = self.python.command();
        command.env("PYTHONPATH", &self.folder);
        command
    }
}

/// The file in a folder of packages that says which they are.
const INSTALLED: &str = "installed.txt";

/// Installs packages into a new folder beside `place`. An error leaves nothing there.
fn install(python: &Python, requirements: &Path, place: &Path, lock: &cache::Lock) -> anyhow::Result<PathBuf> {
    let new = place.with_extension("new");
    cache::remove(&new)?;
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let mut progress = Progress::of(name);
    progress.wait("downloading from the package index");
    let mut pip = python.command();
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]);
    pip.arg("--target").arg(&new).arg("-r").arg(requirements);
    if let Err(error) = command::output(pip.stdin(lock.file()?)) {
        cache::remove(&new)?;
        return Err(error);
    }
    progress.done();
    Ok(new)
}

fn finish(new: &Path, wanted: &str, place: &Path) -> anyhow::Result<()> {
    fs::write(new.join(INSTALLED), wanted).with_context(|| format!("cannot write into {}", new.display()))?;
    cache::remove(place)?;
    fs::rename(new, place).with_context(|| format!("cannot make the folder {}", place.display()))
}
