//! Looking for what becomes a secret in the journal of a live session.

use std::sync::Arc;

use callboard_core::state::State;

use crate::{
    error::Error,
    live::session::Live,
    lock::lock,
    seal::{
        layer::Hidden,
        mask::Mask,
        rewrite::{Journal, Scan},
        said::SaidBytes,
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
        let (journal, head) = (Journal { store: &*self.store, id: &self.id }, state.head.seq);
        let noted = lock(&self.said).take();
        let mut said = SaidBytes::of(noted.map(|noted| *noted), head);
        if !said.note(journal, head).await? {
            return Err(self.gone());
        }
        let mask = Mask::default().with(wanted.iter().filter(|value| said.may_have(value)).cloned());
        *lock(&self.said) = Some(Box::new(said));
        let mask = mask.map_err(|problem| self.sealer().sealed(&problem.to_string()))?;
        let mut scan = Scan::of(wanted, state, before);
        if scan.look(journal, &mask, head).await? { Ok(scan) } else { Err(self.gone()) }
    }
}
