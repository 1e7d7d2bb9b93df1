//! Events: the list of all types of entries. Each is described in the module of its noun.

use std::borrow::Cow;

use serde::Deserialize as _;
use serde_json::Value;

use crate::{
    access_token, agent,
    audience::Audience,
    compression, context_set, conversation, directive, document,
    entry::{Actor, Entry, Hash, Header},
    erasure,
    error::Error,
    fact::{self, Description, Fact, Seen, Sentence, TextKind, read},
    file,
    id::{AgentName, Seq},
    idempotency, plan,
    recall::{Recallable, Source},
    run, secret,
    sentence::{Statement, shortened},
    session,
    state::State,
    step,
    text::Text,
    variable,
    view::{Projected, View},
    workflow,
};

/// What is known of a type of entry: what its [`Fact`] declares, and what that makes of an entry.
pub struct EventType {
    /// The type.
    pub kind: &'static str,
    /// What readers must know of it.
    pub description: Description,
    source: Option<Source>,
    sentence: Sentence,
    apply: fn(&mut State, &Entry) -> Result<(), Error>,
    project: fn(&Entry, &View<'_>) -> Result<Option<Seen>, Error>,
    recallable: fn(&Entry) -> Result<Option<Recallable>, Error>,
    recalls_from: fn(&View<'_>, &str, &Audience) -> Option<Seq>,
    check_readable: fn(&Entry) -> Result<(), Error>,
    erase: fn(&mut Value),
    visible_to: fn(&View<'_>, &str) -> Option<Audience>,
}

/// The type of the entries of a fact.
const fn of<F: Fact>() -> EventType {
    EventType {
        kind: F::TYPE,
        description: F::DESCRIPTION,
        source: F::SOURCE,
        sentence: F::SENTENCE,
        apply: |state, entry| {
            read::<F>(entry)?.apply(state, &entry.header);
            Ok(())
        },
        project: |entry, view| Ok(read::<F>(entry)?.project(view, &entry.header)),
        recallable: |entry| Ok(read::<F>(entry)?.recallable()),
        recalls_from: F::recalls_from,
        check_readable: |entry| read::<F>(entry).map(drop),
        erase: F::erase,
        visible_to: F::visible_to,
    }
}

impl EventType {
    /// The type of this name.
    pub fn named(kind: &str) -> Option<&'static Self> {
        ALL.iter().find(|known| known.kind == kind)
    }

    /// The type of an entry. It is refused if it is unknown.
    fn of_entry(entry: &Entry) -> Result<&'static Self, Error> {
        Self::named(&entry.header.kind).ok_or_else(|| {
            let Header { seq, v, kind, .. } = &entry.header;
            Error::WrittenByNewer { seq: *seq, kind: kind.to_string(), v: *v }
        })
    }

    /// The hashes of the long texts that an entry of this type speaks of.
    pub fn long_texts(&self, data: &Value) -> Vec<Hash> {
        let texts = self.description.texts.iter();
        let fields = texts.filter(|field| matches!(field.kind, TextKind::Text | TextKind::JsonText));
        let values = fields.flat_map(|field| field.values(data));
        values.filter_map(|value| Text::deserialize(value).ok()?.stored()).collect()
    }

    /// What somebody's own words are in an entry of this type: each field that holds some.
    pub fn words<'a>(&self, data: &'a Value) -> Vec<&'a Value> {
        let values = self.description.words().flat_map(|field| field.values(data));
        values.filter(|value| !value.is_null()).collect()
    }

    /// Whether its entries may hold somebody's own words.
    pub fn has_words(&self) -> bool {
        self.description.words().next().is_some()
    }

    /// Whether its entries may speak of sealed values.
    pub fn has_sealed_values(&self) -> bool {
        self.description.texts.iter().any(|field| field.kind == TextKind::Sealed)
    }

    /// The hashes of the sealed values that an entry of this type speaks of.
    pub fn sealed_values(&self, data: &Value) -> Vec<Hash> {
        let fields = self.description.texts.iter().filter(|field| field.kind == TextKind::Sealed);
        fields.flat_map(|field| field.values(data)).filter_map(|value| Hash::deserialize(value).ok()).collect()
    }
}

