//! Copies: which later entries repeat the words of an entry, because Callboard itself put them there. Each says so, be it in
//! [what it was copied from](Entry::copied_from) or by [its nature](Repeats).
//!
//! What people and models write is theirs: where somebody repeats what was said, that is another original, which is erased
//! by itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::Value;

use super::words::{data_of, take_fields};
use crate::{
    compression::Compressed,
    conversation::facts::MessageAdded,
    document::facts::Added,
    entry::{Entry, Hash, Header},
    error::Error,
    event::{self, EventType},
    fact::{self, ERASED, Fact, Repeats, TextKind, erased_value},
    id::Seq,
    idempotency::facts::Answered,
    json::texts_in,
    run::turn_facts::TurnRequested,
    secret::facts::Hidden,
    text::{SHORTENED, Text},
};

/// A search for copies of the words of an entry. It looks at the entries behind it in order.
#[derive(Clone, Debug)]
pub struct CopySearch {
    /// The entry.
    pub seq: Seq,
    /// The last entry that it looked at.
    pub through: Seq,
    words: Vec<String>,
    json: Vec<Value>,
    /// What the entry is about, and what later entries are about that say some of its words anew.
    things: BTreeSet<Arc<str>>,
    /// The entry, and the messages with copies, each with its subject: a summary may cover them.
    covered: BTreeMap<Seq, Arc<str>>,
    /// The entries with copies.
    pub(super) copies: BTreeSet<Seq>,
    /// The later versions of the same thing, which say again what did not change.
    pub(super) versions: BTreeSet<Seq>,
    /// The turns whose prompt showed it, and which do not repeat it: they have the hash of that prompt.
    pub(super) turns: BTreeSet<Seq>,
    /// The long texts of the entry and its copies.
    long: BTreeSet<Hash>,
    /// The long texts that other entries refer to.
    needed: BTreeSet<Hash>,
    /// What was sealed of entries in which a secret was hidden.
    pub(super) sealed: BTreeMap<Seq, Hash>,
}

impl CopySearch {
    /// Begins after `entry`.
    pub fn of(entry: &Entry) -> Self {
        let Header { seq, subject, .. } = &entry.header;
        let data = data_of(entry);
        let values = EventType::named(&entry.header.kind).map(|kind| kind.words(&data)).unwrap_or_default();
        let long = event::long_texts(&entry.header.kind, &entry.data).into_iter().collect();
        let json: Vec<_> =
            values.iter().copied().filter(|value| value.is_array() || value.is_object()).cloned().collect();
        let words = values.into_iter().flat_map(texts_in).filter(|text| !text.trim().is_empty());
        let words = words.map(str::to_owned).collect();
        let (copies, versions, turns, needed, sealed) = Default::default();
        let (things, covered) = ([subject.clone()].into(), [(*seq, subject.clone())].into());
        let (seq, through) = (*seq, *seq);
        Self { seq, through, words, json, things, covered, copies, versions, turns, long, needed, sealed }
    }

    /// Looks at the next entry. Of a damaged one nobody can tell what it repeats.
    pub fn look_at(&mut self, entry: &Entry) -> Result<(), Error> {
        event::check_readable(entry)?;
        let Header { seq, kind, subject, .. } = &entry.header;
        self.through = *seq;
        if event::is_erased(entry) {
            return Ok(());
        }
        if **kind == *Hidden::TYPE {
            let hidden = fact::read::<Hidden>(entry)?.entries;
            self.sealed.extend(hidden.iter().filter_map(|one| Some((one.seq, one.sealed?))));
        }
        let is_version = self.is_version(entry);
        if is_version && self.is_copied(entry) {
            self.add_changed_texts(entry);
        }
        if !is_version && self.is_copy(entry) {
            self.copies.insert(*seq);
            self.long.extend(event::long_texts(&entry.header.kind, &entry.data));
            if **kind == *MessageAdded::TYPE {
                self.covered.insert(*seq, subject.clone());
            }
            return Ok(());
        }
        self.note_needed(entry);
        if is_version && self.without_repeats(entry).is_some() {
            self.versions.insert(*seq);
            self.things.insert(subject.clone());
        }
        let shown = **kind == *TurnRequested::TYPE && fact::read(entry).is_ok_and(|turn| self.is_shown(&turn));
        self.turns.extend(shown.then_some(*seq));
        Ok(())
    }

    /// Adds the texts of a copy in which only some of the words are left, and nobody can tell which: those of a memory that was
    /// edited, and those that were shortened. They count as words of the entry.
    fn add_changed_texts(&mut self, entry: &Entry) {
        let data = data_of(entry);
        let words = EventType::named(&entry.header.kind).map(|kind| kind.words(&data)).unwrap_or_default();
        let is_document = *entry.header.kind == *Added::TYPE;
        let texts = words.into_iter().filter_map(Value::as_str);
        self.words.extend(texts.filter(|text| is_document || text.contains(SHORTENED)).map(str::to_owned));
    }

