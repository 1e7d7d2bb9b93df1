//! Readings: journals that are read on while questions wait. A question waits a moment for what was written before it. Where
//! that is too much to read in a moment, as when an index is made anew, the questions after it are answered at once with what
//! is there.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::id::SessionId;

/// The journals that are read on now.
#[derive(Debug, Default)]
pub(crate) struct Readings(Mutex<HashMap<SessionId, Readers>>);

/// Those who read a journal on.
#[derive(Debug, Default)]
struct Readers {
    count: usize,
    /// Whether a question waited in vain for one of them.
    take_long: bool,
}

/// Somebody who reads a journal on.
pub(crate) struct Reading {
    all: Arc<Readings>,
    id: SessionId,
}

impl Readings {
    /// Notes that a journal is read on, until what is returned is dropped.
    pub(crate) fn begin(self: &Arc<Self>, id: &SessionId) -> Reading {
        self.lock().entry(id.clone()).or_default().count += 1;
        Reading { all: self.clone(), id: id.clone() }
    }

    /// Notes that a question waited in vain.
    pub(crate) fn note_long(&self, id: &SessionId) {
        if let Some(readers) = self.lock().get_mut(id) {
            readers.take_long = true;
        }
    }

    /// Whether it is of no use to wait.
    pub(crate) fn take_long(&self, id: &SessionId) -> bool {
        self.lock().get(id).is_some_and(|readers| readers.take_long)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Readers>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        let mut all = self.all.lock();
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
        assert!(!readings.take_long(&id) && readings.lock().is_empty());
    }
}
