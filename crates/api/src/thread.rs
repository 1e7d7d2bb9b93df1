//! Threads.

use std::sync::Arc;

use callboard_core::{
    agent::Tool,
    audience::Audience,
    conversation::{self, Size, settings::ThreadSettings},
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
    /// Instructions for every agent that speaks in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Arc<str>>,
    /// The model that agents use in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools that agents have in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// The most tokens of history in its prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub history_tokens: Option<Tokens>,
    /// How many messages it has.
    pub messages: u64,
    /// The size of its messages in tokens.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// When its last message was added.
    pub last_at: Option<Timestamp>,
}

impl Thread {
    /// What a viewer sees of a thread.
    pub fn seen(view: &View<'_>, name: &ThreadId, thread: &conversation::Thread) -> Self {
        let Size { messages, tokens, last_at, .. } = view.size(thread);
        let ThreadSettings { instructions, model, tools, history_tokens } = thread.settings.clone();
        let visible_to = thread.sight.audience.clone();
        Self { name: name.clone(), visible_to, instructions, model, tools, history_tokens, messages, tokens, last_at }
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
