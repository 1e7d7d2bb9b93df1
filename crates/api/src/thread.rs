//! Threads.

use callboard_core::{
    audience::Audience,
    conversation::{self, Size},
    count::Tokens,
    id::ThreadId,
    time::Timestamp,
    view::View,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A thread, as its reader may see it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Thread {
    /// Its name.
    #[schema(value_type = String)]
    pub name: ThreadId,
    /// Which agents may see it. The user sees every thread.
    pub visible_to: Audience,
    /// How many messages it has.
    pub messages: u64,
    /// The size of its messages in tokens.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// When its last message was added.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_at: Option<Timestamp>,
}

impl Thread {
    /// What a viewer sees of a thread.
    pub fn seen(view: &View<'_>, name: &ThreadId, thread: &conversation::Thread) -> Self {
        let Size { messages, tokens, last_at, .. } = view.size(thread);
        Self { name: name.clone(), visible_to: thread.sight.audience.clone(), messages, tokens, last_at }
    }
}

/// A page of threads, sorted by name.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ThreadList {
    /// The threads.
    pub threads: Vec<Thread>,
    /// The cursor of the next page; absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The audience of a thread.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PutThread {
    /// Which agents may see it from now on.
    pub visible_to: Audience,
}
