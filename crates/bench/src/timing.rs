//! What several times that something took come to.

use std::time::Duration;

/// The time that half of them did not take longer than.
pub(crate) fn median(times: &[Duration]) -> Duration {
    percentile(times, 50)
}

/// The time that this many of a hundred did not take longer than.
pub(crate) fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
    sorted.get(at).copied().unwrap_or_default()
}

/// A time in milliseconds, as people read it.
pub(crate) fn millis(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1000.0)
}
