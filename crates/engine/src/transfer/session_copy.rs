//! Copying existing entries into a new session, for forks and imports.
//!
//! A long copy takes several appends. Until the last one the session expires after a minute, so that an interrupted copy does
//! not stay for long. A repeat continues where the first try stopped: equal tags mean that all entries before are equal.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Hash, Head},
    id::SessionId,
    state::State,
};
use callboard_store::{Append, Row};

use crate::{
    append_surely::append_surely,
    board::Board,
    error::Error,
    journal::{self, follows, journal_kind},
    transfer::create::{check_id, exists},
    upkeep::expiry,
};

/// The time to live in seconds of an incomplete copy.
const UNFINISHED_SECONDS: i64 = 60;

/// A session that is being copied.
pub(crate) struct SessionCopy<'a> {
    board: &'a Board,
    id: &'a SessionId,
    /// The state after all its entries.
    state: &'a State,
    /// The last entry that was copied.
    pub(crate) head: Head,
    /// Whether an earlier try may have begun the copy.
    is_repeat: bool,
    /// Whether this try has appended something.
    has_grown: bool,
}

impl<'a> SessionCopy<'a> {
    /// Begins to copy into the session `id`, up to the head of `state`. With `is_repeat` it continues an earlier try.
    pub(crate) async fn begin(
        board: &'a Board,
        id: &'a SessionId,
        state: &'a State,
        is_repeat: bool,
    ) -> Result<Self, Error> {
        check_id(id, state.session.kind)?;
        let mut copy = Self { board, id, state, head: Head::default(), is_repeat, has_grown: false };
        if is_repeat && let Some(row) = board.store().row(id).await? {
            copy.head = copy.found(row).await?;
        }
        Ok(copy)
    }

    /// How far an earlier try came that left `row`. A complete copy may have got more entries since.
    async fn found(&self, row: Row) -> Result<Head, Error> {
        let end = self.state.head;
        let is_unfinished =
            row.expires_at.is_some_and(|expires_at| expires_at <= row.last_activity.plus_seconds(UNFINISHED_SECONDS));
        if row.head.seq < end.seq && is_unfinished {
            return Ok(row.head);
        }
        let last = journal::entry(&**self.board.store(), self.id, end.seq).await?;
        if last.is_some_and(|last| last.head() == end) { Ok(end) } else { Err(self.is_in_use()) }
    }

    /// Whether all entries are copied.
    pub(crate) fn is_whole(&self) -> bool {
        self.head == self.state.head
    }

    /// Appends the next entries that are missing, with their long texts.
    pub(crate) async fn append(&mut self, entries: Vec<Entry>, values: Vec<(Hash, Arc<str>)>) -> Result<(), Error> {
        let entries: Vec<_> = entries.into_iter().filter(|entry| entry.header.seq > self.head.seq).collect();
        let (Some(first), Some(last)) = (entries.first(), entries.last().map(Entry::head)) else { return Ok(()) };
        if self.is_repeat && !self.has_grown && !follows(self.head, first) {
            return Err(self.is_in_use());
        }
        match self.append_new(entries, values, last).await {
            Ok(()) => {
                (self.head, self.has_grown) = (last, true);
                Ok(())
            }
            // Another process makes the same copy at this moment.
            Err(error) if error.is_conflict() && (self.is_repeat || self.has_grown) => {
                Err(Error::Busy { session: self.id.clone() })
            }
            Err(error) if error.is_conflict() => Err(self.is_in_use()),
            Err(error) => Err(error),
        }
    }

    /// Ends the copy, and says whether this try appended something. If it failed, it deletes that, unless another process continues
    /// the copy.
    pub(crate) async fn finish(self, copied: Result<(), Error>) -> Result<bool, Error> {
        if self.has_grown && copied.as_ref().is_err_and(|error| !matches!(error, Error::Busy { .. })) {
            // Nobody uses the session yet. If deleting fails too, it expires soon.
            let _ = self.board.store().delete(self.id).await;
        }
        copied.map(|()| self.has_grown)
    }

    async fn append_new(&self, entries: Vec<Entry>, values: Vec<(Hash, Arc<str>)>, last: Head) -> Result<(), Error> {
        let now = expiry::now(&**self.board.store(), &*self.board.settings().clock).await?;
        let expires_at = match last == self.state.head {
            true => expiry::lives_until(self.state, now),
            false => Some(now.plus_seconds(UNFINISHED_SECONDS)),
        };
        let append = Append::of(self.id.clone(), journal_kind(self.state), self.head, entries);
        append_surely(&**self.board.store(), Append { values, expires_at, ..append }).await
    }

    fn is_in_use(&self) -> Error {
        exists(Some(self.id.clone()))
    }
}