/// Every type of entry that this program knows.
pub static ALL: &[EventType] = &[
    of::<erasure::Erased>(),
    of::<session::facts::Created>(),
    of::<session::facts::Updated>(),
    of::<agent::facts::Added>(),
    of::<agent::facts::Updated>(),
    of::<agent::facts::Removed>(),
    of::<context_set::facts::Updated>(),
    of::<context_set::facts::Deleted>(),
    of::<context_set::facts::FormAnswered>(),
    of::<document::facts::Added>(),
    of::<document::facts::Removed>(),
    of::<conversation::facts::ThreadUpdated>(),
    of::<conversation::facts::MessageAdded>(),
    of::<conversation::MessageChecked>(),
    of::<compression::Compressed>(),
    of::<compression::facts::CompressionUndone>(),
    of::<compression::facts::ToolResultsCleared>(),
    of::<compression::facts::ContextWarned>(),
    of::<compression::facts::ContextCrowded>(),
    of::<compression::facts::MessagePinned>(),
    of::<compression::facts::MessageUnpinned>(),
    of::<directive::Received>(),
    of::<run::facts::Started>(),
    of::<run::facts::Claimed>(),
    of::<run::facts::Paused>(),
    of::<run::facts::Resumed>(),
    of::<run::facts::Ended>(),
    of::<run::turn_facts::TurnRequested>(),
    of::<run::turn_facts::TurnAnswered>(),
    of::<run::turn_facts::TurnFailed>(),
    of::<run::facts::ToolStarted>(),
    of::<run::facts::ToolFinished>(),
    of::<secret::facts::KeyWrapped>(),
    of::<secret::facts::Revealed>(),
    of::<secret::facts::Hidden>(),
    of::<secret::facts::Restored>(),
    of::<step::facts::ToolUsed>(),
    of::<step::facts::SequenceAdvanced>(),
    of::<step::facts::StepEntered>(),
    of::<step::facts::StepsReset>(),
    of::<step::facts::UsageReported>(),
    of::<file::facts::Added>(),
    of::<file::facts::Removed>(),
    of::<variable::facts::Set>(),
    of::<variable::facts::Cleared>(),
    of::<plan::facts::Updated>(),
    of::<workflow::facts::Updated>(),
    of::<workflow::facts::NodeCreated>(),
    of::<workflow::facts::NodeUpdated>(),
    of::<workflow::facts::NodeDeleted>(),
    of::<workflow::facts::ResultRecorded>(),
    of::<workflow::execution::facts::Started>(),
    of::<workflow::execution::facts::NodeStarted>(),
    of::<workflow::execution::facts::Finished>(),
    of::<access_token::facts::Created>(),
    of::<access_token::facts::Revoked>(),
    of::<idempotency::facts::Answered>(),
    of::<idempotency::record::Begun>(),
    of::<idempotency::record::Settled>(),
    of::<session::expired::Expired>(),
    of::<secret::master_key::MasterKeyUsed>(),
];

/// Applies an entry to the state. It is refused if its type or version is unknown or its data is damaged; the state is then
/// unchanged.
pub(crate) fn apply(state: &mut State, entry: &Entry) -> Result<(), Error> {
    (EventType::of_entry(entry)?.apply)(state, entry)
}

/// The types of entries of which something can be found again.
pub fn recallable_types() -> impl Iterator<Item = &'static str> {
    ALL.iter().filter(|known| known.source.is_some()).map(|known| known.kind)
}

/// Whether the words of an entry were erased, not only some of what stands in them.
pub fn is_erased(entry: &Entry) -> bool {
    match EventType::named(&entry.header.kind) {
        Some(known) => fact::is_erased(entry, known.erase),
        None => entry.erasure().is_some(),
    }
}

