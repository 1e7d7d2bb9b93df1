//! The errors of stores.

use std::{cmp::Ordering, sync::Arc};

use callboard_core::id::Seq;

use crate::Row;

/// Why a call of a store failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The head of the journal is not the one that the batch expects.
    #[error("the journal has moved on: its head is {}", found.map_or(Seq::ZERO, |row| row.head.seq))]
    Conflict {
        /// The row of the session; `None` if there is no such session.
        found: Option<Row>,
    },
    /// Another entry has claimed a key of the batch.
    #[error("the key {key:?} was claimed by entry {seq}")]
    KeyTaken {
        /// The key.
        key: Arc<str>,
        /// The entry that claimed it: one in the journal, or an earlier one in the same batch.
        seq: Seq,
    },
    /// The batch is empty, or its numbers do not continue its expected head: a mistake of the caller.
    #[error(
        "a batch on top of entry {expected} must go on with entry {}, not with {}",
        expected.next(),
        found.map_or("nothing".to_owned(), |seq| seq.to_string())
    )]
    Misnumbered {
        /// The number of the expected head.
        expected: Seq,
        /// The first wrong number; `None` if the batch has no entry.
        found: Option<Seq>,
    },
    /// The URL names no store, or a store that cannot be used.
    #[error("cannot open {what}: {why}")]
    CannotOpen {
        /// The store.
        what: String,
        /// What is wrong with it, and what to do.
        why: String,
        /// The error of the system, if there was one.
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
    /// The data was written by a newer version of this program.
    #[error("{what} has format {found}, and this version reads {known}: use the newer version that wrote it")]
    WrittenByNewer {
        /// The store.
        what: String,
        /// Its format.
        found: i64,
        /// The format that this version reads.
        known: i64,
    },
    /// There is no space left. Nothing was written.
    #[error("no space left while {doing}: free some, then try again; nothing was written")]
    Full {
        /// The operation.
        doing: &'static str,
    },
    /// Stored data cannot be read back.
    #[error("{what} is damaged: {detail}; run `callboard doctor`")]
    Damaged {
        /// What is damaged.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// The operation failed, and may work later. An append may have been done or not: compare the head.
    #[error("the store failed while {doing}")]
    Failed {
        /// The operation.
        doing: &'static str,
        /// The error of the store.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// The stable name of this error, for programs.
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

    /// Refuses the store `what` unless its format is the one that this version knows.
    pub(crate) fn check_format(what: String, found: i64, known: i64) -> Result<(), Self> {
        match found.cmp(&known) {
            Ordering::Equal => Ok(()),
            Ordering::Greater => Err(Self::WrittenByNewer { what, found, known }),
            Ordering::Less => {
                let why = format!(
                    "an older version made it in format {found}, and this version reads {known}: `callboard export` its \
                     sessions with the version that made it, and import them into another store"
                );
                Err(Self::cannot_open(what, why))
            }
        }
    }

    pub(crate) fn damaged(what: impl Into<String>, detail: impl ToString) -> Self {
        Self::Damaged { what: what.into(), detail: detail.to_string() }
    }
}
