//! Progress of long operations: one changing line on a terminal, else a line now and then.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const QUIET: Duration = Duration::from_secs(30);

/// The progress of one operation. Dropping it ends the line.
pub(crate) struct Progress {
    what: String,
    started: Instant,
    terminal: bool,
    told: Option<(u64, Instant)>,
}

impl Progress {
    /// Begins to show the progress of `what`.
    pub(crate) fn of(what: impl Into<String>) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { what: what.into(), started: Instant::now(), terminal, told: None }
    }

    /// `done` of `all` are done, for instance "downloaded".
    pub(crate) fn step(&mut self, doing: &str, done: u64, all: u64) {
        let percent = done.saturating_mul(100) / all.max(1);
        let told = self.told.is_some_and(|(tenth, at)| tenth == percent / 10 && at.elapsed() < QUIET);
        self.tell(told, percent / 10, &format!("{doing} {percent} % ({done} of {all})"));
    }

    /// It continues, with unknown progress.
    pub(crate) fn wait(&mut self, doing: &str) {
        let told = self.told.is_some_and(|(_, at)| at.elapsed() < QUIET);
        self.tell(told, 0, doing);
    }

    fn tell(&mut self, told: bool, tenth: u64, state: &str) {
        let line = format!("{}: {state}, {}", self.what, elapsed(self.started.elapsed()));
        if self.terminal {
            eprint!("\r\x1b[2K{line}");
            // If the line cannot be shown, the operation continues.
            let _ = std::io::stderr().flush();
        } else if !told {
            eprintln!("{line}");
        }
        if !told {
            self.told = Some((tenth, Instant::now()));
        }
    }

    /// It is done; writes a short last line.
    pub(crate) fn done(mut self) {
        self.told = None;
        self.tell(false, 0, "done");
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.terminal && self.told.is_some() {
            eprintln!();
        }
    }
}

fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 { format!("{seconds} s") } else { format!("{} min {} s", seconds / 60, seconds % 60) }
}
