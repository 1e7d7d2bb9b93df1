//! Clocks: that of the machine, and one that a test sets.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use callboard_core::time::Timestamp;

/// Gives the time by which sessions expire. Nothing else depends on it.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// Whether this is the clock of the system. Then a store on a database server uses the clock of that server instead,
    /// so that all its users agree on the time.
    fn is_system(&self) -> bool {
        false
    }
}

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).ok().and_then(|ms| Timestamp::from_millis(ms).ok()).unwrap_or_default()
    }

    fn is_system(&self) -> bool {
        true
    }
}

/// A clock that stands still until it is set. Its clones share the time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// Creates a clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.as_millis())))
    }

    /// Sets it to `now`, which may be earlier.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_millis(), Ordering::SeqCst);
    }

    /// Moves it forward by `seconds`.
    pub fn advance_seconds(&self, seconds: i64) {
        self.set(self.now().plus_seconds(seconds));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst)).unwrap_or_default()
    }
}
