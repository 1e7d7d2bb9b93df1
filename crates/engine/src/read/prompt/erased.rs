//! Which entries that a prompt shows were erased: of those it says no more what it once said.

use std::{collections::BTreeSet, sync::Arc};

use callboard_core::{
    context_set::SetView,
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
        let (view, source) = (wanted.view()?, wanted.source()?);
        let erased = self.erased(wanted.erased).await?;
        let in_range = |seq: &&Seq| prompt.shows.iter().any(|(first, last)| (*first..=*last).contains(*seq));
        let shown: Vec<_> = erased.iter().filter(in_range).copied().collect();
        let mut found = BTreeSet::new();
        for entry in self.entries_with(&shown).await? {
            // Between what it shows stands what others say elsewhere.
            if source.has(&entry.header) && view.project(&entry)?.is_some() {
                found.insert(entry.header.seq);
            }
        }
        let sets = view.sets().filter_map(|set| match set {
            SetView::Whole(held) if held.set.enabled => Some(held.seq),
            _ => None,
        });
        let has = |name: &str| prompt.parts.iter().any(|part| part.name == name);
        let sets = sets.filter(|_| has("context_sets"));
        let variables = view.variables().map(|variable| variable.seq).filter(|_| has("workflow_variables"));
        let plan = view.plan().ok().map(|held| held.seq).filter(|_| has("current_plan"));
        found.extend(sets.chain(variables).chain(plan).filter(|seq| erased.contains(seq)));
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
