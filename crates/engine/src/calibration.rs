//! What the runs of a store were told about the tokens of models, for sessions that know nothing of a model yet.

use std::sync::{Mutex, MutexGuard, PoisonError};

use callboard_core::{
    calibration::{Calibration, Report},
    count::Factor,
};
use tokio::sync::OnceCell;

use crate::error::Error;

/// What was learned in runs: by this program, and by the sessions that were used last when it was first asked for.
#[derive(Default)]
pub(crate) struct BoardCalibration {
    learned: Mutex<Calibration>,
    has_asked: OnceCell<()>,
}

impl BoardCalibration {
    /// What a token of the vocabulary comes to for `model`, where a run was told. What other sessions have learned is asked
    /// for once.
    pub(crate) async fn factor(
        &self,
        model: &str,
        others: impl Future<Output = Result<Calibration, Error>>,
    ) -> Result<Option<Factor>, Error> {
        let ask = async || -> Result<(), Error> {
            let learned = others.await?;
            self.learned().add(&learned);
            Ok(())
        };
        self.has_asked.get_or_try_init(ask).await?;
        Ok(self.learned().factor(model))
    }

    /// Learns from what a run was told.
    pub(crate) fn learn(&self, report: &Report) {
        self.learned().learn(report);
    }

    fn learned(&self) -> MutexGuard<'_, Calibration> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
