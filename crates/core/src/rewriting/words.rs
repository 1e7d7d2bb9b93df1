//! Words in the data of entries: finding them again, and taking them away.

use serde_json::{Map, Value};

use crate::{
    entry::Entry,
    fact::{TextKind, erased_value},
};

/// Takes away what stands in the same fields of `said`, and says whether there was any.
pub(super) fn take_fields(fields: &mut Map<String, Value>, said: &Value) -> bool {
    let mut is_changed = false;
    for (name, value) in fields {
        match (value, said.get(name)) {
            (value, Some(same)) if value == same && !value.is_null() && !value.is_boolean() => {
                *value = erased_value(TextKind::Json, value);
                is_changed = true;
            }
            (Value::Object(fields), Some(said)) => is_changed |= take_fields(fields, said),
            _ => {}
        }
    }
    is_changed
}

/// The data of an entry.
pub(super) fn data_of(entry: &Entry) -> Value {
    serde_json::from_str(&entry.json()).unwrap_or_default()
}
