//! What continuous integration runs.

use std::process::Command;

use anyhow::Context as _;

use crate::databases::Databases;
use crate::nextest::{Cases, nextest};
use crate::server::with_model;
use crate::steps::Steps;
use crate::{audit, binary, book, cache, command, mcp, npm, page, schema, services, weights};

/// The variable that gives tests the folder of a model of vectors.
const EMBEDDER: &str = "CALLBOARD_TEST_EMBEDDER";

/// The tests that ask the small model.
const WITH_MODEL: &str = "test(/real_model/) | binary(real_model) | test(/^examples::the_example_/)";

/// Runs everything, and says how long each step took.
pub(crate) fn ci() -> anyhow::Result<()> {
    let mut steps = Steps::default();
    let result = lint(&mut steps).and_then(|()| test(&[], &mut steps));
    steps.report();
    result
}

/// Checks formatting, lints, documentation, dependencies, layers, import cycles, and that the page is what its source makes.
pub(crate) fn lint(steps: &mut Steps) -> anyhow::Result<()> {
    let cargo = |arguments: &str| {
        let mut command = command::cargo();
        command.args(arguments.split(' '));
        eprintln!("{}", command::shown(&command));
        command::run(command.env("RUSTDOCFLAGS", "-D warnings"))
    };
    steps.run("format", || cargo("fmt --all --check"))?;
    steps.run("audit", audit::audit)?;
    steps.run("clippy", || cargo("clippy --workspace --all-targets --all-features -- -D warnings"))?;
    steps.run("documentation of the code", || cargo("doc --workspace --no-deps --all-features"))?;
    steps.run("the built page", page::check)
}

/// Runs all tests, or those that `arguments` for `cargo nextest run` select. `--explore` as the first of them draws new cases.
pub(crate) fn test(arguments: &[String], steps: &mut Steps) -> anyhow::Result<()> {
    let (cases, arguments) = match arguments.split_first() {
        Some((first, rest)) if first == "--explore" => (Cases::New, rest),
        _ => (Cases::Fixed, arguments),
    };
    let embedder = steps.run("what the tests need", || {
        services::bring()?;
        npm::EXAMPLE.bring()?;
        weights::embedder()
    })?;
    let build = ["run", "--no-run", "--workspace", "--all-features"];
    steps.run("building the tests", || command::run(nextest(cases)?.args(build)))?;
    let tests = || -> anyhow::Result<_> {
        let mut tests = nextest(cases)?;
        tests.args(["run", "--workspace", "--all-features"]).env(EMBEDDER, &embedder);
        Ok(tests)
    };
    if !arguments.is_empty() {
        let databases = Databases::start()?;
        return with_model(tests()?.args(arguments).env(Databases::VARIABLE, databases.ports()));
    }
    // A model is slow beside other work.
    steps.run("tests with a small model", || with_model(tests()?.args(["-E", WITH_MODEL])))?;
    steps.run("clients of OpenAI and Anthropic with a small model", mcp::check_with_model)?;
    steps.run("tests", || {
        let databases = Databases::start()?;
        let others = format!("not ({WITH_MODEL})");
        command::run(tests()?.args(["-E", &others]).env(Databases::VARIABLE, databases.ports()))
    })?;
    // The tests have built the binary.
    steps.run("examples in the documentation of the code", || {
        command::run(command::cargo().args(["test", "--doc", "--workspace", "--all-features", "--quiet"]))
    })?;
    // The generated calls and the page each keep less than two processors busy.
    steps.run_beside("calls generated from the OpenAPI document", schema::check_beside, |steps| {
        steps.run("clients of MCP, OpenAI and Anthropic", mcp::check)?;
        steps.run("a newcomer's trial", || trial(&[]))?;
        steps.run("the book", book::build)?;
        steps.run("the page in a browser", page::test)
    })
}

/// Repeats a newcomer's trial in a clean clone and a clean home, or those of its checks that `arguments` name.
pub(crate) fn trial(arguments: &[String]) -> anyhow::Result<()> {
    let callboard = binary::bring()?;
    let repository = cache::repository();
    let xtask = std::env::current_exe().context("cannot find this program, which shows the demo")?;
    let mut trial = Command::new("python3");
    trial.arg(repository.join("xtask/trial")).args([&repository, &callboard, &xtask]);
    // Nothing is left behind in the tree.
    command::run(trial.args(arguments).env("PYTHONDONTWRITEBYTECODE", "1"))
}

/// Measures how well recall finds what answers the questions of a data set.
pub(crate) fn recall(arguments: &[String]) -> anyhow::Result<()> {
    let mut example = command::cargo();
    example.args(["run", "--release", "--package", "callboard-recall", "--example", "relevance"]);
    // It takes long to build what reads models from folders.
    if arguments.iter().any(|argument| argument == "--folder") {
        example.args(["--features", "callboard-model/minilm"]);
    }
    command::run(example.arg("--").args(arguments))
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
