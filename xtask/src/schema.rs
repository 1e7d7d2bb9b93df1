//! Schemathesis: it generates valid and invalid calls from the OpenAPI document and sends them to the real binary.

use std::{fs, path::PathBuf, process::Command};

use anyhow::Context;

use crate::{binary, cache, command, python::Packages, served::Served};

/// The default arguments: the same calls each time, in less than a minute on an idle machine.
const BRIEFLY: &[&str] = &["--seed", "1", "--max-examples", "5", "--generation-database", "none"];

/// Checks the server with `arguments` for `schemathesis run`, or briefly if there are none.
pub(crate) fn check(arguments: &[String]) -> anyhow::Result<()> {
    let schemathesis = Packages::bring("schemathesis", "xtask/schema/requirements.txt")?;
    let callboard = binary::bring()?;
    let folder = binary::target().join("schemathesis");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut serve = Command::new(&callboard);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]).current_dir(&folder);
    let server = Served::start(&mut serve)?;
    let mut run = schemathesis.python();
    run.args(["-m", "schemathesis.cli"]);
    // It writes files into its working folder.
    run.current_dir(&folder).env("SCHEMATHESIS_HOOKS", settings().join("hooks.py")).arg("--config-file");
    run.arg(settings().join("schemathesis.toml")).arg("run").arg(format!("{}/openapi.json", server.url));
    run.args(["--request-timeout", "60", "--warnings", "off"]);
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