/// The hashes of the long texts of an entry of this type with this data, as it is or as somebody sees it.
pub fn long_texts(kind: &str, data: &str) -> Vec<Hash> {
    let may_have = data.contains("\"sha256\"");
    let known = EventType::named(kind).filter(|_| may_have);
    let Some((kind, data)) = known.zip(serde_json::from_str(data).ok()) else { return Vec::new() };
    let mut hashes = kind.long_texts(&data);
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// Refuses an entry that does not say what entries of its type say.
pub(crate) fn check_readable(entry: &Entry) -> Result<(), Error> {
    (EventType::of_entry(entry)?.check_readable)(entry)
}

/// Erases the words in the data of an entry of this type; see [`Fact::erase`].
pub(crate) fn erase(kind: &str, data: &mut Value) {
    if let Some(known) = EventType::named(kind) {
        (known.erase)(data);
    }
}

/// Who may see now what an entry of this type and subject is about; see [`Fact::visible_to`].
pub fn visible_to(view: &View<'_>, kind: &str, subject: &str) -> Option<Audience> {
    (EventType::named(kind)?.visible_to)(view, subject)
}

/// What of `entry` can be found again; `None` where it says nothing that stands for itself, or was erased.
pub fn recallable(entry: &Entry) -> Result<Option<Recallable>, Error> {
    if is_erased(entry) { Ok(None) } else { (EventType::of_entry(entry)?.recallable)(entry) }
}

/// What an entry with this author, type, subject and data says to `reader`, in at most [`LONGEST`](crate::sentence::LONGEST)
/// characters on one line; no reader is the user.
///
/// The data is that which the reader may see: what is hidden from it, such as a secret, has to be hidden before, since a
/// part of it may be cut off.
pub fn sentence(by: &Actor, kind: &str, subject: &str, data: &Value, reader: Option<&AgentName>) -> String {
    let by = by.to_string();
    let statement = Statement { by: by.strip_prefix("agent:").unwrap_or(&by), subject, data, reader };
    let sentence = EventType::named(kind).map(|known| (known.sentence)(&statement));
    shortened(&sentence.unwrap_or_else(|| format!("{}: {kind} {subject}", statement.by)))
}

impl State {
    /// Applies the next entry of the journal. It is refused if it is not the next one, is newer than this program or is
    /// damaged; the state is then unchanged.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), Error> {
        let seq = entry.header.seq;
        if seq != self.head.seq.next() {
            let detail = format!("it follows on entry {}", self.head.seq);
            return Err(Error::Damaged { seq, kind: entry.header.kind.to_string(), detail });
        }
        apply(self, entry)?;
        self.come_to(entry);
        Ok(())
    }

    /// The state that `entries` fold to, from the first one of a journal on.
    pub fn fold<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Result<Self, Error> {
        let mut state = Self::default();
        entries.into_iter().try_for_each(|entry| state.apply(entry))?;
        Ok(state)
    }
}

/// Whether words say nothing, such as a list of which all was erased.
fn is_empty(words: &Value) -> bool {
    match words {
        Value::Array(all) => all.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

impl View<'_> {
    /// From which entry on the viewer may find what entries with this subject and audience say of such a thing; see
    /// [`Fact::recalls_from`].
    pub fn recalls_from(&self, source: Source, subject: &str, audience: &Audience) -> Option<Seq> {
        let known = ALL.iter().find(|known| known.source == Some(source))?;
        (known.recalls_from)(self, subject, audience)
    }

    /// What the viewer gets of an entry: nothing if it was not in the audience then, or may not see the subject now. The
    /// user gets all of it.
    pub fn project(&self, entry: &Entry) -> Result<Option<Projected>, Error> {
        let Header { seq, at, by, kind, subject, audience, .. } = &entry.header;
        let projected = |kind: &str, data| Projected {
            seq: *seq,
            at: *at,
            by: by.clone(),
            kind: kind.into(),
            subject: subject.clone(),
            data,
            audience: self.is_in_charge().then(|| audience.clone()),
            sentence: None,
        };
        if self.agent().is_none() {
            let data = match entry.shown() {
                Cow::Borrowed(_) => entry.data.clone(),
                Cow::Owned(shown) => shown.into(),
            };
            return Ok(Some(projected(kind, data)));
        }
        let seen = (EventType::of_entry(entry)?.project)(entry, self)?;
        Ok(seen.map(|seen| projected(seen.kind, seen.data.to_string().into())))
    }

    /// Whether an entry has words and the viewer sees all of them, so that no change of them is hidden from it. A turn also changes
    /// with what its prompt showed, which may be hidden from the viewer: of a turn it is never so.
    pub fn sees_all_words(&self, entry: &Entry) -> Result<bool, Error> {
        let known = EventType::of_entry(entry)?;
        if known.kind == run::turn_facts::TurnRequested::TYPE {
            return Ok(false);
        }
        let Some(seen) = self.project(entry)?.filter(|seen| *seen.kind == *known.kind) else { return Ok(false) };
        let words = |data: &str| {
            let data: Value = serde_json::from_str(data).ok()?;
            let words = known.words(&data).into_iter().filter(|words| !is_empty(words));
            Some(words.cloned().collect::<Vec<_>>())
        };
        let (all, seen) = (words(&entry.json()), words(&seen.data));
        Ok(all == seen && all.is_some_and(|all| !all.is_empty()))
    }
}
