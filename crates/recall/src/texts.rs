//! Texts: what is known of all that is in an index, but for the terms.

use std::{ops::Range, sync::Arc};

use callboard_core::{audience::Audience, id::Seq, time::Timestamp};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What decides who sees a passage, beside the number of its entry. Many passages share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Class {
    /// Where it comes from, for instance `message` or `context_set`.
    pub source: Arc<str>,
    /// What its entry is about.
    pub subject: Arc<str>,
    /// Who could see its entry when it was decided.
    pub audience: Audience,
}

/// Whose words a message has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user's.
    User,
    /// A model's.
    Assistant,
    /// Neither's: what tools gave, and what the system says.
    Other,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A message: what was said before and after it belongs to it.
    Message,
    /// A text that stands for itself. It holds until a later one takes its place.
    Text,
}

/// A text that can be found again.
#[derive(Clone, Debug)]
pub struct Item<'a> {
    /// The entry that says it.
    pub seq: Seq,
    /// What it is.
    pub kind: Kind,
    /// What decides who sees it.
    pub class: Class,
    /// Who says it.
    pub speaker: Option<&'a str>,
    /// Whose words it has.
    pub role: Role,
    /// When it was said.
    pub time: Timestamp,
    /// What is said.
    pub text: &'a str,
    /// Whether lines that begin with `#` are headings, as in Markdown; in source code they are something else.
    pub has_headings: bool,
}

/// The texts of an index, and their passages.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    pub(crate) classes: Vec<Class>,
    pub(crate) speakers: Vec<Box<str>>,
    pub(crate) texts: Vec<Text>,
    pub(crate) passages: Vec<Indexed>,
    known: Known,
}

/// What can be derived from the rest, to find things fast.
#[derive(Debug, Default)]
struct Known {
    classes: FxHashMap<Class, u32>,
    /// For each class the number of its subject.
    subject_of: Vec<u32>,
    subjects: FxHashMap<Arc<str>, u32>,
    speakers: FxHashMap<Box<str>, u32>,
    /// The texts that hold, by what they are about; messages are not among them.
    standing: FxHashMap<Arc<str>, Vec<u32>>,
}

/// A text in the index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Text {
    #[serde(deserialize_with = "read_seq")]
    pub(crate) seq: Seq,
    pub(crate) kind: Kind,
    pub(crate) class: u32,
    pub(crate) speaker: Option<u32>,
    pub(crate) role: Role,
    #[serde(serialize_with = "write_time", deserialize_with = "read_time")]
    pub(crate) time: Timestamp,
    /// How many words it has.
    pub(crate) words: u32,
    /// Whether a question stands near its end, and whether it ends with one.
    pub(crate) asks: bool,
    pub(crate) ends_asking: bool,
    /// Its passages.
    pub(crate) passages: Range<u32>,
    /// The entry that took its place, or took it away.
    #[serde(deserialize_with = "read_optional_seq")]
    pub(crate) until: Option<Seq>,
    /// Whether its words are gone.
    pub(crate) erased: bool,
}

/// A passage in the index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Indexed {
    /// The number of its text.
    pub(crate) text: u32,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// How many words, and how many terms it has.
    pub(crate) words: u16,
    pub(crate) terms: u16,
}

impl Texts {
    /// The texts that were written, with what finds them fast.
    pub(crate) fn read(classes: Vec<Class>, speakers: Vec<Box<str>>, texts: Vec<Text>, passages: Vec<Indexed>) -> Self {
        let numbered = speakers.iter().zip(0..).map(|(name, number)| (name.clone(), number)).collect();
        let mut known = Known { speakers: numbered, ..Known::default() };
        for (class, number) in classes.iter().zip(0..) {
            known.learn(class, number);
        }
        for (number, text) in (0..).zip(&texts) {
            let stands = text.kind == Kind::Text && text.until.is_none();
            if let (true, Some(class)) = (stands, classes.get(text.class as usize)) {
                known.standing.entry(class.subject.clone()).or_default().push(number);
            }
        }
        Self { classes, speakers, texts, passages, known }
    }

    /// Adds a text. What an older entry says now holds as long as what it said before.
    pub(crate) fn push(&mut self, mut text: Text) {
        if self.texts.last().is_some_and(|last| last.seq >= text.seq) {
            text.until = self.texts.iter().find(|before| before.seq == text.seq).and_then(|before| before.until);
        }
        if let (Kind::Text, None, Some(class)) = (text.kind, text.until, self.classes.get(text.class as usize)) {
            self.known.standing.entry(class.subject.clone()).or_default().push(to_u32(self.texts.len()));
        }
        self.texts.push(text);
    }

    /// The number of a class.
    pub(crate) fn class(&mut self, class: &Class) -> u32 {
        if let Some(known) = self.known.classes.get(class) {
            return *known;
        }
        let number = to_u32(self.classes.len());
        self.classes.push(class.clone());
        self.known.learn(class, number);
        number
    }

    /// The number of a speaker.
    pub(crate) fn speaker(&mut self, name: &str) -> u32 {
        if let Some(known) = self.known.speakers.get(name) {
            return *known;
        }
        let number = to_u32(self.speakers.len());
        self.speakers.push(name.into());
        self.known.speakers.insert(name.into(), number);
        number
    }

    /// The texts about `subject` that hold; from now on they do not.
    pub(crate) fn take_standing(&mut self, subject: &str) -> Vec<u32> {
        self.known.standing.remove(subject).unwrap_or_default()
    }

    /// The subjects of all texts that hold.
    pub(crate) fn standing(&self) -> impl Iterator<Item = &str> {
        self.known.standing.keys().map(|subject| &**subject)
    }

    /// The number of what a text is about.
    pub(crate) fn subject_of(&self, text: &Text) -> u32 {
        self.known.subject_of.get(text.class as usize).copied().unwrap_or(u32::MAX)
    }

    /// Who says a text.
    pub(crate) fn speaker_of(&self, text: &Text) -> Option<&str> {
        self.speakers.get(text.speaker? as usize).map(|name| &**name)
    }
}

impl Known {
    fn learn(&mut self, class: &Class, number: u32) {
        let next = to_u32(self.subjects.len());
        self.subject_of.push(*self.subjects.entry(class.subject.clone()).or_insert(next));
        self.classes.insert(class.clone(), number);
    }
}

/// No text is longer than 16 MiB, and no index has 4 thousand million passages.
pub(crate) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

pub(crate) fn to_u16(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

// Times and the numbers of entries stand in files as plain numbers: their own forms also read others, which takes a format
// that describes itself.

fn write_time<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    time.as_millis().serialize(serializer)
}

fn read_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    i64::deserialize(deserializer).map(Timestamp::nearest)
}

fn read_seq<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seq, D::Error> {
    u64::deserialize(deserializer).map(Seq)
}

fn read_optional_seq<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Seq>, D::Error> {
    Ok(Option::<u64>::deserialize(deserializer)?.map(Seq))
}
