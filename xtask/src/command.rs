//! Running other programs.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::{Context, anyhow, bail};

use crate::cache;

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

/// The output of `command`; an exit status other than 0 is an error that says why.
pub(crate) fn output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        return Err(failure(&shown(command), output.status, &String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All that `command` printed, errors too; an exit status other than 0 is an error with all of it.
pub(crate) fn whole_output(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    if !output.status.success() {
        bail!("{} failed ({}):\n{printed}", shown(command), output.status);
    }
    Ok(printed.into_owned())
}

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

/// The first line that a program prints into a pipe. It is read no further.
pub(crate) fn first_line(program: &mut Child) -> anyhow::Result<String> {
    let mut line = String::new();
    if let Some(output) = program.stdout.take() {
        BufReader::new(output).read_line(&mut line).context("cannot read what a program says")?;
    }
    Ok(line.trim().to_owned())
}

/// Whether `program` is installed and runs.
pub(crate) fn answers(program: impl AsRef<OsStr>, argument: &str) -> bool {
    let quiet = Command::new(program).arg(argument).stdin(Stdio::null()).output();
    quiet.is_ok_and(|output| output.status.success())
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(cache::repository());
    command
}

/// The program of a package, which cargo installs in a folder of its own if it is missing. `purpose` says what it does.
pub(crate) fn installed(package: &str, version: &str, purpose: &str, features: &[&str]) -> anyhow::Result<PathBuf> {
    let folder = cache::folder(package)?;
    let place = folder.join(version);
    let program = place.join("bin").join(package);
    let _lock = cache::Lock::of(&folder, package)?;
    if !answers(&program, "--version") {
        eprintln!("installing {package} {version}, once, which {purpose}; this takes a few minutes");
        let mut install = cargo();
        // It is built faster than the time that optimising it would save, and in a folder of its own, which goes with it.
        install.args(["install", package, "--version", version, "--locked", "--debug", "--quiet"]).args(features);
        output(install.arg("--root").arg(&place).env_remove("CARGO_TARGET_DIR"))
            .with_context(|| format!("cannot install {package}"))?;
    }
    Ok(program)
}

/// Texts by which a known failure of a program is recognized, and what to do about it.
const FAILURES: &[(&[&str], &str)] = &[
    (&["No space left on device", "Disk quota exceeded"], "the disk is full: free some space, and try again"),
    (&["Retrying (Retry("], "no package index can be reached: check the network, or PIP_INDEX_URL, and try again"),
    (
        &["failed to download from", "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT"],
        "the package registry cannot be reached: check the network, and try again",
    ),
    (
        &["No matching distribution found"],
        "the package index has no build of it for this machine: Linux with glibc and macOS from 13, on x86-64 and arm64, \
         have one",
    ),
    (
        &["DO NOT MATCH THE HASHES", "SHA-256 differs"],
        "the package index has other files than expected: use another one with PIP_INDEX_URL, and try again",
    ),
    (&["Could not get lock"], "another apt-get is running: wait until it has ended, and try again"),
    (
        &["Unable to locate package", "has no installation candidate", "Failed to fetch", "Unable to fetch"],
        "the package sources of apt-get cannot be reached, or do not have it: check them, or install it in another way",
    ),
];

/// Why `command` failed: what to do where its output tells a known reason, else the last lines of its output.
pub(crate) fn failure(command: &str, status: ExitStatus, said: &str) -> anyhow::Error {
    let known = FAILURES.iter().find(|(texts, _)| texts.iter().any(|text| said.contains(text)));
    match known {
        Some((_, reason)) => anyhow!("{reason}"),
        None => anyhow!("{command} failed ({status}):\n{}", last_lines(said, 20)),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(script: &str) -> String {
        output(Command::new("sh").args(["-c", script])).unwrap_err().to_string()
    }

    #[test]
    fn a_known_failure_says_in_one_sentence_what_to_do() {
        let error = fails("echo 'ERROR: [Errno 28] No space left on device' >&2; echo more >&2; exit 1");
        assert_eq!(error, "the disk is full: free some space, and try again");
    }

    #[test]
    fn the_whole_output_is_given_whether_the_command_succeeds_or_not() {
        let script = |script| whole_output(Command::new("sh").args(["-c", script]));
        assert_eq!(script("echo one; echo two >&2").unwrap(), "one\ntwo\n");
        let error = script("echo one; echo two >&2; exit 3").unwrap_err().to_string();
        assert!(error.ends_with("failed (exit status: 3):\none\ntwo\n"), "{error}");
    }

    #[test]
    fn an_unknown_failure_has_the_command_and_its_last_lines() {
        let error = fails("seq 30 >&2; exit 3");
        assert!(error.starts_with("`sh -c seq 30 >&2; exit 3` failed (exit status: 3):\n11\n12"), "{error}");
    }
}
