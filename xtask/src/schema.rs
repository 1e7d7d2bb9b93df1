//! Schemathesis: it generates valid and invalid calls from the OpenAPI document and sends them to the real binary.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::Context;

use crate::{cache, command};

/// The version of schemathesis. It is fixed, since another one may find other faults.
const VERSION: &str = "4.32.5";

/// The default arguments: the same calls each time, in less than a minute on an idle machine.
const BRIEFLY: &[&str] = &["--seed", "1", "--max-examples", "5", "--generation-database", "none"];

/// Checks the server with `arguments` for `schemathesis run`, or briefly if there are none.
pub(crate) fn check(arguments: &[String]) -> anyhow::Result<()> {
    let schemathesis = bring()?;
    command::run(command::cargo().args(["build", "--package", "callboard"]))?;
    let folder = cache::repository().join("target/schemathesis");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let server = Server::start(&folder)?;
    let mut run = Command::new(schemathesis);
    // It writes files into its working folder.
    run.current_dir(&folder).env("SCHEMATHESIS_HOOKS", settings().join("hooks.py")).arg("--config-file");
    run.arg(settings().join("schemathesis.toml")).arg("run").arg(format!("{}/openapi.json", server.url));
    run.args(["--request-timeout", "10", "--warnings", "off"]);
    if arguments.is_empty() {
        run.args(BRIEFLY)
    } else {
        run.args(arguments)
    };
    command::run(&mut run)
}

fn settings() -> PathBuf {
    cache::repository().join("xtask/schema")
}

/// The path of schemathesis. Installs it if it is missing.
fn bring() -> anyhow::Result<PathBuf> {
    let folder = cache::folder("schemathesis")?;
    let place = folder.join(VERSION);
    let program = place.join("bin/schemathesis");
    let _lock = cache::Lock::of(&folder, "schemathesis")?;
    if command::answers(&program.to_string_lossy(), "--version") {
        return Ok(program);
    }
    eprintln!("installing schemathesis {VERSION}, which the tests need");
    let made = command::run(command::python()?.args(["-m", "venv", "--clear"]).arg(&place));
    made.context("python3 cannot make a virtual environment; install `python3-venv` on Debian")?;
    let package = format!("schemathesis=={VERSION}");
    command::run(Command::new(place.join("bin/python")).args(["-m", "pip", "install", "--quiet", &package]))?;
    Ok(program)
}

/// A server with an empty store. It is killed when this is dropped.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(folder: &Path) -> anyhow::Result<Self> {
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| cache::repository().join("target"), PathBuf::from);
        let mut serve = Command::new(target.join("debug/callboard"));
        serve.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]).current_dir(folder);
        let mut child = serve.stdout(Stdio::piped()).spawn().context("cannot start the server")?;
        let mut said = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut said)?;
        }
        let url = said.trim().strip_prefix("listening on ").map(str::to_owned);
        let server = Self { child, url: url.unwrap_or_default() };
        anyhow::ensure!(!server.url.is_empty(), "the server did not start: {said}");
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // This fails if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
