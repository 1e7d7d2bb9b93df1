//! Callboard's own tools: what an agent's model may have Callboard do for it. An agent has one where its `tools` name
//! it, `callboard:NAME`; what models are told of it is here. A tool acts with the rights of the agent that calls it.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::{
    agent::{Agent, Tool},
    command::{Command, DecisionBuilder, Undecided},
    context_set::{Outcome, PutSet},
    error::Error,
    id::{SetName, ThreadId},
};

/// What the names of Callboard's own tools begin with in a team. Models call them without it.
pub const PREFIX: &str = "callboard:";

/// One of Callboard's own tools.
pub struct OwnTool {
    /// What models call it.
    pub name: &'static str,
    /// What it does, for models.
    pub description: &'static str,
    /// Whether doing it twice does no harm.
    pub idempotent: bool,
    /// How it is done.
    pub execution: Execution,
    /// The properties of its arguments, as JSON Schema, and which of them must be there.
    arguments: fn() -> (Value, Value),
}

/// How a tool is done.
#[derive(Clone, Copy)]
pub enum Execution {
    /// As a command: it is decided where it is called, and so either done whole or not at all.
    Command(Decide),
    /// Outside of any decision, since it reads what only the store has.
    Read(fn(&Value) -> Result<Read, Error>),
}

/// Decides a call, and says what the model is told of it.
pub type Decide = fn(&mut DecisionBuilder<'_>, &Value) -> Result<String, Undecided>;

/// What a tool reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// A context set.
    ContextSet(SetName),
    /// The newest messages of a thread, at most so many; the agent's own thread where none is named.
    Messages(Option<ThreadId>, usize),
}

/// All of Callboard's own tools.
pub static OWN_TOOLS: &[OwnTool] = &[
    OwnTool {
        name: "read_context_set",
        description: "Reads a context set by its name, whole.",
        idempotent: true,
        execution: Execution::Read(|arguments| {
            let NamedSet { name } = parse(arguments)?;
            Ok(Read::ContextSet(name))
        }),
        arguments: || (json!({"name": {"type": "string", "description": "The name of the set."}}), json!(["name"])),
    },
    OwnTool {
        name: "write_context_set",
        description: "Replaces all that a context set says.",
        idempotent: true,
        execution: Execution::Command(write_context_set),
        arguments: || {
            let name = json!({"type": "string", "description": "The name of the set."});
            let content = json!({"type": "string", "description": "All that it is to say."});
            (json!({"name": name, "content": content}), json!(["name", "content"]))
        },
    },
    OwnTool {
        name: "read_messages",
        description: "Reads the newest messages of a thread, the oldest of them first.",
        idempotent: true,
        execution: Execution::Read(|arguments| {
            let NewestMessages { limit, thread } = parse(arguments)?;
            Ok(Read::Messages(thread, limit.unwrap_or(MESSAGES).clamp(1, MAX_MESSAGES)))
        }),
        arguments: || {
            let limit = json!({"type": "integer", "minimum": 1, "maximum": MAX_MESSAGES,
                "description": format!("How many; {MESSAGES} where it is left out.")});
            let thread = json!({"type": "string", "description": "The thread; your own where it is left out."});
            (json!({"limit": limit, "thread": thread}), json!([]))
        },
    },
];

/// How many messages are read where the model does not say.
const MESSAGES: usize = 20;
/// How many are read at most.
const MAX_MESSAGES: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedSet {
    name: SetName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSet {
    name: SetName,
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewestMessages {
    limit: Option<usize>,
    thread: Option<ThreadId>,
}

fn write_context_set(decision: &mut DecisionBuilder<'_>, arguments: &Value) -> Result<String, Undecided> {
    let NewSet { name, content } = parse(arguments)?;
    let put = PutSet { name, content: content.into(), visible_to: None, enabled: None };
    let outcome = put.decide(decision)?;
    let done = match outcome.outcome {
        Outcome::Created => "made",
        Outcome::Unchanged => "as it was",
        _ => "changed",
    };
    Ok(format!("The context set {} is {done}.", outcome.name))
}

/// Reads the arguments of a call; models give them as an object, or as the text of one.
fn parse<T: DeserializeOwned>(arguments: &Value) -> Result<T, Error> {
    let read = match arguments {
        Value::String(text) => serde_json::from_str(text),
        Value::Null => serde_json::from_value(json!({})),
        arguments => T::deserialize(arguments),
    };
    read.map_err(|error| Error::invalid("/arguments", error.to_string()))
}

/// The tool that models call `name`.
pub fn own_tool(name: &str) -> Result<&'static OwnTool, Error> {
    OWN_TOOLS.iter().find(|tool| tool.name == name).ok_or_else(|| Error::not_found("tool", name))
}

impl OwnTool {
    /// The tool as models are told of it.
    pub fn described(&self) -> Tool {
        let (properties, required) = (self.arguments)();
        let parameters = [
            ("type", json!("object")),
            ("properties", properties),
            ("required", required),
            ("additionalProperties", json!(false)),
        ];
        let parameters: Map<_, _> = parameters.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        let (name, description) = (self.name.to_owned(), self.description.to_owned());
        Tool { name, description, parameters, idempotent: self.idempotent }
    }
}

impl Tool {
    /// What models call it.
    pub fn bare_name(&self) -> &str {
        self.name.strip_prefix(PREFIX).unwrap_or(&self.name)
    }

    /// The tool of Callboard's own that it names, if any.
    pub fn own(&self) -> Option<&'static OwnTool> {
        own_tool(self.name.strip_prefix(PREFIX)?).ok()
    }

    /// The tool as models are told of it.
    pub(crate) fn described(&self) -> Self {
        self.own().map_or_else(|| self.clone(), OwnTool::described)
    }

    /// Why it cannot be had, if so: where in it, and what is wrong.
    pub(crate) fn fault(&self) -> Option<(&'static str, String)> {
        let name = self.name.strip_prefix(PREFIX)?;
        if own_tool(name).is_err() {
            let all = OWN_TOOLS.iter().map(|tool| format!("{PREFIX}{}", tool.name)).collect::<Vec<_>>().join(", ");
            return Some(("/name", format!("Callboard has no tool {name:?} of its own; those it has are: {all}")));
        }
        let is_described = !self.description.is_empty() || !self.parameters.is_empty();
        is_described
            .then(|| ("/description", "leave out what Callboard knows of its own tool: name it only".to_owned()))
    }
}

impl Agent {
    /// Callboard's own tool that this agent's model calls `name`, if it has it.
    pub fn own_tool(&self, name: &str) -> Option<&'static OwnTool> {
        self.tools.iter().filter_map(Tool::own).find(|tool| tool.name == name)
    }
}

/// A call of one of Callboard's own tools that is a command. It is done with the rights of whoever calls, and answered
/// with what its model is told.
#[derive(Clone, Debug, PartialEq)]
pub struct CallTool {
    /// The tool.
    pub name: String,
    /// What it is called with.
    pub arguments: Value,
}

impl Command for CallTool {
    type Answer = String;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<String, Undecided> {
        match own_tool(&self.name)?.execution {
            Execution::Command(decide) => decide(decision, &self.arguments),
            Execution::Read(_) => Err(Error::invalid("/name", format!("{} is not a command", self.name)).into()),
        }
    }
}

#[cfg(test)]
mod tests;
