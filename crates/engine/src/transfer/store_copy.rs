//! Copying a store into another one. Entries are copied exactly as they are.
//!
//! Existing entries are compared by tag; equal tags mean that all entries before are equal. So an interrupted copy continues
//! where it stopped, a repeated copy adds what is new, and a different session with the same id is not changed. What was changed
//! in them since then is changed in the copy too.

use std::{collections::BTreeMap, sync::Arc};

use callboard_core::{
    entry::{Entry, Hash, Head, Tag},
    erasure::ChangedEntry,
    id::{Seq, SessionId},
    rewriting::changed_by,
    state::State,
};
use callboard_store::{Append, JournalKind, LeaseChange, Order, Query, Rewrite, Row, Store};

use crate::{
    append_surely::append_surely,
    error::Error,
    journal::{self, PAGE, journal_kind, read},
    texts::{stored_values, there},
    upkeep::{
        check::{check_one, check_tag, check_texts, ends_otherwise, has_gone},
        lease::unheld_lease,
        snapshot,
        survey::{Progress, Survey, SurveyError, survey},
    },
};

/// The most bytes of an append, unless one entry has more.
const BATCH_BYTES: usize = 1 << 20;

/// How often a session is tried again if another process copies into it at the same time.
const TRIES: u32 = 8;

/// Copies every session of `from`, with all its data, to `to`. If a session exists in `to` and begins as in `from`, the rest is
/// added. If it differs, that is reported, and it is not changed.
///
/// Entries that are added to `from` meanwhile may be copied or not. Repeat the copy if it was interrupted, or to add new
/// entries.
pub async fn copy(from: &Arc<dyn Store>, to: &Arc<dyn Store>, progress: &Progress) -> Result<Survey, Error> {
    let work = |id: SessionId| {
        let (from, to, progress) = (from.clone(), to.clone(), progress.clone());
        async move { Copy { from: &*from, to: &*to, id: &id }.copy(&progress).await }
    };
    survey(&**from, progress, work).await
}

/// Checks the result of [`copy`]: whether each session of `from` is correct in `to`, and begins there as in `from`.
pub async fn check_copy(from: &Arc<dyn Store>, to: &Arc<dyn Store>, progress: &Progress) -> Result<Survey, Error> {
    let work = |id: SessionId| {
        let (from, to, progress) = (from.clone(), to.clone(), progress.clone());
        async move { Copy { from: &*from, to: &*to, id: &id }.check(&progress).await }
    };
    survey(&**from, progress, work).await
}

/// The copy of one session.
struct Copy<'a> {
    from: &'a dyn Store,
    to: &'a dyn Store,
    id: &'a SessionId,
}

