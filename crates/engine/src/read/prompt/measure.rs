//! How the tokens of models are counted: as known of them, and as their providers taught.

use callboard_core::{
    calibration::{Calibration, Report},
    count::Factor,
    state::State,
};

use super::Wanted;
use crate::{board::Board, error::Error, session::Session, sizes::Measure};

/// So many of the sessions that were used last are asked for what they have learned.
const SESSIONS: usize = 8;

impl Session {
    /// Counts a model that is not counted exactly by what was reported of it, here or in other sessions.
    pub(super) async fn calibrate(&self, wanted: &mut Wanted) -> Result<(), Error> {
        let Some(model) = wanted.model.as_deref().filter(|_| wanted.spec.factor.is_some()) else {
            return Ok(());
        };
        if let Some(learned) = self.learned(&wanted.state, model).await? {
            wanted.spec.factor = Some(learned);
        }
        Ok(())
    }

    /// How the tokens of a model are counted, going by all that providers reported.
    pub async fn measure(&self, model: &str) -> Result<Measure, Error> {
        Ok(Measure::of(model, self.learned(&*self.state().await?, model).await?))
    }

    /// Lets other sessions of this program know what a run was told.
    pub fn share_report(&self, report: &Report) {
        self._board.calibration.learn(report);
    }

    /// What a token of the vocabulary comes to for `model`, where its provider told this session or a run of another one.
    async fn learned(&self, state: &State, model: &str) -> Result<Option<Factor>, Error> {
        if let Some(factor) = state.calibrations.all.factor(model) {
            return Ok(Some(factor));
        }
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
