//! Servers of the tests, as processes of their own.

use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

use crate::command::first_line;

/// A server that says where it listens. It is killed when this is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
}

impl Served {
    /// Starts a server, and waits until it says `listening on URL`.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the server")?;
        let said = first_line(&mut child)?;
        let url = said.strip_prefix("listening on ").map(str::to_owned);
        let server = Self { child, url: url.unwrap_or_default() };
        anyhow::ensure!(!server.url.is_empty(), "the server did not start: {said}");
        Ok(server)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // This fails if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
