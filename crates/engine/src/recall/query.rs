//! Questions: what in a session answers one, as one viewer may see it.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use callboard_core::{
    conversation::Role,
    entry::{Entry, Head},
    error::Error as Refusal,
    id::{AgentName, CollectionName, MessageId, Seq, ThreadId},
    recall::{Source, recallable},
    session::Kind,
    state::State,
    text::Values,
    time::Timestamp,
    view::View,
    viewer::Viewer,
};
use callboard_recall::{Class, Error as IndexError, Hit, Index, Prefer, Query, Scope, Vector, search};
use tokio::{time::timeout, try_join};

pub use callboard_recall::Why;

use super::{
    elsewhere::{self, FromElsewhere},
    settings::RecallSettings,
};
use crate::{error::Error, seal::reading::ReadingMask, session::Session, sizes::sizes, texts};

/// The longest question, in bytes.
const LONGEST: usize = 16 * 1024;

/// The most hits of one question.
pub(super) const MOST: usize = 1000;

/// How much of a text is shown around a secret that two passages share.
const SHOWN: usize = 2000;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallQuery {
    /// The question, in words.
    pub text: String,
    /// The most hits.
    pub limit: usize,
    /// Only what was said in this thread.
    pub thread: Option<ThreadId>,
    /// Whose words are asked about.
    pub prefer: Prefer,
    /// Only from these sources, also those elsewhere; from all where it is empty.
    pub sources: Vec<String>,
    /// As of which entry; the head where it is absent.
    pub at: Option<Seq>,
    /// Entries that are not wanted again.
    pub but: BTreeSet<Seq>,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecallAnswer {
    /// The best first.
    pub hits: Vec<RecallHit>,
    /// How many entries that were written before were not read yet; `None` where all were.
    pub behind: Option<u64>,
    /// Why nothing can be found, where the question says nothing.
    pub note: Option<&'static str>,
    /// The model whose vectors count, and how many passages have theirs; or `unavailable: ` and why. `None` without a model.
    pub embedder: Option<String>,
    /// What sources elsewhere gave.
    pub elsewhere: Vec<FromElsewhere>,
}

/// A passage that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallHit {
    /// What kind of thing says it.
    pub source: Source,
    /// The entry.
    pub seq: Seq,
    /// Who or what says it, for people and models, such as `user in main`.
    pub origin: String,
    /// What the entry is about, such as `thread:main`.
    pub subject: Arc<str>,
    /// What it says, without secrets.
    pub text: String,
    /// Where that stands in all that the entry says, in bytes; the name of a thing does not count.
    pub bytes: Range<usize>,
    /// How many bytes the entry says.
    pub of_bytes: usize,
    /// How well it answers.
    pub score: f32,
    /// Why it was found.
    pub why: Why,
    /// When it was said.
    pub at: Timestamp,
    /// The message, where it is one.
    pub message_id: Option<MessageId>,
    /// Its thread.
    pub thread: Option<ThreadId>,
    /// The collection that has it, where the session has not.
    pub collection: Option<CollectionName>,
    /// The agent that said it.
    pub agent: Option<AgentName>,
    /// The role of who said it.
    pub role: Option<Role>,
}

impl RecallQuery {
    /// What answers these words, best first, at most ten.
    pub fn new(text: impl Into<String>) -> Self {
        let (sources, but) = Default::default();
        Self { text: text.into(), limit: 10, thread: None, prefer: Prefer::AsAsked, sources, at: None, but }
    }

    fn check(&self, settings: &RecallSettings) -> Result<(), Refusal> {
        let own = Source::ALL.iter().map(|source| source.as_str());
        let known: Vec<&str> = own.chain(settings.sources.iter().map(|source| source.name())).collect();
        if let Some(place) = self.sources.iter().position(|name| !known.contains(&name.as_str())) {
            let known = known.join(", ");
            return Err(Refusal::invalid(format!("/sources/{place}"), format!("no source has this name: use {known}")));
        }
        if self.text.trim().is_empty() {
            return Err(Refusal::invalid("/query", "say what is asked"));
        }
        if self.text.len() > LONGEST {
            let size = self.text.len();
            return Err(Refusal::invalid(
                "/query",
                format!("it has {size} bytes, and {LONGEST} is the most: ask in fewer words"),
            ));
        }
        if self.limit == 0 || self.limit > MOST {
            return Err(Refusal::invalid("/limit", format!("ask for 1 to {MOST} hits")));
        }
        Ok(())
    }

