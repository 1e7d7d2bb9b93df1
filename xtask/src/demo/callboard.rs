//! The binary, on the demo's store.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context as _;
use serde_json::Value;

use crate::{cache, command};

/// The session of the demo.
pub(super) const SESSION: &str = "party";

/// The binary, with the store that it works on.
#[derive(Clone)]
pub(super) struct Callboard {
    pub(super) path: PathBuf,
    pub(super) store: String,
}

impl Callboard {
    /// A command of the binary on the demo's store.
    pub(super) fn command<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.path);
        command.args(words).args(["--store", &self.store]).current_dir(cache::repository());
        // It would name another session, or a server.
        command.env_remove("CALLBOARD_SESSION").env_remove("CALLBOARD_URL");
        command
    }

    /// What a command answers for programs.
    pub(super) fn json(&self, words: &[&str]) -> anyhow::Result<Value> {
        let output = command::output(self.command(words).args(["--session", SESSION, "--json"]))?;
        serde_json::from_str(&output).with_context(|| format!("callboard {} printed no JSON", words.join(" ")))
    }
}