impl Copy<'_> {
    /// Copies the session. Returns how many entries are new in `to`.
    async fn copy(&self, progress: &Progress) -> Result<u64, SurveyError> {
        let row = self.from.row(self.id).await?.ok_or(SurveyError::Gone)?;
        let (mut new, mut tries) = (0, 0);
        loop {
            tries += 1;
            match self.copy_as_of(row, &mut new, progress).await {
                Err(SurveyError::Failed(error)) if error.is_conflict() && tries < TRIES => {}
                Err(SurveyError::Failed(error)) if error.is_conflict() => {
                    return Err(SurveyError::Wrong(
                        "others are changing it where it is to go: let them end first".to_owned(),
                    ));
                }
                Err(SurveyError::Wrong(_)) if has_gone(self.from, self.id, row).await? => {
                    return Err(SurveyError::Gone);
                }
                copied => return copied.map(|()| new),
            }
        }
    }

    async fn copy_as_of(&self, row: Row, new: &mut u64, progress: &Progress) -> Result<(), SurveyError> {
        if row.expires_at <= Some(self.to.now().await?) && row.expires_at.is_some() {
            return Err(SurveyError::Gone);
        }
        let there = self.to.row(self.id).await?;
        let mut head = there.map_or(Head::default(), |there| there.head);
        self.compare(row.head, head).await?;
        let lease = if head == row.head { LeaseChange::Keep } else { self.lease_change(row).await? };
        let kind = if head == row.head { JournalKind::default() } else { self.kind().await? };
        while head.seq < row.head.seq {
            let page = read(self.from, self.id, head.seq, row.head.seq, PAGE).await?;
            if page.is_empty() {
                return Err(SurveyError::Wrong(format!("entry {} is missing where it comes from", head.seq.next())));
            }
            progress.read(page.len());
            let mut rest = page.as_slice();
            while !rest.is_empty() {
                let mut batch = self.batch(head, &mut rest, row).await?;
                let (last, many) = (batch.entries.last().map_or(head, Entry::head), batch.entries.len());
                batch.kind = kind;
                if last == row.head {
                    batch.lease = lease.clone();
                }
                append_surely(self.to, batch).await?;
                head = last;
                *new += many as u64;
            }
        }
        if head != row.head {
            return Err(SurveyError::Wrong(ends_otherwise(head)));
        }
        if there.is_some_and(|there| there.head == row.head && there.expires_at != row.expires_at) {
            self.to.touch(self.id, row.expires_at).await?;
        }
        Ok(())
    }

    /// The kind of the journal, by its first entry.
    async fn kind(&self) -> Result<JournalKind, SurveyError> {
        let first = read(self.from, self.id, Seq::ZERO, Seq(1), 1).await?;
        Ok(journal_kind(&State::fold(&first)?))
    }

    /// The lease of the copy: if a run is going on, a server on `to` has to drive it.
    async fn lease_change(&self, row: Row) -> Result<LeaseChange, SurveyError> {
        let all = Query::all(Seq(1)..row.head.seq.next(), Order::Forward, 1);
        let runs = Query { types: vec!["run.started".into()], ..all };
        if self.from.read(self.id, runs).await?.is_empty() {
            return Ok(LeaseChange::Keep);
        }
        let loaded = snapshot::load(self.from, self.id, row.head.seq).await?;
        Ok(loaded.map_or(LeaseChange::Keep, |loaded| unheld_lease(&loaded.state)))
    }

    /// The next entries of `rest` with their long texts.
    async fn batch(&self, expected: Head, rest: &mut &[Entry], row: Row) -> Result<Append, SurveyError> {
        let (mut entries, mut values, mut bytes) = (Vec::new(), Vec::new(), 0);
        let (mut rewrites, mut drop_values) = (BTreeMap::new(), Vec::new());
        let mut head = expected;
        while let Some((entry, behind)) = rest.split_first().filter(|_| bytes < BATCH_BYTES) {
            check_tag(head, entry)?;
            bytes += entry.data.len();
            check_texts(self.from, self.id, entry).await?;
            let stored = there(self.from, self.id, stored_values(entry)).await?;
            bytes += stored.values().map(|text| text.len()).sum::<usize>();
            values.extend(stored);
            self.change(entry, expected, &mut rewrites, &mut values, &mut drop_values).await?;
            head = entry.head();
            entries.push(entry.clone());
            *rest = behind;
        }
        let rewrites = rewrites.into_iter().map(|(seq, data)| Rewrite { seq, data }).collect();
        let append = Append::of(self.id.clone(), JournalKind::default(), expected, entries);
        Ok(Append { values, rewrites, drop_values, expires_at: row.expires_at, ..append })
    }

    /// What `changing` changed in entries that were copied before, up to `copied`, is changed in the copy too.
    async fn change(
        &self,
        changing: &Entry,
        copied: Head,
        rewrites: &mut BTreeMap<Seq, Arc<str>>,
        values: &mut Vec<(Hash, Arc<str>)>,
        drop_values: &mut Vec<Hash>,
    ) -> Result<(), SurveyError> {
        for ChangedEntry { seq, .. } in changed_by(changing)?.into_iter().filter(|one| one.seq <= copied.seq) {
            let before = journal::entry(self.to, self.id, seq).await?;
            for hash in before.as_ref().map(stored_values).unwrap_or_default() {
                if self.from.value(self.id, hash).await?.is_none() {
                    drop_values.push(hash);
                }
            }
            if let Some(entry) = journal::entry(self.from, self.id, seq).await? {
                values.extend(there(self.from, self.id, stored_values(&entry)).await?);
                rewrites.insert(seq, entry.data);
            }
        }
        Ok(())
    }

    /// Refuses a session that differs between the stores.
    async fn compare(&self, from: Head, to: Head) -> Result<(), SurveyError> {
        if to.seq == Seq::ZERO || from == to {
            return Ok(());
        }
        let both = from.seq.min(to.seq);
        if self.is_same(both).await? {
            return if to.seq <= from.seq { Ok(()) } else { Err(SurveyError::Wrong(gone_on(from.seq.next(), to.seq))) };
        }
        // Equal tags mean that all entries before are equal, so a binary search finds the first that differs.
        let (mut same, mut other) = (Seq::ZERO, both);
        while same.next() < other {
            let middle = Seq(same.0.midpoint(other.0));
            if self.is_same(middle).await? { same = middle } else { other = middle }
        }
        Err(SurveyError::Wrong(format!(
            "it is another session where it is to go, from entry {other} on: delete it there, or choose another store"
        )))
    }

    async fn is_same(&self, seq: Seq) -> Result<bool, SurveyError> {
        let (from, to) = (self.tag(self.from, seq).await?, self.tag(self.to, seq).await?);
        Ok(from.is_some() && from == to)
    }

    async fn tag(&self, store: &dyn Store, seq: Seq) -> Result<Option<Tag>, SurveyError> {
        Ok(journal::entry(store, self.id, seq).await?.map(|entry| entry.tag))
    }

    /// Checks the session in `to`. Returns how many entries it has.
    async fn check(&self, progress: &Progress) -> Result<u64, SurveyError> {
        let head = check_one(self.to, self.id, progress).await?;
        match self.from.row(self.id).await? {
            Some(row) if row.head.seq < head.seq => Err(SurveyError::Wrong(gone_on(row.head.seq.next(), head.seq))),
            Some(_) if !self.is_same(head.seq).await? => {
                Err(SurveyError::Wrong(format!("entry {} is another one where it went", head.seq)))
            }
            _ => Ok(head.seq.0),
        }
    }
}

fn gone_on(first: Seq, last: Seq) -> String {
    format!("it has gone on where it is to go: entries {first} to {last} are there alone; choose another store")
}
