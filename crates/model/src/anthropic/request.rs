//! The body of a request for a message.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::chat::SchemaForm;
use crate::{ChatRequest, ResponseSchema};

/// The default for the most tokens of an answer: the API requires a number, and all models in use can write so many.
const MAX_TOKENS: u64 = 8192;

/// The option of what becomes of thoughts before which something has changed. An answer that refuses them names it.
pub(super) const MISMATCH: &str = "prefix_mismatch_behavior";

/// The body for `request`. It has only the given options.
pub(super) fn body(request: &ChatRequest, form: SchemaForm) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    };
    let mut system = request.system.clone();
    let mut tools: Vec<_> = request.tools.iter().map(tool).collect();
    let mut choice = request.tool_choice.as_ref().and_then(chosen);
    match (&request.response_schema, form) {
        (Some(schema), SchemaForm::Enforced) => {
            // No two tools may have the same name, and the form is what is asked for.
            tools.retain(|tool| tool.get("name").and_then(Value::as_str) != Some(schema.name.as_str()));
            tools.push(form_tool(schema));
            // Where it has tools, it may call one of them before it answers.
            choice = Some(match request.tools.is_empty() {
                true => json!({"type": "tool", "name": schema.name, "disable_parallel_tool_use": true}),
                false => json!({"type": "any", "disable_parallel_tool_use": true}),
            });
        }
        (Some(ResponseSchema { schema, .. }), SchemaForm::Words) => {
            let words =
                format!("Answer with one JSON object, and nothing else, that meets this JSON Schema:\n{schema}");
            system.push(json!({"type": "text", "text": words}));
        }
        (None, _) => {}
    }
    if tools.is_empty() {
        // The API requires tools if the conversation has calls. None of them is to be called now.
        tools = called(&request.messages)
            .into_iter()
            .map(|name| json!({"name": name, "input_schema": {"type": "object"}}))
            .collect();
        choice = (!tools.is_empty()).then(|| json!({"type": "none"}));
    }
    put("model", Some(json!(request.model.name())));
    put("max_tokens", Some(json!(request.max_tokens.unwrap_or(MAX_TOKENS))));
    put("system", (!system.is_empty()).then(|| json!(system)));
    put("messages", Some(json!(request.messages)));
    put("tools", (!tools.is_empty()).then(|| json!(tools)));
    put("tool_choice", choice);
    put("temperature", request.temperature.map(Value::from));
    put("stream", Some(json!(true)));
    Value::Object(body)
}

/// The same body, of whose thoughts those are left out before which something has changed; all of them, where it turns thinking off.
/// Models that refuse these think as they do where nothing is said of it. Where they think no call can be forced, and the newest cannot
/// but think.
pub(super) fn without_unbound(mut body: Value) -> Value {
    let Some(fields) = body.as_object_mut() else { return body };
    let is_kind = |value: &Value, kinds: &[&str]| kinds.iter().any(|kind| value.get("type") == Some(&json!(kind)));
    if fields.get("thinking").is_some_and(|thinking| is_kind(thinking, &["disabled"])) {
        // What has nothing else in it is no message.
        if let Some(messages) = fields.get_mut("messages").and_then(Value::as_array_mut) {
            messages.retain_mut(|message| {
                let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut) else { return true };
                blocks.retain(|block| !is_kind(block, &["thinking", "redacted_thinking"]));
                !blocks.is_empty()
            });
        }
        return body;
    }
    let thinking = fields.entry("thinking").or_insert(Value::Null);
    if !thinking.is_object() {
        *thinking = json!({"type": "adaptive"});
    }
    if let Some(thinking) = thinking.as_object_mut() {
        thinking.insert("block_binding".to_owned(), json!({MISMATCH: "drop_block"}));
    }
    if let Some(choice) = fields.get_mut("tool_choice").filter(|choice| is_kind(choice, &["any", "tool"]))
        && let Some(choice) = choice.as_object_mut()
    {
        choice.insert("type".to_owned(), json!("auto"));
        choice.remove("name");
    }
    body
}

/// Whether a message, or a result in it, names a file that was uploaded.
pub(super) fn names_files(holder: &Value) -> bool {
    let kind = holder.pointer("/source/type").and_then(Value::as_str);
    kind == Some("file") || holder.get("content").and_then(Value::as_array).into_iter().flatten().any(names_files)
}

/// A tool in the form of this API.
fn tool(tool: &Value) -> Value {
    let field = |name| tool.get("function").and_then(|function| function.get(name)).cloned();
    let is_empty = |schema: &Value| schema.as_object().is_none_or(Map::is_empty);
    let schema = field("parameters").filter(|schema| !is_empty(schema)).unwrap_or_else(|| json!({"type": "object"}));
    let mut tool = json!({"name": field("name"), "input_schema": schema});
    if let (Some(description), Some(fields)) = (field("description"), tool.as_object_mut()) {
        fields.insert("description".to_owned(), description);
    }
    tool
}

fn form_tool(form: &ResponseSchema) -> Value {
    let description = "Gives your answer. What you call it with is the whole of it.";
    let mut tool = json!({"name": form.name, "description": description, "input_schema": form.schema});
    if let (true, Some(fields)) = (form.strict, tool.as_object_mut()) {
        fields.insert("strict".to_owned(), true.into());
    }
    tool
}

fn chosen(choice: &Value) -> Option<Value> {
    match choice.as_str() {
        Some("required") => Some(json!({"type": "any"})),
        Some(word) => Some(json!({"type": word})),
        None => Some(json!({"type": "tool", "name": choice.pointer("/function/name")?})),
    }
}

