//! A server of a model that runs as long as this process, at most.
//!
//! It has its own process group, so that Ctrl-C does not reach it, and ends with its standard input, a pipe from this
//! process. So it also ends if this process panics or is killed.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::JoinHandle;

use anyhow::{Context, bail};

use crate::progress::Progress;
use crate::python::Packages;
use crate::weights::{self, Weights};
use crate::{cache, command};

/// The variable that gives tests the endpoint of the small model.
const MODEL_URL: &str = "CALLBOARD_TEST_MODEL_URL";

/// A running server; dropping it ends it.
pub(crate) struct Server {
    address: String,
    process: Child,
    pipe: Option<ChildStdin>,
    errors: Option<JoinHandle<String>>,
}

/// What a server needs.
pub(crate) fn bring(weights: &Weights) -> anyhow::Result<Packages> {
    // First the package: it is small, and a machine for which there is none need not download weights.
    let package = Packages::bring("xllamacpp", "xtask/models/xllamacpp.txt")?;
    weights.bring()?;
    Ok(package)
}

impl Server {
    /// Starts a server for `weights` on a free port of this machine, and waits until it answers.
    pub(crate) fn start(weights: &Weights) -> anyhow::Result<Self> {
        let scripts = cache::repository().join("xtask/models");
        let mut command = bring(weights)?.python();
        command.arg(scripts.join("serve.py")).arg(weights.bring()?).arg(weights.model);
        command.arg(threads().to_string()).arg(scripts.join("qwen-coder-tools.jinja"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut progress = Progress::of(format!("server of {}", weights.model));
        progress.wait("loading the model");
        let mut process = command.spawn().context("cannot start the model's server")?;
        let pipe = process.stdin.take();
        let errors = process.stderr.take().map(|errors| std::thread::spawn(|| last_lines(errors)));
        let mut server = Self { address: String::new(), process, pipe, errors };
        let said = command::first_line(&mut server.process)?;
        match said.strip_prefix("listening on ") {
            Some(address) => address.clone_into(&mut server.address),
            None => bail!("the server of {} does not start:\n{}", weights.model, server.end()?),
        }
        progress.done();
        Ok(server)
    }

    /// The base URL of its OpenAI-compatible endpoint.
    pub(crate) fn url(&self) -> String {
        format!("{}/v1", self.address)
    }

    /// Waits until it has ended. How, and the last lines of its errors.
    fn end(&mut self) -> anyhow::Result<String> {
        let status = self.process.wait().context("cannot wait for the model's server")?;
        let errors = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        Ok(format!("{errors}\n({status})"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // Nothing can be done about an error here.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs tests with the endpoint of the small model that they ask: the one that is set, else one that is started for them.
pub(crate) fn with_model(tests: &mut Command) -> anyhow::Result<()> {
    if std::env::var_os(MODEL_URL).is_some() {
        return command::run(tests);
    }
    let server = Server::start(&weights::named("0.5b")?)?;
    command::run(tests.env(MODEL_URL, server.url()))
}

/// Runs a server until this process is ended.
pub(crate) fn serve(weights: &Weights) -> anyhow::Result<()> {
    let mut server = Server::start(weights)?;
    println!("{MODEL_URL}={url} OPENAI_BASE_URL={url}", url = server.url());
    bail!("the server of {} ended:\n{}", weights.model, server.end()?);
}

/// Reads all that a server says, so that it never waits for this process. The last lines.
fn last_lines(errors: impl Read) -> String {
    let mut last = String::new();
    for line in BufReader::new(errors).lines().map_while(Result::ok) {
        last = command::last_lines(&format!("{last}\n{line}"), 20);
    }
    last
}

/// How many threads a server gets. More than eight are not faster, and cores are often counted twice.
fn threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    (cores / 2).clamp(cores.min(4), 8)
}
