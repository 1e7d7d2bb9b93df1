//! A server of a model that runs as long as this process, at most.
//!
//! It has its own process group, so that Ctrl-C does not reach it, and ends with its standard input, a pipe from this
//! process. So it also ends if this process panics or is killed.

use std::process::{Command, Stdio};

use anyhow::{Context, bail};

use crate::progress::Progress;
use crate::python::Packages;
use crate::served::Served;
use crate::weights::{self, Weights};
use crate::{cache, command};

/// The variable that gives tests the endpoint of the small model.
const MODEL_URL: &str = "CALLBOARD_TEST_MODEL_URL";

/// What a server needs.
pub(crate) fn bring(weights: &Weights) -> anyhow::Result<Packages> {
    // First the package: it is small, and a machine for which there is none need not download weights.
    let package = Packages::bring("xllamacpp", "xtask/models/xllamacpp.txt")?;
    weights.bring()?;
    Ok(package)
}

/// Starts a server for `weights` on a free port of this machine, and waits until it answers. Its URL is the base URL of its
/// OpenAI-compatible endpoint.
pub(crate) fn start(weights: &Weights) -> anyhow::Result<Served> {
    let scripts = cache::repository().join("xtask/models");
    let mut command = bring(weights)?.python();
    command.arg(scripts.join("serve.py")).arg(weights.bring()?).arg(weights.model);
    command.arg(threads().to_string()).arg(scripts.join("qwen-coder-tools.jinja"));
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut progress = Progress::of(format!("server of {}", weights.model));
    progress.wait("loading the model");
    let mut server = Served::start(&mut command).with_context(|| format!("cannot serve {}", weights.model))?;
    server.url.push_str("/v1");
    progress.done();
    Ok(server)
}

/// Runs tests with the endpoint of the small model that they ask: the one that is set, else one that is started for them.
pub(crate) fn with_model(tests: &mut Command) -> anyhow::Result<()> {
    if std::env::var_os(MODEL_URL).is_some() {
        return command::run(tests);
    }
    let server = start(&weights::named("0.5b")?)?;
    command::run(tests.env(MODEL_URL, &server.url))
}

/// Runs a server until this process is ended.
pub(crate) fn serve(weights: &Weights) -> anyhow::Result<()> {
    let mut server = start(weights)?;
    println!("{MODEL_URL}={url} OPENAI_BASE_URL={url}", url = server.url);
    bail!("the server of {} ended:\n{}", weights.model, server.end()?);
}

/// How many threads a server gets. More than eight are not faster, and cores are often counted twice.
fn threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    (cores / 2).clamp(cores.min(4), 8)
}
