//! The demo: a team works with a real model, is killed in the middle and goes on, and one sees who was shown what.

mod callboard;
mod follow;
mod model;
mod shown;

use std::ffi::OsStr;
use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

use self::callboard::{Callboard, SESSION};
use self::follow::Follower;
use self::model::Model;
use self::shown::{LEGEND, Shown};
use crate::{binary, cache, command};

const TEAM: &str = "examples/party/TEAM.toml";
/// What a prompt may have in that file, for the small model, and with any other one: each byte of a prompt counts as a token
/// where the name of the model is not known.
const BUDGETS: (&str, &str) = ("\nbudget = 2000\n", "\nbudget = 6000\n");
/// In whose turn the process is killed.
const KILLED_WITH: &str = "planner";
/// How long that turn has been going on then.
const INTO_THE_TURN: Duration = Duration::from_millis(1500);
/// The agent that must not learn a set, a word of that set, and the agent whose answer is the result.
const KEPT_FROM: (&str, &str, &str) = ("ada", "Surprise", "boathouse");
const RESULT_OF: &str = "writer";
/// Who says a fact early, and the question that finds it again when it is compressed away.
const EARLY: (&str, &str) = ("ada", "Which cake, music and game does Ada love?");
/// The fewest tokens that a thread is compressed to, and a text with more that is said in the thread with that fact.
const COMPRESSED_TO: &str = "500";
const LONG_TEXT: &str = "docs/compression.md";
/// Where `callboard serve` shows the page.
const PAGE: &str = "http://127.0.0.1:7420/";
/// What the demo works with.
struct Demo {
    callboard: Callboard,
    model: Model,
    team: PathBuf,
}

