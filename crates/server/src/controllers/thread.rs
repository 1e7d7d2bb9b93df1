//! Threads.

pub(super) mod context;
pub(super) mod list;
pub(super) mod put;

use callboard_core::viewer::Viewer;
use callboard_core::{audience::Audience, count::Tokens, id::ThreadId, time::Timestamp};
use callboard_engine::{Session, ThreadSize};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{problem::Problem, shape};

/// A thread, as far as its reader may know it.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = Thread)]
pub(crate) struct ThreadBody {
    #[schema(value_type = String)]
    name: ThreadId,
    #[schema(value_type = shape::AudienceShape)]
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
    /// What a viewer sees of a thread.
    async fn seen(session: &Session, viewer: &Viewer, name: ThreadId) -> Result<Self, Problem> {
        let visible_to = session.view(viewer, |view| Ok(view.thread(&name)?.sight.audience.clone())).await?;
        let ThreadSize { messages, tokens, last_at } = session.thread_size(viewer, &name).await?;
        Ok(Self { name, visible_to, messages, tokens, last_at })
    }
}
