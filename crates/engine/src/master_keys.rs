//! What programs do with the master keys of a board: check them as they start, and note a new one.

use callboard_core::error::Error as Refusal;

use crate::{
    board::Board,
    error::Error,
    live::master_key::{missed, note, noted},
};

impl Board {
    /// Refuses master keys that do not open the secrets of the store: another one, a damaged one, or none where there are secrets.
    pub async fn check_master_keys(&self) -> Result<(), Error> {
        let (noted, _) = noted(self.store().as_ref()).await?;
        let Some(id) = noted else { return Ok(()) };
        let problem = match self.settings().master_keys.keys() {
            Ok(keys) if keys.iter().any(|key| *key.id() == *id) => return Ok(()),
            Ok(_) => "another key is given".to_owned(),
            Err(problem) => problem,
        };
        Err(Refusal::Sealed {
            what: missed(&id, &problem),
            hint: "put the key back; where it is lost, `callboard secrets rotate --lost` goes on with a new one, and what it sealed is lost",
        }
        .into())
    }

    /// Notes that new data keys are wrapped by the first of the master keys from now on, as a rotation ends.
    pub async fn note_master_key(&self) -> Result<(), Error> {
        let sealed = |what: String| Refusal::Sealed { what, hint: "give the master key" };
        let keys = self.settings().master_keys.keys().map_err(sealed)?;
        let first = keys.first().ok_or_else(|| sealed("there is no master key".to_owned()))?;
        let (noted, head) = noted(self.store().as_ref()).await?;
        if noted.as_deref() == Some(&*first.id()) {
            return Ok(());
        }
        note(self.store(), self.settings(), first, head).await
    }
}
