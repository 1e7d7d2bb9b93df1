//! What the runs of a store were told about the tokens of models, for sessions that know nothing of a model yet.

use std::sync::{Mutex, MutexGuard, PoisonError};

use callboard_core::{
    calibration::{Calibration, Report},
    count::Factor,
};
use tokio::sync::OnceCell;

use crate::{board::Board, error::Error};

/// So many of the sessions that were used last are asked for what they have learned.
const SESSIONS: usize = 8;

/// What was learned in runs: by this program, and by the sessions that were used last when it was first asked for.
#[derive(Default)]
pub(crate) struct BoardCalibration {
    learned: Mutex<Calibration>,
    has_asked: OnceCell<()>,
}

impl BoardCalibration {
    /// What a token of the vocabulary comes to for `model`, where a run was told.
    pub(crate) async fn factor(&self, board: &Board, model: &str) -> Result<Option<Factor>, Error> {
        self.has_asked.get_or_try_init(|| self.ask(board)).await?;
        Ok(self.learned().factor(model))
    }

    /// Learns from what a run was told.
    pub(crate) fn learn(&self, report: &Report) {
        self.learned().learn(report);
    }

    async fn ask(&self, board: &Board) -> Result<(), Error> {
        for (id, _) in board.store().recent_sessions(SESSIONS).await? {
            // One that has gone meanwhile, or that this program cannot read, teaches nothing.
            if let Ok((loaded, _)) = board.load(&id).await {
                self.learned().add(&loaded.state.calibrations.of_runs);
            }
        }
        Ok(())
    }

    fn learned(&self) -> MutexGuard<'_, Calibration> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
