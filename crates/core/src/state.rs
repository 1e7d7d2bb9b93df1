//! The state of a session: what is true now, folded from its journal.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    agent::Team,
    context_set::ContextSets,
    conversation::Threads,
    entry::{Entry, Head},
    error::Error,
    fact,
    run::Runs,
    session::Session,
    time::Timestamp,
    token::Tokens,
};

/// What is true of a session at its head. It holds no messages, and long texts by their hashes only: it stays small
/// however long the journal gets, and cloning it is cheap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Where the journal ends that this was folded from.
    pub head: Head,
    /// When the last entry was decided.
    pub last_at: Timestamp,
    /// The session itself. Before the first entry, the settings of no session.
    pub session: Arc<Session>,
    /// Its agents.
    pub team: Arc<Team>,
    /// Its context sets.
    pub sets: ContextSets,
    /// Its threads.
    pub threads: Threads,
    /// Its runs.
    pub runs: Runs,
    /// Its tokens.
    #[serde(default)]
    pub tokens: Tokens,
}

impl State {
    /// Takes in the next entry of the journal. Refused where it is not the next one, is newer than this program or
    /// damaged; the state is then as it was.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), Error> {
        let seq = entry.header.seq;
        if seq != self.head.seq.next() {
            let detail = format!("it follows on entry {}", self.head.seq);
            return Err(Error::Damaged { seq, kind: entry.header.kind.to_string(), detail });
        }
        fact::apply(self, entry)?;
        self.head = entry.head();
        self.last_at = entry.header.at;
        Ok(())
    }

    /// The state that `entries` fold to, from the first one of a journal on.
    pub fn fold<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Self, Error> {
        let mut state = Self::default();
        entries.into_iter().try_for_each(|entry| state.apply(entry))?;
        Ok(state)
    }
}
