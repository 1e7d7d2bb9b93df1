//! Fields of what a client says that are in no prompt. Where they said something, the model would not be told.

use callboard_core::json::pointer_token;
use serde_json::{Map, Value, json};

use super::declared::listed;

/// The fields that texts may have, of which models are told what they say, or which clients send back as they came.
const OF_TEXTS: [&str; 8] = ["type", "text", "id", "index", "annotations", "citations", "logprobs", "cache_control"];

const OF_RESULTS: [&str; 5] = ["type", "tool_use_id", "content", "is_error", "cache_control"];

const OF_FILES: [&str; 13] = [
    "type",
    "source",
    "title",
    "context",
    "image_url",
    "detail",
    "input_audio",
    "file",
    "file_id",
    "filename",
    "file_data",
    "file_url",
    "cache_control",
];

/// Where what is not the model's own has such a field: in the parts of messages or items in the field `list`, or in `system`.
pub(super) fn field(body: &Map<String, Value>, list: &str) -> Option<String> {
    let is_own = |message: &Value| message.get("role").and_then(Value::as_str) == Some("assistant");
    let messages = listed(body.get(list)).enumerate().filter(|(_, message)| !is_own(message));
    let mut said = messages.flat_map(|(at, message)| {
        ["content", "output"].map(|name| (format!("/{list}/{at}/{name}"), message.get(name)))
    });
    said.find_map(|(pointer, parts)| in_parts(&pointer, parts)).or_else(|| in_parts("/system", body.get("system")))
}

fn in_parts(pointer: &str, parts: Option<&Value>) -> Option<String> {
    listed(parts).enumerate().find_map(|(at, part)| {
        let known: &[&str] = match part.get("type").and_then(Value::as_str)? {
            "text" | "input_text" | "output_text" => &OF_TEXTS,
            "tool_result" => &OF_RESULTS,
            "image" | "image_url" | "input_image" | "document" | "file" | "input_file" | "input_audio" => &OF_FILES,
            // Of others a line tells the model that they are there.
            _ => return None,
        };
        let says = |value: &Value| !value.is_null() && *value != json!({"enabled": false});
        let unknown = part.as_object()?.iter().find(|(name, value)| !known.contains(&name.as_str()) && says(value));
        match unknown {
            Some((name, _)) => Some(format!("{pointer}/{at}/{}", pointer_token(name))),
            None => in_parts(&format!("{pointer}/{at}/content"), part.get("content")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(body: Value) -> Option<String> {
        field(body.as_object().unwrap(), "messages")
    }

    #[test]
    fn fields_of_parts_that_no_prompt_has_are_found() {
        let said = |role: &str, part: Value| json!({"messages": [{"role": "user", "content": "One?"}, {"role": role, "content": [part]}]});
        let odd = json!({"type": "text", "text": "Two?", "a/b": 1});
        assert_eq!(found(said("user", odd.clone())).unwrap(), "/messages/1/content/0/a~1b");
        let result = json!({"type": "tool_result", "tool_use_id": "a", "content": [odd]});
        assert_eq!(found(said("user", result)).unwrap(), "/messages/1/content/0/content/0/a~1b");
        let cited =
            |is_on: bool| json!({"type": "document", "source": {}, "title": "Tides", "citations": {"enabled": is_on}});
        assert_eq!(found(said("user", cited(true))).unwrap(), "/messages/1/content/0/citations");
        assert_eq!(found(json!({"system": [odd]})).unwrap(), "/system/0/a~1b");
        // What says nothing, what the model said, and what a line stands for.
        assert_eq!(found(said("user", cited(false))), None);
        assert_eq!(found(said("user", json!({"type": "text", "text": "Two?", "new": null}))), None);
        assert_eq!(found(said("assistant", odd)), None);
        assert_eq!(found(said("user", json!({"type": "search_result", "new": 1}))), None);
    }
}
