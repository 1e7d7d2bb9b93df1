//! Decisions in the making: what a command is decided with, and the entries that it leads to.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    count::TokenCounter,
    entry::{Actor, Entry, Header},
    error::Error,
    fact::{self, Fact},
    id::{AgentName, MessageId, Seq},
    state::State,
    text::Values,
    time::Timestamp,
};

/// Where a message is.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Receipt {
    /// Its id.
    pub message_id: MessageId,
    /// The entry that added it.
    pub seq: Seq,
}

/// What a command is decided with, besides the state.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Who asks.
    pub by: &'a Actor,
    /// What time it is.
    pub at: Timestamp,
    /// See [`Header::nonce`].
    pub nonce: Option<u32>,
    /// Counts texts for sizes; always in the same vocabulary, `o200k_base`.
    pub count: &'a dyn TokenCounter,
    /// What was looked up after an earlier try.
    pub known: &'a Known,
}

/// Entries that a decision asked for, or that stood in its way.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Entries by their number; `None` where there is no such entry.
    pub entries: BTreeMap<Seq, Option<Entry>>,
    /// Keys that were found taken, and by which of `entries`.
    pub keys: BTreeMap<Arc<str>, Seq>,
}

/// Why there is no decision.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Undecided {
    /// The command is refused.
    #[error(transparent)]
    Refused(#[from] Error),
    /// An entry has to be looked up first: decide again with it in [`Known`].
    #[error("entry {0} has to be looked up first")]
    MissingEntry(Seq),
}

/// A decision in the making: the state as it will be, and what makes it so.
pub(crate) struct DecisionBuilder<'a> {
    pub(crate) state: State,
    /// Who causes what is recorded now: who asks, or the agent whose answer is taken in.
    pub(crate) by: Actor,
    pub(crate) asked: Asked<'a>,
    pub(crate) values: Values,
    pub(crate) entries: Vec<Entry>,
}

impl DecisionBuilder<'_> {
    /// Takes a fact in: it becomes the next entry.
    pub(crate) fn record<F: Fact>(&mut self, fact: F) {
        let draft = fact::draft(&fact, &self.state);
        let entry = Entry::seal(self.state.head, self.asked.at, self.by.clone(), self.asked.nonce, draft);
        fact.apply(&mut self.state, &entry.header);
        self.state.head = entry.head();
        self.state.last_at = self.asked.at;
        self.entries.push(entry);
    }

    /// The number of the next entry.
    pub(crate) fn next_seq(&self) -> Seq {
        self.state.head.seq.next()
    }

    /// The agent that asks, if it is one.
    pub(crate) fn agent(&self) -> Option<&AgentName> {
        match &self.by {
            Actor::Agent(name) => Some(name),
            Actor::User | Actor::System => None,
        }
    }

    /// The entry of this very decision that claims `key`.
    pub(crate) fn claimed_here(&self, key: &str) -> Option<&Entry> {
        let claims = |header: &Header| header.keys.iter().any(|taken| **taken == *key);
        self.entries.iter().find(|entry| claims(&entry.header))
    }

    /// The entry with this number, of this decision or of the journal.
    pub(crate) fn entry(&self, seq: Seq) -> Result<Option<Entry>, Undecided> {
        if let Some(entry) = self.entries.iter().find(|entry| entry.header.seq == seq) {
            return Ok(Some(entry.clone()));
        }
        self.asked.known.entries.get(&seq).cloned().ok_or(Undecided::MissingEntry(seq))
    }
}
