//! Imports: creating a session from the lines of an [`export`](crate::Export).

use std::{
    collections::BTreeSet,
    io::{BufRead, Seek, SeekFrom},
    sync::Arc,
};

use callboard_core::{
    entry::{Entry, Hash, Head, line},
    error::{ConflictKind, Error as Refusal},
    id::SessionId,
    rewriting::ErasureCheck,
    session::SessionKind,
    state::State,
};
use tokio::sync::mpsc;

use crate::{
    asker::end_copied_turns,
    blocking::off_runtime,
    board::Board,
    error::Error,
    export::{AT_ONCE, Line, VERSION},
    journal::follows,
    session::Session,
    texts::long_texts,
    transfer::session_copy::SessionCopy,
};

impl Board {
    /// Creates a session from an export, under its own id or another one. The whole export is checked before anything is
    /// appended. A failed import leaves nothing, and an interrupted one nothing for long: with `again` one that was begun is
    /// continued, and a complete one is returned as it is, whatever was added to it since.
    pub async fn import<R>(&self, export: R, id: Option<SessionId>, again: bool) -> Result<Session, Error>
    where
        R: BufRead + Seek + Send + 'static,
    {
        self.import_to(export, id, SessionKind::Session, again).await
    }

    /// Imports an export of this kind.
    pub(crate) async fn import_to<R>(
        &self,
        mut export: R,
        id: Option<SessionId>,
        kind: SessionKind,
        again: bool,
    ) -> Result<Session, Error>
    where
        R: BufRead + Seek + Send + 'static,
    {
        let ((exported, state), export) = off_runtime(move || Ok::<_, Error>((check(&mut export)?, export))).await??;
        if state.session.kind != kind {
            return Err(Refusal::invalid("", other_kind(kind)).into());
        }
        let id = id.unwrap_or(exported);
        let is_new = self.make(&id, &state, export, again).await.map_err(elsewhere)?;
        let session = self.open(&id).await?;
        // What was there before may be the session that was exported.
        if is_new {
            end_copied_turns(&session, &state).await;
        }
        Ok(session)
    }

    /// Copies what is missing, and says whether anything was.
    async fn make<R>(&self, id: &SessionId, state: &State, export: R, again: bool) -> Result<bool, Error>
    where
        R: BufRead + Send + 'static,
    {
        let mut copy = SessionCopy::begin(self, id, state, again).await?;
        if copy.is_whole() {
            return Ok(false);
        }
        let appended = append_all(&mut copy, export).await;
        copy.finish(appended).await
    }
}

async fn append_all(copy: &mut SessionCopy<'_>, export: impl BufRead + Send + 'static) -> Result<(), Error> {
    let (batches, mut read) = mpsc::channel(2);
    let reading = tokio::task::spawn_blocking(move || read_batches(export, &batches));
    while let Some(Batch { entries, values }) = read.recv().await {
        copy.append(entries, values).await?;
    }
    reading.await.map_err(|_| Error::Closed)?
}

/// What is wrong with an export that is not of this kind.
fn other_kind(kind: SessionKind) -> &'static str {
    match kind {
        SessionKind::Session => "it is the export of a collection: import it as a collection",
        SessionKind::Collection => "it is the export of a session: import it as a session",
    }
}

/// Adds advice to the error that the id of an import is in use.
fn elsewhere(error: Error) -> Error {
    match error {
        Error::Refused(Refusal::Conflict { kind: kind @ ConflictKind::SessionExists, what, .. }) => {
            Refusal::Conflict { kind, what, hint: "import it under another id, or delete that one first" }.into()
        }
        error => error,
    }
}

/// Entries with the long texts that came before them.
#[derive(Default)]
struct Batch {
    entries: Vec<Entry>,
    values: Vec<(Hash, Arc<str>)>,
}

/// Checks a whole export, and says of what session in what state it is.
fn check(export: &mut (impl BufRead + Seek)) -> Result<(SessionId, State), Error> {
    let mut import = Import::default();
    for line in export.by_ref().lines() {
        import.read(&line.map_err(|error| import.unreadable(&error))?)?;
        import.batch = Batch::default();
    }
    export.seek(SeekFrom::Start(0)).map_err(|error| import.unreadable(&error))?;
    import.finish()
}

