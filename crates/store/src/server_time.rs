//! The clock of a server.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use callboard_core::time::Timestamp;

use crate::Clock;

/// How long an answer of the server is used.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The time by which sessions expire: that of a test's clock, else that of the server. The server is asked at most once a
/// second; in between, the time passed since is added.
#[derive(Debug)]
pub(crate) struct ServerTime {
    clock: Arc<dyn Clock>,
    last_answer: Mutex<Option<(Timestamp, Instant)>>,
}

impl ServerTime {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, last_answer: Mutex::default() }
    }

    /// The time of a test's clock; `None` for the time of the server.
    pub(crate) fn of_test(&self) -> Option<Timestamp> {
        (!self.clock.is_system()).then(|| self.clock.now())
    }

    /// The time now; `ask` asks the server.
    pub(crate) async fn now<E>(&self, ask: impl Future<Output = Result<Timestamp, E>>) -> Result<Timestamp, E> {
        if let Some(now) = self.of_test().or_else(|| self.estimate()) {
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
        self.last_answer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
