//! What follows from an answer, in every kind of run.

use std::collections::BTreeMap;

use crate::{
    conversation::{NewMessage, Role, ToolCall},
    json,
    run::{Due, TurnReply, tools::settle_calls},
};

/// What follows from an answer.
pub(crate) struct Outcome {
    pub(super) due: Due,
    /// Whether the answer became a message, so that it need not be stored twice.
    pub(super) is_message: bool,
    /// Whether nothing came of it.
    pub(super) idle: bool,
    /// Whether the work is done.
    pub(super) completed: bool,
}

impl Outcome {
    pub(super) fn due(due: impl Into<Due>) -> Self {
        Self { due: due.into(), is_message: false, idle: false, completed: false }
    }
}

/// The call, with arguments that can be read back: arguments that are nested too deeply are stored as text.
fn readable(call: &ToolCall) -> ToolCall {
    let arguments = match &call.arguments {
        deep if !json::is_shallow(deep) => deep.to_string().into(),
        arguments => arguments.clone(),
    };
    ToolCall { arguments, ..call.clone() }
}

/// The message that an answer becomes. One that was cut off says so.
pub(super) fn said(reply: &TurnReply) -> NewMessage {
    let text = match reply.cut_off {
        true => format!("{}\n[cut off here: the answer reached the length it may have]", reply.text.trim_end()).into(),
        false => reply.text.clone(),
    };
    let mut tool_calls: Vec<_> = reply.tool_calls.iter().map(readable).collect();
    settle_calls(&mut tool_calls, &BTreeMap::new());
    NewMessage { tool_calls, reasoning: reply.reasoning.clone(), ..NewMessage::text(Role::Ai, text) }
}
