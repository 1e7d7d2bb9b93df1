//! The exact form of recall. It reads the journal from its end, so it is complete and needs no index.

use std::sync::Arc;

use callboard_core::{
    entry::Entry,
    error::Error as Refusal,
    event,
    id::Seq,
    recall::{Search, recallable},
    text::Values,
    view::View,
    viewer::Viewer,
};
use callboard_store::{Order, Query};

use super::query::{MOST, Place, RecallHit, Why, show};
use crate::{error::Error, journal::PAGE, session::Session, sizes::sizes, texts};

impl Session {
    /// Finds where words stand as they are written, the newest first, as far as `viewer` may see it.
    pub async fn search_words(&self, viewer: &Viewer, words: &str, limit: usize) -> Result<Vec<RecallHit>, Error> {
        if limit == 0 || limit > MOST {
            return Err(Refusal::invalid("/limit", format!("ask for 1 to {MOST} hits")).into());
        }
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let mask = self.reading_mask(viewer).await?;
        // Who searches for a secret does not find out where it stands.
        let words = mask.as_ref().map_or(words.into(), |mask| mask.hide(words));
        let search = Search::parse(&words)?;
        let types: Vec<Arc<str>> = event::recallable_types().map(Arc::from).collect();
        let (mut hits, mut before) = (Vec::new(), state.head.seq.next());
        while hits.len() < limit && before > Seq(1) {
            let (seqs, types, order) = (Seq(1)..before, types.clone(), Order::Backward);
            let page = Query { seqs, types, subjects: Vec::new(), order, limit: PAGE };
            let page = self.live.store.read(self.id(), page).await?;
            let Some(last) = page.last() else { break };
            before = last.header.seq;
            for entry in page.iter().filter(|entry| search.may_be_in(&entry.data)) {
                if hits.len() == limit {
                    break;
                }
                if let Some((place, values)) = self.found_in(&view, &search, entry).await? {
                    hits.extend(show(place, entry, &values, mask.as_ref())?);
                }
            }
        }
        self.live.confirm(&state).await?;
        Ok(hits)
    }

    /// Where the words stand in an entry, if its viewer may find it.
    async fn found_in(
        &self,
        view: &View<'_>,
        search: &Search,
        entry: &Entry,
    ) -> Result<Option<(Place, Values)>, Error> {
        let header = &entry.header;
        let Some(said) = recallable(entry)? else { return Ok(None) };
        let from = view.recalls_from(said.source, &header.subject, &header.audience);
        if from.is_none_or(|from| header.seq < from) {
            return Ok(None);
        }
        let values = self.values(texts::long_texts(entry)).await?;
        let Ok(text) = said.text(&values) else { return Ok(None) };
        let Some(found) = search.find(header, &said, &text) else { return Ok(None) };
        let why = Why { terms: search.words().to_vec(), ..Why::default() };
        Ok(Some((Place { bytes: found.bytes, score: found.times as f32, why }, values)))
    }
}
