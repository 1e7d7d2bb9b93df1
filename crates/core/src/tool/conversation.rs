//! The tools of models for conversations.

use serde::Deserialize;
use serde_json::json;

use crate::{
    id::{MessageId, ThreadId},
    tool::{OwnTool, Read, ToolExecution, parse, text},
    view::View,
};

/// How many messages are read where the model does not say.
const MESSAGES: usize = 20;
/// How many are read at most.
const MAX_MESSAGES: usize = 100;

/// Reads the newest messages of a thread.
pub(crate) static READ_MESSAGES: OwnTool = OwnTool {
    name: "read_messages",
    description: "Reads the newest messages of a thread, the oldest of them first, each with its id; with `before`, older ones; or one \
        message, whole, by its id.",
    idempotent: true,
    execution: ToolExecution::Read(|view, arguments| {
        let NewestMessages { limit, thread, message_id, before } = parse(arguments)?;
        let thread = thread.unwrap_or_else(|| own_thread(view));
        Ok(match message_id {
            Some(id) => Read::Message(thread, id),
            None => Read::Messages(thread, limit.unwrap_or(MESSAGES).clamp(1, MAX_MESSAGES), before),
        })
    }),
    is_for: |_| true,
    arguments: || {
        let limit = json!({"type": "integer", "minimum": 1, "maximum": MAX_MESSAGES,
            "description": format!("{MESSAGES} by default.")});
        let thread = text("Your own, or `main`, by default.");
        let id = text("The one message to read, such as `m42`.");
        let before = text("A message: reads older ones.");
        (json!({"limit": limit, "thread": thread, "message_id": id, "before": before}), json!([]))
    },
};

/// Reads one message.
pub(crate) static READ_MESSAGE: OwnTool = OwnTool {
    name: "read_message",
    description: "Reads one message, whole, by its id.",
    idempotent: true,
    execution: ToolExecution::Read(|view, arguments| {
        let OneMessage { message_id, thread } = parse(arguments)?;
        Ok(Read::Message(thread.unwrap_or_else(|| own_thread(view)), message_id))
    }),
    is_for: |_| true,
    arguments: || {
        let thread = text("Your own, or `main`, by default.");
        (json!({"message_id": text("Such as `m42`."), "thread": thread}), json!(["message_id"]))
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OneMessage {
    message_id: MessageId,
    thread: Option<ThreadId>,
}

/// The thread in which the viewer speaks: the manager speaks in `main`, and so does a worker outside of a run.
fn own_thread(view: &View<'_>) -> ThreadId {
    let own = view.agent().map(ThreadId::of_agent).filter(|own| view.thread(own).is_ok());
    own.unwrap_or_else(ThreadId::main)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewestMessages {
    limit: Option<usize>,
    thread: Option<ThreadId>,
    message_id: Option<MessageId>,
    before: Option<MessageId>,
}
