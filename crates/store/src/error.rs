//! What can go wrong, in words.

use std::sync::Arc;

use callboard_core::id::Seq;

use crate::Row;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The journal does not end where the batch expected it to.
    #[error("the journal has moved on: its head is {}", found.map_or(Seq::ZERO, |row| row.head.seq))]
    Conflict {
        /// What is there instead; `None` where there is no such session.
        found: Option<Row>,
    },
    /// A key of the batch was claimed before.
    #[error("the key {key:?} was claimed by entry {seq}")]
    KeyTaken {
        /// The key.
        key: Arc<str>,
        /// The entry that claimed it: one of the journal, or an earlier one of the same batch.
        seq: Seq,
    },
    /// A batch is empty or not numbered on from its expected head: a mistake of whoever made it.
    #[error("a batch on top of entry {expected} must go on with entry {}, not with {}", expected.next(), NumberOrNothing(*found))]
    Misnumbered {
        /// The number of the expected head.
        expected: Seq,
        /// The first number that is wrong; `None` where there is no entry at all.
        found: Option<Seq>,
    },
    /// What was asked for is no store, or none that can be used.
    #[error("cannot open {what}: {why}")]
    CannotOpen {
        /// What was to be opened.
        what: String,
        /// What is wrong with it, and what would do.
        why: String,
        /// What the system said, where it said something.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The data was written by a newer version of this program.
    #[error("{what} has format {found}, and this version reads up to {known}: use the newer version that wrote it")]
    WrittenByNewer {
        /// What was opened.
        what: String,
        /// Its format.
        found: i64,
        /// The newest format that is known here.
        known: i64,
    },
    /// There is no room for what was to be written. Nothing of it was.
    #[error("no space left while {doing}: free some, then try again; nothing was written")]
    Full {
        /// What was being done.
        doing: &'static str,
    },
    /// What the store gave back is not what was written.
    #[error("{what} is damaged: {detail}; run `callboard doctor`")]
    Damaged {
        /// What is damaged.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The store could not do it now. Whether it was done is unknown for an append, which can be asked about by its
    /// head.
    #[error("the store failed while {doing}")]
    Failed {
        /// What was being done.
        doing: &'static str,
        /// What the store said.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// A stable name of this kind of error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Conflict { .. } => "conflict",
            Self::KeyTaken { .. } => "key_taken",
            Self::Misnumbered { .. } => "misnumbered",
            Self::CannotOpen { .. } => "store_cannot_open",
            Self::WrittenByNewer { .. } => "written_by_newer",
            Self::Full { .. } => "store_full",
            Self::Damaged { .. } => "store_damaged",
            Self::Failed { .. } => "store_failed",
        }
    }

    pub(crate) fn failed(doing: &'static str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed { doing, source: source.into() }
    }

    pub(crate) fn cannot_open(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::CannotOpen { what: what.into(), why: why.into(), source: None }
    }

    pub(crate) fn damaged(what: impl Into<String>, detail: impl ToString) -> Self {
        Self::Damaged { what: what.into(), detail: detail.to_string() }
    }
}

/// The words for what stands where another number was expected.
struct NumberOrNothing(Option<Seq>);

impl std::fmt::Display for NumberOrNothing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(seq) => seq.fmt(f),
            None => f.write_str("nothing"),
        }
    }
}
