//! What follows from an answer, in every kind of run.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    conversation::{AsGiven, MessageReceipt, NewContent, NewMessage, Role, ToolCall},
    id::Seq,
    json,
    run::{Due, TurnReply},
};

/// What follows from an answer.
pub(crate) struct ReplyOutcome {
    pub(super) due: Due,
    /// The entries whose words are in what is due.
    pub(super) copied_from: Vec<Seq>,
    /// Whether the answer became a message, so that it need not be stored twice.
    pub(super) is_message: bool,
    /// Whether nothing came of it.
    pub(super) idle: bool,
    /// Whether the work is done.
    pub(super) completed: bool,
}

impl ReplyOutcome {
    pub(super) fn due(due: Due) -> Self {
        Self { due, copied_from: Vec::new(), is_message: false, idle: false, completed: false }
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

/// The messages that an answer becomes. One that was cut off says so, and a refusal is marked as one.
pub(super) fn said(reply: &TurnReply) -> Vec<NewMessage> {
    let mut messages = reply.messages.clone();
    if messages.is_empty() {
        let (tool_calls, reasoning) = (reply.tool_calls.clone(), reply.reasoning.clone());
        let as_given = (reply.refused && tool_calls.is_empty()).then(AsGiven::refusal);
        messages.push(NewMessage { tool_calls, reasoning, as_given, ..NewMessage::text(Role::Ai, reply.text.clone()) });
    }
    if let Some(last) = messages.last_mut().filter(|_| reply.cut_off) {
        let text = match &last.content {
            Some(NewContent::Text(text)) => text.trim_end(),
            _ => "",
        };
        let text = format!("{text}\n[cut off here: the answer reached the length it may have]");
        last.content = Some(NewContent::Text(text.into()));
    }
    let calls = messages.iter_mut().flat_map(|message| &mut message.tool_calls);
    calls.for_each(|call| *call = readable(call));
    settle_calls(messages.iter_mut().flat_map(|message| &mut message.tool_calls), &BTreeMap::new());
    messages
}

/// The entries of messages.
pub(super) fn entries_of(receipts: &[MessageReceipt]) -> Vec<Seq> {
    receipts.iter().map(|receipt| receipt.seq).collect()
}

/// What messages call, in their order.
pub(super) fn called(messages: &[NewMessage]) -> Vec<ToolCall> {
    messages.iter().flat_map(|message| message.tool_calls.clone()).collect()
}

/// Gives each call of an answer an id of its own, and names that a prompt had for tools back to what they stand for.
pub(super) fn settle_calls<'a>(calls: impl IntoIterator<Item = &'a mut ToolCall>, renamed: &BTreeMap<String, String>) {
    let mut taken = BTreeSet::new();
    for call in calls {
        if let Some(name) = renamed.get(&call.name) {
            call.name.clone_from(name);
        }
        let wanted = call.id.clone();
        for number in 2.. {
            if taken.insert(call.id.clone()) {
                break;
            }
            call.id = format!("{wanted}-{number}");
        }
    }
}
