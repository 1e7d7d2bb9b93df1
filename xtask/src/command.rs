//! Running other programs.

use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, bail};

/// Runs `command` with this terminal; an exit status other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = status(command)?;
    if !status.success() {
        bail!("{} failed ({status})", shown(command));
    }
    Ok(())
}

/// Runs `command` with this terminal and returns its exit status.
pub(crate) fn status(command: &mut Command) -> anyhow::Result<ExitStatus> {
    command.status().with_context(|| format!("cannot start {}", shown(command)))
}

/// The output of `command`; an exit status other than 0 is an error with the last lines of its error output.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        bail!("{} failed:\n{}", shown(command), last_lines(&String::from_utf8_lossy(&output.stderr), 20));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether `program` is installed and runs.
pub(crate) fn answers(program: &str, argument: &str) -> bool {
    let quiet = Command::new(program).arg(argument).stdin(Stdio::null()).output();
    quiet.is_ok_and(|output| output.status.success())
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(crate::cache::repository());
    command
}

/// `python3`, if it has pip.
pub(crate) fn python() -> anyhow::Result<Command> {
    if !answers("python3", "--version") {
        bail!("python3 is missing; install Python 3.9 or later with pip, and try again");
    }
    if output(Command::new("python3").args(["-m", "pip", "--version"])).is_err() {
        bail!("python3 has no pip; install it (`python3-pip` on Debian), and try again");
    }
    Ok(Command::new("python3"))
}

/// The last `count` lines of `text`.
pub(crate) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<_> = text.lines().collect();
    lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().join("\n")
}

/// `command` as it would be typed.
pub(crate) fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    format!("`{}`", words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
}
