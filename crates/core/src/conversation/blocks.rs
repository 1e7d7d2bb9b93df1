//! Reading the blocks of Anthropic's message objects: calls, results and what a model thought, or had Anthropic search, become what
//! they are in messages, in the order of the blocks.

use serde_json::{Map, Value};

use super::{AsGiven, MessageShape, NewContent, NewMessage, Role, ToolCall, reasoning};
use crate::error::Fault;

type Block = Map<String, Value>;

/// Whether a part is one of Anthropic's blocks that are no content.
pub(super) fn is_special(part: &Block) -> bool {
    let kind = reasoning::kind(part);
    reasoning::ANTHROPIC.contains(&kind) || reasoning::is_of_server(kind) || ["tool_use", "tool_result"].contains(&kind)
}

/// The messages in an object of Anthropic; `pointer` says where it was given.
pub(super) fn read(mut given: NewMessage, pointer: &str) -> Result<Vec<NewMessage>, Fault> {
    let is_mixed = !given.tool_calls.is_empty() || given.tool_call_id.is_some() || !given.reasoning.is_empty();
    if is_mixed || given.as_given.is_some() {
        let problem = "it has blocks of Anthropic's messages and fields of OpenAI's: use one of them".to_owned();
        return Err(Fault { pointer: format!("{pointer}/content"), problem });
    }
    let Some(NewContent::Parts(blocks)) = given.content.take() else { return Ok(vec![given]) };
    let (id, metadata) = (given.message_id.take(), given.metadata.take());
    let mut reading = Reading { given, messages: Vec::new() };
    for (at, block) in blocks.into_iter().enumerate() {
        reading.take(block).map_err(|(field, problem)| Fault {
            pointer: format!("{pointer}/content/{at}/{field}"),
            problem: problem.to_owned(),
        })?;
    }
    let mut messages = reading.messages;
    for (message, number) in messages.iter_mut().zip(1..) {
        message.message_id = id.as_ref().map(|id| if number == 1 { id.clone() } else { id.suffixed(number) });
    }
    messages.iter_mut().take(1).for_each(|first| first.metadata.clone_from(&metadata));
    Ok(messages)
}

/// An object that is being read.
struct Reading {
    /// What is the same in all its messages.
    given: NewMessage,
    messages: Vec<NewMessage>,
}

/// What is wrong with a block: the field, and why.
type Wrong = (&'static str, &'static str);

impl Reading {
    fn take(&mut self, block: Block) -> Result<(), Wrong> {
        let role = self.given.role;
        match reasoning::kind(&block) {
            "tool_use" if role == Role::Ai => self.call(block),
            "tool_result" if role == Role::User => self.result(block),
            kind if role == Role::Ai && (reasoning::ANTHROPIC.contains(&kind) || reasoning::is_of_server(kind)) => {
                let message = self.message(|last| last.content.is_none() && last.tool_calls.is_empty());
                message.reasoning.push(block);
                Ok(())
            }
            "tool_use" | "thinking" | "redacted_thinking" => {
                Err(("type", "only an assistant's message has such a block"))
            }
            "tool_result" => Err(("type", "only a user's message has such a block")),
            _ => {
                let message = self.message(|last| last.role != Role::Tool && last.tool_calls.is_empty());
                match &mut message.content {
                    Some(NewContent::Parts(parts)) => parts.push(block),
                    content => *content = Some(NewContent::Parts(vec![block])),
                }
                Ok(())
            }
        }
    }

    fn call(&mut self, mut block: Block) -> Result<(), Wrong> {
        let (id, name) = (text(&mut block, "id")?, text(&mut block, "name")?);
        let arguments = match block.remove("input") {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(input @ Value::Object(_)) => input,
            Some(_) => return Err(("input", "the input of a call is an object")),
        };
        block.remove("type");
        let message = self.message(|last| last.role == Role::Ai);
        let before = message.tool_calls.len();
        message.tool_calls.push(ToolCall { id, name, arguments });
        if let Some(given) = message.as_given.as_mut().filter(|_| !block.is_empty()) {
            let more = given.fields.entry("tool_use").or_insert_with(|| Value::Array(Vec::new()));
            more.as_array_mut().into_iter().for_each(|more| {
                more.resize(before, Value::Object(Map::new()));
                more.push(Value::Object(std::mem::take(&mut block)));
            });
        }
        Ok(())
    }

    fn result(&mut self, mut block: Block) -> Result<(), Wrong> {
        let id = text(&mut block, "tool_use_id")?;
        block.remove("type");
        let content = match block.remove("content").filter(|content| !content.is_null()) {
            None => NewContent::Text("".into()),
            Some(content) => {
                // What is empty is left out where a result is written.
                if content.as_str() == Some("") {
                    block.insert("content".to_owned(), content.clone());
                }
                serde_json::from_value(content).map_err(|_| ("content", "it is a text or a list of blocks"))?
            }
        };
        let message = self.message(|_| false);
        (message.role, message.tool_call_id, message.content) = (Role::Tool, Some(id), Some(content));
        message.as_given.iter_mut().for_each(|given| given.fields = std::mem::take(&mut block));
        Ok(())
    }

    /// The message to which a block belongs: the last one where it `goes_on`, else a new one.
    fn message(&mut self, goes_on: impl Fn(&NewMessage) -> bool) -> &mut NewMessage {
        let last = self.messages.pop_if(|last| goes_on(last));
        let message = last.unwrap_or_else(|| self.next());
        self.messages.push_mut(message)
    }

    fn next(&self) -> NewMessage {
        let joined = !self.messages.is_empty();
        let as_given = AsGiven { shape: MessageShape::Anthropic, joined, fields: Map::new() };
        NewMessage { as_given: Some(as_given), ..self.given.clone() }
    }
}

fn text(block: &mut Block, field: &'static str) -> Result<String, Wrong> {
    match block.remove(field) {
        Some(Value::String(text)) => Ok(text),
        _ => Err((field, "a text is missing here")),
    }
}
