//! Signals: what a question and a message have to do with each other beside their words.

use std::sync::LazyLock;

use callboard_core::recall::RecallRole;
use regex::Regex;

use crate::{
    dates::{self, Named},
    texts::{Role, Text},
};

const OF_USER: f32 = 4.0;
const OF_ASSISTANT: f32 = 2.0;
const OF_SPEAKER: f32 = 1.0;
const ASKS: f32 = -0.8;
const PARTS: f32 = -0.5;

/// How long a question is that seldom is an answer, in words.
const SHORT_QUESTION: f32 = 40.0;

static OWN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(i|me|my|mine|myself|we|us|our|ours)\b").ok());
static TOLD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let told = r"(?i)\b(did you|you (have |had |previously |already )?(recommend|suggest|advis|said|say|told|tell|explain|mention|describ|provid|g[ia]ve|propos|outlin|list)\w*|your (recommend|suggest|advice|answer|explan)\w*)";
    Regex::new(told).ok()
});
static WOULD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)\b(would|could|can|do|should) you\b").ok());

/// What a question says beside its terms.
#[derive(Debug)]
pub(crate) struct Signals {
    words: Vec<String>,
    dates: Vec<Named>,
    prefer: RecallRole,
}

/// What each signal adds to the score of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) speaker: f32,
    pub(crate) role: f32,
    pub(crate) date: f32,
    pub(crate) asks: f32,
    pub(crate) parts: f32,
}

impl Found {
    pub(crate) fn sum(&self) -> f32 {
        self.speaker + self.role + self.date + self.asks + self.parts
    }
}

impl Signals {
    pub(crate) fn of(question: &str, prefer: Option<RecallRole>) -> Self {
        let lower = question.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let prefer = prefer.unwrap_or_else(|| asked_about(question));
        Self { words: words.map(str::to_owned).collect(), dates: dates::dates(question), prefer }
    }

    /// Whether the question names a date.
    pub(crate) fn names_date(&self) -> bool {
        !self.dates.is_empty()
    }

    /// What it is worth when a text was said.
    pub(crate) fn date(&self, text: &Text) -> f32 {
        dates::worth(&self.dates, text.time)
    }

    /// What the signals add to a message. A limit of precision of 16 bits for its parts does no harm.
    pub(crate) fn of_message(&self, text: &Text, speaker: Option<&str>) -> Found {
        let role = match (self.prefer, text.role) {
            (RecallRole::User, Role::User) => OF_USER,
            (RecallRole::Assistant, Role::Assistant) => OF_ASSISTANT,
            _ => 0.0,
        };
        let parts = u16::try_from(text.passages.len()).unwrap_or(u16::MAX);
        let length = f32::from(u16::try_from(text.words).unwrap_or(u16::MAX)) / SHORT_QUESTION;
        Found {
            speaker: if speaker.is_some_and(|name| self.names(name)) { OF_SPEAKER } else { 0.0 },
            role,
            date: self.date(text),
            asks: if text.ends_asking { ASKS / (1.0 + length * length) } else { 0.0 },
            parts: PARTS * f32::from(parts).ln(),
        }
    }

    /// Whether all words of a name are words of the question.
    fn names(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
        words.peek().is_some() && words.all(|word| self.words.iter().any(|known| known == word))
    }
}

/// Whose words a question asks about: "I" and "my" are the user's, "what did you say" a model's.
fn asked_about(question: &str) -> RecallRole {
    let has = |pattern: &Option<Regex>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(question));
    match (has(&TOLD) && !has(&WOULD), has(&OWN)) {
        (true, _) => RecallRole::Assistant,
        (false, true) => RecallRole::User,
        (false, false) => RecallRole::Any,
    }
}
