//! Shows a session's entries while waiting for something else.

use std::{future::Future, pin::pin};

use callboard_api as api;
use callboard_engine::core::{
    conversation::Content,
    id::{RunId, Seq},
    run::Status,
    text::{Text, Values},
};
use serde::Deserialize;

use crate::{
    client::{Follow, Followed, OnSession, Retry},
    failure::Failure,
    output::{self, Output, Style},
    signals::Signals,
};

/// Shows what happens in a session as it happens.
pub(super) struct Watch<'a, S> {
    session: &'a OnSession<'a>,
    follow: Follow<'a>,
    signals: &'a Signals,
    /// How many signals were heard so far.
    heard: u32,
    show: S,
    /// The last entry that was shown.
    shown: Seq,
    /// The process that drives the run.
    node: Option<String>,
    /// Whether pieces of answers are shown: at a terminal.
    with_pieces: bool,
    /// The run, and the turn in it, whose answer stands in a line that has no end yet.
    open_line: Option<(RunId, u64)>,
    output: Output,
}

/// What shows entries and pieces of answers.
pub(super) trait Show {
    /// Whether it shows this piece of an answer. One that it does not show ends no line.
    fn shows(&self, _: &api::Delta) -> bool {
        true
    }

    /// Shows a piece of an answer as it comes, at the beginning of a line or behind the piece before.
    fn piece(&mut self, piece: &api::Delta, is_first: bool);

    /// Shows an entry to people. Fails where its data cannot be read.
    fn entry(&mut self, entry: &api::Entry) -> serde_json::Result<()>;
}

/// The driver that an entry names.
#[derive(Deserialize)]
struct Claimed {
    node: String,
}

impl<'a, S: Show> Watch<'a, S> {
    /// Watches everything after the entry `after`.
    pub(super) async fn start(
        session: &'a OnSession<'a>,
        show: S,
        after: Seq,
        signals: &'a Signals,
        output: Output,
    ) -> Result<Self, Failure> {
        let follow = Follow::start(session, Vec::new(), after, output).await?;
        let with_pieces = output::is_terminal() && !output.json;
        let (heard, shown, node, open_line) = (0, after, None, None);
        Ok(Self { session, follow, signals, heard, show, shown, node, with_pieces, open_line, output })
    }

    /// Shows entries until the run waits for the user or a tool, is paused, or has ended; `None` where the user pressed Ctrl-C
    /// before that.
    pub(super) async fn until_it_waits(&mut self, run: &RunId) -> Result<Option<api::Run>, Failure> {
        let (signals, next) = (self.signals, self.heard + 1);
        tokio::select! {
            biased;
            () = signals.sent(next) => {}
            run = self.wait(run) => return run.map(Some),
        }
        self.heard = next;
        Ok(None)
    }

    async fn wait(&mut self, run: &RunId) -> Result<api::Run, Failure> {
        loop {
            let now = self.read(run).await?;
            if now.status != Status::Running {
                self.catch_up().await?;
                return Ok(now);
            }
            loop {
                let item = self.follow.next().await?;
                if self.take(item) {
                    break;
                }
            }
        }
    }

    /// Reads the run, retrying while the server is gone.
    async fn read(&self, run: &RunId) -> Result<api::Run, Failure> {
        let mut retry = Retry::new(self.output);
        loop {
            match self.session.get(&["runs", run.as_str()]).answer::<api::Run>().await {
                Ok(run) => return Ok(run.it),
                Err(failure) => retry.wait(failure).await?,
            }
        }
    }

    /// Shows what happens until `work` is done; `None` where the user pressed Ctrl-C, and the work was dropped.
    pub(super) async fn until<T>(
        &mut self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Option<T>, Failure> {
        let (mut work, next) = (pin!(work), self.heard + 1);
        loop {
            tokio::select! {
                biased;
                () = self.signals.sent(next) => break,
                done = &mut work => return done.map(Some),
                item = self.follow.next() => {
                    self.take(item?);
                }
            }
        }
        self.heard = next;
        Ok(None)
    }

    /// Shows what has happened so far.
    pub(super) async fn catch_up(&mut self) -> Result<(), Failure> {
        let journal = self.session.get(&["journal"]).query("after", self.shown).answer::<api::JournalPage>().await?.it;
        for entry in journal.entries {
            self.entry(&entry);
        }
        Ok(())
    }

    /// Shows an item. Returns whether the run's status may have changed.
    fn take(&mut self, item: Followed) -> bool {
        match item {
            Followed::Entry(entry) => {
                self.entry(&entry);
                entry.kind.starts_with("run.") || entry.kind.starts_with("turn.")
            }
            Followed::Piece(piece) => {
                if self.with_pieces && self.show.shows(&piece) {
                    let line = Some((piece.run.clone(), piece.turn));
                    let is_first = self.open_line != line;
                    if is_first {
                        self.end_line();
                    }
                    self.show.piece(&piece, is_first);
                    self.open_line = line;
                }
                false
            }
        }
    }

    /// Ends the line of a streamed answer.
    fn end_line(&mut self) {
        if self.open_line.take().is_some() {
            self.output.write("\n");
        }
    }

    /// Shows an entry, once.
    fn entry(&mut self, entry: &api::Entry) {
        if entry.seq <= self.shown {
            return;
        }
        self.shown = entry.seq;
        self.end_line();
        if *entry.kind == *"run.claimed"
            && let Ok(Claimed { node }) = serde_json::from_str(&entry.data)
        {
            let before = self.node.replace(node);
            if before.is_some() && before != self.node {
                self.output.note("another process drives the run now; watching it");
            }
        }
        if self.output.json {
            self.output.json(entry);
        } else if let Err(error) = self.show.entry(entry) {
            self.output.note(format!("cannot show entry {}: {error}", entry.seq));
        }
    }
}

/// A run was paused.
#[derive(Deserialize)]
pub(super) struct Paused {
    #[serde(default)]
    reason: String,
}

impl Paused {
    pub(super) fn show(&self, output: Output) {
        output.line(format!("  {}: {}", output.paint(Style::Bad, "paused"), self.reason));
    }
}

/// What a message says. Where that is long it only begins here, and is read with one of `commands`.
pub(super) fn content(content: &Content, commands: &str) -> String {
    match content {
        Content::Text(said) => text(said, commands),
        // Parts are always inline, so no stored texts are needed.
        Content::Parts(_) => content.in_text(&Values::new()).map_or_else(|_| String::new(), |text| text.to_string()),
    }
}

/// The same of another text.
pub(super) fn text(text: &Text, commands: &str) -> String {
    match text {
        Text::Inline(text) => text.to_string(),
        Text::Stored(stored) => {
            let (beginning, size) = (&stored.beginning, stored.size_bytes);
            format!("{beginning}\n[… {size} bytes in all: read them with {commands}]")
        }
    }
}
