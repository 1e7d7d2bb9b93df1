//! What a prompt shows of all that was ever said: it is looked for before the prompt is made, and noted by its place.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callboard_core::{
    context_set::SetView,
    conversation::facts::{MessageAdded, thread_subject},
    entry::{Entry, Hash},
    event::recallable,
    fact::{self, Fact},
    id::{CollectionName, Seq, SessionId},
    prompt::{
        Layout, LayoutName, PartName, PromptSpec,
        observed::{ForeignPassage, Observations, Observed, Passage},
    },
    text::Values,
};
use callboard_prompt::{Prompt, has_part, question::question};
use callboard_store::{Order, Query};

use super::{Made, Wanted};
use crate::{
    error::Error,
    prompt_memory::MadePrompts,
    read::recall::corpus::SearchedJournal,
    recall::{ForeignPassage as Foreign, FromElsewhere, RecallQuery},
    session::Session,
    texts,
};

/// How many passages are looked for. How many are shown is for the budget to say.
const PASSAGES: usize = 12;

/// How many of the newest messages are looked at for what they name.
const NEWEST: usize = 5;

/// How much is shown of what was said just before a passage that means little alone, in bytes.
const BEFORE: usize = 600;

/// How many passages of each source elsewhere are shown at most.
const ELSEWHERE: usize = 3;

/// How much of a passage from elsewhere is shown, in characters.
const FOREIGN: usize = 2_000;

/// Where an entry stands: in the session, or in a collection.
type Place<'a> = (&'a Option<CollectionName>, Seq);

impl Wanted {
    /// Whether it shows what is found.
    fn recalls(&self, spec: &PromptSpec) -> bool {
        let layout = &self.spec.layout;
        let of_session = || spec.profile.as_ref().unwrap_or(&self.state.session.settings.prompt).recall;
        let by_default = || !matches!(layout, Layout::Named(LayoutName::Team | LayoutName::Plain));
        has_part(layout, PartName::RECALL) && spec.recall.or_else(of_session).unwrap_or_else(by_default)
    }
}

impl Session {
    /// Adds to a prompt what is found for it, or what was found when it was made for the first time. Where nothing is found for
    /// it, the prompt that was made to look for it is the answer.
    pub(super) async fn add_recalled(&self, wanted: &mut Wanted, spec: &PromptSpec) -> Result<Option<Made>, Error> {
        let places = match &spec.observed.recall {
            Observed::Seen(places) => places.clone(),
            Observed::Absent if wanted.recalls(spec) => match self.look_for(wanted, spec).await {
                Ok((places, made)) => {
                    let Observations { recall_notes, elsewhere, .. } = &wanted.spec.observed;
                    if places.is_empty() && recall_notes.is_empty() && elsewhere.is_empty() {
                        return Ok(made);
                    }
                    if let Some((_, _, mut remembered)) = made.filter(|(_, _, remembered)| !remembered.has_damage) {
                        // What was read for it is not read again. Nobody was asked with it.
                        remembered.made = MadePrompts::default();
                        self.live.prompts.remember(wanted.memory_key(), remembered);
                    }
                    places
                }
                // Refused questions and sessions that have gone are the caller's affair.
                Err(error @ (Error::Refused(_) | Error::NoSession { .. } | Error::Closed)) => return Err(error),
                Err(error) => {
                    tracing::warn!(session = %self.id(), %error, "nothing could be recalled for a prompt");
                    wanted.spec.observed.recall = Observed::Failed("the index could not be read".to_owned());
                    return Ok(None);
                }
            },
            Observed::Absent | Observed::Failed(_) => return Ok(None),
        };
        let entries = self.entries_saying(&places).await?;
        for place in &places {
            let Some(entry) = entries.get(&(&place.collection, place.seq)) else { continue };
            let journal = self.journal_of(&place.collection);
            let Some(whole) = self.whole_of(&journal, entry).await? else { continue };
            if let Some(text) = whole.get(place.start..place.end)
                && entry.hash_of_words(text) == place.sha256
            {
                wanted.recalled.insert(place.sha256, text.into());
            }
        }
        wanted.spec.observed.recall = Observed::Seen(places);
        Ok(None)
    }

