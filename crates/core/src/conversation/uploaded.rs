//! Files that were uploaded to a provider: parts of messages name them by their ids.

use serde_json::{Map, Value};

use super::MessageShape;

/// A file that was uploaded to a provider. What is in it, nobody else knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uploaded<'a> {
    /// Whose it is: ids of one provider say nothing to another.
    pub to: MessageShape,
    /// Its id there.
    pub id: &'a str,
}

/// How long an id is at the most.
const LONGEST: usize = 256;

impl<'a> Uploaded<'a> {
    /// The file that the field `file_id` names. None where that is no id, such as one that had a secret in it.
    pub fn of(fields: &'a Map<String, Value>, to: MessageShape) -> Option<Self> {
        let id = fields.get("file_id")?.as_str()?;
        let is_plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        (is_plain && (1..=LONGEST).contains(&id.len())).then_some(Self { to, id })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_an_id_is_made_of_is_one() {
        let of = |id: &Value| {
            let fields = Map::from_iter([("file_id".to_owned(), id.clone())]);
            Uploaded::of(&fields, MessageShape::OpenAi).map(|file| file.id.to_owned())
        };
        for id in ["file-1", "file_011CNha8iCJcU1wXNR6q4V8w", "assistant.1"] {
            assert_eq!(of(&json!(id)).as_deref(), Some(id));
        }
        for odd in [json!(""), json!(null), json!(7), json!("[hidden]"), json!("a b"), json!("a".repeat(257))] {
            assert_eq!(of(&odd), None, "{odd}");
        }
    }
}
