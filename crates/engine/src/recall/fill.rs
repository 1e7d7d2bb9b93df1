//! Giving passages their vectors, in the order in which they were said, some at a time.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callboard_core::{
    entry::{Entry, Hash},
    event::recallable,
    id::{Seq, SessionId},
    text::Values,
};
use callboard_recall::{MissingVector, Vector, VectorFile};

use super::indices::Indices;
use crate::{error::Error, texts};

/// So many passages get their vectors at once.
const AT_ONCE: usize = 64;

impl Indices {
    /// Gives the passages of a session their vectors. Says whether all have theirs: the model may be one that cannot be asked.
    pub(crate) async fn fill(self: &Arc<Self>, id: &SessionId) -> Result<bool, Error> {
        let Some(embedder) = self.vectors.embedder.clone() else { return Ok(false) };
        // Where a text has many passages, it is read once for all of them.
        let mut values = Values::new();
        loop {
            let wanted = self.with(id, |index| Ok(index.without_vectors(AT_ONCE))).await?;
            if wanted.is_empty() {
                return Ok(true);
            }
            let texts = self.texts(id, &wanted, &mut values).await?;
            let hashes: Vec<Hash> = texts.iter().map(|text| Hash::of(text.as_bytes())).collect();
            let (known, dimension) = (hashes.clone(), self.vectors.dimension.get().copied());
            let mut vectors = self.vectors.with_file(move |file| file.find(&known)).await?;
            for vector in &mut vectors {
                *vector = vector.take().filter(|it| dimension.is_none_or(|dimension| it.numbers().len() == dimension));
            }
            vectors.resize(texts.len(), None);
            let is_missing = |place: &usize| {
                let is_there = vectors.get(*place).is_some_and(Option::is_some);
                !is_there && texts.get(*place).is_some_and(|text| !text.is_empty())
            };
            let missing: Vec<usize> = (0..texts.len()).filter(is_missing).collect();
            let asked: Vec<&str> = missing.iter().filter_map(|place| texts.get(*place)).map(String::as_str).collect();
            if !asked.is_empty() {
                let embedded = match self.vectors.embed(&*embedder, &asked).await {
                    Ok(embedded) => embedded,
                    Err(error) => {
                        self.vectors.note(error);
                        return Ok(false);
                    }
                };
                for (place, vector) in missing.into_iter().zip(embedded) {
                    if let Some(empty) = vectors.get_mut(place) {
                        *empty = vector;
                    }
                }
            }
            self.put(id, wanted, hashes, vectors).await?;
        }
    }

    /// Gives passages their vectors and keeps these. What was erased meanwhile is neither given nor kept.
    async fn put(
        self: &Arc<Self>,
        id: &SessionId,
        wanted: Vec<MissingVector>,
        hashes: Vec<Hash>,
        vectors: Vec<Option<Vector>>,
    ) -> Result<(), Error> {
        let lock = self.lock_of(id);
        // Nothing is erased before what is given here is kept.
        let _guard = lock.lock().await;
        let (vectors, given) = self
            .with(id, move |index| {
                let given = index.add_vectors(&wanted, &vectors);
                Ok((vectors, given))
            })
            .await?;
        let journal = self.name(id);
        let kept = move |file: &VectorFile| {
            let all = given.iter().zip(hashes).zip(&vectors);
            file.keep(&journal, all.filter_map(|((seq, hash), vector)| Some(((*seq)?, hash, vector.as_ref()?))))
        };
        self.vectors.with_file(kept).await
    }

    /// What gets the vectors of passages: who says it, and the words, empty where they are gone. Of the long texts, `values`
    /// has those that were read before, and then those of these passages.
    async fn texts(&self, id: &SessionId, wanted: &[MissingVector], values: &mut Values) -> Result<Vec<String>, Error> {
        let seqs: BTreeSet<Seq> = wanted.iter().map(|wanted| wanted.seq).collect();
        let entries = self.store.read_each(id, &seqs.into_iter().collect::<Vec<_>>()).await?;
        let hashes: BTreeSet<Hash> = entries.iter().flat_map(texts::long_texts).collect();
        values.retain(|hash, _| hashes.contains(hash));
        let missing: Vec<Hash> = hashes.into_iter().filter(|hash| !values.contains_key(hash)).collect();
        values.extend(texts::there(&*self.store, id, missing).await?);
        let entries: BTreeMap<Seq, &Entry> = entries.iter().map(|entry| (entry.header.seq, entry)).collect();
        let text = |wanted: &MissingVector| {
            let said = entries.get(&wanted.seq).map(|entry| recallable(entry)).transpose()?.flatten();
            let passage = said.and_then(|said| said.part(wanted.bytes.clone(), values)).unwrap_or_default();
            Ok(match &wanted.speaker {
                Some(speaker) if !passage.is_empty() => format!("{speaker}: {passage}"),
                _ => passage,
            })
        };
        wanted.iter().map(text).collect()
    }
}
