//! Copies: which later entries repeat the words of an entry, because Callboard itself put them there.
//!
//! What people and models write is theirs: where somebody repeats what was said, that is another original, which is erased
//! by itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use serde::Deserialize;
use serde_json::Value;

use super::words::{data_of, long_texts, repeats, strings, take_fields};
use crate::{
    compression::Compressed,
    conversation::{Message, Role, facts::MessageAdded},
    entry::{Actor, Entry, Hash, Header},
    error::Error,
    event::{self, EventType},
    fact::{self, ERASED, Fact, Repeats, TextKind, erased_value},
    id::Seq,
    idempotency::facts::Answered,
    run::facts::ToolFinished,
    run::turn_facts::{TurnAnswered, TurnRequested},
    secret::facts::Hidden,
    text::Text,
    time::Timestamp,
};

/// A shorter text has to be repeated as a whole: it is found by chance in longer ones.
const CHARS: usize = 16;

/// The same in what was decided together with the entry.
const CHARS_THERE: usize = 4;

/// A search for copies of the words of an entry. It looks at the entries behind it in order.
#[derive(Clone, Debug)]
pub struct CopySearch {
    /// The entry.
    pub seq: Seq,
    /// The last entry that it looked at.
    pub through: Seq,
    subject: Arc<str>,
    words: Vec<String>,
    json: Vec<Value>,
    at: Timestamp,
    /// The entries with copies.
    copies: BTreeSet<Seq>,
    /// The later versions of the same thing, which say again what did not change.
    versions: BTreeSet<Seq>,
    /// The turns whose prompt showed it.
    turns: BTreeSet<Seq>,
    /// The long texts of the entry and its copies.
    long: BTreeSet<Hash>,
    /// The long texts that other entries refer to, and one of those entries.
    needed: BTreeMap<Hash, Seq>,
    /// What was sealed of entries in which a secret was hidden.
    sealed: BTreeMap<Seq, Hash>,
    /// The last call of one of Callboard's own tools that was done.
    finished: Option<(Seq, String)>,
    /// Results of tools that were said with the answer that called them, if that answer is what follows. They repeat the
    /// words of the entry.
    told: Vec<Header>,
}

impl CopySearch {
    /// Begins after `entry`.
    pub fn of(entry: &Entry) -> Self {
        let (seq, subject) = (entry.header.seq, entry.header.subject.clone());
        let data = data_of(entry);
        let words = EventType::named(&entry.header.kind).map(|kind| kind.words(&data)).unwrap_or_default();
        let (mut found, long) = (Vec::new(), long_texts(entry).into_iter().collect());
        let json: Vec<_> =
            words.iter().copied().filter(|value| value.is_array() || value.is_object()).cloned().collect();
        words.into_iter().for_each(|value| strings(value, &mut found));
        found.retain(|text| !text.trim().is_empty());
        let (copies, versions, turns, needed, sealed, finished, told) = Default::default();
        let at = entry.header.at;
        Self {
            seq,
            through: seq,
            subject,
            words: found,
            json,
            at,
            copies,
            versions,
            turns,
            long,
            needed,
            sealed,
            finished,
            told,
        }
    }

