//! Threads.

pub(super) mod context;
pub(super) mod list;
pub(super) mod put;

use callboard_core::{
    audience::Audience,
    conversation::{Size, Thread},
    count::Tokens,
    id::ThreadId,
    time::Timestamp,
    view::View,
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::shape;

/// A thread, as far as its reader may know it.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = Thread)]
pub(crate) struct ThreadBody {
    #[schema(value_type = String)]
    name: ThreadId,
    #[schema(value_type = shape::session::AudienceShape)]
    visible_to: Audience,
    /// How many messages it has.
    messages: u64,
    /// The size of its messages.
    #[schema(value_type = u64)]
    tokens: Tokens,
    /// When its last message was added.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_at: Option<Timestamp>,
}

impl ThreadBody {
    /// What is seen of a thread through `view`.
    pub(crate) fn seen(view: &View<'_>, name: &ThreadId, thread: &Thread) -> Self {
        let Size { messages, tokens, last_at } = view.size(thread);
        Self { name: name.clone(), visible_to: thread.sight.audience.clone(), messages, tokens, last_at }
    }
}