    /// What answers what is asked now, the best first, and is not shown in the prompt anyway; and the prompt without it, where
    /// there is a question. What is found elsewhere, and why more may be found, is added to what is wanted.
    async fn look_for(&self, wanted: &mut Wanted, spec: &PromptSpec) -> Result<(Vec<Passage>, Option<Made>), Error> {
        let question = match &spec.query {
            Some(query) => query.clone(),
            None => self.question(wanted).await?,
        };
        if question.trim().is_empty() {
            return Ok((Vec::new(), None));
        }
        let without = self.make(&Arc::new(wanted.clone())).await?;
        let shown = shown(wanted, &without.0)?;
        let at = Some(wanted.state.head.seq);
        let mut query = RecallQuery { limit: PASSAGES, at, but: shown.clone(), ..RecallQuery::new(question) };
        let mut places: Vec<Passage> = Vec::new();
        // Sources elsewhere know what is, not what was.
        let is_now = self.live.known()?.head == wanted.state.head;
        let most_elsewhere = if is_now { ELSEWHERE } else { 0 };
        let found = self.recalled_places(&wanted.viewer, &mut query, most_elsewhere).await?;
        let corpus = &found.corpus;
        for hit in found.hits {
            let Some(SearchedJournal { session, collection, .. }) = corpus.journal(hit.scope) else { continue };
            let before = hit.before.filter(|seq| collection.is_some() || !shown.contains(seq));
            for (seq, bytes) in before.map(|seq| (seq, None)).into_iter().chain([(hit.seq, Some(hit.bytes))]) {
                let is_there = places.iter().any(|place| {
                    let is_of_entry = (&place.collection, place.seq) == (collection, seq);
                    is_of_entry && bytes.as_ref().is_none_or(|it| it.start == place.start)
                });
                let Some(entry) = session.entry(seq).await?.filter(|_| !is_there) else { continue };
                let Some(said) = recallable(&entry)? else { continue };
                let Some(text) = self.whole_of(session.id(), &entry).await? else { continue };
                let bytes = bytes.unwrap_or_else(|| 0..text.floor_char_boundary(BEFORE));
                let Some(passage) = text.get(bytes.clone()) else { continue };
                let header = &entry.header;
                places.push(Passage {
                    collection: collection.clone(),
                    seq,
                    start: bytes.start,
                    end: bytes.end,
                    sha256: entry.hash_of_words(passage),
                    from: said.origin(&header.subject, wanted.viewer.agent()),
                    at: header.time.unwrap_or(header.at),
                });
            }
        }
        let mask = self.mask_of_input().await?;
        let hide = |text: &str| mask.mask(text).unwrap_or_else(|| text.to_owned());
        let mut notes = Vec::new();
        if let Some(behind) = found.behind {
            notes.push(format!("[not all was looked at: {behind} entries are not in the index yet]"));
        }
        if found.by_words_alone {
            notes.push("[found by words alone: the model of meanings did not answer]".to_owned());
        }
        let mut elsewhere = Vec::new();
        for FromElsewhere { source, passages } in found.elsewhere {
            match passages {
                Ok(passages) => elsewhere.extend(passages.iter().map(|passage| foreign(&source, passage, &hide))),
                // Why is in the log: it may name machines that a model must not know.
                Err(_) => notes.push(format!("[the source {source} could not be asked]")),
            }
        }
        (wanted.spec.observed.recall_notes, wanted.spec.observed.elsewhere) = (notes, elsewhere);
        Ok((places, Some(without)))
    }

    /// What is looked for where nobody says it: the task, and what the newest messages name.
    async fn question(&self, wanted: &Wanted) -> Result<String, Error> {
        let all = Query::all(Seq(1)..wanted.state.head.seq.next(), Order::Backward, NEWEST);
        let (types, subjects) = (vec![MessageAdded::TYPE.into()], vec![thread_subject(&wanted.spec.thread).into()]);
        let query = Query { types, subjects, ..all };
        let view = wanted.view()?;
        let mut newest = Vec::new();
        for entry in self.live.store.read(self.id(), query).await? {
            let MessageAdded(message) = fact::read(&entry)?;
            if view.sees_said(&message.thread_id, entry.header.seq, &entry.header.audience) {
                // What the store has lost asks for nothing.
                let Some(values) = self.kept(self.id(), texts::long_texts(&entry)).await? else { continue };
                newest.extend(message.content.in_text(&values).ok());
            }
        }
        let newest: Vec<&str> = newest.iter().map(|text| &**text).collect();
        Ok(match (&wanted.spec.task, newest.split_first()) {
            (Some(task), _) => question(task, newest),
            (None, Some((task, newest))) => question(task, newest.iter().copied()),
            (None, None) => String::new(),
        })
    }

