//! The newest entries of a live session, for those who read on.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::{entry::Entry, id::Seq};

use crate::journal::PAGE;

/// How many entries are kept.
const ENTRIES: usize = 1024;

/// How many bytes of entries are kept.
const BYTES: usize = 1024 * 1024;

/// The newest durable entries, without a gap.
#[derive(Default)]
pub(crate) struct Recent(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    entries: VecDeque<Arc<Entry>>,
    bytes: usize,
}

impl Recent {
    /// Takes in the entries that follow on those that are here.
    pub(crate) fn push(&self, entries: impl IntoIterator<Item = Entry>) {
        let mut kept = self.lock();
        for entry in entries {
            kept.bytes += entry.data.len();
            kept.entries.push_back(Arc::new(entry));
        }
        while kept.entries.len() > ENTRIES || kept.bytes > BYTES {
            let Some(oldest) = kept.entries.pop_front() else { return };
            kept.bytes -= oldest.data.len();
        }
    }

    /// The entries after `after` up to `through`, at most a page, where all of them are kept.
    pub(crate) fn after(&self, after: Seq, through: Seq) -> Option<Vec<Arc<Entry>>> {
        let kept = self.lock();
        let first = kept.entries.front()?.header.seq;
        let skipped = after.next().0.checked_sub(first.0)?;
        let wanted = kept.entries.iter().skip(usize::try_from(skipped).ok()?);
        Some(wanted.take_while(|entry| entry.header.seq <= through).take(PAGE).cloned().collect())
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
