//! Callboard's own tools: what an agent's model may have Callboard do for it. An agent has one where its `tools` name
//! it, `callboard:NAME`. Each noun that has some has a file here, and [`OWN_TOOLS`] lists all. A tool acts with the
//! rights of the agent that calls it.

pub mod browser;
mod context_set;
mod conversation;
mod document;
pub mod file;
mod memory;
mod own;
mod part;
mod plan;
mod recall;
mod variable;
mod workflow;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::{
    agent::Tool,
    browser::{BrowserCall, scout::DeployScout},
    command::{DecisionBuilder, Undecided},
    error::Error,
    exact::quote_inexact,
    id::{CollectionName, DocumentName, MessageId, NodeId, Seq, ThreadId},
    json::in_words,
    text::Text,
    unique_keys::UniqueKeys,
    variable::Variable,
    view::View,
};

pub(crate) use self::own::{in_arguments, own_among, sets_variable};
pub use self::{
    file::FileCall,
    own::{ALL, CallTool, OWN_TOOLS, READ, ToolAnswer, bundled, offered, own_names, own_tool},
    part::{TextPart, part_of},
    recall::RecallAsked,
};

pub use crate::agent::{DIRECTOR, PREFIX};

/// One of Callboard's own tools.
pub struct OwnTool {
    /// What models call it.
    pub name: &'static str,
    /// What it does, for models.
    pub description: &'static str,
    /// Whether doing it twice does no harm.
    pub idempotent: bool,
    /// How it is done.
    pub execution: ToolExecution,
    /// Whether the viewer may use it.
    pub(crate) is_for: fn(&View<'_>) -> bool,
    /// The properties of its arguments, as JSON Schema, and which of them must be there.
    pub(crate) arguments: fn() -> (Value, Value),
}

/// How a tool is done.
#[derive(Clone, Copy)]
pub enum ToolExecution {
    /// As a command: it is decided where it is called, and so either done whole or not at all.
    Command(Decide),
    /// Outside of any decision: the tool says what is to be read, as far as the viewer may see it.
    Read(fn(&View<'_>, &Value) -> Result<Read, Error>),
}

/// Decides a call, and says what the model is told of it.
pub type Decide = fn(&mut DecisionBuilder<'_>, &Value) -> Result<String, Undecided>;

/// What a tool reads.
#[derive(Clone, Debug, PartialEq)]
pub enum Read {
    /// This text, and the entry whose words it has. A long one stands beside the journal.
    Text(Text, Option<Seq>),
    /// A document of the session, or of a collection that it names.
    Document(DocumentName, Option<CollectionName>),
    /// The newest messages of a thread, at most so many, before this one where it is named.
    Messages(ThreadId, usize, Option<MessageId>),
    /// The value of a variable, as JSON.
    Variable(Variable),
    /// The values of variables by their names, as JSON. Of large values it says how to read them.
    Variables(Vec<Variable>),
    /// A node is executed alone, and this is its result.
    TestNode(NodeId),
    /// The result of this node, as JSON, which this entry has.
    NodeResult(NodeId, Seq),
    /// One message of a thread, whole.
    Message(ThreadId, MessageId),
    /// What answers a question.
    Recall(RecallAsked),
    /// Where words stand.
    Search(RecallAsked),
    /// Something is done with context files.
    Files(FileCall),
    /// Something is done in the browser, or seen there.
    Browser(BrowserCall),
    /// A scout is sent.
    Scout(DeployScout),
}

/// Reads the arguments of a call; models give them as an object, or as the text of one.
pub(crate) fn parse<T: DeserializeOwned>(arguments: &Value) -> Result<T, Error> {
    let read = match arguments {
        Value::String(text) => {
            serde_json::from_str::<UniqueKeys>(text).and_then(|_| serde_json::from_str(&quote_inexact(text)))
        }
        Value::Null => serde_json::from_value(json!({})),
        arguments => T::deserialize(arguments),
    };
    read.map_err(|error| Error::invalid("/arguments", in_words(&error.to_string())))
}

/// The schema of an argument that is a text.
fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// What the argument is that says why something is done.
const REASON: &str = "Why, in a few words.";

/// The refusal of the agent that looks, which may not do this.
fn forbidden(view: &View<'_>, what: &'static str) -> Error {
    let who = view.agent().map(ToString::to_string).unwrap_or_default();
    Error::Forbidden { who, what, hint: "ask the manager or the user" }
}

impl OwnTool {
    /// Whether it works with context files, which are outside of the journal.
    pub fn is_of_files(&self) -> bool {
        file::ALL.contains(&self.name)
    }

    /// Whether it works in a browser, which is outside of the journal.
    pub fn is_of_browser(&self) -> bool {
        browser::ALL.contains(&self.name)
    }

    /// The tool as models are told of it.
    pub fn described(&self) -> Tool {
        let (mut properties, required) = (self.arguments)();
        if let Some(properties) = properties.as_object_mut().filter(|_| part::is_in_parts(self.name)) {
            properties.extend(part::arguments().map(|(name, schema)| (name.to_owned(), schema)));
        }
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

impl View<'_> {
    /// Callboard's own tools that the viewer may use, whether or not its `tools` name them.
    pub fn own_tools(&self) -> impl Iterator<Item = &'static OwnTool> {
        OWN_TOOLS.iter().copied().filter(|tool| (tool.is_for)(self))
    }
}

#[cfg(test)]
mod tests;
