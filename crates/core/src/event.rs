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
    fact::{self, Description, Earlier, Fact, Repeats, Seen, Sentence, TextField, TextKind, read},
    file,
    id::Seq,
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

/// What readers must know of a type of entry.
pub struct EventType {
    /// The type.
    pub kind: &'static str,
    /// See [`Description::texts`](crate::fact::Description::texts).
    pub texts: &'static [TextField],
    /// See [`Description::gone_as`](crate::fact::Description::gone_as).
    pub gone_as: Option<&'static str>,
    /// See [`Description::earlier`](crate::fact::Description::earlier).
    pub earlier: Earlier,
    /// See [`Description::repeats`](crate::fact::Description::repeats).
    pub repeats: Repeats,
}

impl EventType {
    const fn of<F: Fact>() -> Self {
        let Description { texts, gone_as, earlier, repeats } = F::DESCRIPTION;
        Self { kind: F::TYPE, texts, gone_as, earlier, repeats }
    }

    /// The type of this name.
    pub fn named(kind: &str) -> Option<&'static Self> {
        ALL.iter().find(|known| known.kind == kind)
    }

    /// The hashes of the long texts that an entry of this type speaks of.
    pub fn long_texts(&self, data: &Value) -> Vec<Hash> {
        let fields = self.texts.iter().filter(|field| matches!(field.kind, TextKind::Text | TextKind::JsonText));
        let values = fields.flat_map(|field| field.values(data));
        values.filter_map(|value| Text::deserialize(value).ok()?.stored()).collect()
    }

    /// What somebody's own words are in an entry of this type: each field that holds some.
    pub fn words<'a>(&self, data: &'a Value) -> Vec<&'a Value> {
        let fields = self.texts.iter().filter(|field| field.kind != TextKind::Sealed);
        fields.flat_map(|field| field.values(data)).filter(|value| !value.is_null()).collect()
    }

    /// Changes what somebody's own words are in an entry of this type.
    pub fn change_words(&self, data: &mut Value, mut change: impl FnMut(&mut Value, &TextField)) {
        for field in self.texts.iter().filter(|field| field.kind != TextKind::Sealed) {
            field.values_mut(data).into_iter().for_each(|value| change(value, field));
        }
    }

    /// Whether its entries may hold somebody's own words.
    pub fn has_words(&self) -> bool {
        self.texts.iter().any(|field| field.kind != TextKind::Sealed)
    }

    /// Whether its entries may speak of sealed values.
    pub fn has_sealed_values(&self) -> bool {
        self.texts.iter().any(|field| field.kind == TextKind::Sealed)
    }

    /// The hashes of the sealed values that an entry of this type speaks of.
    pub fn sealed_values(&self, data: &Value) -> Vec<Hash> {
        let fields = self.texts.iter().filter(|field| field.kind == TextKind::Sealed);
        fields.flat_map(|field| field.values(data)).filter_map(|value| Hash::deserialize(value).ok()).collect()
    }
}

/// Lists the types of facts, and with them what every entry can be.
macro_rules! facts {
    ($($fact:ty),* $(,)?) => {
        /// Every type of entry that this program knows.
        pub static ALL: &[EventType] = &[$(EventType::of::<$fact>()),*];

        /// Applies an entry to the state. It is refused if its type or version is unknown or its data is damaged; the
        /// state is then unchanged.
        pub(crate) fn apply(state: &mut State, entry: &Entry) -> Result<(), Error> {
            match &*entry.header.kind {
                $(<$fact>::TYPE => read::<$fact>(entry)?.apply(state, &entry.header),)*
                _ => return Err(unknown(entry)),
            }
            Ok(())
        }

        /// How an entry looks through `view`, before the rule that its audience must hold the viewer.
        fn project(entry: &Entry, view: &View<'_>) -> Result<Option<Seen>, Error> {
            match &*entry.header.kind {
                $(<$fact>::TYPE => Ok(read::<$fact>(entry)?.project(view, &entry.header)),)*
                _ => Err(unknown(entry)),
            }
        }

        /// The sentence of an entry of this type.
        fn sentence_of(kind: &str) -> Option<Sentence> {
            match kind {
                $(<$fact>::TYPE => Some(<$fact>::SENTENCE),)*
                _ => None,
            }
        }

        /// The types of entries of which something can be found again.
        pub fn recallable_types() -> impl Iterator<Item = &'static str> {
            [$((<$fact>::TYPE, <$fact>::SOURCE)),*].into_iter().filter(|(_, of)| of.is_some()).map(|(kind, _)| kind)
        }

        /// From which entry on a viewer may find what such things say; see [`Fact::recalls_from`].
        fn recalls_from(view: &View<'_>, source: Source, subject: &str, audience: &Audience) -> Option<Seq> {
            $(if <$fact>::SOURCE == Some(source) {
                return <$fact>::recalls_from(view, subject, audience);
            })*
            None
        }

        /// What an entry says that can be found again, whether or not it was erased.
        fn recallable_words(entry: &Entry) -> Result<Option<Recallable>, Error> {
            match &*entry.header.kind {
                $(<$fact>::TYPE => Ok(read::<$fact>(entry)?.recallable()),)*
                _ => Err(unknown(entry)),
            }
        }

        /// Whether the words of an entry were erased, not only some of what stands in them.
        pub fn is_erased(entry: &Entry) -> bool {
            match &*entry.header.kind {
                $(<$fact>::TYPE => fact::is_erased::<$fact>(entry),)*
                _ => entry.erasure().is_some(),
            }
        }

        /// Refuses an entry that does not say what entries of its type say.
        pub(crate) fn check_readable(entry: &Entry) -> Result<(), Error> {
            match &*entry.header.kind {
                $(<$fact>::TYPE => read::<$fact>(entry).map(drop),)*
                _ => Err(unknown(entry)),
            }
        }

        /// Erases the words in the data of an entry of this type; see [`Fact::erase`].
        pub(crate) fn erase(kind: &str, data: &mut Value) {
            match kind {
                $(<$fact>::TYPE => <$fact>::erase(data),)*
                _ => {}
            }
        }

        /// Who may see now what an entry of this type and subject is about; see [`Fact::visible_to`].
        pub fn visible_to(view: &View<'_>, kind: &str, subject: &str) -> Option<Audience> {
            match kind {
                $(<$fact>::TYPE => <$fact>::visible_to(view, subject),)*
                _ => None,
            }
        }
    };
}

