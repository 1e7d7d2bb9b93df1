//! Whether the store's clock may be wrong. Deleting sessions by a wrong clock would lose data. So if the clock looks wrong,
//! reads still use it, but nothing is deleted for a while.

use std::time::Duration;

use callboard_core::time::Timestamp;
use tokio::time::Instant;

/// If the clock moved so many milliseconds more or less than time has passed, it was set.
const JUMP_MILLIS: u64 = 60_000;

/// How long nothing is deleted after the clock was set, so that a mistake can be noticed.
const AFTER_JUMP: Duration = Duration::from_secs(60 * 60);

/// If the clock is so far ahead of the last activity at the start, it is wrong, or the store was not used for so long. Which
/// of both is unknown.
const REST_SECONDS: i64 = 60 * 60;

/// How long nothing is deleted after such a start.
const AFTER_REST: Duration = Duration::from_secs(10 * 60);

/// Watches a clock.
#[derive(Debug)]
pub(crate) struct ClockTrust {
    /// The last activity in the store at the start.
    last_activity: Option<Timestamp>,
    /// The last time that the clock showed.
    seen: Option<(Timestamp, Instant)>,
    trusted_from: Instant,
}

impl ClockTrust {
    pub(crate) fn new(last_activity: Option<Timestamp>) -> Self {
        Self { last_activity, seen: None, trusted_from: Instant::now() }
    }

    /// Notes the time that the clock shows. Returns whether it can be trusted.
    pub(crate) fn at(&mut self, clock: Timestamp) -> bool {
        let now = Instant::now();
        match self.seen.replace((clock, now)) {
            Some((before, seen)) => self.compare_with_time(before, now - seen, clock),
            None => self.compare_with_last_activity(clock),
        }
        now >= self.trusted_from
    }

    fn compare_with_time(&mut self, before: Timestamp, passed: Duration, clock: Timestamp) {
        let passed = i64::try_from(passed.as_millis()).unwrap_or(i64::MAX);
        let shown = clock.as_millis().saturating_sub(before.as_millis());
        if shown.abs_diff(passed) > JUMP_MILLIS {
            tracing::warn!(%clock, "the store's clock was set; nothing is deleted for an hour");
            self.trusted_from = Instant::now() + AFTER_JUMP;
        }
    }

    fn compare_with_last_activity(&mut self, clock: Timestamp) {
        let Some(last_activity) = self.last_activity else { return };
        if clock > last_activity.plus_seconds(REST_SECONDS) {
            tracing::warn!(
                %clock,
                %last_activity,
                "the store's clock is over an hour ahead of the last activity in the store: if it is wrong, set it now; \
                 nothing is deleted for ten minutes"
            );
            self.trusted_from = Instant::now() + AFTER_REST;
        }
    }
}
