//! Tools of OpenAI's APIs that are no plain functions: those that take a text instead of arguments, and those of the Responses API in a
//! namespace. In a conversation their calls are as any other; the model gets them in the form in which the client declared the tools.

use std::collections::{BTreeMap, BTreeSet};

use callboard_core::conversation::given::whole_name;
use serde_json::{Map, Value, json};

/// A tool that a client declared.
#[derive(Clone, Copy)]
struct Declared<'a> {
    namespace: Option<&'a str>,
    name: &'a str,
    takes_text: bool,
}

impl<'a> Declared<'a> {
    fn of(namespace: Option<&'a str>, tool: &'a Value) -> Option<Self> {
        let text = |field: &str| tool.get(field).and_then(Value::as_str);
        let kind = text("type").filter(|kind| *kind != "namespace");
        Some(Self { namespace, name: text("name")?, takes_text: kind? == "custom" })
    }

    /// The name in calls.
    fn whole_name(&self) -> String {
        self.namespace.map_or_else(|| self.name.to_owned(), |namespace| whole_name(namespace, self.name))
    }
}

/// Writes the calls among `items`, and the results of those with a text, as the client declared the tools.
pub(super) fn as_declared<'a>(tools: impl Iterator<Item = &'a Value>, mut items: Vec<Value>) -> Vec<Value> {
    let declared = tools.flat_map(|tool| {
        let namespace = tool.get("name").and_then(Value::as_str);
        let inner = listed(tool.get("tools")).filter_map(move |inner| Declared::of(namespace, inner));
        inner.chain(Declared::of(None, tool))
    });
    // Of those that are declared again, the last holds.
    let declared: BTreeMap<_, _> = declared.map(|tool| (tool.whole_name(), tool)).collect();
    let inner = declared.values().filter(|tool| tool.namespace.is_some());
    let inner: BTreeMap<_, _> = inner.map(|tool| (tool.name, *tool)).collect();
    let mut texts = BTreeSet::new();
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        let text = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default();
        let (kind, id, name) = (text("type"), text("call_id").to_owned(), text("name"));
        match kind {
            "function_call" => {
                // Some namespaces are left out of calls.
                let whole = declared.get(name);
                let Some(tool) = whole.or_else(|| inner.get(name)) else { continue };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_function_is_not_taken_for_a_tool_of_its_name_in_a_namespace() {
        let inner = json!({"type": "custom", "name": "run"});
        let space = json!({"type": "namespace", "name": "code", "tools": [inner]});
        let plain = json!({"type": "function", "name": "run"});
        let call = |name: &str| json!({"type": "function_call", "call_id": "1", "name": name, "arguments": r#"{"input":"x"}"#});
        let written = |tools: &[&Value], name: &str| as_declared(tools.iter().copied(), vec![call(name)]).remove(0);
        let custom = |written: Value| written.get("type") == Some(&json!("custom_tool_call"));
        assert_eq!(written(&[&space, &plain], "run"), call("run"));
        assert!(custom(written(&[&space, &plain], "code__run")));
        assert!(custom(written(&[&space], "run")));
    }

    #[test]
    fn names_that_are_too_long_with_their_namespace_are_told_apart() {
        let (space, name) = ("n".repeat(64), "s".repeat(100));
        let tool = |end: &str| json!({"type": "function", "name": format!("{name}{end}")});
        let tools = [json!({"type": "namespace", "name": space, "tools": [tool("a"), tool("b")]})];
        for end in ["a", "b"] {
            let inner = format!("{name}{end}");
            let whole = whole_name(&space, &inner);
            assert_eq!(whole.len(), 64, "{whole}");
            let call = json!({"type": "function_call", "call_id": "1", "name": whole, "arguments": "{}"});
            let written = as_declared(tools.iter(), vec![call]).remove(0);
            assert_eq!((&written["namespace"], &written["name"]), (&json!(space), &json!(inner)));
        }
        assert_eq!(whole_name("notes", "search"), "notes__search");
    }

    #[test]
    fn of_tools_that_are_declared_again_the_last_holds() {
        let tool = |kind: &str| json!({"type": kind, "name": "run"});
        let call = json!({"type": "function_call", "call_id": "1", "name": "run", "arguments": r#"{"input":"x"}"#});
        let (function, custom) = (tool("function"), tool("custom"));
        assert_eq!(as_declared([&custom, &function].into_iter(), vec![call.clone()]), std::slice::from_ref(&call));
        assert_ne!(as_declared([&function, &custom].into_iter(), vec![call.clone()]), [call]);
    }
}
