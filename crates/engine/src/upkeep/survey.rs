//! Processing all sessions of a store, several at once.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use callboard_core::{error::Error as Refusal, id::SessionId};
use callboard_store::Store;
use tokio::task::JoinSet;

use crate::error::Error;

/// How many sessions are listed at once.
const PAGE: usize = 256;

/// How many sessions are processed at once.
const AT_ONCE: usize = 16;

/// The result of processing a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// How many sessions are correct; records of keyed requests are counted too.
    pub sessions: u64,
    /// How many entries they have.
    pub entries: u64,
    /// What is wrong with the others.
    pub faults: BTreeMap<SessionId, String>,
}

/// The progress of processing a store. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    sessions: AtomicU64,
    entries: AtomicU64,
}

impl Progress {
    /// How many sessions were processed.
    pub fn sessions(&self) -> u64 {
        self.0.sessions.load(Ordering::Relaxed)
    }

    /// How many entries were read.
    pub fn entries(&self) -> u64 {
        self.0.entries.load(Ordering::Relaxed)
    }

    pub(crate) fn read(&self, entries: usize) {
        self.0.entries.fetch_add(entries as u64, Ordering::Relaxed);
    }
}

/// Why a session could not be checked or copied completely.
#[derive(Debug)]
pub(crate) enum SurveyError {
    /// It was deleted or has expired meanwhile.
    Gone,
    /// Something is wrong with it.
    Wrong(String),
    /// The store failed: processing ends.
    Failed(Error),
}

impl From<callboard_store::Error> for SurveyError {
    fn from(error: callboard_store::Error) -> Self {
        match error {
            callboard_store::Error::Damaged { .. } | callboard_store::Error::KeyTaken { .. } => {
                Self::Wrong(error.to_string())
            }
            error => Self::Failed(error.into()),
        }
    }
}

impl From<Refusal> for SurveyError {
    fn from(error: Refusal) -> Self {
        Self::Wrong(error.to_string())
    }
}

impl From<Error> for SurveyError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(error) => error.into(),
            Error::Store { source } if matches!(*source, callboard_store::Error::Damaged { .. }) => {
                Self::Wrong(source.to_string())
            }
            error => Self::Failed(error),
        }
    }
}

/// Calls `work` for every session of `store`. It returns the number of the session's entries.
pub(crate) async fn survey<W>(
    store: &dyn Store,
    progress: &Progress,
    work: impl Fn(SessionId) -> W,
) -> Result<Survey, Error>
where
    W: Future<Output = Result<u64, SurveyError>> + Send + 'static,
{
    let (mut survey, mut after, mut under_way) = (Survey::default(), None, JoinSet::new());
    loop {
        let page = store.journals(after.as_ref(), PAGE).await?;
        let is_last = page.is_empty();
        after = page.last().map(|(last, _)| last.clone());
        for (id, _) in page {
            if under_way.len() == AT_ONCE {
                survey.next(&mut under_way, progress).await?;
            }
            let done = work(id.clone());
            under_way.spawn(async move { (id, done.await) });
        }
        if is_last {
            break;
        }
    }
    while !under_way.is_empty() {
        survey.next(&mut under_way, progress).await?;
    }
    Ok(survey)
}

impl Survey {
    /// Adds the result of the next finished session.
    async fn next(
        &mut self,
        under_way: &mut JoinSet<(SessionId, Result<u64, SurveyError>)>,
        progress: &Progress,
    ) -> Result<(), Error> {
        let Some(done) = under_way.join_next().await else { return Ok(()) };
        let (id, outcome) = done.map_err(|_| Error::Closed)?;
        progress.0.sessions.fetch_add(1, Ordering::Relaxed);
        match outcome {
            Ok(entries) => (self.sessions, self.entries) = (self.sessions + 1, self.entries + entries),
            Err(SurveyError::Gone) => {}
            Err(SurveyError::Wrong(fault)) => drop(self.faults.insert(id, fault)),
            Err(SurveyError::Failed(error)) => return Err(error),
        }
        Ok(())
    }
}
