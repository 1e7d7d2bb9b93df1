//! Which entries that a prompt shows were changed: of those it says no more what it once said.

use std::collections::{BTreeMap, BTreeSet};

use callboard_core::{
    entry::Entry,
    erasure::Erased,
    fact::Fact,
    id::Seq,
    rewriting::{CHANGING, changed_by},
};
use callboard_prompt::Prompt;
use callboard_store::{Order, Query};

use super::Wanted;
use crate::{error::Error, journal::Pages, session::Session};

impl Session {
    /// The entries that `prompt` shows and whose words were erased, and those in which secrets were hidden, in their order.
    pub(super) async fn changed_in(&self, wanted: &Wanted, prompt: &Prompt) -> Result<(Vec<Seq>, Vec<Seq>), Error> {
        if wanted.erased.is_zero() {
            return Ok((Vec::new(), Vec::new()));
        }
        let changed = self.changed(wanted.erased).await?;
        let in_range = |seq: &&Seq| prompt.shows.iter().any(|(first, last)| (*first..=*last).contains(*seq));
        let mut shown: BTreeSet<_> = changed.keys().filter(in_range).copied().collect();
        for subject in &prompt.subjects {
            let all = Query::all(Seq(1)..prompt.seq.next(), Order::Backward, 1);
            let newest = Query { subjects: vec![subject.as_str().into()], ..all };
            let newest = self.live.store.read(self.id(), newest).await?;
            shown.extend(newest.iter().map(|entry| entry.header.seq).filter(|seq| changed.contains_key(seq)));
        }
        Ok(shown.into_iter().partition(|seq| changed.get(seq) == Some(&true)))
    }

    /// All entries that were changed, up to the change in the entry `through`, and whether their words are gone.
    async fn changed(&self, through: Seq) -> Result<BTreeMap<Seq, bool>, Error> {
        let mut changed = BTreeMap::new();
        for entry in self.changing(Seq::ZERO, through).await? {
            let erases = *entry.header.kind == *Erased::TYPE;
            for one in changed_by(&entry)? {
                // Words that are gone do not come back.
                *changed.entry(one.seq).or_default() |= erases;
            }
        }
        Ok(changed)
    }

    /// The entries after `after` up to `through` that change what older ones say.
    pub(crate) async fn changing(&self, after: Seq, through: Seq) -> Result<Vec<Entry>, Error> {
        let types = CHANGING.map(Into::into).to_vec();
        let mut pages = Pages::of(&*self.live.store, self.id(), after, through, types);
        let mut changing = Vec::new();
        while let Some(page) = pages.next().await? {
            changing.extend(page);
        }
        Ok(changing)
    }
}
