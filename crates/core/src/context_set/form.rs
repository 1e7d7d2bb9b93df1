//! Forms: context sets that ask the user for something.

pub(crate) mod decide;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{Error, Fault},
    id::SetName,
    json,
    text::INLINE_BYTES,
};

/// What the user is asked for, and the answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Form {
    /// The fields, in the order in which they are shown.
    pub fields: Vec<Field>,
    /// Whether the user has filled it in.
    pub answered: bool,
    /// The answers.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub answers: Map<String, Value>,
}

/// A field of a form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Field {
    /// The key of its answer, unique in its form.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::Saying))]
    pub key: String,
    /// The type of the answer.
    pub value_type: ValueType,
    /// The label for people.
    pub label: String,
    /// Whether an answer must be given.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required = true))]
    pub required: bool,
    /// The values to choose from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<String>>))]
    pub enum_values: Vec<String>,
    /// An explanation for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The type of the answer to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ValueType {
    /// A text.
    String,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A day or a time in RFC 3339.
    Date,
    /// One of the values to choose from.
    Enum,
    /// One of the values to choose from, or any other text.
    EnumOrCustom,
    /// A list of texts or numbers.
    Array,
    /// The path or address of a file.
    File,
}

/// What is wrong where two fields of a form have the same key.
const DOUBLED: &str = "give each field a key of its own";

impl Form {
    /// The form that asks for one text, where nothing better is known.
    pub fn one_answer(label: &str) -> Self {
        let field = Field {
            key: "answer".to_owned(),
            value_type: ValueType::String,
            label: label.to_owned(),
            required: true,
            enum_values: Vec::new(),
            description: None,
        };
        Self::asking(vec![field])
    }

    /// The form that asks for these.
    pub fn asking(fields: Vec<Field>) -> Self {
        Self { fields, answered: false, answers: Map::new() }
    }

    /// Refuses what cannot be a form; pointers to what is wrong begin with `pointer`.
    pub(crate) fn check_fields(&self, pointer: &str) -> Result<(), Error> {
        let (contradictions, invalid) = self.faults(pointer).into_iter().partition(|fault| fault.problem == DOUBLED);
        Error::of(invalid, contradictions)
    }

    /// What is wrong with the fields, each fault with its JSON pointer below `pointer`.
    pub fn faults(&self, pointer: &str) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut fault = |at: usize, field: &str, problem: &str| {
            faults.push(Fault { pointer: format!("{pointer}/fields/{at}/{field}"), problem: problem.to_owned() });
        };
        for (at, field) in self.fields.iter().enumerate() {
            if field.key.trim().is_empty() {
                fault(at, "key", "give each field a key");
            } else if self.fields.iter().take(at).any(|other| other.key == field.key) {
                fault(at, "key", DOUBLED);
            }
            let chooses = matches!(field.value_type, ValueType::Enum | ValueType::EnumOrCustom);
            if chooses && field.enum_values.is_empty() {
                fault(at, "enumValues", "list the values to choose from");
            }
        }
        let mut fault = |problem: String| faults.push(Fault { pointer: format!("{pointer}/fields"), problem });
        if self.fields.is_empty() {
            fault("ask for one thing at least".to_owned());
        }
        if json::size_bytes(&self.fields) > INLINE_BYTES {
            fault(format!("use at most {INLINE_BYTES} bytes altogether"));
        }
        faults
    }

    fn check(&self, answers: &Map<String, Value>) -> Result<(), Error> {
        let mut faults = Vec::new();
        let mut fault = |key: &str, problem: String| {
            faults.push(Fault { pointer: format!("/answers/{}", json::pointer_token(key)), problem });
        };
        for key in answers.keys().filter(|key| self.fields.iter().all(|field| field.key != **key)) {
            let known = self.fields.iter().map(|field| field.key.as_str()).collect::<Vec<_>>().join(", ");
            fault(key, format!("the form has no such field; it has: {known}"));
        }
        for field in &self.fields {
            match answers.get(&field.key) {
                None | Some(Value::Null) if !field.required => {}
                answer if field.required && answer.is_none_or(is_blank) => {
                    fault(&field.key, "an answer is required".to_owned());
                }
                None => {}
                Some(value) => {
                    if let Err(problem) = field.check(value) {
                        fault(&field.key, problem);
                    }
                }
            }
        }
        if json::size_bytes(answers) > INLINE_BYTES {
            let problem = format!("use at most {INLINE_BYTES} bytes altogether; bring long texts as context sets");
            faults.push(Fault { pointer: "/answers".to_owned(), problem });
        }
        if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
    }

    /// The answers as a text that agents read, a line a field.
    fn readable(&self, request: &str, answers: &Map<String, Value>) -> String {
        let mut text = request.trim_end().to_owned();
        for field in &self.fields {
            let answer = answers.get(&field.key).map_or_else(|| "(not answered)".to_owned(), readable);
            let _ = write!(text, "{}{}: {answer}", if text.is_empty() { "" } else { "\n" }, field.label);
        }
        text
    }
}

impl Field {
    /// Refuses a value that is no answer to this field, and says what would be one.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match self.value_type {
            ValueType::String | ValueType::File | ValueType::EnumOrCustom => value.is_string(),
            ValueType::Number => value.is_number(),
            ValueType::Boolean => value.is_boolean(),
            ValueType::Date => value.as_str().is_some_and(is_date),
            ValueType::Enum => value.as_str().is_some_and(|value| self.enum_values.iter().any(|known| known == value)),
            ValueType::Array => value.as_array().is_some_and(|all| all.iter().all(|v| v.is_string() || v.is_number())),
        };
        if fits {
            return Ok(());
        }
        Err(match self.value_type {
            ValueType::String | ValueType::File | ValueType::EnumOrCustom => "give a text".to_owned(),
            ValueType::Number => "give a number".to_owned(),
            ValueType::Boolean => "give true or false".to_owned(),
            ValueType::Date => "give a date, for instance 2025-01-18 or 2025-01-18T14:30:22Z".to_owned(),
            ValueType::Enum => format!("give one of: {}", self.enum_values.join(", ")),
            ValueType::Array => "give a list of texts or numbers".to_owned(),
        })
    }
}

/// Whether a value says nothing.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(all) => all.is_empty(),
        _ => false,
    }
}

fn is_date(text: &str) -> bool {
    text.parse::<jiff::civil::Date>().is_ok() || text.parse::<jiff::Timestamp>().is_ok()
}

fn readable(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(readable).collect::<Vec<_>>().join(", "),
        Value::Null => "(not answered)".to_owned(),
        value => value.to_string(),
    }
}

/// The user's answers to a form.
#[derive(Clone, Debug, PartialEq)]
pub struct SubmitForm {
    /// The name of the form.
    pub form: SetName,
    /// The answers, by the keys of its fields.
    pub answers: Map<String, Value>,
}

#[cfg(test)]
mod tests;
