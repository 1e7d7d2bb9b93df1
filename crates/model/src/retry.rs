//! Retries.

use std::time::Duration;

use crate::ModelError;

/// How often and when a request is retried.
///
/// It is retried if a later try may succeed: the endpoint cannot be reached, breaks off, or answers with 429 or 5xx. It is not
/// retried after any other status, an answer that is not understood, a timeout (the endpoint may still be working), a used-up
/// account, or once a piece of the answer was passed on.
///
/// The wait doubles with each try, and is shortened by a random part of up to a half. If the endpoint gives a time in seconds
/// (`Retry-After`), that is the wait; if it is longer than `wait_at_most`, the request fails.
#[derive(Clone, Copy, Debug)]
pub struct Retries {
    /// The most times that a request is sent, including the first: 4. 0 means 1.
    pub tries: u32,
    /// The wait before the second try: 1 second.
    pub first_wait: Duration,
    /// The longest wait: 1 minute.
    pub wait_at_most: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { tries: 4, first_wait: Duration::from_secs(1), wait_at_most: Duration::from_secs(60) }
    }
}

impl Retries {
    /// Waits for another try after the last of `tried` tries failed with `error`, or gives the error back if there is none.
    pub(crate) async fn pause(&self, tried: u32, error: ModelError, model: &str) -> Result<(), ModelError> {
        // Without randomness the wait has its full length.
        let Some(wait) = self.wait(tried, &error, getrandom::u32().unwrap_or(0)) else { return Err(error) };
        tracing::warn!("{}", self.told(tried, &error, model, wait));
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// What people are told of it.
    fn told(&self, tried: u32, error: &ModelError, model: &str, wait: Duration) -> String {
        let why = match error {
            ModelError::Unreachable { .. } => "cannot be reached".to_owned(),
            ModelError::Refused { status, .. } => format!("answered with status {status}"),
            ModelError::CutOff { .. } => "broke off in the middle of its answer".to_owned(),
            _ => "gave no answer".to_owned(),
        };
        let (wait, next, tries) = (wait.as_secs_f64(), tried.saturating_add(1), self.tries);
        format!("{model} {why}: asking again in {wait:.1} s, try {next} of {tries}")
    }

    /// The wait after `tried` tries, the last of which failed with `error`; `None` to give up. `random` is any number.
    pub(crate) fn wait(&self, tried: u32, error: &ModelError, random: u32) -> Option<Duration> {
        if tried >= self.tries || !may_help(error) {
            return None;
        }
        if let ModelError::Refused { retry_after: Some(wait), .. } = error {
            return (*wait <= self.wait_at_most).then_some(*wait);
        }
        let doubled = self.first_wait.saturating_mul(2_u32.saturating_pow(tried.saturating_sub(1)));
        let part = f64::from(random) / f64::from(u32::MAX);
        Some(doubled.min(self.wait_at_most).mul_f64(1.0 - part / 2.0))
    }
}

fn may_help(error: &ModelError) -> bool {
    match error {
        ModelError::Unreachable { .. } | ModelError::CutOff { .. } => true,
        ModelError::Refused { status, message, .. } => {
            matches!(*status, 429 | 500..=599) && !message.contains("insufficient_quota")
        }
        ModelError::TimedOut { .. }
        | ModelError::NotUnderstood { .. }
        | ModelError::NoVector { .. }
        | ModelError::NotConfigured { .. }
        | ModelError::BadName { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, retry_after: Option<u64>) -> ModelError {
        let retry_after = retry_after.map(Duration::from_secs);
        ModelError::Refused { url: String::new(), status, message: String::new(), retry_after }
    }

    fn waits(error: &ModelError, random: u32) -> Vec<Option<f64>> {
        (1..=4).map(|tried| Some(Retries::default().wait(tried, error, random)?.as_secs_f64())).collect()
    }

    #[test]
    fn waits_double_and_end_with_the_tries() {
        assert_eq!(waits(&refused(503, None), 0), [Some(1.0), Some(2.0), Some(4.0), None]);
        assert_eq!(waits(&refused(503, None), u32::MAX), [Some(0.5), Some(1.0), Some(2.0), None]);
    }

    #[test]
    fn people_are_told_in_a_sentence_why_a_model_is_asked_again() {
        // clock: it is told, and nothing waits for it
        let told = |error: &ModelError| Retries::default().told(1, error, "openai:x", Duration::from_millis(603));
        assert_eq!(told(&refused(503, None)), "openai:x answered with status 503: asking again in 0.6 s, try 2 of 4");
        let unreachable = ModelError::Unreachable { url: String::new(), reason: String::new() };
        assert_eq!(told(&unreachable), "openai:x cannot be reached: asking again in 0.6 s, try 2 of 4");
    }

    #[test]
    fn the_endpoint_may_say_when_to_come_again_but_not_in_an_hour() {
        assert_eq!(waits(&refused(429, Some(7)), 0), [Some(7.0), Some(7.0), Some(7.0), None]);
        assert_eq!(waits(&refused(429, Some(3600)), 0), [None; 4]);
    }

    #[test]
    fn what_cannot_go_better_is_not_tried_again() {
        for status in [400, 401, 404, 422] {
            assert_eq!(waits(&refused(status, None), 0), [None; 4]);
        }
        let message = "insufficient_quota".to_owned();
        let used_up = ModelError::Refused { url: String::new(), status: 429, message, retry_after: None };
        assert_eq!(waits(&used_up, 0), [None; 4]);
    }
}