    /// The entries in which passages stand, as far as they are there.
    async fn entries_saying<'a>(&self, places: &'a [Passage]) -> Result<BTreeMap<Place<'a>, Entry>, Error> {
        let mut wanted: BTreeMap<&Option<CollectionName>, BTreeSet<Seq>> = BTreeMap::new();
        for place in places {
            wanted.entry(&place.collection).or_default().insert(place.seq);
        }
        let mut entries = BTreeMap::new();
        for (collection, seqs) in wanted {
            let journal = self.journal_of(collection);
            let seqs: Vec<Seq> = seqs.into_iter().collect();
            let read = self.live.store.read_each(&journal, &seqs).await?;
            entries.extend(read.into_iter().map(|entry| ((collection, entry.header.seq), entry)));
        }
        Ok(entries)
    }

    /// The journal of a collection, or of the session.
    fn journal_of(&self, collection: &Option<CollectionName>) -> SessionId {
        collection.as_ref().map_or_else(|| self.id().clone(), CollectionName::journal)
    }

    /// All that can be found of an entry.
    async fn whole_of(&self, journal: &SessionId, entry: &Entry) -> Result<Option<Arc<str>>, Error> {
        let Some(said) = recallable(entry)? else { return Ok(None) };
        let values = self.kept(journal, said.stored().collect()).await?;
        Ok(values.and_then(|values| said.text(&values).ok()))
    }

    /// Long texts of an entry. None where the store has lost one.
    async fn kept(&self, journal: &SessionId, hashes: Vec<Hash>) -> Result<Option<Values>, Error> {
        let mut values = Values::new();
        for hash in hashes {
            match self.live.store.value(journal, hash).await {
                Ok(Some(text)) => drop(values.insert(hash, text)),
                Ok(None) | Err(callboard_store::Error::Damaged { .. }) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Some(values))
    }
}

/// The entries that a prompt shows without what is found for it.
fn shown(wanted: &Wanted, prompt: &Prompt) -> Result<BTreeSet<Seq>, Error> {
    let view = wanted.view()?;
    let mut shown: BTreeSet<Seq> = prompt.shows.iter().flat_map(|(first, last)| (first.0..=last.0).map(Seq)).collect();
    let part = |name: &str| prompt.parts.iter().find(|part| part.name == name);
    if let Some(part) = part(PartName::CONTEXT_SETS.as_str()) {
        let sets = view.sets().filter_map(|set| match set {
            SetView::Whole(held) if held.set.enabled => Some(held),
            _ => None,
        });
        let is_there = |name: &str| !part.omitted.iter().any(|omitted| omitted == name);
        shown.extend(sets.filter(|held| is_there(held.set.name.as_str())).map(|held| held.seq));
    }
    if part(PartName::CURRENT_PLAN.as_str()).is_some() {
        shown.extend(view.plan().ok().map(|held| held.seq));
    }
    Ok(shown)
}

/// A passage from elsewhere, as prompts show it.
fn foreign(source: &str, passage: &Foreign, hide: &dyn Fn(&str) -> String) -> ForeignPassage {
    let Foreign { text, title, url, .. } = passage;
    let from = title.as_ref().map_or_else(|| source.to_owned(), |title| format!("{source}: {title}"));
    // Hidden first: a value that is cut is not found.
    let mut text = hide(text);
    if let Some((end, _)) = text.char_indices().nth(FOREIGN) {
        let rest = text.split_off(end);
        text += &format!("\n[shortened: {} more characters]", rest.chars().count());
    }
    ForeignPassage { from: hide(&from), text, url: url.as_deref().map(hide) }
}