/// Finds or downloads a model, builds the binary if there is none, and shows the team at work. With `arguments`, runs
/// `callboard run` with them on the demo's store.
pub(crate) fn demo(arguments: &[String]) -> anyhow::Result<ExitCode> {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => arguments,
    };
    // First what may be missing: it is known at once, and building the binary takes minutes.
    let mut model = Model::find()?;
    let path = binary::bring()?;
    let folder = binary::target().join("demo");
    if arguments.is_empty() {
        // What the last demo left is no part of this one. It may not be there.
        let _ = fs::remove_dir_all(&folder);
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let store = format!("sqlite:{}", folder.join("demo.db").display());
    model.start()?;
    let team = team(&model, &folder)?;
    let demo = Demo { callboard: Callboard { path, store }, model, team };
    if !arguments.is_empty() {
        let status = command::status(&mut demo.run(arguments))?;
        return Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from));
    }
    let began = Instant::now();
    let (follower, killed_in) = demo.run_and_kill()?;
    let is_complete = demo.go_on(killed_in)?;
    if let Some(follower) = follower {
        let head = demo.callboard.json(&["session", "show"])?.get("head").and_then(Value::as_u64);
        follower.end(head.unwrap_or_default())?;
    }
    let shown = Shown::read(&demo.callboard)?;
    shown.table();
    shown.kept(KEPT_FROM)?;
    shown.killed(killed_in);
    shown.result(RESULT_OF);
    demo.find_again(&shown)?;
    demo.took(began.elapsed())?;
    demo.suggest(shown.last_turn());
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Demo {
    fn run<S: AsRef<OsStr>>(&self, words: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.callboard.command(["run"]);
        command.args(words).envs(self.model.environment.clone());
        command
    }

    /// Runs the team until one agent is in the middle of its turn, and kills the process. Who follows the session, and
    /// the number of that turn; nothing where the run ended before.
    fn run_and_kill(&self) -> anyhow::Result<(Option<Follower>, Option<u64>)> {
        println!("\nA team plans a surprise party for Ada. Ada is one of its agents, and must not learn of it.");
        println!("After each turn you see how full its prompt was ({LEGEND}),\nand who was shown which set.\n");
        let mut run = self.run([self.team.as_os_str(), OsStr::new("--id"), OsStr::new(SESSION)]);
        let mut run = run.args(unattended()).spawn().context("cannot start callboard")?;
        let Some(follower) = Follower::start(&self.callboard, &mut run)? else { return Ok((None, None)) };
        let Some(turn) = follower.turn_of(KILLED_WITH, &mut run)? else { return Ok((Some(follower), None)) };
        std::thread::sleep(INTO_THE_TURN);
        if run.try_wait()?.is_some() {
            return Ok((Some(follower), None));
        }
        run.kill().context("cannot kill the run")?;
        run.wait()?;
        println!("\n\n──── kill -9: the process is gone, in the middle of turn {turn}. Another one goes on: ────\n");
        Ok((Some(follower), Some(turn)))
    }

    /// Goes on until the run has ended. A question that nobody answered is answered automatically. Whether the run is
    /// complete.
    fn go_on(&self, killed: Option<u64>) -> anyhow::Result<bool> {
        let status = || -> anyhow::Result<String> {
            let run = self.callboard.json(&["runs", "show"])?;
            Ok(run.get("status").and_then(Value::as_str).unwrap_or_default().to_owned())
        };
        if killed.is_some() {
            command::status(self.run(["--session", SESSION]).args(unattended()))?;
        }
        if status()? == "awaiting_user" {
            println!("\nNobody answers: the form is answered automatically.\n");
            command::status(&mut self.run(["--session", SESSION, "--yes"]))?;
        }
        Ok(status()? == "completed")
    }

    /// Compresses away what an agent said early, and finds it again.
    fn find_again(&self, shown: &Shown) -> anyhow::Result<()> {
        let (agent, question) = EARLY;
        let Some(said) = shown.first_words(agent) else { return Ok(()) };
        let thread = format!("agent:{agent}");
        println!("\nWhat {agent} said early is compressed away, and found again:");
        self.show(&["say", "-", "--thread", &thread], Some(LONG_TEXT))?;
        // The newest message stays word for word.
        self.show(&["say", "Thank you.", "--thread", &thread], None)?;
        self.show(&["compress", &thread, "--target", COMPRESSED_TO, "--keep-recent", "1", "--no-model"], None)?;
        self.show(&["recall", question, "--thread", &thread, "--limit", "1"], None)?;
        self.show(&["why", &said], None)
    }

    /// Prints a command, and what it prints where its standard input is this file. The demo ends where it fails.
    fn show(&self, words: &[&str], input: Option<&str>) -> anyhow::Result<()> {
        let line: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        let from = input.map(|path| format!(" < {path}")).unwrap_or_default();
        println!("\n  $ callboard {}{from}", line.join(" "));
        let input = match input {
            Some(path) => {
                let file = fs::File::open(cache::repository().join(path));
                Stdio::from(file.with_context(|| format!("cannot read {path}"))?)
            }
            None => Stdio::null(),
        };
        let mut command = self.callboard.command(words.iter().copied());
        command::run(command.args(["--session", SESSION]).stdin(input))
    }

    /// Prints how much time, tokens and entries it took.
    fn took(&self, time: Duration) -> anyhow::Result<()> {
        let session = self.callboard.json(&["session", "show"])?;
        let number = |pointer: &str| session.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
        println!(
            "\nThis took {} seconds, {} tokens ({} of prompts, {} of answers) and {} entries of the journal.",
            time.as_secs(),
            number("/usage/total_tokens"),
            number("/usage/prompt_tokens"),
            number("/usage/completion_tokens"),
            number("/entries"),
        );
        Ok(())
    }

    /// Prints commands that can be pasted.
    fn suggest(&self, last_turn: Option<u64>) {
        let callboard = quoted(&self.callboard.path.display().to_string());
        let store = quoted(&self.callboard.store);
        let (_, _, word) = KEPT_FROM;
        let line = |command: &str, why: &str| {
            println!("  {callboard} {command} --session {SESSION} --store {store}\n      {why}")
        };
        println!("\nLook closer. These commands can be pasted anywhere:\n");
        line(&format!("why {word}"), "where a text came from, and which agents were shown it");
        line("prompt ada", "what an agent would be shown now");
        if let Some(turn) = last_turn {
            line(&format!("turns show {turn} --prompt"), "the last request to the model, as it was sent");
        }
        line("session journal", "all that happened, entry by entry");
        println!("  {callboard} serve --store {store}\n      the same on a page, at {PAGE}");
        println!(
            "\nGo on with the same team and the same model ({}), in {}:\n",
            self.name_of_model(),
            cache::repository().display()
        );
        println!(
            "  cargo xtask demo --session {SESSION} \"Have the writer write the invitation once more, as a poem.\""
        );
    }

    fn name_of_model(&self) -> String {
        let named = self.model.environment.iter().find(|(name, _)| *name == "CALLBOARD_MODEL");
        named.map(|(_, model)| model.clone()).or_else(|| std::env::var("CALLBOARD_MODEL").ok()).unwrap_or_default()
    }
}

/// The team file: that of the examples, or one in `folder` with larger prompts.
fn team(model: &Model, folder: &Path) -> anyhow::Result<PathBuf> {
    let path = cache::repository().join(TEAM);
    if model.is_small() {
        return Ok(path);
    }
    let team = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let larger = folder.join("TEAM.toml");
    let (small, large) = BUDGETS;
    fs::write(&larger, team.replace(small, large)).with_context(|| format!("cannot write {}", larger.display()))?;
    Ok(larger)
}

/// What lets a run answer its own questions where nobody is there to type.
fn unattended() -> &'static [&'static str] {
    if io::stdin().is_terminal() && io::stderr().is_terminal() { &[] } else { &["--yes"] }
}

/// A word as a shell reads it as one.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:=+@%".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_blank_can_be_pasted() {
        assert_eq!(quoted("/home/ada/callboard"), "/home/ada/callboard");
        assert_eq!(quoted("sqlite:/my folder/it's.db"), "'sqlite:/my folder/it'\\''s.db'");
    }
}
