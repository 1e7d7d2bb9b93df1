//! Merging a change of an object in the settings into what is there, as JSON Merge Patch does (RFC 7396): a field that is left
//! out stays, and null takes one away.

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::error::Error;

/// The settings `before` after a change. `given` is the change as it was brought, `read` the same as it was read, in which
/// secrets are hidden. Without `given`, what was read replaces all.
pub(super) fn merged<T: Clone + Serialize + DeserializeOwned>(
    before: &T,
    read: Option<T>,
    given: Option<&Value>,
    pointer: &str,
) -> Result<T, Error> {
    let (Some(read), Some(Value::Object(given))) = (&read, given) else {
        return Ok(read.unwrap_or_else(|| before.clone()));
    };
    let failed = |error: serde_json::Error| Error::invalid(pointer, error.to_string());
    let read = serde_json::to_value(read).map_err(failed)?;
    let mut now = serde_json::to_value(before).map_err(failed)?;
    merge(&mut now, given, &read);
    serde_json::from_value(now).map_err(failed)
}

/// Merges `given` into `now`. Texts and lists are taken as they were read.
fn merge(now: &mut Value, given: &Map<String, Value>, read: &Value) {
    if !now.is_object() {
        *now = Value::Object(Map::new());
    }
    let Some(fields) = now.as_object_mut() else { return };
    for (name, value) in given {
        let read = read.get(name).unwrap_or(&Value::Null);
        match value {
            Value::Null => drop(fields.remove(name)),
            Value::Object(given) => merge(fields.entry(name.clone()).or_insert(Value::Null), given, read),
            Value::Bool(_) | Value::Number(_) => drop(fields.insert(name.clone(), value.clone())),
            // An empty list may be the default, which is not written.
            Value::String(_) | Value::Array(_) if read.is_null() => drop(fields.remove(name)),
            Value::String(_) | Value::Array(_) => drop(fields.insert(name.clone(), read.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{compression::CompressionSettings, prompt::profile::Profile};

    #[test]
    fn a_field_that_is_left_out_stays_and_null_takes_one_away() {
        let settings = |value: Value| serde_json::from_value::<CompressionSettings>(value).unwrap();
        let before = settings(json!({"compress_tokens": 9000, "target_tokens": 2000, "auto": false}));
        let given = json!({"target_tokens": null, "auto": true, "instructions": "My secret is known."});
        // A secret in it was hidden since.
        let read = settings(json!({"auto": true, "instructions": "My [hidden] is known."}));
        let now = merged(&before, Some(read), Some(&given), "/compression").unwrap();
        assert_eq!(
            now,
            settings(json!({"compress_tokens": 9000, "auto": true, "instructions": "My [hidden] is known."}))
        );
        let whole = settings(json!({"auto": true}));
        assert_eq!(merged(&before, Some(whole.clone()), None, "/compression").unwrap(), whole);
        assert_eq!(merged(&before, None, None, "/compression").unwrap(), before);
    }

    #[test]
    fn an_empty_list_takes_the_place_of_what_was_listed() {
        let profile = |value: &Value| serde_json::from_value::<Profile>(value.clone()).unwrap();
        let before = profile(&json!({"budget": 9000, "layout_parts": ["team", "history", "task"]}));
        let given = json!({"layout_parts": []});
        let now = merged(&before, Some(profile(&given)), Some(&given), "/prompt").unwrap();
        assert_eq!(now, profile(&json!({"budget": 9000})));
    }
}