    /// Whether hits of this class are wanted.
    fn wants(&self, class: &Class) -> bool {
        let is_in = |thread: &ThreadId| class.subject.strip_prefix("thread:") == Some(thread.as_str());
        self.thread.as_ref().is_none_or(is_in) && self.is_from(&class.source)
    }

    fn is_from(&self, source: &str) -> bool {
        self.sources.is_empty() || self.sources.iter().any(|name| name == source)
    }
}

impl Session {
    /// Finds what answers a question, as far as `viewer` may see it.
    pub async fn recall(&self, viewer: &Viewer, mut query: RecallQuery) -> Result<RecallAnswer, Error> {
        let indices = &self._board.indices;
        query.check(&indices.settings)?;
        let now = self.state().await?;
        let state = match query.at {
            Some(at) => self.state_at(at).await?,
            None => now.clone(),
        };
        let view = View::new(&state, viewer, sizes())?;
        if let Some(thread) = &query.thread {
            view.thread(thread)?;
        }
        let mask = self.reading_mask(viewer).await?;
        if let Some(mask) = &mask {
            // A question does not find out what a secret is.
            query.text = mask.hide(&query.text).into_owned();
        }
        // Sources elsewhere know neither threads nor entries.
        let is_open = query.thread.is_none() && query.at.is_none();
        let asked = indices.settings.sources.iter().filter(|source| is_open && query.is_from(source.name()));
        let elsewhere = async { Ok(elsewhere::ask(asked, &query.text, query.limit).await) };
        let here = async {
            let (behind, vector) = self.followed_with(now.head, &query.text).await?;
            let (found, embedder) = self.hits(&state, viewer, &query, vector.clone()).await?;
            let mut hits = self.shown(found, mask.as_ref()).await?;
            if is_open && query.is_from(Source::Document.as_str()) {
                hits.extend(self.in_collections(viewer, &query, vector, mask.as_ref()).await?);
                hits.sort_by(|one, other| other.score.total_cmp(&one.score));
                hits.truncate(query.limit);
            }
            Ok::<_, Error>((behind, hits, embedder))
        };
        let ((behind, hits, embedder), elsewhere) = try_join!(here, elsewhere)?;
        self.live.confirm(&now).await?;
        let note = hits.is_empty().then(|| query.note()).flatten();
        Ok(RecallAnswer { hits, behind, note, embedder, elsewhere })
    }

    /// What answers a question in the collections that the session names, as far as `viewer` may see it. The words of each
    /// collection are weighed by themselves.
    async fn in_collections(
        &self,
        viewer: &Viewer,
        query: &RecallQuery,
        vector: Option<Result<Vector, String>>,
        mask: Option<&ReadingMask>,
    ) -> Result<Vec<RecallHit>, Error> {
        // What is not wanted again are entries of the session.
        let query = RecallQuery { but: BTreeSet::new(), ..query.clone() };
        let mut hits = Vec::new();
        for (name, collection) in self.collections().await? {
            let state = collection.state().await?;
            collection.followed(state.head).await?;
            let (found, _) = collection.hits(&state, viewer, &query, vector.clone()).await?;
            let shown = collection.shown(found, mask).await?;
            hits.extend(shown.into_iter().map(|hit| RecallHit { collection: Some(name.clone()), ..hit }));
        }
        Ok(hits)
    }

