//! The tools of models for conversations.

use serde::Deserialize;
use serde_json::json;

use crate::{
    id::ThreadId,
    tool::{Execution, OwnTool, Read, parse},
};

/// How many messages are read where the model does not say.
const MESSAGES: usize = 20;
/// How many are read at most.
const MAX_MESSAGES: usize = 100;

/// Reads the newest messages of a thread.
pub(crate) static READ_MESSAGES: OwnTool = OwnTool {
    name: "read_messages",
    description: "Reads the newest messages of a thread, the oldest of them first.",
    idempotent: true,
    execution: Execution::Read(|view, arguments| {
        let NewestMessages { limit, thread } = parse(arguments)?;
        // The manager speaks in `main`, and so does a worker outside of a run.
        let own = || {
            let own = view.agent().map(ThreadId::of_agent).filter(|own| view.thread(own).is_ok());
            own.unwrap_or_else(ThreadId::main)
        };
        Ok(Read::Messages(thread.unwrap_or_else(own), limit.unwrap_or(MESSAGES).clamp(1, MAX_MESSAGES)))
    }),
    is_for: |_| true,
    arguments: || {
        let limit = json!({"type": "integer", "minimum": 1, "maximum": MAX_MESSAGES,
            "description": format!("How many; {MESSAGES} where it is left out.")});
        let thread = json!({"type": "string", "description": "The thread; your own, or `main`, where it is left out."});
        (json!({"limit": limit, "thread": thread}), json!([]))
    },
    variable: None,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewestMessages {
    limit: Option<usize>,
    thread: Option<ThreadId>,
}
