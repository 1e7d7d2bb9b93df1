//! Servers, as processes of their own.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use anyhow::{Context as _, bail};

use crate::command;

/// A server that says where it listens. It is killed when this is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) url: String,
    /// Reads its errors, where they are not shown.
    errors: Option<JoinHandle<String>>,
}

impl Served {
    /// Starts a server, and waits until it says `listening on URL`.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the server")?;
        let errors = child.stderr.take().map(|errors| std::thread::spawn(|| last_lines(errors)));
        let mut server = Self { child, url: String::new(), errors };
        let said = command::first_line(&mut server.child)?;
        match said.strip_prefix("listening on ") {
            Some(url) => url.clone_into(&mut server.url),
            None if said.is_empty() => bail!("the server does not start:\n{}", server.end()?),
            None => bail!("the server does not start: {said}"),
        }
        Ok(server)
    }

    /// Waits until it has ended. How, and the last lines of its errors.
    pub(crate) fn end(&mut self) -> anyhow::Result<String> {
        // One that ends with its input does not end now.
        let _input = self.child.stdin.take();
        let status = self.child.wait().context("cannot wait for the server")?;
        let errors = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        Ok(format!("{errors}\n({status})"))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // This fails if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads all that a server says, so that it never waits for this process. The last lines.
fn last_lines(errors: impl Read) -> String {
    let mut last = String::new();
    for line in BufReader::new(errors).lines().map_while(Result::ok) {
        last = command::last_lines(&format!("{last}\n{line}"), 20);
    }
    last
}
