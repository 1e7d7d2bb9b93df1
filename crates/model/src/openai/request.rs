//! The body of a request for a chat completion.

use serde_json::{Map, Value, json};

use crate::ChatRequest;
use crate::chat::SchemaForm;

/// The body for `request`; `is_own` is whether it goes to OpenAI itself. It has only the given options.
pub(super) fn body(request: &ChatRequest, form: SchemaForm, is_own: bool) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), value);
        }
    };
    put("model", Some(json!(request.model.name())));
    put("messages", Some(json!(request.messages)));
    put("tools", (!request.tools.is_empty()).then(|| json!(request.tools)));
    put("tool_choice", request.tool_choice.clone());
    put(
        "response_format",
        request.response_schema.as_ref().filter(|_| form == SchemaForm::Enforced).map(|form| {
            let schema = json!({"name": form.name, "schema": form.schema, "strict": form.strict});
            json!({"type": "json_schema", "json_schema": schema})
        }),
    );
    // Other servers know only the old name, newer models of OpenAI only the new one.
    put(if is_own { "max_completion_tokens" } else { "max_tokens" }, request.max_tokens.map(Value::from));
    put("temperature", request.temperature.map(Value::from));
    put("stream", Some(json!(true)));
    put("stream_options", Some(json!({"include_usage": true})));
    Value::Object(body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ResponseSchema;

    #[test]
    fn a_body_holds_what_was_asked_for_and_no_more() {
        let mut request = ChatRequest::new("small".parse().unwrap());
        request.messages = vec![json!({"role": "user", "content": "hi"})];
        let bare = json!({
            "model": "small", "messages": [{"role": "user", "content": "hi"}],
            "stream": true, "stream_options": {"include_usage": true},
        });
        assert_eq!(body(&request, SchemaForm::Enforced, false), bare);

        request.max_tokens = Some(5);
        request.temperature = Some(0.0);
        let schema = json!({"type": "object"});
        request.response_schema =
            Some(ResponseSchema { name: "form".to_owned(), schema: schema.clone(), strict: true, plain: None });
        let full = body(&request, SchemaForm::Enforced, false);
        assert_eq!((&full["max_tokens"], &full["temperature"]), (&json!(5), &json!(0.0)));
        let form = json!({"name": "form", "schema": schema, "strict": true});
        assert_eq!(full["response_format"], json!({"type": "json_schema", "json_schema": form}));
        assert_eq!(body(&request, SchemaForm::Enforced, true)["max_completion_tokens"], 5);
        assert_eq!(body(&request, SchemaForm::Words, false).get("response_format"), None);
    }
}
