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

use crate::{
    agent::facts as agent,
    compression::Compressed,
    context_set::facts as context_set,
    conversation::{Message, Role, facts::MessageAdded},
    document::facts as document,
    entry::{Entry, Hash, Header},
    event::{self, EventType},
    fact::{self, Fact, TextKind, erased_value},
    id::Seq,
    idempotency::facts::Answered,
    plan::facts as plan,
    run::facts::{ToolFinished, TurnAnswered, TurnRequested},
    session::facts as session,
    text::Text,
    time::Timestamp,
    workflow::facts::NodeUpdated,
};

/// What is written anew as a whole when a part of it is changed.
const VERSIONS: [&str; 5] = [
    agent::Updated::TYPE,
    session::Updated::TYPE,
    plan::Updated::TYPE,
    context_set::Updated::TYPE,
    document::Added::TYPE,
];

/// A shorter text has to be repeated as a whole: it is found by chance in longer ones.
const CHARS: usize = 16;

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
    /// The last call of one of Callboard's own tools that was done.
    finished: Option<(Seq, String)>,
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
        let (copies, versions, turns, needed, finished) = Default::default();
        let at = entry.header.at;
        Self { seq, through: seq, subject, words: found, json, at, copies, versions, turns, long, needed, finished }
    }

    /// Adds whole long texts, of which the entry holds the beginning.
    pub fn add_texts<'a>(&mut self, texts: impl IntoIterator<Item = &'a Arc<str>>) {
        self.words.extend(texts.into_iter().map(|text| text.to_string()));
    }

    /// Looks at the next entry.
    pub fn look_at(&mut self, entry: &Entry) {
        self.through = entry.header.seq;
        if event::is_erased(entry) {
            return;
        }
        if self.is_copy(entry) {
            self.copies.insert(entry.header.seq);
            self.long.extend(long_texts(entry));
        } else if VERSIONS.contains(&&*entry.header.kind) && entry.header.subject == self.subject {
            self.note_needed(entry);
            if self.without_repeats(entry).is_some() {
                self.versions.insert(entry.header.seq);
            }
        } else {
            self.note_needed(entry);
            let shown =
                *entry.header.kind == *TurnRequested::TYPE && fact::read(entry).is_ok_and(|turn| self.is_shown(&turn));
            self.turns.extend(shown.then_some(entry.header.seq));
        }
    }

    /// Notes which long texts an entry refers to that is not erased.
    pub fn note_needed(&mut self, entry: &Entry) {
        let is_version = entry.header.seq > self.seq && entry.header.subject == self.subject;
        let repeats = |hash: &Hash| is_version && VERSIONS.contains(&&*entry.header.kind) && self.long.contains(hash);
        for hash in long_texts(entry).into_iter().filter(|hash| !repeats(hash)) {
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
        for field in kind.texts {
            for value in field.values_mut(&mut data).into_iter().filter(|value| self.says_again(field.kind, value)) {
                *value = erased_value(field.kind, value);
                is_changed = true;
            }
        }
        is_changed.then_some(data)
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

    /// The long texts that nobody refers to any more.
    pub(super) fn unneeded(&self) -> BTreeSet<Hash> {
        self.long.iter().filter(|hash| !self.needed.contains_key(hash)).copied().collect()
    }

    fn is_copy(&mut self, entry: &Entry) -> bool {
        match &*entry.header.kind {
            Compressed::TYPE if entry.header.subject == self.subject => {
                fact::read(entry).is_ok_and(|one| self.is_in(&one))
            }
            // A node that is moved is written again as it is.
            NodeUpdated::TYPE if entry.header.subject == self.subject => self.is_repeated_in(entry),
            Answered::TYPE => {
                fact::read(entry).is_ok_and(|answered| self.is_led_to(&answered, &entry.header))
                    || self.is_repeated_in(entry)
            }
            TurnRequested::TYPE | TurnAnswered::TYPE => self.is_repeated_in(entry),
            ToolFinished::TYPE => {
                let call = fact::read(entry).map(|ToolFinished { tool_call_id, .. }| tool_call_id);
                self.finished = call.ok().map(|call| (entry.header.seq, call));
                false
            }
            MessageAdded::TYPE => {
                let of_own_tool = |MessageAdded(said)| self.is_of_own_tool(entry.header.seq, &said);
                fact::read(entry).is_ok_and(of_own_tool) && self.is_repeated_in(entry)
            }
            _ => false,
        }
    }

    /// Whether a summary was made from the entry, or from a summary that was.
    fn is_in(&self, summary: &Compressed) -> bool {
        let is_erased = |seq| seq == self.seq || self.copies.contains(&seq);
        let replaces = summary.replaced.as_ref().is_some_and(|replaced| is_erased(replaced.seq));
        replaces || (summary.from..=summary.through).contains(&self.seq)
    }

    /// Whether the entry came of this request, whose hash is kept with its answer.
    fn is_led_to(&self, answered: &Answered, header: &Header) -> bool {
        // Old answers do not say what came of their requests: all of it was decided at the same moment.
        if answered.from.is_zero() { header.at == self.at } else { answered.from <= self.seq }
    }

    fn is_shown(&self, turn: &TurnRequested) -> bool {
        turn.prompt.shows.iter().any(|(first, last)| (*first..=*last).contains(&self.seq))
    }

    /// Whether a message is the result of one of Callboard's own tools: it follows the entry that says that it is done.
    fn is_of_own_tool(&self, seq: Seq, said: &Message) -> bool {
        let finished = self.finished.as_ref().filter(|(finished, _)| finished.next() == seq);
        said.role == Role::Tool && finished.is_some_and(|(_, call)| said.tool_call_id.as_ref() == Some(call))
    }

    fn is_repeated_in(&self, entry: &Entry) -> bool {
        let data = data_of(entry);
        let values = EventType::named(&entry.header.kind).map(|kind| kind.words(&data)).unwrap_or_default();
        let mut texts = Vec::new();
        values.into_iter().for_each(|value| strings(value, &mut texts));
        texts.iter().any(|text| self.words.iter().any(|word| repeats(text, word)))
    }
}

/// Whether `text` repeats `words`: as they are, within JSON, or shortened.
fn repeats(text: &str, words: &str) -> bool {
    let escaped = || serde_json::to_string(words).unwrap_or_default();
    let is_long = words.chars().nth(CHARS - 1).is_some();
    let is_in = || is_long && (text.contains(words) || text.contains(escaped().trim_matches('"')));
    let is_shortened = || match text.split_once("\n[shortened") {
        Some((beginning, _)) => is_long && words.starts_with(beginning),
        None => false,
    };
    text == words || is_in() || is_shortened()
}

/// All texts in a JSON value.
fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn data_of(entry: &Entry) -> Value {
    serde_json::from_str(&entry.json()).unwrap_or_default()
}

/// The hashes of the long texts that an entry refers to.
fn long_texts(entry: &Entry) -> Vec<Hash> {
    let may_have = entry.data.contains("\"sha256\"");
    let kind = EventType::named(&entry.header.kind).filter(|_| may_have);
    kind.map(|kind| kind.long_texts(&data_of(entry))).unwrap_or_default()
}
