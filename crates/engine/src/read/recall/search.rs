//! The exact form of recall. It reads the journals from their ends, so it is complete and needs no index.

use std::{cmp::Reverse, sync::Arc};

use callboard_core::{
    entry::Entry,
    error::Error as Refusal,
    event::{self, recallable},
    id::Seq,
    time::Timestamp,
    viewer::Viewer,
};
use callboard_prompt::search::Search;
use callboard_store::{Order, Query};

use super::{
    answer::{HitWhy, Place, RecallHit, show},
    corpus::SearchedJournal,
    sight::Sight,
};
use crate::{error::Error, journal::PAGE, recall::query::MOST, session::Session, texts};

impl Session {
    /// Finds where words stand as they are written, the newest first, as far as `viewer` may see it: in the session and in the
    /// collections that it names.
    pub async fn search_words(&self, viewer: &Viewer, words: &str, limit: usize) -> Result<Vec<RecallHit>, Error> {
        if limit == 0 || limit > MOST {
            return Err(Refusal::invalid("/limit", format!("ask for 1 to {MOST} hits")).into());
        }
        let corpus = self.corpus(None).await?;
        let search = Search::parse(words)?;
        let mut found = Vec::new();
        for journal in corpus.all() {
            found.extend(journal.search(viewer, &search, limit).await?);
        }
        // Those of one journal stay in their order.
        found.sort_by_key(|(written, _)| Reverse(*written));
        corpus.confirm().await?;
        Ok(found.into_iter().map(|(_, hit)| hit).take(limit).collect())
    }
}

impl SearchedJournal {
    /// The newest entries with the words, and when they were written.
    async fn search(
        &self,
        viewer: &Viewer,
        search: &Search,
        limit: usize,
    ) -> Result<Vec<(Timestamp, RecallHit)>, Error> {
        let sight = Sight::of(&self.state, viewer)?;
        let types: Vec<Arc<str>> = event::recallable_types().map(Arc::from).collect();
        let (mut hits, mut before) = (Vec::new(), self.state.head.seq.next());
        while hits.len() < limit && before > Seq(1) {
            let page = Query { types: types.clone(), ..Query::all(Seq(1)..before, Order::Backward, PAGE) };
            let page = self.session.live.store.read(self.session.id(), page).await?;
            let Some(last) = page.last() else { break };
            before = last.header.seq;
            for entry in page.iter().filter(|entry| search.may_be_in(&entry.data)) {
                if hits.len() == limit {
                    break;
                }
                let hit = self.found_in(viewer, &sight, search, entry).await?;
                let of_here = |hit| RecallHit { collection: self.collection.clone(), ..hit };
                hits.extend(hit.map(|hit| (entry.header.at, of_here(hit))));
            }
        }
        Ok(hits)
    }

    /// Where the words stand in an entry, if its viewer may find it.
    async fn found_in(
        &self,
        viewer: &Viewer,
        sight: &Sight<'_>,
        search: &Search,
        entry: &Entry,
    ) -> Result<Option<RecallHit>, Error> {
        let header = &entry.header;
        let Some(said) = recallable(entry)? else { return Ok(None) };
        let from = sight.begins(said.source, &header.subject, &header.audience);
        if from.is_none_or(|from| header.seq < from) {
            return Ok(None);
        }
        let values = self.session.values(texts::long_texts(entry)).await?;
        let Ok(text) = said.text(&values) else { return Ok(None) };
        let Some(found) = search.find(header, &said, &text, viewer.agent()) else { return Ok(None) };
        let why = HitWhy { terms: search.words.clone(), ..HitWhy::default() };
        let place = Place { bytes: found.bytes, score: found.times as f32, why };
        Ok(show(viewer, place, entry, &said, &text))
    }
}
