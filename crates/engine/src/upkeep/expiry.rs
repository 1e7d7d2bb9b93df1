//! Expiry: what counts as a use of a session, and until when that lets it live.
//!
//! Appends, reads, open streams and whoever waits for something to happen use a session. Between appends that is noted
//! in the store by a touch, at most every twentieth of the session's time to live, and at most every 30 seconds.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use callboard_core::{run::Status, session::Ttl, state::State, time::Timestamp};
use callboard_store::{Clock, Store};

use crate::error::Error;

/// The longest time for which uses are not noted.
const MAX_INTERVAL_MILLIS: u64 = 30_000;

/// By how much the clocks of a node and of its store may differ.
const CLOCKS_DIFFER_SECONDS: i64 = 60;

/// When a session expires that is used at `now`; `None` is never. One with a run that waits for a person is in use until
/// that person has answered, however long that takes.
pub(crate) fn lives_until(state: &State, now: Timestamp) -> Option<Timestamp> {
    let waits = state.runs.unfinished().is_some_and(|run| run.status() == Status::AwaitingUser);
    if waits { None } else { state.session.settings.ttl_seconds.expires_at(now) }
}

/// The time by the store's clock, for whoever is to write. This node's own must agree with it: entries say when they
/// were decided, and a session that one of them takes for expired lives on for the other.
pub(crate) async fn now(store: &dyn Store, clock: &dyn Clock) -> Result<Timestamp, Error> {
    let (asked, now, answered) = (clock.now(), store.now().await?, clock.now());
    if now < asked.plus_seconds(-CLOCKS_DIFFER_SECONDS) || answered.plus_seconds(CLOCKS_DIFFER_SECONDS) < now {
        return Err(Error::ClockOff { node: answered, store: now });
    }
    Ok(now)
}

/// For how long uses of a session need not be noted after one was.
pub(crate) fn interval(ttl: Ttl) -> Duration {
    let millis = match ttl {
        Ttl::Seconds(seconds) => (seconds.get().saturating_mul(1000) / 20).min(MAX_INTERVAL_MILLIS),
        Ttl::Never => MAX_INTERVAL_MILLIS,
    };
    Duration::from_millis(millis)
}

/// When the last use of a session was noted.
#[derive(Debug)]
pub(crate) struct Activity(AtomicI64);

impl Activity {
    /// The last use was noted at `at`.
    pub(crate) fn at(at: Timestamp) -> Self {
        Self(AtomicI64::new(at.as_millis()))
    }

    /// Takes in that a use was noted at `now`, by an append.
    pub(crate) fn noted(&self, now: Timestamp) {
        self.0.store(now.as_millis(), Ordering::Relaxed);
    }

    /// Whether a use at `now` is to be noted. Of many who ask at once one is told so.
    pub(crate) fn is_due(&self, now: Timestamp, interval: Duration) -> bool {
        let (last, now) = (self.0.load(Ordering::Relaxed), now.as_millis());
        // A clock that was set back says nothing about how long ago it was.
        let due = u128::from(now.abs_diff(last)) >= interval.as_millis();
        due && self.0.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