    /// Notes which long texts an entry refers to that is not erased.
    pub fn note_needed(&mut self, entry: &Entry) {
        let is_version = entry.header.seq > self.seq && self.is_version(entry);
        let texts = event::long_texts(&entry.header.kind, &entry.data).into_iter();
        self.needed.extend(texts.filter(|hash| !is_version || !self.long.contains(hash)));
    }

    /// The data of a later version without the words that it says again; `None` where it says none of them.
    pub(super) fn without_repeats(&self, entry: &Entry) -> Option<Value> {
        let (kind, mut data) = (EventType::named(&entry.header.kind)?, data_of(entry));
        let mut is_changed = false;
        // An answered form says its request again, and after it the answers.
        let has_answers = data.pointer("/form/answered") == Some(&Value::Bool(true));
        for field in kind.description.texts {
            for value in field.values_mut(&mut data) {
                is_changed |= self.take_away(field.kind, value) || (has_answers && self.take_beginning(value));
            }
        }
        is_changed.then_some(data)
    }

    /// Takes away what the entry says too, and says whether there was any: a text as a whole, and of JSON also single
    /// fields.
    fn take_away(&self, kind: TextKind, value: &mut Value) -> bool {
        if self.says_again(kind, value) {
            *value = erased_value(kind, value);
            return true;
        }
        let fields = value.as_object_mut().filter(|_| kind == TextKind::Json);
        fields.is_some_and(|fields| self.json.iter().fold(false, |any, said| any | take_fields(fields, said)))
    }

    /// Takes away the lines with which a text begins and which the entry says too, and says whether there were any.
    fn take_beginning(&self, value: &mut Value) -> bool {
        let Value::String(text) = &*value else { return false };
        let behind = |said: &String| text.strip_prefix(said.trim_end()).filter(|rest| rest.starts_with('\n'));
        let Some(rest) = self.words.iter().filter_map(behind).min_by_key(|rest| rest.len()) else { return false };
        *value = format!("{ERASED}{rest}").into();
        true
    }

    /// Whether a value is, as a whole, one that the entry has.
    fn says_again(&self, kind: TextKind, value: &Value) -> bool {
        match (kind, value) {
            (TextKind::Text | TextKind::JsonText, Value::String(text)) => self.words.contains(text),
            (TextKind::Text | TextKind::JsonText, value) => {
                let stored = Text::deserialize(value).ok().and_then(|text| text.stored());
                stored.is_some_and(|hash| self.long.contains(&hash))
            }
            (TextKind::Json, value) => self.json.contains(value),
            (TextKind::Sealed, _) => false,
        }
    }

    /// The long texts of the entry and its copies.
    pub fn long_texts(&self) -> impl Iterator<Item = Hash> {
        self.long.iter().copied()
    }

    /// The long texts that nobody refers to any more.
    pub(super) fn unneeded(&self) -> BTreeSet<Hash> {
        self.long.difference(&self.needed).copied().collect()
    }

    /// Whether an entry says anew as a whole what the erased one is about, or was copied from it.
    fn is_version(&self, entry: &Entry) -> bool {
        let is_same = || self.things.contains(&entry.header.subject);
        repeats_of(entry) == Repeats::Unchanged && (is_same() || self.is_copied(entry))
    }

    fn is_copy(&self, entry: &Entry) -> bool {
        let is_of_type = || match repeats_of(entry) {
            Repeats::Nothing | Repeats::Unchanged => false,
            Repeats::Covered => fact::read(entry).is_ok_and(|summary| self.is_in(&summary, &entry.header.subject)),
            Repeats::Answer => fact::read(entry).is_ok_and(|answered| self.is_led_to(&answered)),
        };
        self.is_copied(entry) || is_of_type()
    }

    /// Whether an entry was copied from one that holds the words.
    fn is_copied(&self, entry: &Entry) -> bool {
        entry.copied_from().iter().any(|seq| self.holds(*seq))
    }

    /// Whether an entry holds the words: the erased one, or a copy or a later version of it.
    fn holds(&self, seq: Seq) -> bool {
        seq == self.seq || self.copies.contains(&seq) || self.versions.contains(&seq)
    }

    /// Whether a summary was made from the entry or from a copy, or from a summary that was.
    fn is_in(&self, summary: &Compressed, subject: &Arc<str>) -> bool {
        let replaces = summary.replaced.as_ref().is_some_and(|replaced| self.holds(replaced.seq));
        let covers = |seq: &Seq| (summary.from..=summary.through).contains(seq);
        replaces || self.covered.iter().any(|(seq, thread)| thread == subject && covers(seq))
    }

    /// Whether the entry came of this request, whose hash is kept with its answer.
    fn is_led_to(&self, answered: &Answered) -> bool {
        answered.from <= self.seq
    }

    fn is_shown(&self, turn: &TurnRequested) -> bool {
        let shows = |seq: &Seq| turn.prompt.shows.iter().any(|(first, last)| (first..=last).contains(&seq));
        [self.seq].iter().chain(&self.copies).chain(&self.versions).any(shows)
    }
}

fn repeats_of(entry: &Entry) -> Repeats {
    EventType::named(&entry.header.kind).map_or(Repeats::Nothing, |kind| kind.description.repeats)
}

#[cfg(test)]
mod tests;