facts! {
    erasure::Erased,
    session::facts::Created,
    session::facts::Updated,
    agent::facts::Added,
    agent::facts::Updated,
    agent::facts::Removed,
    context_set::facts::Updated,
    context_set::facts::Deleted,
    context_set::facts::FormAnswered,
    document::facts::Added,
    document::facts::Removed,
    conversation::facts::ThreadUpdated,
    conversation::facts::MessageAdded,
    conversation::MessageChecked,
    compression::Compressed,
    compression::facts::CompressionUndone,
    compression::facts::ToolResultsCleared,
    compression::facts::ContextWarned,
    compression::facts::ContextCrowded,
    compression::facts::MessagePinned,
    compression::facts::MessageUnpinned,
    directive::Received,
    run::facts::Started,
    run::facts::Claimed,
    run::facts::Paused,
    run::facts::Resumed,
    run::facts::Ended,
    run::turn_facts::TurnRequested,
    run::turn_facts::TurnAnswered,
    run::turn_facts::TurnFailed,
    run::facts::ToolStarted,
    run::facts::ToolFinished,
    secret::facts::KeyWrapped,
    secret::facts::Revealed,
    secret::facts::Hidden,
    secret::facts::Restored,
    step::facts::ToolUsed,
    step::facts::SequenceAdvanced,
    step::facts::StepEntered,
    step::facts::StepsReset,
    step::facts::UsageReported,
    file::facts::Added,
    file::facts::Removed,
    variable::facts::Set,
    variable::facts::Cleared,
    plan::facts::Updated,
    workflow::facts::Updated,
    workflow::facts::NodeCreated,
    workflow::facts::NodeUpdated,
    workflow::facts::NodeDeleted,
    workflow::facts::ResultRecorded,
    workflow::execution::facts::Started,
    workflow::execution::facts::NodeStarted,
    workflow::execution::facts::Finished,
    access_token::facts::Created,
    access_token::facts::Revoked,
    idempotency::facts::Answered,
    idempotency::record::Begun,
    idempotency::record::Settled,
    session::expired::Expired,
    secret::master_key::MasterKeyUsed,
}

/// What of `entry` can be found again; `None` where it says nothing that stands for itself, or was erased.
pub fn recallable(entry: &Entry) -> Result<Option<Recallable>, Error> {
    if is_erased(entry) { Ok(None) } else { recallable_words(entry) }
}

/// What an entry with this author, type, subject and data says, in at most [`LONGEST`](crate::sentence::LONGEST) characters on
/// one line.
///
/// The data is that which the reader may see: what is hidden from it, such as a secret, has to be hidden before, since a part of it
/// may be cut off.
pub fn sentence(by: &Actor, kind: &str, subject: &str, data: &Value) -> String {
    let by = by.to_string();
    let statement = Statement { by: by.strip_prefix("agent:").unwrap_or(&by), subject, data };
    let sentence = sentence_of(kind).map(|sentence| sentence(&statement));
    shortened(&sentence.unwrap_or_else(|| format!("{}: {kind} {subject}", statement.by)))
}

fn unknown(entry: &Entry) -> Error {
    let Header { seq, v, kind, .. } = &entry.header;
    Error::WrittenByNewer { seq: *seq, kind: kind.to_string(), v: *v }
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

impl View<'_> {
    /// From which entry on the viewer may find what entries with this subject and audience say of such a thing; see
    /// [`Fact::recalls_from`].
    pub fn recalls_from(&self, source: Source, subject: &str, audience: &Audience) -> Option<Seq> {
        recalls_from(self, source, subject, audience)
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
        let seen = project(entry, self)?;
        Ok(seen.map(|seen| projected(seen.kind, seen.data.to_string().into())))
    }
}
