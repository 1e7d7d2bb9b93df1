//! Follows the journal of the demo's session: shows each turn as soon as it is answered, and says who is asked.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;

use super::callboard::{Callboard, SESSION};
use super::shown::SeenSoFar;

const POLL: Duration = Duration::from_millis(200);
/// How long the last turns may take to be shown.
const PATIENCE: Duration = Duration::from_secs(10);

/// A process that follows the journal, and what reads it.
pub(super) struct Follower {
    process: Child,
    reader: Option<JoinHandle<()>>,
    /// The last entry that was read.
    read: Arc<AtomicU64>,
    /// Who is asked, and in which turn of the run.
    asked: Receiver<(String, u64)>,
}

impl Follower {
    /// Begins once the run has made its session. Nothing where the run ends before.
    pub(super) fn start(callboard: &Callboard, run: &mut Child) -> anyhow::Result<Option<Self>> {
        while callboard.json(&["session", "show"]).is_err() {
            if run.try_wait()?.is_some() {
                return Ok(None);
            }
            thread::sleep(POLL);
        }
        let words = ["session", "journal", SESSION, "--follow", "--json", "--after", "0"];
        let mut process = callboard.command(words).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let output = process.stdout.take().context("the journal has no output")?;
        let (read, (sender, asked)) = (Arc::new(AtomicU64::new(0)), mpsc::channel());
        let (callboard, last) = (callboard.clone(), Arc::clone(&read));
        let reader = thread::spawn(move || follow(&callboard, output, &sender, &last));
        Ok(Some(Self { process, reader: Some(reader), read, asked }))
    }

    /// Waits until `agent` is asked. The number of that turn; nothing where the run ends first.
    pub(super) fn turn_of(&self, agent: &str, run: &mut Child) -> anyhow::Result<Option<u64>> {
        loop {
            match self.asked.recv_timeout(POLL) {
                Ok((by, turn)) if by == agent => return Ok(Some(turn)),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if run.try_wait()?.is_none() => {}
                Err(_) => {
                    run.wait()?;
                    return Ok(None);
                }
            }
        }
    }

    /// Ends when all entries up to `head` were read.
    pub(super) fn end(mut self, head: u64) -> anyhow::Result<()> {
        let last = Instant::now() + PATIENCE;
        while self.read.load(Ordering::Relaxed) < head && Instant::now() < last {
            thread::sleep(POLL);
        }
        self.stop()
    }

    fn stop(&mut self) -> anyhow::Result<()> {
        let Some(reader) = self.reader.take() else { return Ok(()) };
        self.process.kill().context("cannot end the process that follows the journal")?;
        self.process.wait()?;
        reader.join().map_err(|_| anyhow::anyhow!("what follows the journal panicked"))
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // Where the demo has failed, that is what is told.
        let _ = self.stop();
    }
}

/// Reads entries until there are no more.
fn follow(callboard: &Callboard, output: ChildStdout, asked: &Sender<(String, u64)>, last: &AtomicU64) {
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let (mut seen, mut requested) = (SeenSoFar::default(), BTreeMap::new());
    for entry in lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok()) {
        let number = |pointer| entry.pointer(pointer).and_then(Value::as_u64);
        let Some(seq) = number("/seq") else { continue };
        let agent = entry.pointer("/data/agent").and_then(Value::as_str).unwrap_or_default();
        match (entry.get("type").and_then(Value::as_str), number("/data/turn")) {
            (Some("turn.requested"), Some(turn)) => {
                requested.insert(turn, seq);
                // Nobody listens any more where the process was killed.
                let _ = asked.send((agent.to_owned(), turn));
            }
            (Some("turn.answered"), Some(turn)) => {
                if let Some(entry) = requested.get(&turn) {
                    // What cannot be read now is in the table at the end.
                    let _ = seen.show(callboard, *entry, turn, agent);
                }
            }
            _ => {}
        }
        last.store(seq, Ordering::Relaxed);
    }
}
