//! Which entries that a prompt shows were erased: of those it says no more what it once said.

use std::{collections::BTreeSet, sync::Arc};

use callboard_core::{
    erasure::Erased,
    fact::{self, Fact},
    id::Seq,
    prompt::Prompt,
};
use callboard_store::{Order, Query};

use super::Wanted;
use crate::{error::Error, journal::PAGE, session::Session};

impl Session {
    /// The entries that were erased and that `prompt` shows, in their order.
    pub(super) async fn erased_in(&self, wanted: &Wanted, prompt: &Prompt) -> Result<Vec<Seq>, Error> {
        if wanted.erased.is_zero() {
            return Ok(Vec::new());
        }
        let erased = self.erased(wanted.erased).await?;
        let in_range = |seq: &&Seq| prompt.shows.iter().any(|(first, last)| (*first..=*last).contains(*seq));
        let mut found: BTreeSet<_> = erased.iter().filter(in_range).copied().collect();
        for subject in &prompt.subjects {
            let newest = Query {
                seqs: Seq(1)..prompt.seq.next(),
                types: Vec::new(),
                subjects: vec![subject.as_str().into()],
                order: Order::Backward,
                limit: 1,
            };
            let newest = self.live.store.read(self.id(), newest).await?;
            found.extend(newest.iter().map(|entry| entry.header.seq).filter(|seq| erased.contains(seq)));
        }
        Ok(found.into_iter().collect())
    }

    /// All entries that were erased, up to the erasure in the entry `through`.
    async fn erased(&self, through: Seq) -> Result<BTreeSet<Seq>, Error> {
        let (mut erased, mut after) = (BTreeSet::new(), Seq::ZERO);
        while after < through {
            let types: Vec<Arc<str>> = vec![Erased::TYPE.into()];
            let (seqs, subjects, order) = (after.next()..through.next(), Vec::new(), Order::Forward);
            let page = self.live.store.read(self.id(), Query { seqs, types, subjects, order, limit: PAGE }).await?;
            let Some(last) = page.last() else { break };
            after = last.header.seq;
            for entry in &page {
                erased.extend(fact::read::<Erased>(entry)?.entries().map(|(seq, _)| seq));
            }
        }
        Ok(erased)
    }
}
