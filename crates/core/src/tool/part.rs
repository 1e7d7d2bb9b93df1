//! Parts of long results: what a model is shown shortened, it reads in pieces.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::parse;
use crate::error::Error;

/// The tools whose results can be long, and are then read in parts.
const IN_PARTS: [&str; 8] = [
    "read_message",
    "read_context_set",
    "read_document",
    "read_file",
    "get_workflow_variable",
    "get_current_plan",
    "get_node",
    "get_node_result",
];

/// A part of a text, in characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct TextPart {
    /// How many are left out before it.
    pub offset: usize,
    /// How many it has at most.
    pub limit: Option<usize>,
}

impl TextPart {
    /// The part of `text`, and how to go on where that is not all.
    pub fn of(self, text: String) -> String {
        if self == Self::default() {
            return text;
        }
        let all = text.chars().count();
        if self.offset > 0 && self.offset >= all {
            return format!("[there are {all} characters: use a smaller offset]");
        }
        // With none at all, whoever goes on would never come to the end.
        let limit = self.limit.map_or(usize::MAX, |limit| limit.max(1));
        let part: String = text.chars().skip(self.offset).take(limit).collect();
        let end = self.offset.saturating_add(part.chars().count());
        if end < all { format!("{part}\n[{} more characters: go on with offset {end}]", all - end) } else { part }
    }
}

/// Whether the results of this tool are read in parts.
pub(super) fn is_in_parts(tool: &str) -> bool {
    IN_PARTS.contains(&tool)
}

/// The arguments that say which part.
pub(super) fn arguments() -> [(&'static str, Value); 2] {
    let offset = "Characters to skip.";
    let limit = "At most so many characters.";
    [
        ("offset", json!({"type": "integer", "minimum": 0, "description": offset})),
        ("limit", json!({"type": "integer", "minimum": 1, "description": limit})),
    ]
}

/// Takes out of the arguments of a call of `tool` which part of its result is wanted.
pub fn part_of(tool: &str, arguments: &Value) -> Result<(Value, TextPart), Error> {
    if !is_in_parts(tool) {
        return Ok((arguments.clone(), TextPart::default()));
    }
    let mut rest: Map<String, Value> = parse(arguments)?;
    let wanted = ["offset", "limit"].into_iter().filter_map(|name| Some((name.to_owned(), rest.remove(name)?)));
    let wanted: Map<String, Value> = wanted.filter(|(_, value)| !value.is_null()).collect();
    let part = parse(&Value::Object(wanted))?;
    Ok((Value::Object(rest), part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_result_is_read_in_parts_and_says_how_to_go_on() {
        let part = |offset, limit| TextPart { offset, limit }.of("Ebbe und Flüt".to_owned());
        assert_eq!(part(0, None), "Ebbe und Flüt");
        assert_eq!(part(0, Some(4)), "Ebbe\n[9 more characters: go on with offset 4]");
        assert_eq!(part(12, Some(0)), "t");
        assert_eq!(part(9, Some(4)), "Flüt");
        assert_eq!(part(13, None), "[there are 13 characters: use a smaller offset]");
        let (rest, part) = part_of("read_document", &json!({"name": "a", "offset": 4, "limit": 2})).unwrap();
        assert_eq!((rest, part), (json!({"name": "a"}), TextPart { offset: 4, limit: Some(2) }));
        let (rest, part) = part_of("read_messages", &json!({"limit": 5})).unwrap();
        assert_eq!((rest, part), (json!({"limit": 5}), TextPart::default()));
        assert!(part_of("read_document", &json!({"name": "a", "offset": -1})).is_err());
    }
}
