//! Schemathesis: it generates valid and invalid calls from the OpenAPI document and sends them to the real binary.

use std::{fs, path::PathBuf, process::Command};

use anyhow::Context;

use crate::{binary, cache, command, python::Packages, served::Served};

/// The default arguments: the same calls each time, in less than a minute on an idle machine.
const BRIEFLY: &[&str] = &["--seed", "1", "--max-examples", "5", "--generation-database", "none"];

/// Checks the server with `arguments` for `schemathesis run`, or briefly if there are none.
pub(crate) fn check(arguments: &[String]) -> anyhow::Result<()> {
    with_server(arguments, command::run)
}

/// Checks the server briefly beside other work: what schemathesis prints is returned, or is in the error.
pub(crate) fn check_beside() -> anyhow::Result<String> {
    with_server(&[], command::whole_output)
}

fn with_server<T>(arguments: &[String], run: fn(&mut Command) -> anyhow::Result<T>) -> anyhow::Result<T> {
    let schemathesis = Packages::bring("schemathesis", "xtask/schema/requirements.txt")?;
    let callboard = binary::bring()?;
    let folder = binary::target().join("schemathesis");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let mut serve = Command::new(&callboard);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--store", "memory:"]).current_dir(&folder);
    let server = Served::start(&mut serve)?;
    let mut check = schemathesis.python();
    check.args(["-m", "schemathesis.cli"]);
    // It writes files into its working folder.
    check.current_dir(&folder).env("SCHEMATHESIS_HOOKS", settings().join("hooks.py")).arg("--config-file");
    check.arg(settings().join("schemathesis.toml")).arg("run").arg(format!("{}/openapi.json", server.url));
    check.args(["--request-timeout", "60", "--warnings", "off"]);
    if arguments.is_empty() {
        check.args(BRIEFLY)
    } else {
        check.args(arguments)
    };
    run(&mut check)
}

fn settings() -> PathBuf {
    cache::repository().join("xtask/schema")
}
