//! The model of the demo's team.

use std::process::Command;

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::served::Served;
use crate::weights::{self, Weights};
use crate::{command, server};

/// The model, if only a key is given.
const MODEL_OF_A_KEY: &str = "openai:gpt-4o-mini";

/// What to do where the small model cannot be had.
const OTHERS: &str =
    "no small model on this machine (OPENAI_BASE_URL with CALLBOARD_MODEL, or OPENAI_API_KEY, names another)";

/// The model that the team works with.
pub(super) struct Model {
    /// The variables that are missing in the environment.
    pub(super) environment: Vec<(&'static str, String)>,
    /// The small model, if it is the one.
    small: Option<Weights>,
    /// The server of the small model, once it is started.
    _server: Option<Served>,
}

impl Model {
    /// The endpoint in the environment, else a local Ollama, else the small model, which is downloaded if it is missing.
    pub(super) fn find() -> anyhow::Result<Self> {
        let set = |variable| std::env::var(variable).is_ok_and(|value| !value.is_empty());
        let named = |name: String| if set("CALLBOARD_MODEL") { None } else { Some(("CALLBOARD_MODEL", name)) };
        if set("OPENAI_BASE_URL") {
            if !set("CALLBOARD_MODEL") {
                bail!("OPENAI_BASE_URL is set: name its model with CALLBOARD_MODEL=openai:NAME, or unset it");
            }
            eprintln!("using the endpoint in OPENAI_BASE_URL");
            return Ok(Self::there(None));
        }
        if set("OPENAI_API_KEY") {
            eprintln!(
                "using the key in OPENAI_API_KEY, which costs money; unset it to use a small model on this machine"
            );
            return Ok(Self::there(named(MODEL_OF_A_KEY.to_owned())));
        }
        if let Some((url, name)) = ollama() {
            eprintln!("using {name} of the Ollama on this machine");
            let url = ("OPENAI_BASE_URL", url);
            return Ok(Self::there(named(format!("openai:{name}")).into_iter().chain([url])));
        }
        eprintln!(
            "no endpoint in OPENAI_BASE_URL, no key in OPENAI_API_KEY, no Ollama: using a small model on this machine"
        );
        let weights = weights::named("1.5b")?;
        server::bring(&weights).context(OTHERS)?;
        Ok(Self { small: Some(weights), ..Self::there(None) })
    }

    /// One that is there already.
    fn there(environment: impl IntoIterator<Item = (&'static str, String)>) -> Self {
        Self { environment: environment.into_iter().collect(), small: None, _server: None }
    }

    /// Starts the server of the small model, if it is the one.
    pub(super) fn start(&mut self) -> anyhow::Result<()> {
        if let Some(weights) = &self.small {
            let server = server::start(weights).context(OTHERS)?;
            let model = ("CALLBOARD_MODEL", format!("openai:{}", weights.model));
            self.environment = vec![("OPENAI_BASE_URL", server.url.clone()), model];
            self._server = Some(server);
        }
        Ok(())
    }

    /// Whether it is the small one.
    pub(super) fn is_small(&self) -> bool {
        self.small.is_some()
    }
}

/// The base URL of a local Ollama that answers, and a chat model that it has.
fn ollama() -> Option<(String, String)> {
    let url = "http://127.0.0.1:11434/v1";
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--fail", "--max-time", "2", "--noproxy", "*"]).arg(format!("{url}/models"));
    let list: Value = serde_json::from_str(&command::output(&mut curl).ok()?).ok()?;
    let mut names = list.get("data")?.as_array()?.iter().filter_map(|model| model.get("id")?.as_str());
    let chats = names.find(|name| !["embed", "minilm", "bge"].iter().any(|other| name.contains(other)))?;
    Some((url.to_owned(), chats.to_owned()))
}
