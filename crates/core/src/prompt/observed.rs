//! Observations: what parts of a prompt show that is not in the journal. They are gathered first and handed in, so that
//! building a prompt stays a pure function.

use serde::{Deserialize, Serialize};

use crate::{
    entry::Hash,
    id::{CollectionName, Seq},
    time::Timestamp,
};

/// What was observed outside of a session for one prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Observations {
    /// The tabs of the browser.
    #[serde(skip_serializing_if = "crate::json::is_default")]
    pub tabs: Observed<Vec<Tab>>,
    /// What was found for it in all that was ever said, the best first. Only places are kept, no words.
    #[serde(skip_serializing_if = "crate::json::is_default")]
    pub recall: Observed<Vec<Passage>>,
    /// Why more may be found than was, if so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recall_notes: Vec<String>,
    /// What sources elsewhere gave for it. Nobody keeps that but the turn, so it is here in its words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<ForeignPassage>,
}

/// What came of looking at one thing outside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observed<T> {
    /// There is no such thing, or nobody looked.
    #[default]
    Absent,
    /// This was seen.
    Seen(T),
    /// It could not be seen, and why. Only the part that shows it is shown as failed.
    Failed(String),
}

/// A passage that was found: where it stands, and what its text must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The collection that has it, where the session has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collection: Option<CollectionName>,
    /// The entry.
    pub seq: Seq,
    /// Where it begins in [what can be found](crate::recall::Recallable::text) of the entry, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The hash of its text, with the salt of the entry where that has one. Where the entry does not say that any more, its
    /// words were erased.
    pub sha256: Hash,
    /// Who or what says it, for instance `user in main`.
    pub from: String,
    /// When it was said.
    pub at: Timestamp,
}

/// A passage that a source elsewhere gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignPassage {
    /// The source, and what its passage is a part of.
    pub from: String,
    /// What it says.
    pub text: String,
    /// Where to read on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A tab of a browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tab {
    /// What the tab is called.
    pub name: String,
    /// The address of the page that it shows.
    pub url: String,
    /// The title of the page.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Whether it is the one in front.
    #[serde(default)]
    pub active: bool,
}
