//! What time it is: asked of the machine, or said by a test.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use callboard_core::time::Timestamp;

/// Says what time it is. Expiry goes by it, and nothing else does.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// Whether it stands for the clock of the system. Where a store has a server with a clock of its own, that one
    /// counts then, so that all who use the server go by the same.
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

/// For how long a server's time is trusted without asking it again.
const TRUSTED: Duration = Duration::from_secs(1);

/// The time of a server, which is asked for it once a second at most: what has passed here since is added.
#[derive(Debug, Default)]
pub(crate) struct ServerTime(Mutex<Option<(Timestamp, Instant)>>);

impl ServerTime {
    /// The time now; `ask` asks the server.
    pub(crate) async fn now<E>(&self, ask: impl Future<Output = Result<Timestamp, E>>) -> Result<Timestamp, E> {
        if let Some(now) = self.known() {
            return Ok(now);
        }
        let now = ask.await?;
        *self.told() = Some((now, Instant::now()));
        Ok(now)
    }

    fn known(&self) -> Option<Timestamp> {
        let (told, at) = (*self.told())?;
        let passed = at.elapsed();
        let millis = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
        (passed < TRUSTED).then(|| Timestamp::nearest(told.as_millis().saturating_add(millis)))
    }

    fn told(&self) -> MutexGuard<'_, Option<(Timestamp, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A clock that stands still until it is moved. Its clones show the same time.
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that stands at `now`.
    pub fn new(now: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(now.as_millis())))
    }

    /// Moves it to `now`, which may be earlier.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_millis(), Ordering::SeqCst);
    }

    /// Moves it on by `seconds`.
    pub fn advance_seconds(&self, seconds: i64) {
        self.set(self.now().plus_seconds(seconds));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::SeqCst)).unwrap_or_default()
    }
}
