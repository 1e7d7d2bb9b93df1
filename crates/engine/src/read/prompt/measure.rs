//! How the tokens of models are counted: as known of them, and as their providers taught.

use callboard_core::{
    calibration::{Calibration, Report},
    count::Factor,
};

use super::Wanted;
use crate::{board::Board, error::Error, session::Session, sizes::Measure};

/// So many of the sessions that were used last are asked for what they have learned.
const SESSIONS: usize = 8;

impl Session {
    /// Where nothing was reported in the session about a model that is not counted exactly, takes what was in others.
    pub(super) async fn calibrate(&self, wanted: &mut Wanted) -> Result<(), Error> {
        let Some(model) = wanted.model.clone().filter(|_| wanted.spec.factor.is_some()) else {
            return Ok(());
        };
        if wanted.state.calibrations.all.factor(&model).is_none() {
            let learned = self.learned_elsewhere(&model).await?;
            wanted.spec.factor = learned.or(wanted.spec.factor);
        }
        Ok(())
    }

    /// How the tokens of a model are counted, going by all that providers reported.
    pub async fn measure(&self, model: &str) -> Result<Measure, Error> {
        let learned = match self.state().await?.calibrations.all.factor(model) {
            None => self.learned_elsewhere(model).await?,
            learned => learned,
        };
        Ok(Measure::of(model, learned))
    }

    /// Lets other sessions of this program know what a run was told.
    pub fn share_report(&self, report: &Report) {
        self._board.calibration.learn(report);
    }

    /// What a token of the vocabulary comes to for `model`, where a run of another session was told.
    async fn learned_elsewhere(&self, model: &str) -> Result<Option<Factor>, Error> {
        let others = async {
            let (board, mut learned) = (Board::of(self), Calibration::default());
            for (id, _) in board.store().recent_sessions(SESSIONS).await? {
                // One that has gone meanwhile, or that this program cannot read, teaches nothing.
                if let Ok((loaded, _)) = board.load(&id).await {
                    learned.add(&loaded.state.calibrations.of_runs);
                }
            }
            Ok(learned)
        };
        self._board.calibration.factor(model, others).await
    }
}
