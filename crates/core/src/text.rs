//! Texts of any length. Short ones are stored in their entry, long ones beside the journal.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{entry::Hash, error::Error};

/// Texts over this many bytes are stored once beside the journal.
pub const INLINE_BYTES: usize = 64 * 1024;

/// Texts over this many bytes are refused.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How notes begin that stand in the place of what was left out of a text.
pub(crate) const SHORTENED: &str = "\n[shortened here: ";

/// How many bytes of a long text stand in its entry, at most.
const BEGINNING_BYTES: usize = 512;

/// A text in an entry. In JSON a short one is a string, a long one an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// The whole text.
    Inline(Arc<str>),
    /// A reference to a text over [`INLINE_BYTES`].
    Stored(Stored),
}

/// A reference to a long text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// The hash under which the text is stored beside the journal.
    pub sha256: Hash,
    /// The size of the whole in bytes.
    pub size_bytes: u64,
    /// The beginning of the text.
    pub beginning: Arc<str>,
}

/// Long texts by their hash: those that a decision adds, or those that were read for a prompt.
pub type Values = BTreeMap<Hash, Arc<str>>;

impl Text {
    /// Prepares a text for an entry. A long one goes to `values`. One over [`MAX_BYTES`] is refused; `what` names it in
    /// the error.
    pub fn keep(text: &Arc<str>, what: &str, values: &mut Values) -> Result<Self, Error> {
        if text.len() <= INLINE_BYTES {
            return Ok(Self::Inline(text.clone()));
        }
        if text.len() > MAX_BYTES {
            return Err(Error::TooLarge { what: what.to_owned(), size_bytes: text.len(), max_bytes: MAX_BYTES });
        }
        let sha256 = Hash::of(text.as_bytes());
        values.insert(sha256, text.clone());
        let beginning = text.get(..text.floor_char_boundary(BEGINNING_BYTES)).unwrap_or_default().into();
        Ok(Self::Stored(Stored { sha256, size_bytes: text.len() as u64, beginning }))
    }

    /// The whole text, or the hash of the long text that must be read first.
    pub fn whole<'a>(&'a self, values: &'a Values) -> Result<&'a Arc<str>, Hash> {
        match self {
            Self::Inline(text) => Ok(text),
            Self::Stored(stored) => values.get(&stored.sha256).ok_or(stored.sha256),
        }
    }

    /// The hash under which the text is stored beside the journal, if it is.
    pub fn stored(&self) -> Option<Hash> {
        match self {
            Self::Inline(_) => None,
            Self::Stored(stored) => Some(stored.sha256),
        }
    }

    /// Whether `values` have something else in its place, such as a note that the store has lost it.
    pub fn is_damaged(&self, values: &Values) -> bool {
        let Self::Stored(stored) = self else { return false };
        values.get(&stored.sha256).is_some_and(|text| text.len() as u64 != stored.size_bytes)
    }

    /// Whether the text is empty or white space alone.
    pub fn is_blank(&self) -> bool {
        matches!(self, Self::Inline(text) if text.trim().is_empty())
    }
}

/// `text` in at most `max_bytes` plus `note`. A longer one keeps its beginning (three quarters of `max_bytes`) and its
/// end, with `note` between them.
pub(crate) fn shortened(text: &Arc<str>, max_bytes: usize, note: &str) -> Arc<str> {
    if text.len() <= max_bytes {
        return text.clone();
    }
    let (head, tail) = both_ends(text, max_bytes);
    format!("{}\n{note}\n{}", head.trim_end(), tail.trim_start()).into()
}

/// Three quarters of `bytes` from the beginning of `text`, and one quarter from its end.
pub fn both_ends(text: &str, bytes: usize) -> (&str, &str) {
    let head = text.get(..text.floor_char_boundary(bytes / 4 * 3)).unwrap_or_default();
    let tail = text.floor_char_boundary(text.len().saturating_sub(bytes / 4));
    (head, text.get(tail..).unwrap_or_default())
}

/// The first `max` characters of `text`; where there are more, `…` says so.
pub fn first_chars(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// A text with other words in some places, which are given in order.
pub fn replaced<W: AsRef<str>>(text: &str, places: impl IntoIterator<Item = (Range<usize>, W)>) -> String {
    let (mut whole, mut end) = (String::with_capacity(text.len()), 0);
    for (range, now) in places {
        whole.push_str(text.get(end..range.start).unwrap_or_default());
        whole.push_str(now.as_ref());
        end = range.end;
    }
    whole + text.get(end..).unwrap_or_default()
}

impl From<&str> for Text {
    /// A text that is known to be short, such as one written by Callboard.
    fn from(text: &str) -> Self {
        Self::Inline(text.into())
    }
}
