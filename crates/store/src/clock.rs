//! Clocks: that of the machine, that of a server, and one that a test sets.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
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

/// How long an answer of the server is used.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The time of a server. The server is asked at most once a second; in between, the time passed since is added.
#[derive(Debug, Default)]
pub(crate) struct ServerTime(Mutex<Option<(Timestamp, Instant)>>);

impl ServerTime {
    /// The time now; `ask` asks the server.
    pub(crate) async fn now<E>(&self, ask: impl Future<Output = Result<Timestamp, E>>) -> Result<Timestamp, E> {
        if let Some(now) = self.estimate() {
            return Ok(now);
        }
        let now = ask.await?;
        *self.last_answer() = Some((now, Instant::now()));
        Ok(now)
    }

    fn estimate(&self) -> Option<Timestamp> {
        let (answer, at) = (*self.last_answer())?;
        let passed = at.elapsed();
        let millis = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
        (passed < MAX_AGE).then(|| Timestamp::nearest(answer.as_millis().saturating_add(millis)))
    }

    fn last_answer(&self) -> MutexGuard<'_, Option<(Timestamp, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
