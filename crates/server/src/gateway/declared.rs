//! Tools of OpenAI's APIs that are no plain functions: those that take a text instead of arguments, and those of the Responses API in a
//! namespace. In a conversation their calls are as any other; the model gets them in the form in which the client declared the tools.

use std::collections::BTreeSet;

use callboard_core::conversation::given::whole_name;
use serde_json::{Map, Value, json};

/// A tool that a client declared.
struct Declared<'a> {
    namespace: Option<&'a str>,
    name: &'a str,
    takes_text: bool,
}

impl<'a> Declared<'a> {
    fn of(namespace: Option<&'a str>, tool: &'a Value) -> Option<Self> {
        let text = |field: &str| tool.get(field).and_then(Value::as_str);
        Some(Self { namespace, name: text("name")?, takes_text: text("type") == Some("custom") })
    }

    fn is_called(&self, name: &str) -> bool {
        self.namespace.map_or(self.name == name, |namespace| whole_name(namespace, self.name) == name)
    }
}

/// Writes the calls among `items`, and the results of those with a text, as the client declared the tools.
pub(super) fn as_declared<'a>(tools: impl Iterator<Item = &'a Value>, mut items: Vec<Value>) -> Vec<Value> {
    let declared: Vec<_> = tools
        .flat_map(|tool| {
            let namespace = tool.get("name").and_then(Value::as_str);
            let inner = listed(tool.get("tools")).filter_map(move |inner| Declared::of(namespace, inner));
            inner.chain(Declared::of(None, tool))
        })
        .filter(|tool| tool.namespace.is_some() || tool.takes_text)
        .collect();
    let mut texts = BTreeSet::new();
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        let text = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default();
        let (kind, id, name) = (text("type"), text("call_id").to_owned(), text("name"));
        match kind {
            "function_call" => {
                // Some namespaces are left out of calls.
                let whole = declared.iter().find(|tool| tool.is_called(name));
                let Some(tool) = whole.or_else(|| declared.iter().find(|tool| tool.name == name)) else { continue };
                if let Some(input) = only_input(text("arguments")).filter(|_| tool.takes_text) {
                    item.remove("arguments");
                    item.extend([("type".to_owned(), json!("custom_tool_call")), ("input".to_owned(), input.into())]);
                    texts.insert(id);
                }
                if let Some(namespace) = whole.and_then(|tool| tool.namespace) {
                    item.extend([("namespace".to_owned(), json!(namespace)), ("name".to_owned(), json!(tool.name))]);
                }
            }
            "function_call_output" if texts.contains(&id) => {
                item.insert("type".to_owned(), json!("custom_tool_call_output"));
            }
            _ => {}
        }
    }
    items
}

/// Writes the calls in messages of chat completions as the client declared the tools.
pub(super) fn calls_as_declared<'a>(tools: impl Iterator<Item = &'a Value>, mut messages: Vec<Value>) -> Vec<Value> {
    let taking_text: BTreeSet<_> = tools.filter_map(|tool| tool.pointer("/custom/name")?.as_str()).collect();
    let calls = messages.iter_mut().filter_map(|message| message.get_mut("tool_calls")?.as_array_mut()).flatten();
    for call in calls.filter_map(Value::as_object_mut) {
        let Some(function) = call.get("function") else { continue };
        let text = |field: &str| function.get(field).and_then(Value::as_str).unwrap_or_default();
        let name = text("name");
        let Some(input) = only_input(text("arguments")).filter(|_| taking_text.contains(name)) else { continue };
        let custom = json!({"name": name, "input": input});
        call.remove("function");
        call.extend([("type".to_owned(), json!("custom")), ("custom".to_owned(), custom)]);
    }
    messages
}

/// The text with which a tool is called that takes no arguments.
fn only_input(arguments: &str) -> Option<String> {
    let arguments: Map<String, Value> = serde_json::from_str(arguments).ok()?;
    (arguments.len() == 1).then(|| arguments.get("input")?.as_str().map(str::to_owned))?
}

/// The items of a list; none where there is no list.
pub(super) fn listed(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}
