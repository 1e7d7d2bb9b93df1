//! Looking for what becomes a secret in the journal of a live session.

use std::sync::Arc;

use callboard_core::state::State;

use crate::{
    error::Error,
    live::session::Live,
    seal::{
        layer::Hidden,
        mask::Mask,
        rewrite::{Journal, Scan},
    },
};

impl Live {
    /// Looks for values in the journal that leads to `state`; further, where some of it was looked at `before`.
    pub(crate) async fn scan(
        &self,
        wanted: Vec<Arc<Hidden>>,
        state: &State,
        before: Option<Scan>,
    ) -> Result<Scan, Error> {
        let mask = Mask::default().with(wanted.iter().cloned());
        let mask = mask.map_err(|problem| self.sealer().sealed(&problem.to_string()))?;
        let mut scan = Scan::of(wanted, state, before);
        let journal = Journal { store: &*self.store, id: &self.id };
        if scan.look(journal, &mask, state.head.seq).await? { Ok(scan) } else { Err(self.gone()) }
    }
}
