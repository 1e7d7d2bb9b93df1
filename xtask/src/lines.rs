//! Following the output of a program line by line, for its progress.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::command::{failure, shown};

/// Runs `command` and passes each line of its output to `on_line`. If it fails, the error says why.
pub(crate) fn follow(command: &mut Command, mut on_line: impl FnMut(&str)) -> anyhow::Result<()> {
    let name = shown(command);
    let (reader, writer) = std::io::pipe().context("cannot make a pipe")?;
    let errors = writer.try_clone().context("cannot make a pipe")?;
    let mut child = command.stdout(writer).stderr(errors).spawn().with_context(|| format!("cannot start {name}"))?;
    // The command must be dropped, since it keeps the writing end open, and the reading end would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut said = String::new();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).context("cannot read from a pipe")? > 0 {
        let text = String::from_utf8_lossy(&line);
        on_line(text.trim_end());
        said.push_str(&text);
        line.clear();
    }
    let status = child.wait().with_context(|| format!("cannot wait for {name}"))?;
    if !status.success() {
        return Err(failure(&name, status, &said));
    }
    Ok(())
}
