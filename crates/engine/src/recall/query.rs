//! Questions: what is asked, of whose words and of which sources.

use std::collections::BTreeSet;

use callboard_core::{
    error::Error as Refusal,
    id::{Seq, ThreadId},
    recall::{RecallRole, Source},
};
use callboard_recall::Class;

use super::settings::RecallSettings;

/// The longest question, in bytes.
const LONGEST: usize = 16 * 1024;

/// The most hits of one question.
pub(crate) const MOST: usize = 1000;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallQuery {
    /// The question, in words.
    pub text: String,
    /// The most hits.
    pub limit: usize,
    /// Only what was said in this thread.
    pub thread: Option<ThreadId>,
    /// Whose words are asked about; taken from the question where it is absent.
    pub prefer: Option<RecallRole>,
    /// Only from these sources, also those elsewhere; from all where it is empty.
    pub sources: Vec<String>,
    /// As of which entry; the head where it is absent.
    pub at: Option<Seq>,
    /// Entries that are not wanted again.
    pub but: BTreeSet<Seq>,
}

impl RecallQuery {
    /// What answers these words, best first, at most ten.
    pub fn new(text: impl Into<String>) -> Self {
        let (sources, but) = Default::default();
        Self { text: text.into(), limit: 10, thread: None, prefer: None, sources, at: None, but }
    }

    pub(crate) fn check(&self, settings: &RecallSettings) -> Result<(), Refusal> {
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
    pub(crate) fn wants(&self, class: &Class) -> bool {
        let is_in = |thread: &ThreadId| class.subject.strip_prefix("thread:") == Some(thread.as_str());
        self.thread.as_ref().is_none_or(is_in) && self.is_from(&class.source)
    }

    pub(crate) fn is_from(&self, source: &str) -> bool {
        self.sources.is_empty() || self.sources.iter().any(|name| name == source)
    }

    /// Why nothing can be found, if that is so.
    pub(crate) fn note(&self) -> Option<&'static str> {
        let says_nothing = callboard_recall::is_blank(&self.text);
        says_nothing.then_some(
            "the query has only small words or single letters, which are not looked for: add a name or a word of what you look for",
        )
    }
}