fn read_batches(export: impl BufRead, batches: &mpsc::Sender<Batch>) -> Result<(), Error> {
    let mut import = Import::default();
    for line in export.lines() {
        import.read(&line.map_err(|error| import.unreadable(&error))?)?;
        let full = import.batch.entries.len() >= AT_ONCE || import.ended;
        if full && batches.blocking_send(std::mem::take(&mut import.batch)).is_err() {
            // The receiver has failed, and reports the error.
            return Ok(());
        }
    }
    Ok(())
}

/// The part of an export that was read, folded to a state.
#[derive(Default)]
struct Import {
    line: usize,
    id: Option<SessionId>,
    state: State,
    erasures: ErasureCheck,
    texts: BTreeSet<Hash>,
    ended: bool,
    batch: Batch,
}

impl Import {
    /// Reads the next line. Blank lines are skipped.
    fn read(&mut self, line: &str) -> Result<(), Error> {
        self.line += 1;
        if line.trim().is_empty() {
            return Ok(());
        }
        if self.ended {
            return Err(self.wrong("the export has ended before this line"));
        }
        let bad = |error: serde_json::Error| self.wrong(&format!("it is no line of an export: {error}"));
        let is_entry = line.trim_start().starts_with("{\"seq\"");
        if is_entry && self.id.is_some() {
            let entry = line::read(line).map_err(bad)?;
            return self.take(entry);
        }
        match (serde_json::from_str(line).map_err(bad)?, &self.id) {
            (Line::Callboard { export: VERSION, session, .. }, None) => self.id = Some(session),
            (Line::Callboard { export, .. }, None) => {
                return Err(self.wrong(&format!("this version reads exports of version {VERSION}, not {export}")));
            }
            (_, None) => return Err(self.wrong("an export begins with a line that says so")),
            (Line::Callboard { .. }, Some(_)) => return Err(self.wrong("another export begins here")),
            (Line::Text { sha256, text }, _) => self.take_text(sha256, text)?,
            (Line::End { seq, tag }, _) if self.state.head == (Head { seq, tag }) => self.ended = true,
            (Line::End { .. }, _) => return Err(self.wrong("entries are missing before it")),
        }
        Ok(())
    }

    fn take_text(&mut self, sha256: Hash, text: Option<Arc<str>>) -> Result<(), Error> {
        if let Some(text) = text {
            if Hash::of(text.as_bytes()) != sha256 {
                return Err(self.wrong("the text is not the one that was exported"));
            }
            self.batch.values.push((sha256, text));
        }
        self.texts.insert(sha256);
        Ok(())
    }

    fn take(&mut self, entry: Entry) -> Result<(), Error> {
        if !follows(self.state.head, &entry) {
            return Err(self.wrong("the entry was changed, or does not follow on the one before"));
        }
        if long_texts(&entry).iter().any(|hash| !self.texts.contains(hash)) {
            return Err(self.wrong("a long text of the entry is missing"));
        }
        self.erasures.take(&entry).map_err(|error| self.wrong(&error.to_string()))?;
        self.state.apply(&entry).map_err(|error| self.wrong(&error.to_string()))?;
        self.batch.entries.push(entry);
        Ok(())
    }

    /// The id and the state, if the export is complete.
    fn finish(self) -> Result<(SessionId, State), Error> {
        match (&self.id, self.ended && self.state.session.id.is_some()) {
            (Some(id), true) => Ok((id.clone(), self.state)),
            _ => Err(self.wrong("the export is cut: its last line is missing")),
        }
    }

    fn wrong(&self, problem: &str) -> Error {
        Refusal::invalid("", format!("line {}: {problem}; nothing was imported", self.line)).into()
    }

    fn unreadable(&self, error: &std::io::Error) -> Error {
        Refusal::invalid("", format!("line {}: {error}; nothing was imported", self.line + 1)).into()
    }
}
