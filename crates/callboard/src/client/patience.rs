//! Patience with a server that has gone, and comes back.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{answer::BROKEN_OFF, remote::UNREACHABLE};
use crate::{failure::Failure, output::Output};

/// For how long a server that has gone is looked for again.
const PATIENCE: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(3);

/// Patience with a server that has gone.
pub(crate) struct Patience {
    /// Since when it is gone, and how long to wait before the next try.
    gone: Option<(Instant, Duration)>,
    output: Output,
}

impl Patience {
    pub(crate) fn new(output: Output) -> Self {
        Self { gone: None, output }
    }

    /// It is there again.
    pub(crate) fn restore(&mut self) {
        self.gone = None;
    }

    /// Waits a while, where what is wrong may be right then.
    pub(crate) async fn bear(&mut self, failure: Failure) -> Result<(), Failure> {
        let is_new = self.gone.is_none();
        let (since, pause) = *self.gone.get_or_insert_with(|| (Instant::now(), FIRST_PAUSE));
        let code = failure.problem.code.as_str();
        let may_pass = [UNREACHABLE, BROKEN_OFF].contains(&code) || failure.problem.status == Some(503);
        if !may_pass || since.elapsed() > PATIENCE {
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