    /// Adds whole long texts, of which the entry holds the beginning.
    pub fn add_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a Arc<str>>) {
        self.words.extend(texts.into_iter().map(|text| text.to_string()));
    }

    /// Looks at the next entry. Of a damaged one nobody can tell what it repeats.
    pub fn look_at(&mut self, entry: &Entry) -> Result<(), Error> {
        event::check_readable(entry)?;
        self.through = entry.header.seq;
        if event::is_erased(entry) {
            return Ok(());
        }
        if *entry.header.kind == *Hidden::TYPE {
            let hidden = fact::read::<Hidden>(entry)?.entries;
            self.sealed.extend(hidden.iter().filter_map(|one| Some((one.seq, one.sealed?))));
        }
        let is_version = self.is_version(entry);
        if !is_version && self.is_copy(entry) {
            self.copies.insert(entry.header.seq);
            self.long.extend(long_texts(entry));
            return Ok(());
        }
        self.note_needed(entry);
        if is_version && self.without_repeats(entry).is_some() {
            self.versions.insert(entry.header.seq);
        }
        let shown =
            *entry.header.kind == *TurnRequested::TYPE && fact::read(entry).is_ok_and(|turn| self.is_shown(&turn));
        self.turns.extend(shown.then_some(entry.header.seq));
        Ok(())
    }

    /// Notes which long texts an entry refers to that is not erased.
    pub fn note_needed(&mut self, entry: &Entry) {
        let is_version = entry.header.seq > self.seq && self.is_version(entry);
        for hash in long_texts(entry).into_iter().filter(|hash| !is_version || !self.long.contains(hash)) {
            self.needed.insert(hash, entry.header.seq);
        }
    }

    /// The entries with copies of its words.
    pub fn copies(&self) -> impl Iterator<Item = Seq> {
        self.copies.iter().copied()
    }

    /// The later versions of the same thing that say some of its words again.
    pub fn versions(&self) -> impl Iterator<Item = Seq> {
        self.versions.iter().copied()
    }

    /// The data of a later version without the words that it says again; `None` where it says none of them.
    pub(super) fn without_repeats(&self, entry: &Entry) -> Option<Value> {
        let (kind, mut data) = (EventType::named(&entry.header.kind)?, data_of(entry));
        let mut is_changed = false;
        // An answered form says its request again, and after it the answers.
        let has_answers = data.pointer("/form/answered") == Some(&Value::Bool(true));
        for field in kind.texts {
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

    /// The turns whose prompt showed it, and which do not repeat it: they have the hash of that prompt.
    pub fn turns(&self) -> impl Iterator<Item = Seq> {
        self.turns.iter().copied()
    }

    /// The long texts of the entry and its copies.
    pub fn long_texts(&self) -> impl Iterator<Item = Hash> {
        self.long.iter().copied()
    }

    /// What was sealed of an entry, because a secret was hidden in it.
    pub(super) fn sealed(&self, seq: Seq) -> Option<Hash> {
        self.sealed.get(&seq).copied()
    }

    /// The long texts that nobody refers to any more.
    pub(super) fn unneeded(&self) -> BTreeSet<Hash> {
        self.long.iter().filter(|hash| !self.needed.contains_key(hash)).copied().collect()
    }

    /// Whether an entry says anew as a whole what the erased one is about.
    fn is_version(&self, entry: &Entry) -> bool {
        repeats_of(entry) == Repeats::Unchanged && entry.header.subject == self.subject
    }

    fn is_copy(&mut self, entry: &Entry) -> bool {
        self.note_tools(entry);
        match repeats_of(entry) {
            Repeats::Nothing | Repeats::Unchanged => false,
            Repeats::Covered => {
                entry.header.subject == self.subject
                    && fact::read::<Compressed>(entry).is_ok_and(|summary| self.is_in(&summary))
            }
            Repeats::Answer => {
                let is_led_to = fact::read(entry).is_ok_and(|answered| self.is_led_to(&answered));
                is_led_to || self.is_repeated_in(entry)
            }
            Repeats::Results => {
                let of_own_tool = |MessageAdded(said)| self.is_of_own_tool(entry, &said);
                fact::read(entry).is_ok_and(of_own_tool) && self.is_repeated_in(entry)
            }
            Repeats::Anything => self.is_repeated_in(entry),
        }
    }

    /// Notes which results are those of Callboard's own tools. A tool that is read says that it is done, and its result
    /// follows. One that is a command is done within the answer that calls it: the results are said before the turn is
    /// answered, at the same moment.
    fn note_tools(&mut self, entry: &Entry) {
        self.told.retain(|told| told.at == entry.header.at);
        match &*entry.header.kind {
            ToolFinished::TYPE => {
                let call = fact::read(entry).map(|ToolFinished { tool_call_id, .. }| tool_call_id);
                self.finished = call.ok().map(|call| (entry.header.seq, call));
            }
            TurnAnswered::TYPE => {
                let agent = fact::read(entry).map(|TurnAnswered { agent, .. }| Actor::Agent(agent)).ok();
                let told = self.told.drain(..).filter(|told| Some(&told.by) == agent.as_ref());
                self.copies.extend(told.map(|told| told.seq));
            }
            MessageAdded::TYPE => {
                let is_result = fact::read(entry).is_ok_and(|MessageAdded(said)| said.role == Role::Tool);
                if is_result && matches!(entry.header.by, Actor::Agent(_)) && self.is_repeated_in(entry) {
                    self.told.push(entry.header.clone());
                }
            }
            _ => {}
        }
    }

    /// Whether a summary was made from the entry, or from a summary that was.
    fn is_in(&self, summary: &Compressed) -> bool {
        let is_erased = |seq| seq == self.seq || self.copies.contains(&seq);
        let replaces = summary.replaced.as_ref().is_some_and(|replaced| is_erased(replaced.seq));
        replaces || (summary.from..=summary.through).contains(&self.seq)
    }

    /// Whether the entry came of this request, whose hash is kept with its answer.
    fn is_led_to(&self, answered: &Answered) -> bool {
        answered.from <= self.seq
    }

    fn is_shown(&self, turn: &TurnRequested) -> bool {
        turn.prompt.shows.iter().any(|(first, last)| (*first..=*last).contains(&self.seq))
    }

    /// Whether a message is the result of one of Callboard's own tools: it follows the entry that says that it is done.
    fn is_of_own_tool(&self, entry: &Entry, said: &Message) -> bool {
        let finished = self.finished.as_ref().filter(|(finished, _)| finished.next() == entry.header.seq);
        said.role == Role::Tool && finished.is_some_and(|(_, call)| said.tool_call_id.as_ref() == Some(call))
    }

    /// Whether an entry repeats the words.
    fn is_repeated_in(&self, entry: &Entry) -> bool {
        let chars = if entry.header.at == self.at { CHARS_THERE } else { CHARS };
        let data = data_of(entry);
        let values = EventType::named(&entry.header.kind).map(|kind| kind.words(&data)).unwrap_or_default();
        let mut texts = Vec::new();
        values.into_iter().for_each(|value| strings(value, &mut texts));
        texts.iter().any(|text| self.words.iter().any(|word| repeats(text, word, chars)))
    }
}

fn repeats_of(entry: &Entry) -> Repeats {
    EventType::named(&entry.header.kind).map_or(Repeats::Nothing, |kind| kind.repeats)
}

#[cfg(test)]
mod tests;
