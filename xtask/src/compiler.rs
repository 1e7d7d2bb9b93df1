//! The tools for building a C++ program: cmake, ninja and a compiler. Each is taken from PATH if it is there.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::command::{answers, output, python};
use crate::progress::Progress;

/// The environment for cmake and ninja.
pub(crate) struct Tools {
    path: OsString,
    python_path: Option<PathBuf>,
}

impl Tools {
    /// Finds the tools, and installs missing ones into `folder` if possible.
    pub(crate) fn bring(folder: PathBuf) -> anyhow::Result<Self> {
        compiler()?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let missing: Vec<_> = ["cmake", "ninja"].into_iter().filter(|tool| !answers(tool, "--version")).collect();
        if missing.is_empty() {
            return Ok(Self { path, python_path: None });
        }
        let mut progress = Progress::of(missing.join(" and "));
        progress.wait("downloading from PyPI");
        let mut pip = python()?;
        pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--only-binary", ":all:", "--target"]);
        output(pip.arg(&folder).args(&missing)).context("cannot install cmake and ninja")?;
        progress.done();
        let bin = std::iter::once(folder.join("bin"));
        let path =
            std::env::join_paths(bin.chain(std::env::split_paths(&path))).context("the PATH cannot be extended")?;
        Ok(Self { path, python_path: Some(folder) })
    }

    /// A command in this environment.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("PATH", &self.path);
        if let Some(folder) = &self.python_path {
            command.env("PYTHONPATH", folder);
        }
        command
    }
}

/// Installs a C++ compiler if there is none and that is possible, else says what to install.
fn compiler() -> anyhow::Result<()> {
    let chosen = std::env::var("CXX").ok();
    let there =
        || chosen.iter().map(String::as_str).chain(["c++", "g++", "clang++"]).any(|name| answers(name, "--version"));
    if there() {
        return Ok(());
    }
    let root = output(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0");
    if root && answers("apt-get", "--version") {
        let mut progress = Progress::of("g++");
        progress.wait("being installed with apt-get");
        let apt = || {
            let mut command = Command::new("apt-get");
            command.env("DEBIAN_FRONTEND", "noninteractive");
            command
        };
        output(apt().args(["update", "-qq"])).context("cannot install a C++ compiler")?;
        output(apt().args(["install", "-y", "-qq", "g++"])).context("cannot install a C++ compiler")?;
        progress.done();
    }
    if !there() {
        bail!("no C++ compiler; install one (`g++` on Debian, `xcode-select --install` on macOS), and try again");
    }
    Ok(())
}