/// The tools that are called in a conversation.
fn called(messages: &[Value]) -> BTreeSet<&str> {
    let blocks = messages.iter().filter_map(|message| message.get("content")?.as_array()).flatten();
    let calls = blocks.filter(|block| block.get("type").and_then(Value::as_str) == Some("tool_use"));
    calls.filter_map(|call| call.get("name")?.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ChatRequest {
        let mut request = ChatRequest::new("anthropic:small".parse().unwrap());
        request.messages = vec![json!({"role": "user", "content": "hi"})];
        request
    }

    #[test]
    fn a_body_holds_what_was_asked_for_and_the_longest_answer() {
        let mut request = request();
        let bare = json!({"model": "small", "max_tokens": 8192, "messages": request.messages, "stream": true});
        assert_eq!(body(&request, SchemaForm::Enforced), bare);

        request.max_tokens = Some(5);
        request.temperature = Some(0.0);
        request.system = vec![json!({"type": "text", "text": "Be brief."})];
        let function = json!({"name": "look", "description": "Looks.", "parameters": {}});
        request.tools = vec![json!({"type": "function", "function": function})];
        for (choice, written) in [
            (json!("auto"), json!({"type": "auto"})),
            (json!("required"), json!({"type": "any"})),
            (json!("none"), json!({"type": "none"})),
            (json!({"type": "function", "function": {"name": "look"}}), json!({"type": "tool", "name": "look"})),
        ] {
            request.tool_choice = Some(choice);
            assert_eq!(body(&request, SchemaForm::Enforced)["tool_choice"], written);
        }
        let full = body(&request, SchemaForm::Enforced);
        assert_eq!((&full["max_tokens"], &full["temperature"]), (&json!(5), &json!(0.0)));
        assert_eq!(full["system"], json!(request.system));
        assert_eq!(
            full["tools"],
            json!([{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}])
        );
    }

    #[test]
    fn a_form_is_a_tool_that_has_to_be_called_or_is_told_in_words() {
        let (mut request, schema) = (request(), json!({"type": "object"}));
        request.response_schema =
            Some(ResponseSchema { name: "form".to_owned(), schema: schema.clone(), strict: true, plain: None });
        let as_tool = body(&request, SchemaForm::Enforced);
        assert_eq!((&as_tool["tools"][0]["input_schema"], &as_tool["tools"][0]["strict"]), (&schema, &json!(true)));
        assert_eq!(
            (&as_tool["tool_choice"]["type"], &as_tool["tool_choice"]["name"]),
            (&json!("tool"), &json!("form"))
        );
        let function = json!({"name": "look", "description": "Looks.", "parameters": {}});
        let mut with_tools = request.clone();
        with_tools.tools = vec![json!({"type": "function", "function": function})];
        let beside = body(&with_tools, SchemaForm::Enforced);
        assert_eq!((&beside["tools"][1]["name"], &beside["tool_choice"]["type"]), (&json!("form"), &json!("any")));
        with_tools.tools = vec![json!({"type": "function", "function": {"name": "form", "parameters": {}}})];
        assert_eq!(body(&with_tools, SchemaForm::Enforced)["tools"].as_array().unwrap().len(), 1);
        let in_words = body(&request, SchemaForm::Words);
        assert!(in_words["system"][0]["text"].as_str().unwrap().ends_with(
            r#":
{"type":"object"}"#
        ));
        assert_eq!(in_words.get("tools"), None);
    }

    #[test]
    fn no_call_is_forced_where_a_model_thinks() {
        let again = |thinking: Value, choice: Value| {
            without_unbound(json!({"thinking": thinking, "tool_choice": choice}))["tool_choice"].clone()
        };
        let named = json!({"type": "tool", "name": "look", "disable_parallel_tool_use": true});
        let auto = json!({"type": "auto", "disable_parallel_tool_use": true});
        assert_eq!(again(Value::Null, named.clone()), auto);
        assert_eq!(again(json!({"type": "adaptive"}), json!({"type": "any"})), json!({"type": "auto"}));
        assert_eq!(again(json!({"type": "enabled"}), json!({"type": "none"})), json!({"type": "none"}));
        // Where it does not think, all that it thought is left out.
        let said = |contents: &[Value]| {
            let answers = contents.iter().map(|content| json!({"role": "assistant", "content": content}));
            let messages: Vec<_> = [json!({"role": "user", "content": "hi"})].into_iter().chain(answers).collect();
            json!({"thinking": {"type": "disabled"}, "tool_choice": named, "messages": messages})
        };
        let (thought, text) = (json!({"type": "thinking", "thinking": "Hm."}), json!({"type": "text", "text": "Hi."}));
        assert_eq!(without_unbound(said(&[json!([thought]), json!([thought, text])])), said(&[json!([text])]));
    }

    #[test]
    fn a_file_that_was_uploaded_is_found_in_a_message_and_in_a_result() {
        let image = |source: Value| json!({"type": "image", "source": source});
        let file = image(json!({"type": "file", "file_id": "file_1"}));
        let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": [file]});
        let url = image(json!({"type": "url", "url": "https://example.com/a.png"}));
        let text = json!({"type": "text", "text": "file"});
        for (block, expected) in [(file, true), (result, true), (url, false), (text, false)] {
            assert_eq!(names_files(&json!({"role": "user", "content": [block]})), expected, "{block}");
        }
        assert!(!names_files(&json!({"role": "user", "content": "file"})));
    }

    #[test]
    fn where_calls_are_in_the_conversation_there_are_tools() {
        let mut request = request();
        let call = json!({"type": "tool_use", "id": "c1", "name": "look", "input": {}});
        request.messages.push(json!({"role": "assistant", "content": [call]}));
        let body = body(&request, SchemaForm::Enforced);
        assert_eq!(body["tools"], json!([{"name": "look", "input_schema": {"type": "object"}}]));
        assert_eq!(body["tool_choice"], json!({"type": "none"}));
    }
}
