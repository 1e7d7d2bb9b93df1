//! Why the engine did not do what it was asked.

use std::{path::PathBuf, sync::Arc};

use callboard_core::{
    error::{ConflictKind, Error as Refusal},
    id::{Seq, SessionId},
    time::Timestamp,
};

/// Why the engine did not do what it was asked. Unless it says otherwise, nothing has changed.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// The rules refuse it.
    #[error(transparent)]
    Refused(#[from] callboard_core::error::Error),
    /// There is no such session: it was never made, was deleted, or has expired.
    #[error("there is no session {session}")]
    NoSession {
        /// Its name.
        session: SessionId,
    },
    /// The session expired, at most thirty days ago.
    #[error("the session {session} expired at {at}")]
    Expired {
        /// Its name.
        session: SessionId,
        /// When.
        at: Timestamp,
    },
    /// An expired session could not be archived, so it stays.
    #[error("it cannot be archived in {}: {problem}", folder.display())]
    Archive {
        /// The folder of the archive.
        folder: PathBuf,
        /// Why not.
        problem: String,
    },
    /// The caller's view of the session is out of date.
    #[error("the head is {head}, not {expected}: read on from there and try again")]
    Stale {
        /// What the caller took for the head.
        expected: Seq,
        /// The head.
        head: Seq,
    },
    /// Others changed the session again and again while this was tried.
    #[error("others keep changing the session {session}: try again")]
    Busy {
        /// The session.
        session: SessionId,
    },
    /// The store failed. Nothing has changed.
    #[error("{source}")]
    Store {
        /// What the store said.
        source: Arc<callboard_store::Error>,
    },
    /// The store failed, and then failed to say whether the change had been made: it was made whole, or not at all.
    #[error("{source}, and does not say whether it did: look into the session {session} before you try again")]
    Unsettled {
        /// The session.
        session: SessionId,
        /// What the store said first.
        source: Arc<callboard_store::Error>,
    },
    /// The clocks of this node and of the store tell different times. Nothing has changed.
    #[error(
        "the clock of this node shows {node}, and that of the store {store}: set both by NTP; nothing is written until \
         they agree to a minute"
    )]
    ClockOff {
        /// What this node's clock shows.
        node: Timestamp,
        /// What the store's shows.
        store: Timestamp,
    },
    /// The engine is shutting down.
    #[error("the board is closed")]
    Closed,
}

impl Error {
    /// The stable word for the kind of error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Refused(error) => error.code(),
            Self::NoSession { .. } => "not_found",
            Self::Expired { .. } => "expired",
            Self::Archive { .. } => "io",
            Self::Stale { .. } => "stale",
            Self::Busy { .. } => "busy",
            Self::Store { source } => match &**source {
                callboard_store::Error::WrittenByNewer { .. } => "written_by_newer",
                callboard_store::Error::Full { .. } => "store_full",
                callboard_store::Error::Damaged { .. } => "store_damaged",
                _ => "store_failed",
            },
            Self::Unsettled { .. } => "store_unsettled",
            Self::ClockOff { .. } => "clock_off",
            Self::Closed => "closed",
        }
    }

    /// Something in the store is damaged.
    pub(crate) fn damaged(what: impl Into<String>, detail: impl ToString) -> Self {
        callboard_store::Error::Damaged { what: what.into(), detail: detail.to_string() }.into()
    }

    /// Whether it is this conflict with what is there.
    pub fn is(&self, conflict: ConflictKind) -> bool {
        matches!(self, Self::Refused(Refusal::Conflict { kind, .. }) if *kind == conflict)
    }

    /// Whether it is that secrets cannot be sealed or opened now.
    pub fn is_sealed(&self) -> bool {
        matches!(self, Self::Refused(Refusal::Sealed { .. }))
    }

    /// Whether somebody else was faster: where a session is made, that there is one of its name.
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Store { source } if matches!(**source, callboard_store::Error::Conflict { .. }))
    }
}

impl From<callboard_store::Error> for Error {
    fn from(error: callboard_store::Error) -> Self {
        Self::Store { source: Arc::new(error) }
    }
}

impl From<callboard_recall::Error> for Error {
    fn from(error: callboard_recall::Error) -> Self {
        Self::damaged("the index of recall", error)
    }
}
