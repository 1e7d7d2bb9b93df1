//! Compression: a summary takes the place of what was said in a thread, so that a conversation can go on for ever.
//!
//! Nothing is deleted: the originals stay in the journal and can be read, and a compression can be undone. What is
//! compressed, what is kept word for word, and whether a summary is good, is in the crate `callboard-prompt`.

mod base;
pub mod decide;
pub mod facts;
pub mod pin;
mod settings;
mod sight;
mod size;

pub use self::{
    base::Base,
    settings::{CompressionSettings, LEAST_TARGET, Thresholds, check_target},
    sight::ShownAs,
    size::size,
};

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    audience::Audience,
    conversation::StandingSummary,
    count::Tokens,
    id::{Seq, ThreadId},
    text::Text,
};

/// A summary took the place of messages in prompts. The messages stay in the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compressed {
    /// The thread.
    pub thread: ThreadId,
    /// The first entry that it covers.
    pub from: Seq,
    /// The last entry that it covers.
    pub through: Seq,
    /// How many messages it covers.
    pub messages: u64,
    /// For whom it is: agents that see what it covers while others who see the thread do not. If absent: for everyone who
    /// sees the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<Audience>,
    /// The summaries of the same compression that were made before it, for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub with: Vec<Seq>,
    /// What it says of them.
    pub summary: Text,
    /// What newer and pinned messages name, the old ones hold, and the summary does not: ids, addresses, numbers and the
    /// like, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identifiers: Vec<Arc<str>>,
    /// How many more of them there are.
    #[serde(default, skip_serializing_if = "crate::json::is_default")]
    pub more_identifiers: u64,
    /// Calls of tools that wait for results and are not shown, since there are too many, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_calls: Vec<OpenCall>,
    /// How many more of them there are.
    #[serde(default, skip_serializing_if = "crate::json::is_default")]
    pub more_open_calls: u64,
    /// Covered messages that prompts still show, since they are needed to go on: calls of tools that wait for results, the
    /// newest question, and what was asked first and lately.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Seq>,
    /// The most tokens that each of those is shown with.
    pub kept_tokens: Tokens,
    /// Covered messages that were pinned then: they are shown word for word as long as they are pinned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<Seq>,
    /// The earlier summary whose place it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<StandingSummary>,
    /// How the summary was made.
    pub method: Method,
    /// The model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// Why it was made without a model although one was to write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// The size that was aimed at.
    pub target_tokens: Tokens,
    /// The size of the history before, as its first reader was shown it: of what was said before the last message.
    pub tokens_before: Tokens,
    /// Its size after, as that reader is shown it: of the summary and of what is kept beside it.
    pub tokens_after: Tokens,
    /// The size of the summary in a prompt, of that.
    pub summary_tokens: Tokens,
    /// What it cost to make it.
    pub spent: Spent,
    /// Whether it was erased, since it was made from what was erased: it stands for nothing any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withdrawn: bool,
}

/// A call of a tool that waits for its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCall {
    /// Its id.
    pub id: Arc<str>,
    /// The tool.
    pub name: Arc<str>,
}

/// How a summary was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CompressionMethod))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// A model wrote it.
    Model,
    /// It is made of excerpts from the messages, without a model.
    Extractive,
    /// There is none: nothing had to be compressed.
    #[default]
    None,
}

/// The cost of a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = SpentOnCompression))]
pub struct Spent {
    /// How often a model was asked.
    pub requests: u64,
    /// The tokens that the model read.
    pub prompt_tokens: u64,
    /// The tokens that the model wrote.
    pub completion_tokens: u64,
    /// How long it took.
    pub milliseconds: u64,
}

/// The result of compressing a thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = CompressAnswer))]
pub struct Compression {
    /// The entry that holds the summary.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>))]
    pub seq: Option<Seq>,
    /// The last entry that it covers; 0 where there is nothing to compress.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub through: Seq,
    /// How many messages it covers.
    pub messages: u64,
    /// The size of the history before, as in the entry.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub tokens_before: Tokens,
    /// Its size after, as in the entry; of a preview the most that it would be.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub tokens_after: Tokens,
    /// How the summary was made.
    pub method: Method,
    /// The model that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Arc<str>>,
    /// Why no model wrote it, if one was asked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// What it cost.
    pub spent: Spent,
}
