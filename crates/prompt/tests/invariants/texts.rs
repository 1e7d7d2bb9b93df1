//! Whatever counts, searches, masks or erases words goes by the fields that types of facts declare: words that somebody
//! brings must stand in no other field.

use callboard_core::{event::EventType, fact::TextField};
use proptest::prelude::*;
use serde_json::Value;

use crate::story::{Told, story};

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn words_that_somebody_brings_stand_in_the_fields_that_are_declared_for_them(steps in story(40)) {
        let mut told = Told::new();
        steps.iter().for_each(|step| told.take(step));
        for entry in &told.board.entries {
            let mut data: Value = serde_json::from_str(&entry.data).unwrap();
            for field in EventType::named(&entry.header.kind).unwrap().description.texts {
                clear(&mut data, field.path);
            }
            let left = data.to_string();
            prop_assert!(!has_words(&left), "{} does not declare: {left}", entry.header.kind);
        }
    }
}

/// Takes away what stands in a field.
fn clear(data: &mut Value, path: &str) {
    match (data, path.split_once('.').unwrap_or((path, ""))) {
        (Value::Array(values), ("*", "")) => values.clear(),
        (Value::Array(values), ("*", rest)) => values.iter_mut().for_each(|value| clear(value, rest)),
        (Value::Object(fields), (name, "")) => drop(fields.remove(name)),
        (Value::Object(fields), (name, rest)) => {
            fields.get_mut(name).into_iter().for_each(|value| clear(value, rest));
        }
        _ => {}
    }
}

/// Whether a marked text of a story is in it. Those from 900 on are names.
fn has_words(text: &str) -> bool {
    let numbers = text.split("zq").skip(1).filter_map(|rest| rest.split_once('q')?.0.parse::<u32>().ok());
    numbers.into_iter().any(|number| number < 900)
}

#[test]
fn a_field_is_found_in_objects_and_lists() {
    let data = serde_json::json!({"a": [{"b": "one"}, {"c": "two"}, {"b": ["three"]}], "b": "four"});
    let values = |path: &'static str| {
        let field: TextField = callboard_core::fact::text(path);
        field.values(&data).into_iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!([values("b"), values("a.*.b"), values("a.b"), values("x")], ["\"four\"", "\"one\" [\"three\"]", "", ""]);
}
