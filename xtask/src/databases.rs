//! The databases that tests share: one server of each kind, for all of them.

use std::process::{Child, Command, Stdio};

use anyhow::Context as _;

use crate::{binary, command};

/// Running servers. They end with this, and when this process ends in any way.
pub(crate) struct Databases {
    program: Child,
    ports: String,
}

impl Databases {
    /// The variable that tells tests where the servers are.
    pub(crate) const VARIABLE: &str = "CALLBOARD_TEST_DATABASES";

    /// Starts them, with a program of the store's, which is built if it is missing.
    pub(crate) fn start() -> anyhow::Result<Self> {
        let build = ["build", "--quiet", "--workspace", "--all-features", "--example", "databases"];
        command::run(command::cargo().args(build))?;
        let program = binary::target().join("debug/examples/databases");
        // It ends when its input does.
        let mut command = Command::new(program);
        let mut program =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("cannot start databases")?;
        let ports = command::first_line(&mut program)?;
        let databases = Self { program, ports };
        anyhow::ensure!(!databases.ports.is_empty(), "the databases of the tests do not start");
        Ok(databases)
    }

    /// Where they are, for [`Self::VARIABLE`].
    pub(crate) fn ports(&self) -> &str {
        &self.ports
    }
}

impl Drop for Databases {
    fn drop(&mut self) {
        drop(self.program.stdin.take());
        // Nothing can be done about an error here.
        let _ = self.program.wait();
    }
}
