//! Rules between fields, which declarations of types cannot express.

use serde_json::{Map, Value, json};

/// Adds the rules between fields to the schemas of the OpenAPI document.
pub fn add_rules(schemas: &mut Map<String, Value>) {
    for (name, rules) in [("NewMessage", new_message()), ("Field", field())] {
        if let Some(schema) = schemas.get_mut(name).and_then(Value::as_object_mut) {
            schema.insert("allOf".to_owned(), rules);
        }
    }
}

/// Only messages of models call tools, and only messages of tools are results of calls.
fn new_message() -> Value {
    let said_as = |roles: &[&str]| json!({"properties": {"role": {"enum": roles}}});
    json!([
        {"if": said_as(&["AI", "assistant"]), "else": {"properties": {"tool_calls": {"maxItems": 0}}}},
        {"if": said_as(&["TOOL", "tool"]), "else": {"properties": {"tool_call_id": {"type": "null"}}}},
    ])
}

/// A field to choose from lists its values.
fn field() -> Value {
    json!([{
        "if": {"properties": {"valueType": {"enum": ["ENUM", "ENUM_OR_CUSTOM"]}}},
        "then": {"properties": {"enumValues": {"type": "array", "minItems": 1}}, "required": ["enumValues"]},
    }])
}
