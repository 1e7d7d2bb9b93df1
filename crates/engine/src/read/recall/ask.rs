//! Asking: what in a session and its collections answers a question, as one viewer may see it.

use std::{collections::BTreeMap, sync::Arc};

use callboard_core::{
    entry::Head, id::Seq, recall::Source, state::State, variable::HIDDEN, view::View, viewer::Viewer,
};
use callboard_recall::{Class, Hit, Index, IndexQuery, Scope, Vector, search};
use tokio::{task::JoinHandle, time::timeout, try_join};

use super::{
    answer::{Place, RecallAnswer, RecallHit, said, show},
    corpus::Corpus,
    sight::Sight,
};
use crate::{
    error::Error,
    recall::{
        elsewhere::{self, FromElsewhere},
        query::RecallQuery,
    },
    session::Session,
    sizes::sizes,
    texts,
};

/// Where something stands that answers a question.
pub(crate) struct Places {
    /// The journals in which it was looked for.
    pub(crate) corpus: Corpus,
    /// The places in them, the best first.
    pub(crate) hits: Vec<Hit>,
    /// How many entries were not looked at, where some were not.
    pub(crate) behind: Option<u64>,
    /// Whether there is a model of vectors, and it did not answer.
    pub(crate) by_words_alone: bool,
    /// What is told of that model, if there is one.
    pub(crate) embedder: Option<String>,
    /// What sources elsewhere gave.
    pub(crate) elsewhere: Vec<FromElsewhere>,
}

/// What is said to an agent of a model that gave no vectors. The reason may name machines that a model must not know.
const NO_VECTORS: &str = "the model gave no vectors";

/// The vector of a question, or why there is none; `None` without a model, and where the question says nothing.
type Meaning = Option<Result<Vector, String>>;

impl Session {
    /// Finds what answers a question, as far as `viewer` may see it.
    pub async fn recall(&self, viewer: &Viewer, mut query: RecallQuery) -> Result<RecallAnswer, Error> {
        // Sources elsewhere know neither threads nor entries.
        let is_open = query.thread.is_none() && query.at.is_none();
        let most = if is_open { query.limit } else { 0 };
        let found = self.recalled_places(viewer, &mut query, most).await?;
        let Places { corpus, hits, behind, embedder, mut elsewhere, .. } = found;
        let hits = shown(viewer, &corpus, hits).await?;
        corpus.confirm().await?;
        if matches!(viewer, Viewer::Agent(_)) {
            elsewhere.iter_mut().for_each(FromElsewhere::hide_reason);
        }
        let note = hits.is_empty().then(|| query.note()).flatten();
        Ok(RecallAnswer { hits, behind, note, embedder, elsewhere })
    }

    /// The places that answer a question, as far as `viewer` may see them, and the journals in which they are. Their texts are
    /// not read. Also what sources elsewhere give, at most so many passages each. Secrets are hidden in the question.
    pub(crate) async fn recalled_places(
        &self,
        viewer: &Viewer,
        query: &mut RecallQuery,
        most_elsewhere: usize,
    ) -> Result<Places, Error> {
        let settings = &self._board.indices.settings;
        query.check(settings)?;
        let corpus = self.corpus(query.at).await?;
        let view = View::new(&corpus.own.state, viewer, sizes())?;
        if let Some(thread) = &query.thread {
            view.thread(thread)?;
        }
        self.hide_secrets(query).await?;
        let query = &*query;
        let here = async {
            let (behind, meaning) = self.followed_with(&corpus, &query.text).await?;
            let by_words_alone = matches!(&meaning, Some(Err(_)));
            let (hits, embedder) = self.hits(&corpus, viewer, query, meaning).await?;
            Ok::<_, Error>((hits, behind, by_words_alone, embedder))
        };
        let sources = settings.sources.iter().filter(|source| most_elsewhere > 0 && query.is_from(source.name()));
        let elsewhere = async { Ok(elsewhere::ask(sources, &query.text, most_elsewhere).await) };
        let ((hits, behind, by_words_alone, embedder), elsewhere) = try_join!(here, elsewhere)?;
        Ok(Places { corpus, hits, behind, by_words_alone, embedder, elsewhere })
    }

    /// Hides secrets in a question: it must not find out what a secret is, and goes to models elsewhere.
    async fn hide_secrets(&self, query: &mut RecallQuery) -> Result<(), Error> {
        if let Some(masked) = self.mask_of_input().await?.mask(&query.text) {
            query.text = masked;
        }
        Ok(())
    }

    /// Takes what older entries do not say any more out of the index, if the session has one.
    pub(crate) async fn forget_changed(&self) -> Result<(), Error> {
        if self._board.indices.sessions().await.contains(self.id()) {
            let task = self.read_on(self.state().await?.head);
            if let Ok(read) = timeout(self._board.indices.settings.patience, task).await {
                read.map_err(|_| Error::Closed)??;
            }
        }
        Ok(())
    }

    /// Has all journals read, and gets the vector of the question meanwhile, if there is a model.
    async fn followed_with(&self, corpus: &Corpus, question: &str) -> Result<(Option<u64>, Meaning), Error> {
        let indices = &self._board.indices;
        let meaning = async {
            if callboard_recall::is_blank(question) {
                return Ok(None);
            }
            Ok(indices.vectors.of_question(question, indices.settings.patience).await)
        };
        try_join!(corpus.followed(), meaning)
    }

