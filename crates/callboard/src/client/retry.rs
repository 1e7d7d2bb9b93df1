//! Retries while a server is gone, until it comes back or time is up.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{answer::BROKEN_OFF, remote::UNREACHABLE};
use crate::{failure::Failure, output::Output};

/// For how long to try to reach a server that is gone.
const GIVE_UP_AFTER: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// Retries with growing pauses.
pub(crate) struct Retry {
    /// Since when the server is gone, and the pause before the next try.
    gone: Option<(Instant, Duration)>,
    output: Output,
}

impl Retry {
    pub(crate) fn new(output: Output) -> Self {
        Self { gone: None, output }
    }

    /// The server is back.
    pub(crate) fn reset(&mut self) {
        self.gone = None;
    }

    /// Waits before the next try if the failure may be temporary, else returns it.
    pub(crate) async fn wait(&mut self, failure: Failure) -> Result<(), Failure> {
        let is_new = self.gone.is_none();
        let (since, pause) = *self.gone.get_or_insert_with(|| (Instant::now(), FIRST_PAUSE));
        let code = failure.problem.code.as_str();
        let may_be_temporary = [UNREACHABLE, BROKEN_OFF].contains(&code) || failure.problem.status == Some(503);
        if !may_be_temporary || since.elapsed() > GIVE_UP_AFTER {
            return Err(failure);
        }
        if is_new {
            self.output.note(format!("{}; trying again", failure.problem.detail));
        }
        self.gone = Some((since, (pause * 2).min(LONGEST_PAUSE)));
        sleep(pause).await;
        Ok(())
    }
}
