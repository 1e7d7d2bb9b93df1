//! Schemas of structured answers in the form that an API takes.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The API for which a schema is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SchemaFor {
    /// Any that takes JSON Schema.
    #[default]
    Plain,
    /// OpenAI's structured output with `strict`: every field is required, and those that may be left out may be null.
    OpenAi,
    /// Anthropic's structured output: without bounds of numbers and lengths.
    Anthropic,
}

/// The keywords that bound values, which structured output does not take.
const BOUNDS: [&str; 9] = [
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
];

impl SchemaFor {
    /// A schema in this form.
    pub fn form(self, schema: Value) -> Value {
        match self {
            Self::Plain => schema,
            Self::OpenAi => adapted(schema, true),
            Self::Anthropic => adapted(schema, false),
        }
    }
}

fn adapted(schema: Value, is_strict: bool) -> Value {
    match schema {
        Value::Array(all) => all.into_iter().map(|one| adapted(one, is_strict)).collect(),
        Value::Object(mut fields) => {
            fields.retain(|name, _| name != "$schema" && !BOUNDS.contains(&name.as_str()));
            let properties = fields.remove("properties");
            let mut fields: Map<_, _> =
                fields.into_iter().map(|(name, value)| (name, adapted(value, is_strict))).collect();
            if let Some(Value::Object(properties)) = properties {
                let required = required(&fields);
                let adapt = |(name, value): (String, Value)| {
                    let value = adapted(value, is_strict);
                    let is_optional = is_strict && !required.contains(&name);
                    (name, if is_optional { json!({"anyOf": [value, {"type": "null"}]}) } else { value })
                };
                let properties: Map<_, _> = properties.into_iter().map(adapt).collect();
                if is_strict {
                    fields.insert("required".to_owned(), properties.keys().map(String::as_str).collect());
                }
                fields.insert("properties".to_owned(), properties.into());
            }
            fields.into()
        }
        other => other,
    }
}

fn required(fields: &Map<String, Value>) -> Vec<String> {
    let names = fields.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::SchemaFor;

    #[test]
    fn a_schema_has_what_its_api_takes() {
        let schema = || {
            json!({
                "$schema": "x", "type": "object", "additionalProperties": false, "required": ["minLength"],
                "properties": {
                    "minLength": {"type": "string", "minLength": 1},
                    "more": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": ["a"]}},
                },
            })
        };
        let text = json!({"type": "string"});
        let list = json!({"type": "array", "items": {"type": "string", "enum": ["a"]}});
        let form = |form: SchemaFor| form.form(schema());
        assert_eq!(form(SchemaFor::Plain), schema());
        assert_eq!(
            form(SchemaFor::Anthropic),
            json!({
                "type": "object", "additionalProperties": false, "required": ["minLength"],
                "properties": {"minLength": text, "more": list},
            })
        );
        assert_eq!(
            form(SchemaFor::OpenAi),
            json!({
                "type": "object", "additionalProperties": false, "required": ["minLength", "more"],
                "properties": {"minLength": text, "more": {"anyOf": [list, {"type": "null"}]}},
            })
        );
    }
}