    /// Has the journal read up to `head`. Says how many entries are missing after a moment; or at once, where another question
    /// waited in vain for what is read still.
    pub(super) async fn followed(&self, head: Head) -> Result<Option<u64>, Error> {
        let (indices, id) = (&self._board.indices, self.id());
        if indices.cursor(id).await? == head {
            return Ok(None);
        }
        if !indices.readings.take_long(id) {
            if let Ok(read) = timeout(indices.settings.patience, self.read_on(head)).await {
                read.map_err(|_| Error::Closed)??;
                return Ok(None);
            }
            indices.readings.note_long(id);
        }
        let behind = head.seq.0.saturating_sub(indices.cursor(id).await?.seq.0);
        Ok((behind > 0).then_some(behind))
    }

    /// Reads the journal on up to `head`. It goes on when nobody waits for it any more.
    fn read_on(&self, head: Head) -> JoinHandle<Result<Seq, Error>> {
        let (indices, id) = (self._board.indices.clone(), self.id().clone());
        let reading = indices.readings.begin(&id);
        tokio::spawn(async move {
            let read = indices.follow(&id, head, usize::MAX).await;
            drop(reading);
            read
        })
    }

    /// The hits among what a viewer may see, and which model counted.
    async fn hits(
        &self,
        corpus: &Corpus,
        viewer: &Viewer,
        query: &RecallQuery,
        meaning: Meaning,
    ) -> Result<(Vec<Hit>, Option<String>), Error> {
        let indices = &self._board.indices;
        let (vector, trouble) = match meaning {
            Some(Err(reason)) => {
                let reason = if matches!(viewer, Viewer::User) { reason.as_str() } else { NO_VECTORS };
                (None, Some(format!("unavailable: {reason}")))
            }
            meaning => (meaning.and_then(Result::ok), None),
        };
        let states: Vec<Arc<State>> = corpus.all().map(|journal| journal.state.clone()).collect();
        let (viewer, query) = (viewer.clone(), query.clone());
        let (hits, is_whole, whole) = indices
            .with_each(&corpus.ids(), move |all| {
                let (hits, is_whole) = found(all, &states, &viewer, &query, vector.as_ref())?;
                let whole: Vec<bool> = all.iter().map(|index| index.vectors() >= index.passages()).collect();
                Ok((hits, is_whole, whole))
            })
            .await?;
        for (journal, _) in corpus.all().zip(&whole).filter(|(_, is_whole)| !**is_whole) {
            indices.vectors.want(journal.session.id());
        }
        Ok((hits, trouble.or(indices.vectors.shown(is_whole))))
    }
}

/// The hits with their texts, as they stand in the journals now, for `viewer`. Each entry is read once, however many hits it has.
async fn shown(viewer: &Viewer, corpus: &Corpus, hits: Vec<Hit>) -> Result<Vec<RecallHit>, Error> {
    let mut wanted: BTreeMap<usize, BTreeMap<Seq, Vec<(usize, Hit)>>> = BTreeMap::new();
    for (number, hit) in hits.into_iter().enumerate() {
        wanted.entry(hit.scope).or_default().entry(hit.seq).or_default().push((number, hit));
    }
    let mut shown: BTreeMap<usize, RecallHit> = BTreeMap::new();
    for (scope, mut wanted) in wanted {
        let Some(journal) = corpus.journal(scope) else { continue };
        let (session, seqs) = (&journal.session, wanted.keys().copied().collect::<Vec<_>>());
        for entry in session.live.store.read_each(session.id(), &seqs).await? {
            let values = session.values(texts::long_texts(&entry)).await?;
            let Some((said, whole)) = said(&entry, &values)? else { continue };
            for (number, Hit { bytes, score, why, .. }) in wanted.remove(&entry.header.seq).unwrap_or_default() {
                let hit = show(viewer, Place { bytes, score, why }, &entry, &said, &whole);
                let collection = journal.collection.clone();
                shown.extend(hit.map(|hit| (number, RecallHit { collection, ..hit })));
            }
        }
    }
    Ok(shown.into_values().collect())
}

/// The hits among what a viewer may see, by one score over all journals; and whether all that it sees has its vectors.
fn found(
    indexes: &[&Index],
    states: &[Arc<State>],
    viewer: &Viewer,
    query: &RecallQuery,
    vector: Option<&Vector>,
) -> Result<(Vec<Hit>, bool), Error> {
    let sights = states.iter().map(|state| Sight::of(state, viewer)).collect::<Result<Vec<_>, _>>()?;
    let begins = |sight: &Sight<'_>, class: &Class| {
        let source = Source::ALL.into_iter().find(|source| source.as_str() == &*class.source)?;
        sight.begins(source, &class.subject, &class.audience)
    };
    let begins: Vec<_> = sights.iter().map(|sight| move |class: &Class| begins(sight, class)).collect();
    let scopes = indexes.iter().zip(states).zip(&begins).map(|((index, state), from)| {
        // What was read of later entries does not count.
        let at = (index.newest() > state.head.seq).then_some(state.head.seq);
        Scope { index, from, at }
    });
    let scopes: Vec<Scope<'_>> = scopes.collect();
    let wants = |class: &Class| query.wants(class);
    // What is not wanted again are entries of the session.
    let skips = |scope: usize, seq: Seq| scope == 0 && query.but.contains(&seq);
    // Who guesses a secret does not find where one is hidden.
    let text = query.text.replace(HIDDEN, " ");
    let asked =
        IndexQuery { text: &text, vector, limit: query.limit, prefer: query.prefer, wants: &wants, skips: &skips };
    let is_whole = vector.is_none() || scopes.iter().all(|scope| scope.index.has_vectors_for(scope.from, scope.at));
    Ok((search(&scopes, &asked), is_whole))
}
