//! Threads.

use callboard_core::{
    audience::Audience,
    compression::Thresholds,
    conversation::{self, Size},
    count::Tokens,
    id::ThreadId,
    prompt::PartReport,
    time::Timestamp,
    view::View,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A thread, as far as its reader may know it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Thread {
    /// Its name.
    #[schema(value_type = String)]
    pub name: ThreadId,
    /// Who may see it.
    pub visible_to: Audience,
    /// How many messages it has.
    pub messages: u64,
    /// The size of its messages.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// When its last message was added.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Timestamp>,
}

impl Thread {
    /// What is seen of a thread through `view`.
    pub fn seen(view: &View<'_>, name: &ThreadId, thread: &conversation::Thread) -> Self {
        let Size { messages, tokens, last_at } = view.size(thread);
        Self { name: name.clone(), visible_to: thread.sight.audience.clone(), messages, tokens, last_at }
    }
}

/// Threads by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ThreadList {
    /// The threads.
    pub threads: Vec<Thread>,
    /// Where the next page begins, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// Who is to see a thread.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutThread {
    /// Who is to see it.
    pub visible_to: Audience,
}

/// How large the prompt is that a thread leads to now.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ContextSize {
    /// The size of the prompt.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// Its parts, in order.
    pub parts: Vec<PartReport>,
    /// The size from which on the thread is long.
    #[schema(value_type = u64)]
    pub warn_at: Tokens,
    /// The size from which on it is to be compressed.
    #[schema(value_type = u64)]
    pub compress_at: Tokens,
}

impl ContextSize {
    /// The size of a prompt, and where this budget has its thresholds.
    pub fn new(tokens: Tokens, parts: Vec<PartReport>, budget: Tokens) -> Self {
        let Thresholds { warn, compress } = Thresholds::of(budget);
        Self { tokens, parts, warn_at: warn, compress_at: compress }
    }
}