    /// Has the journal read up to `head`, and gets the vector of the question meanwhile, if there is a model.
    async fn followed_with(
        &self,
        head: Head,
        question: &str,
    ) -> Result<(Option<u64>, Option<Result<Vector, String>>), Error> {
        let indices = &self._board.indices;
        let vector = async { Ok(indices.vectors.of_question(question, indices.settings.patience).await) };
        try_join!(self.followed(head), vector)
    }

    /// The places that answer a question, as far as `viewer` may see them. Their texts are not read.
    pub(crate) async fn recalled_places(&self, viewer: &Viewer, query: RecallQuery) -> Result<Vec<Hit>, Error> {
        query.check(&self._board.indices.settings)?;
        let now = self.state().await?;
        let state = self.state_at(query.at.unwrap_or(now.head.seq)).await?;
        let (_, vector) = self.followed_with(now.head, &query.text).await?;
        Ok(self.hits(&state, viewer, &query, vector).await?.0)
    }

    /// Takes what was erased out of the index, if the session has one. Whoever erases something calls it.
    pub async fn forget_erased(&self) -> Result<(), Error> {
        if self._board.indices.knows(self.id()).await {
            self.followed(self.state().await?.head).await?;
        }
        Ok(())
    }

    /// Has the journal read up to `head`. Says how many entries are missing after a moment.
    async fn followed(&self, head: Head) -> Result<Option<u64>, Error> {
        let (indices, id) = (self._board.indices.clone(), self.id().clone());
        if indices.cursor(&id).await? == head {
            return Ok(None);
        }
        let (following, session) = (indices.clone(), id.clone());
        // It goes on when nobody waits for it any more.
        let task = tokio::spawn(async move { following.follow(&session, head, usize::MAX).await });
        match timeout(indices.settings.patience, task).await {
            Ok(read) => {
                read.map_err(|_| Error::Closed)??;
                Ok(None)
            }
            Err(_) => {
                let behind = head.seq.0.saturating_sub(indices.cursor(&id).await?.seq.0);
                Ok((behind > 0).then_some(behind))
            }
        }
    }

    /// The hits among what a viewer may see as of a state, and which model counted.
    async fn hits(
        &self,
        state: &Arc<State>,
        viewer: &Viewer,
        query: &RecallQuery,
        vector: Option<Result<Vector, String>>,
    ) -> Result<(Vec<Hit>, Option<String>), Error> {
        let indices = &self._board.indices;
        let (vector, trouble) = match vector {
            Some(Err(reason)) => (None, Some(format!("unavailable: {reason}"))),
            vector => (vector.and_then(Result::ok), None),
        };
        let found = async || {
            let (state, viewer, query, vector) = (state.clone(), viewer.clone(), query.clone(), vector.clone());
            let (hits, is_whole) = indices
                .with(self.id(), move |index| {
                    let hits = found(index, &state, &viewer, &query, vector.as_ref())?;
                    Ok((hits, index.vectors() >= index.passages()))
                })
                .await?;
            if !is_whole {
                indices.vectors.want(self.id());
            }
            let embedder = trouble.clone().or_else(|| indices.vectors.shown(is_whole));
            Ok::<_, Error>(hits.map(|hits| (hits, embedder)))
        };
        let error = match found().await? {
            Ok(hits) => return Ok(hits),
            Err(error) => error,
        };
        indices.drop_damaged(self.id(), error).await?;
        self.followed(self.state().await?.head).await?;
        Ok(found().await??)
    }

    /// The hits with their texts, as they stand in the journal now.
    async fn shown(&self, hits: Vec<Hit>, mask: Option<&ReadingMask>) -> Result<Vec<RecallHit>, Error> {
        let mut seqs: Vec<Seq> = hits.iter().map(|hit| hit.seq).collect();
        seqs.sort_unstable();
        seqs.dedup();
        let entries = self.live.store.read_each(self.id(), &seqs).await?;
        let values = self.values(entries.iter().flat_map(texts::long_texts)).await?;
        let entries: BTreeMap<Seq, Entry> = entries.into_iter().map(|entry| (entry.header.seq, entry)).collect();
        let mut shown = Vec::with_capacity(hits.len());
        for hit in hits {
            let entry = entries.get(&hit.seq);
            let place = Place { bytes: hit.bytes, score: hit.score, why: hit.why };
            shown.extend(entry.map(|entry| show(place, entry, &values, mask)).transpose()?.flatten());
        }
        Ok(shown)
    }
}

