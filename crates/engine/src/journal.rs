//! Reading a journal, whoever may see it: page by page, each entry checked against the one before where that matters.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Head},
    error::Error as Refusal,
    id::{Seq, SessionId},
    session::SessionKind,
    state::State,
};
use callboard_store::{JournalKind, Order, Query, Store};

/// How many entries are read at once.
pub(crate) const PAGE: usize = 512;

/// What a store is to know of the journal with this state.
pub(crate) fn journal_kind(state: &State) -> JournalKind {
    match (&state.session.id, state.session.kind) {
        (Some(_), SessionKind::Session) => JournalKind::Session,
        // A collection, or the record of a keyed request.
        _ => JournalKind::Unlisted,
    }
}

/// Reads the entries after `after` up to `through`, at most `limit`.
pub(crate) async fn read(
    store: &dyn Store,
    id: &SessionId,
    after: Seq,
    through: Seq,
    limit: usize,
) -> Result<Vec<Entry>, callboard_store::Error> {
    store.read(id, Query::all(after.next()..through.next(), Order::Forward, limit)).await
}

/// Reads entries page by page, the oldest first.
pub(crate) struct Pages<'a> {
    store: &'a dyn Store,
    id: &'a SessionId,
    query: Query,
}

impl<'a> Pages<'a> {
    /// The entries of these types after `after` up to `through`; of all types where none is named.
    pub(crate) fn of(store: &'a dyn Store, id: &'a SessionId, after: Seq, through: Seq, types: Vec<Arc<str>>) -> Self {
        let all = Query::all(after.next()..through.next(), Order::Forward, PAGE);
        Self { store, id, query: Query { types, ..all } }
    }

    /// The same about these subjects alone, if there are any.
    pub(crate) fn about(mut self, subjects: Vec<Arc<str>>) -> Self {
        self.query.subjects = subjects;
        self
    }

    /// The next page; `None` behind the last one.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Entry>>, callboard_store::Error> {
        if self.query.seqs.is_empty() {
            return Ok(None);
        }
        let page = self.store.read(self.id, self.query.clone()).await?;
        let last = page.last().filter(|_| page.len() == PAGE);
        self.query.seqs.start = last.map_or(self.query.seqs.end, |last| last.header.seq.next());
        Ok(Some(page))
    }
}

/// Reads the entry `seq`.
pub(crate) async fn entry(
    store: &dyn Store,
    id: &SessionId,
    seq: Seq,
) -> Result<Option<Entry>, callboard_store::Error> {
    Ok(read(store, id, seq.previous(), seq, 1).await?.pop())
}

/// Whether `entry` is the one after `head`, and its tag says so.
pub(crate) fn follows(head: Head, entry: &Entry) -> bool {
    entry.header.seq == head.seq.next() && head.tag.chain(&entry.header, &entry.data_hash()) == entry.tag
}

/// What is kept of an entry cannot be read, or written.
pub(crate) fn damaged(entry: &Entry, error: &serde_json::Error) -> Refusal {
    let (seq, kind) = (entry.header.seq, entry.header.kind.to_string());
    Refusal::Damaged { seq, kind, detail: error.to_string() }
}
