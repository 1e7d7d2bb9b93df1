//! Callboard as a server of the Model Context Protocol: the protocol's public conformance suite against a server with the same
//! door, and the official clients against the real binary; and OpenAI's and Anthropic's at the base URL for them, in front of a model
//! that answers by a script and of a real one.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use crate::{binary, cache, command, npm, python::Packages, served::Served, server};

/// The oldest major version of Node with which the suite runs.
const SUITE_NODE: u32 = 22;

/// The server that has what the suite asks for.
const FIXTURE: &str = "conformance";

/// Runs all that needs no real model.
pub(crate) fn check() -> anyhow::Result<()> {
    npm::CLIENTS.bring()?;
    conformance()?;
    clients()
}

/// Runs the clients at the base URL in front of the small model.
pub(crate) fn check_with_model() -> anyhow::Result<()> {
    npm::CLIENTS.bring()?;
    let (callboard, folder) = (binary::bring()?, emptied("gateway")?);
    let mut clients = python()?.python();
    server::with_model(clients.arg("real_model.py").arg(callboard).arg(folder).current_dir(scripts()))
}

/// The suite needs Node 22, which its packages bring for Linux; elsewhere it is the one that is installed.
fn conformance() -> anyhow::Result<()> {
    // npm goes on without an optional package that it could not get.
    let node = command::output(npm::CLIENTS.npm()?.args(["run", "--silent", "node", "--", "--version"]))?;
    if major(&node).is_none_or(|major| major < SUITE_NODE) {
        bail!(
            "the conformance suite needs Node {SUITE_NODE} or later, and finds {}: remove xtask/mcp/node_modules to get it \
             again, or install it",
            node.trim()
        );
    }
    let build = ["build", "--workspace", "--all-features", "--examples"];
    command::run(command::cargo().args(build))?;
    let fixture = Served::start(&mut Command::new(binary::target().join("debug/examples").join(FIXTURE)))?;
    command::run(npm::CLIENTS.npm()?.args(["run", "conformance", "--", "--url"]).arg(format!("{}/mcp", fixture.url)))
}

fn clients() -> anyhow::Result<()> {
    let callboard = binary::bring()?;
    let (python, folder) = (python()?, emptied("mcp")?);
    let store = format!("sqlite:{}", folder.join("mcp.db").display());
    let mut serve = Command::new(&callboard);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--store", &store]).current_dir(&folder);
    let server = Served::start(&mut serve)?;
    let given =
        |mut client: Command| command::run(client.arg(&callboard).args([&store, &server.url]).current_dir(scripts()));
    let python_1 = Packages::bring("clients-1", "xtask/mcp/requirements-1.txt")?;
    for (packages, script) in [(&python, "client.py"), (&python_1, "client_1.py")] {
        let mut client = packages.python();
        client.arg(script);
        given(client)?;
    }
    command::run(python.python().arg("gateway.py").arg(&callboard).arg(&folder).current_dir(scripts()))?;
    for script in ["client.mjs", "newest.mjs"] {
        let mut client = Command::new("node");
        client.arg(script);
        given(client)?;
    }
    let http = format!("{}/mcp?session=over-http", server.url);
    inspected("HTTP", &folder, &[http.as_str(), "--transport", "http"])?;
    let (program, kept) = (callboard.display().to_string(), format!("CALLBOARD_STORE={store}"));
    inspected("stdio", &folder, &["-e", kept.as_str(), "-e", "CALLBOARD_SESSION=over-stdio", program.as_str(), "mcp"])
}

/// The inspector lists the tools of a server and calls one, with the newest protocol and with the ones before. `server` is how it
/// reaches it, and `folder` where it may write.
fn inspected(way: &str, folder: &Path, server: &[&str]) -> anyhow::Result<()> {
    let calls: [(&[&str], &str); 2] = [
        (&["--method", "tools/list"], "get_prompt"),
        (&["--method", "tools/call", "--tool-name", "read_context_set", "--tool-arg", "name=Facts"], "The sea rises."),
    ];
    let inspector = ["run", "--silent", "inspector", "--"];
    for era in ["legacy", "modern"] {
        for (asked, expected) in calls {
            let mut npm = npm::CLIENTS.npm()?;
            npm.args(inspector).args(server).args(["--protocol-era", era]).args(asked);
            let told = command::output(npm.env("MCP_STORAGE_DIR", folder.join("inspector")))?;
            if !told.contains(expected) {
                bail!("the inspector over {way} ({era}) is not told of {expected}: {told}");
            }
        }
        println!("the inspector over {way}, {era}: ok");
    }
    Ok(())
}

/// The clients for Python.
fn python() -> anyhow::Result<Packages> {
    Packages::bring("clients", "xtask/mcp/requirements.txt")
}

/// An empty folder in the one that Cargo builds in.
fn emptied(name: &str) -> anyhow::Result<PathBuf> {
    let folder = binary::target().join(name);
    cache::remove(&folder)?;
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    Ok(folder)
}

fn scripts() -> PathBuf {
    cache::repository().join(Path::new("xtask/mcp"))
}

/// The major version in what `node --version` prints, such as `v22.23.3`.
fn major(version: &str) -> Option<u32> {
    version.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_node_is_read() {
        assert_eq!(["v22.23.3\n", "v9.0.0", "node", ""].map(major), [Some(22), Some(9), None, None]);
    }
}
