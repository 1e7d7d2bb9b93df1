//! Expiry: what counts as a use of a session, and when the session then expires.
//!
//! Appends, reads, open streams and waiting callers use a session. Between appends a touch records this in the store, at most
//! every twentieth of the session's time to live, and at most every 30 seconds.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use callboard_core::{run::Status, session::Ttl, state::State, time::Timestamp};
use callboard_store::{Clock, Store};

use crate::error::Error;

/// The longest time between two records of uses.
const MAX_INTERVAL_MILLIS: u64 = 30_000;

/// How much the clocks of a node and of its store may differ.
const CLOCKS_DIFFER_SECONDS: i64 = 60;

/// When a session expires if it is used at `now`; `None` is never. A session with a run that waits for a person is in use
/// until that person answers, however long that takes.
pub(crate) fn lives_until(state: &State, now: Timestamp) -> Option<Timestamp> {
    let waits = state.runs.unfinished().is_some_and(|run| run.status() == Status::AwaitingUser);
    if waits { None } else { state.session.settings.ttl_seconds.expires_at(now) }
}

/// The time of the store's clock, for writes. The clock of this node must agree with it: entries contain the time of their
/// decision, and both clocks must agree whether a session has expired.
pub(crate) async fn now(store: &dyn Store, clock: &dyn Clock) -> Result<Timestamp, Error> {
    let (asked, now, answered) = (clock.now(), store.now().await?, clock.now());
    if now < asked.plus_seconds(-CLOCKS_DIFFER_SECONDS) || answered.plus_seconds(CLOCKS_DIFFER_SECONDS) < now {
        return Err(Error::ClockOff { node: answered, store: now });
    }
    Ok(now)
}

/// How long uses of a session need not be recorded after one was.
pub(crate) fn interval(ttl: Ttl) -> Duration {
    let millis = match ttl {
        Ttl::Seconds(seconds) => (seconds.get().saturating_mul(1000) / 20).min(MAX_INTERVAL_MILLIS),
        Ttl::Never => MAX_INTERVAL_MILLIS,
    };
    Duration::from_millis(millis)
}

/// When the last use of a session was recorded.
#[derive(Debug)]
pub(crate) struct Activity(AtomicI64);

impl Activity {
    /// The last use was recorded at `at`.
    pub(crate) fn at(at: Timestamp) -> Self {
        Self(AtomicI64::new(at.as_millis()))
    }

    /// Notes that an append recorded a use at `now`.
    pub(crate) fn noted(&self, now: Timestamp) {
        self.0.store(now.as_millis(), Ordering::Relaxed);
    }

    /// Whether to record a use at `now`. Of many calls at the same time, one returns true.
    pub(crate) fn is_due(&self, now: Timestamp, interval: Duration) -> bool {
        let (last, now) = (self.0.load(Ordering::Relaxed), now.as_millis());
        // If the clock was set back, the last record may be any time ago.
        let due = u128::from(now.abs_diff(last)) >= interval.as_millis();
        due && self.0.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
