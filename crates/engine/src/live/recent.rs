//! The newest entries of a session in memory, for streams and caches that continue reading.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use callboard_core::{entry::Entry, id::Seq};

use crate::{journal::PAGE, lock::lock};

/// The most entries.
const ENTRIES: usize = 1024;

/// The most bytes of their data.
const BYTES: usize = 1024 * 1024;

/// The newest durable entries, without gaps.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
}

impl Recent {
    /// Adds entries that follow the last one.
    pub(crate) fn push(&self, entries: impl IntoIterator<Item = Entry>) {
        let mut recent = lock(&self.0);
        for entry in entries {
            recent.bytes += entry.data.len();
            recent.entries.push_back(Arc::new(entry));
        }
        while recent.entries.len() > ENTRIES || recent.bytes > BYTES {
            let Some(oldest) = recent.entries.pop_front() else { return };
            recent.bytes -= oldest.data.len();
        }
    }

    /// Forgets all entries.
    pub(crate) fn forget(&self) {
        *lock(&self.0) = Entries::default();
    }

    /// The entries after `after` up to `through`, at most a page; `None` if some are not in memory any more.
    pub(crate) fn after(&self, after: Seq, through: Seq) -> Option<Vec<Arc<Entry>>> {
        let recent = lock(&self.0);
        let first = recent.entries.front()?.header.seq;
        let skipped = after.next().0.checked_sub(first.0)?;
        let wanted = recent.entries.iter().skip(usize::try_from(skipped).ok()?);
        Some(wanted.take_while(|entry| entry.header.seq <= through).take(PAGE).cloned().collect())
    }
}
