//! Reading items of OpenAI's Responses API. What a model thinks, says and calls comes as items of their own: those that follow on
//! each other are one message.

use serde_json::{Map, Value, json};

use super::{
    NewContent, NewMessage, Role, ToolCall,
    given::{CUSTOM_INPUT, GivenMessage, whole_name},
    reasoning,
};
use crate::{error::Fault, json};

/// The answer that items belong to, as far as it was read.
#[derive(Default)]
pub(super) struct Answer {
    /// Whether the last message is of items, so that more calls are its own.
    is_open: bool,
}

impl Answer {
    /// Adds messages that were given as such. What was thought before one that `goes_on` with an answer belongs to it.
    pub(super) fn add(&mut self, mut read: Vec<NewMessage>, goes_on: bool, messages: &mut Vec<NewMessage>) {
        let only_thinks = |last: &NewMessage| last.content.is_none() && last.tool_calls.is_empty();
        if goes_on
            && self.is_open
            && messages.last().is_some_and(only_thinks)
            && let (Some(first), Some(thought)) = (read.first_mut(), messages.pop())
        {
            first.reasoning.splice(0..0, thought.reasoning);
        }
        self.is_open = goes_on;
        messages.extend(read);
    }

    /// Reads an item into messages; `pointer` says where it was given.
    pub(super) fn take(
        &mut self,
        item: GivenMessage,
        messages: &mut Vec<NewMessage>,
        pointer: &str,
    ) -> Result<(), Fault> {
        let fault =
            |field: &str, problem: &str| Fault { pointer: format!("{pointer}/{field}"), problem: problem.to_owned() };
        let kind = item.kind.clone().unwrap_or_default();
        let id = || item.call_id.clone().ok_or_else(|| fault("call_id", "say which call it is"));
        let name = || match (&item.namespace, &item.name) {
            (Some(namespace), Some(name)) => Ok(whole_name(namespace, name)),
            (None, Some(name)) => Ok(name.clone()),
            (_, None) => Err(fault("name", "say which tool is called")),
        };
        match kind.as_str() {
            "function_call" => {
                let arguments = item.arguments.clone().unwrap_or_default().into();
                self.call(messages, &item, ToolCall { id: id()?, name: name()?, arguments });
            }
            "custom_tool_call" => {
                let arguments = json!({CUSTOM_INPUT: item.input.clone().unwrap_or_default()});
                self.call(messages, &item, ToolCall { id: id()?, name: name()?, arguments });
            }
            "function_call_output" | "custom_tool_call_output" => {
                self.is_open = false;
                let output = item.output.clone().unwrap_or_else(|| NewContent::Text("".into()));
                let result = NewMessage { content: Some(output), tool_call_id: Some(id()?), ..own(Role::Tool, &item) };
                messages.push(result);
            }
            reasoning::SEARCH_ITEM => {
                let searched = block(&kind, &item);
                self.message(messages, &item, |_| true).reasoning.push(searched);
            }
            "reasoning" | "compaction" => {
                let thought = block(&kind, &item);
                self.message(messages, &item, |last| last.tool_calls.is_empty()).reasoning.push(thought);
            }
            other => {
                let problem = format!("items of the type {other:?} cannot be kept: leave it out");
                return Err(fault("type", &problem));
            }
        }
        Ok(())
    }

    fn call(&mut self, messages: &mut Vec<NewMessage>, item: &GivenMessage, call: ToolCall) {
        self.message(messages, item, |_| true).tool_calls.push(call);
    }

    /// The message to which an item belongs: the last one where it `goes_on`, else a new one.
    fn message<'a>(
        &mut self,
        messages: &'a mut Vec<NewMessage>,
        item: &GivenMessage,
        goes_on: impl Fn(&NewMessage) -> bool,
    ) -> &'a mut NewMessage {
        let last = messages.pop_if(|last| self.is_open && goes_on(last));
        self.is_open = true;
        messages.push_mut(last.unwrap_or_else(|| own(Role::Ai, item)))
    }
}

/// A message with what was given besides what the item says.
fn own(role: Role, item: &GivenMessage) -> NewMessage {
    let GivenMessage { message_id, thread_id, timestamp, metadata, .. } = item.clone();
    NewMessage { message_id, thread_id, timestamp, metadata, content: None, ..NewMessage::text(role, "") }
}

/// What the model thought, or had its provider search, as that gave it.
fn block(kind: &str, item: &GivenMessage) -> Map<String, Value> {
    let content = item.content.clone().flatten().and_then(|content| serde_json::to_value(content).ok());
    let status = item.status.clone().filter(|_| kind == reasoning::SEARCH_ITEM);
    json::object([
        ("type", Some(kind.into())),
        ("id", item.id.clone().map(Value::from)),
        ("status", status.map(Value::from)),
        ("action", item.action.clone()),
        ("summary", item.summary.clone().map(Value::from)),
        ("content", content),
        ("encrypted_content", item.encrypted_content.clone().map(Value::from)),
    ])
}
