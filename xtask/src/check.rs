//! What continuous integration runs.

use std::process::Command;

use anyhow::Context as _;

use crate::server::{Server, Share};
use crate::{audit, binary, book, cache, command, mcp, page, schema, services, weights};

/// The variable that gives tests the endpoint of the small model.
const MODEL_URL: &str = "CALLBOARD_TEST_MODEL_URL";

/// Checks formatting, lints, documentation, dependencies, layers, import cycles, and that the page is what its source makes.
pub(crate) fn lint() -> anyhow::Result<()> {
    let cargo = |arguments: &str| {
        let mut command = command::cargo();
        command.args(arguments.split(' '));
        eprintln!("{}", command::shown(&command));
        command::run(command.env("RUSTDOCFLAGS", "-D warnings"))
    };
    cargo("fmt --all --check")?;
    audit::audit()?;
    cargo("clippy --workspace --all-targets --all-features -- -D warnings")?;
    cargo("doc --workspace --no-deps --all-features")?;
    page::check()
}

/// Runs all tests, or those that `arguments` for `cargo test` select, with the small model that some of them need.
pub(crate) fn test(arguments: &[String]) -> anyhow::Result<()> {
    services::bring()?;
    let mut cargo = command::cargo();
    cargo.args(["test", "--all-features"]);
    if arguments.is_empty() {
        cargo.arg("--workspace");
    }
    cargo.args(arguments);
    if std::env::var_os(MODEL_URL).is_some() {
        command::run(&mut cargo)?;
    } else {
        let server = Server::start(&weights::named("0.5b")?, Share::Half)?;
        command::run(cargo.env(MODEL_URL, server.url()))?;
    }
    if arguments.is_empty() {
        // The tests have built the binary.
        schema::check(&[])?;
        mcp::check()?;
        trial(&[])?;
        book::build()?;
        page::test()?;
    }
    Ok(())
}

/// Repeats a newcomer's trial in a clean clone and a clean home, or those of its checks that `arguments` name.
pub(crate) fn trial(arguments: &[String]) -> anyhow::Result<()> {
    let callboard = binary::bring()?;
    let repository = cache::repository();
    let mut trial = Command::new("python3");
    trial.arg(repository.join("xtask/trial")).arg(&repository).arg(callboard);
    // Nothing is left behind in the tree.
    command::run(trial.args(arguments).env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Measures how well recall finds what answers the questions of a data set.
pub(crate) fn recall(arguments: &[String]) -> anyhow::Result<()> {
    let example = ["run", "--release", "--package", "callboard-recall", "--example", "relevance", "--"];
    command::run(command::cargo().args(example).args(arguments))
}

/// Runs the benchmarks of the promised speed and memory.
pub(crate) fn bench(arguments: &[String]) -> anyhow::Result<()> {
    // The binary, which is measured as a process, is built together with the benchmarks: separately it would be built twice.
    let packages = ["--package", "callboard", "--package", "callboard-bench"];
    command::run(command::cargo().args(["build", "--release"]).args(packages))?;
    // This program is beside it, in the folder of another profile.
    let this = std::env::current_exe()?;
    let target = this.ancestors().nth(2).context("this program is not in a target folder of Cargo")?;
    command::run(Command::new(target.join("release/callboard-bench")).args(arguments))
}
