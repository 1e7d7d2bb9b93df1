//! Readings: journals that are read on while questions wait. A question waits a moment for what was written before it. Where
//! that is too much to read in a moment, as when an index is made anew, the questions after it are answered at once with what
//! is there.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use callboard_core::id::SessionId;

use crate::lock::lock;

/// The journals that are read on now.
#[derive(Debug, Default)]
pub(crate) struct Readings(Mutex<HashMap<SessionId, Readers>>);

/// Those who read a journal on.
#[derive(Debug, Default)]
struct Readers {
    count: usize,
    /// Whether a question waited in vain for one of them.
    take_long: bool,
    /// How many entries are not read yet.
    behind: u64,
}

/// Somebody who reads a journal on.
pub(crate) struct Reading {
    all: Arc<Readings>,
    id: SessionId,
}

impl Readings {
    /// Notes that a journal is read on, until what is returned is dropped.
    pub(crate) fn begin(self: &Arc<Self>, id: &SessionId) -> Reading {
        lock(&self.0).entry(id.clone()).or_default().count += 1;
        Reading { all: self.clone(), id: id.clone() }
    }

    /// Notes that a question waited in vain.
    pub(crate) fn note_long(&self, id: &SessionId) {
        if let Some(readers) = lock(&self.0).get_mut(id) {
            readers.take_long = true;
        }
    }

    /// Whether it is of no use to wait.
    pub(crate) fn take_long(&self, id: &SessionId) -> bool {
        lock(&self.0).get(id).is_some_and(|readers| readers.take_long)
    }

    /// Notes how many entries of a journal are not read yet.
    pub(crate) fn note_behind(&self, id: &SessionId, entries: u64) {
        if let Some(readers) = lock(&self.0).get_mut(id) {
            readers.behind = entries;
        }
    }

    /// How many entries of all journals are not read yet.
    pub(crate) fn behind(&self) -> u64 {
        lock(&self.0).values().map(|readers| readers.behind).sum()
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut all = lock(&self.all.0);
        if let Some(readers) = all.get_mut(&self.id) {
            readers.count -= 1;
            if readers.count == 0 {
                all.remove(&self.id);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_journal_for_which_somebody_waited_in_vain_until_it_is_read() {
        let (readings, id) = (Arc::new(Readings::default()), "s".parse().unwrap());
        readings.note_long(&id);
        assert!(!readings.take_long(&id));
        let (one, two) = (readings.begin(&id), readings.begin(&id));
        assert!(!readings.take_long(&id));
        readings.note_long(&id);
        drop(one);
        assert!(readings.take_long(&id) && !readings.take_long(&"other".parse().unwrap()));
        drop(two);
        assert!(!readings.take_long(&id) && lock(&readings.0).is_empty());
    }

    #[test]
    fn what_is_not_read_yet_is_counted_over_all_journals_until_nobody_reads_them() {
        let readings = Arc::new(Readings::default());
        let ids: [SessionId; 2] = ["a", "b"].map(|id| id.parse().unwrap());
        let reading: Vec<Reading> = ids.iter().map(|id| readings.begin(id)).collect();
        readings.note_behind(&ids[0], 700);
        readings.note_behind(&ids[1], 50);
        readings.note_behind(&ids[0], 200);
        readings.note_behind(&"other".parse().unwrap(), 9);
        assert_eq!(readings.behind(), 250);
        drop(reading);
        assert_eq!(readings.behind(), 0);
    }
}