impl RecallQuery {
    /// Why nothing can be found, if that is so.
    fn note(&self) -> Option<&'static str> {
        let says_nothing = callboard_recall::is_blank(&self.text);
        says_nothing.then_some(
            "the query has only words that stand in nearly every text: add a name or a word of what you look for",
        )
    }
}

/// The hits among what a viewer may see as of a state.
fn found(
    index: &Index,
    state: &State,
    viewer: &Viewer,
    query: &RecallQuery,
    vector: Option<&Vector>,
) -> Result<Result<Vec<Hit>, IndexError>, Error> {
    let view = match state.session.kind {
        Kind::Session => Some(View::new(state, viewer, sizes())?),
        Kind::Collection => None,
    };
    let from = |class: &Class| {
        let Some(view) = &view else { return state.documents.recalls_from(viewer, &class.subject) };
        let source = Source::ALL.into_iter().find(|source| source.as_str() == &*class.source)?;
        view.recalls_from(source, &class.subject, &class.audience)
    };
    // What was read of later entries does not count.
    let at = (index.cursor().seq > state.head.seq).then_some(state.head.seq);
    let scope = Scope { index, from: &from, at };
    let (wants, skips) = (|class: &Class| query.wants(class), |_: usize, seq: Seq| query.but.contains(&seq));
    let asked =
        Query { text: &query.text, vector, limit: query.limit, prefer: query.prefer, wants: &wants, skips: &skips };
    Ok(search(&[scope], &asked))
}

/// A passage that was found, before its text is read.
pub(super) struct Place {
    pub(super) bytes: Range<usize>,
    pub(super) score: f32,
    pub(super) why: Why,
}

/// A hit with its text; `None` where that was erased meanwhile.
pub(super) fn show(
    place: Place,
    entry: &Entry,
    values: &Values,
    mask: Option<&ReadingMask>,
) -> Result<Option<RecallHit>, Error> {
    let Some(said) = recallable(entry)? else { return Ok(None) };
    let Ok(whole) = said.text(values) else { return Ok(None) };
    let (name, Place { bytes, score, why }) = (said.name_bytes, place);
    // The name of a thing is no part of what it says, unless nothing else was found.
    let bytes = if bytes.end > name { bytes.start.max(name)..bytes.end } else { bytes };
    let Some(passage) = whole.get(bytes.clone()) else { return Ok(None) };
    let text = mask.map_or_else(|| passage.to_owned(), |mask| hidden(mask, &whole, &bytes, passage));
    let header = &entry.header;
    Ok(Some(RecallHit {
        origin: said.origin(&header.subject),
        source: said.source,
        seq: header.seq,
        subject: header.subject.clone(),
        text,
        bytes: bytes.start.saturating_sub(name)..bytes.end.saturating_sub(name),
        of_bytes: whole.len() - name,
        score,
        why,
        collection: None,
        at: header.time.unwrap_or(header.at),
        message_id: said.message_id,
        thread: header.subject.strip_prefix("thread:").and_then(|name| name.parse().ok()),
        agent: said.speaker.and_then(|name| name.parse().ok()),
        role: said.role,
    }))
}

/// A passage without secrets, also without the half of one that goes on behind it.
pub(super) fn hidden(mask: &ReadingMask, whole: &str, bytes: &Range<usize>, passage: &str) -> String {
    let (before, after) = (whole.get(..bytes.start).unwrap_or_default(), whole.get(bytes.end..).unwrap_or_default());
    let (masked, all) = (mask.hide(passage), mask.hide(whole));
    let is_cut = format!("{}{masked}{}", mask.hide(before), mask.hide(after)) != all;
    if is_cut { all.chars().take(SHOWN).collect() } else { masked.into_owned() }
}
