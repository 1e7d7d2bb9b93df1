//! The demo: the example team works with a real model.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use crate::server::{Server, Share};
use crate::{command, endpoint, weights};

const TEAM: &str = "examples/review/TEAM.toml";
/// The commands that show the prompts afterwards; `callboard` stands for the built binary.
const AFTERWARDS: &str = "\
Read what each agent was sent and why:

  callboard session list                        the sessions, the newest first
  callboard prompt --session ID --agent NAME    an agent's prompt as it is now; --at N as of entry N
  callboard why --session ID TEXT               where a text came from, who saw it, where it went";
/// The model, if only a key is given.
const MODEL_OF_A_KEY: &str = "openai:gpt-4o-mini";

/// The endpoint of the team's model.
struct Endpoint {
    environment: Vec<(&'static str, String)>,
    /// The server of the small model, if it was started for the demo.
    _server: Option<Server>,
}

/// Finds or downloads a model, builds the binary, and runs the example team with `arguments`.
pub(crate) fn demo(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => arguments,
    };
    let endpoint = endpoint()?;
    eprintln!("building callboard");
    command::run(command::cargo().args(["build", "--package", "callboard"]))?;
    // Cargo knows where the binary is.
    let mut callboard = command::cargo();
    callboard.args(["run", "--quiet", "--package", "callboard", "--", "run", TEAM]).args(arguments);
    let status = command::status(callboard.envs(endpoint.environment.clone()))?;
    drop(endpoint);
    eprintln!("\n{}", AFTERWARDS.replace("callboard ", &format!("{} ", binary().display())));
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The endpoint in the environment, else a local Ollama, else the small model, which is downloaded if it is missing.
fn endpoint() -> anyhow::Result<Endpoint> {
    let set = |variable| std::env::var(variable).is_ok_and(|value| !value.is_empty());
    let model = |name: String| if set("CALLBOARD_MODEL") { None } else { Some(("CALLBOARD_MODEL", name)) };
    let there = |environment: Option<_>| Endpoint { environment: environment.into_iter().collect(), _server: None };
    if set("OPENAI_BASE_URL") {
        if !set("CALLBOARD_MODEL") {
            bail!("OPENAI_BASE_URL is set: name its model with CALLBOARD_MODEL=openai:NAME, or unset it");
        }
        eprintln!("using the endpoint in OPENAI_BASE_URL");
        return Ok(there(None));
    }
    if set("OPENAI_API_KEY") {
        eprintln!("using the key in OPENAI_API_KEY, which costs money; unset it to use a small model on this machine");
        return Ok(there(model(MODEL_OF_A_KEY.to_owned())));
    }
    if let Some((url, name)) = endpoint::ollama() {
        eprintln!("using {name} of the Ollama on this machine");
        let url = ("OPENAI_BASE_URL", url);
        return Ok(Endpoint {
            environment: model(format!("openai:{name}")).into_iter().chain([url]).collect(),
            _server: None,
        });
    }
    eprintln!(
        "no endpoint in OPENAI_BASE_URL, no key in OPENAI_API_KEY, no Ollama: using a small model on this machine"
    );
    let weights = weights::named("1.5b")?;
    let server = Server::start(&weights, Share::All)?;
    let environment = vec![("OPENAI_BASE_URL", server.url()), ("CALLBOARD_MODEL", format!("openai:{}", weights.model))];
    Ok(Endpoint { environment, _server: Some(server) })
}

/// The path of the binary from the repository's folder.
fn binary() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    target.join("debug/callboard")
}
