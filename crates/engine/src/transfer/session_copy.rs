//! Sessions that are made of entries which are there already: forks and imports.
//!
//! A long one takes several appends. Until the last of them it expires soon by itself, so that what breaks off leaves
//! nothing for long; and who begins again goes on where it stopped, since the tag of an entry speaks for all before it.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Hash, Head},
    id::SessionId,
    state::State,
};
use callboard_store::{Append, Row, Work};

use crate::{
    board::Board,
    error::Error,
    journal::{follows, read},
    live::append::append_surely,
    transfer::create::exists,
    upkeep::expiry,
};

/// How many seconds a session lives of which not all is there yet.
const UNFINISHED_SECONDS: i64 = 60;

/// A session in the making.
pub(crate) struct Making<'a> {
    board: &'a Board,
    id: &'a SessionId,
    /// What it will be.
    state: &'a State,
    /// How far it has come.
    pub(crate) head: Head,
    /// Whether it may have been begun before.
    again: bool,
    /// Whether something was appended here.
    has_grown: bool,
}

impl<'a> Making<'a> {
    /// Begins to make the session `id`, whose entries lead to `state`. Where `again` says that it may have been begun
    /// before, that is gone on with.
    pub(crate) async fn begin(
        board: &'a Board,
        id: &'a SessionId,
        state: &'a State,
        again: bool,
    ) -> Result<Self, Error> {
        let mut making = Self { board, id, state, head: Head::default(), again, has_grown: false };
        if again && let Some(row) = board.store().row(id).await? {
            making.head = making.found(row).await?;
        }
        Ok(making)
    }

    /// How far it had come, where `row` was found under its id. Anything may have been added to what was whole.
    async fn found(&self, row: Row) -> Result<Head, Error> {
        let end = self.state.head;
        let is_unfinished =
            row.expires_at.is_some_and(|expires_at| expires_at <= row.last_activity.plus_seconds(UNFINISHED_SECONDS));
        if row.head.seq < end.seq && is_unfinished {
            return Ok(row.head);
        }
        let last = read(&**self.board.store(), self.id, end.seq.previous(), end.seq, 1).await?;
        if last.first().is_some_and(|last| last.head() == end) { Ok(end) } else { Err(self.is_in_use()) }
    }

    /// Whether all of it is there.
    pub(crate) fn is_whole(&self) -> bool {
        self.head == self.state.head
    }

    /// Appends those of the next entries that are not there yet, with the long texts that they speak of.
    pub(crate) async fn append(&mut self, entries: Vec<Entry>, values: Vec<(Hash, Arc<str>)>) -> Result<(), Error> {
        let entries: Vec<_> = entries.into_iter().filter(|entry| entry.header.seq > self.head.seq).collect();
        let (Some(first), Some(last)) = (entries.first(), entries.last().map(Entry::head)) else { return Ok(()) };
        if self.again && !self.has_grown && !follows(self.head, first) {
            return Err(self.is_in_use());
        }
        match self.append_new(entries, values, last).await {
            Ok(()) => {
                (self.head, self.has_grown) = (last, true);
                Ok(())
            }
            // The same is being made elsewhere.
            Err(error) if error.is_conflict() && (self.again || self.has_grown) => {
                Err(Error::Busy { session: self.id.clone() })
            }
            Err(error) if error.is_conflict() => Err(self.is_in_use()),
            Err(error) => Err(error),
        }
    }

    /// Ends it: where it failed, what was appended here is deleted, unless somebody else goes on with it.
    pub(crate) async fn settle(self, made: Result<(), Error>) -> Result<(), Error> {
        if self.has_grown && made.as_ref().is_err_and(|error| !matches!(error, Error::Busy { .. })) {
            // Nobody knows of it yet. What is left where this fails, too, expires soon.
            let _ = self.board.store().delete(self.id).await;
        }
        made
    }

    async fn append_new(&self, entries: Vec<Entry>, values: Vec<(Hash, Arc<str>)>, last: Head) -> Result<(), Error> {
        let now = expiry::now(&**self.board.store(), &*self.board.settings().clock).await?;
        let expires_at = match last == self.state.head {
            true => expiry::lives_until(self.state, now),
            false => Some(now.plus_seconds(UNFINISHED_SECONDS)),
        };
        let (session, expected, work) = (self.id.clone(), self.head, Work::AsBefore);
        append_surely(&**self.board.store(), Append { session, expected, entries, values, expires_at, work }).await
    }

    fn is_in_use(&self) -> Error {
        exists(Some(self.id.clone()))
    }
}
