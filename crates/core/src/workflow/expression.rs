//! Expressions: how a node computes a value from variables. They are expressions of Jinja: they read what they are given and
//! nothing else, have no loops, no input or output and no clock, and use up a bounded amount of fuel.

use std::{collections::BTreeSet, sync::LazyLock};

use minijinja::{
    Environment, Error, ErrorKind, UndefinedBehavior, Value as Computed,
    value::{Serde, ValueKind},
};
use serde_json::{Map, Value};

use super::Values;
use crate::{id::NodeId, json::MAX_DEPTH};

/// How much work an expression may be: about one for each operation, and for 64 bytes of what it makes.
const FUEL: u64 = 500_000;

/// How large a value is at most: one for each byte of its texts, and one for each part of it.
const MAX_SIZE: usize = 4 * 1024 * 1024;

/// How many characters an expression has at most.
const MAX_CHARS: usize = 10_000;

/// The name under which an expression finds all variables, by their whole names.
pub(super) const ALL: &str = "vars";

static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(UndefinedBehavior::Strict);
    engine.set_fuel(Some(FUEL));
    engine
});

/// What is wrong with an expression as it is written, if anything.
pub(super) fn fault(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("write an expression, such as `node4.emails|length > 0`".to_owned());
    }
    if text.chars().nth(MAX_CHARS).is_some() {
        return Some(format!("use at most {MAX_CHARS} characters"));
    }
    ENGINE.compile_expression(text).err().map(|error| problem(&error))
}

/// The names that an expression reads: `node7` where it has `node7.emails`.
pub(super) fn names(text: &str) -> BTreeSet<String> {
    let parsed = ENGINE.compile_expression(text).ok();
    parsed.map(|parsed| parsed.undeclared_variables(false).into_iter().collect()).unwrap_or_default()
}

/// The value of an expression that reads `variables`, and besides them `more` by their names.
///
/// # Errors
/// Says what is wrong, also where it is too much work or its value is too large.
pub fn evaluate(text: &str, variables: &Values, more: &Map<String, Value>) -> Result<Value, String> {
    let parsed = ENGINE.compile_expression(text).map_err(|error| problem(&error))?;
    let mut scope = scope(text, variables);
    scope.extend(more.clone());
    let computed = parsed.eval(Serde(&scope)).map_err(|error| problem(&error))?;
    if computed.is_undefined() {
        return Err("it has no value: something that it names is not there; `|default(0)` gives it one".to_owned());
    }
    let mut room = MAX_SIZE;
    json(&computed, MAX_DEPTH, &mut room)
}

/// Whether a value counts as true, as it does in expressions.
pub fn is_true(value: &Value) -> bool {
    Computed::from(Serde(value)).is_true()
}

/// Variables as an expression names them: `node7.emails` is the field `emails` of `node7`. A node without variables is an
/// object without fields.
fn scope(text: &str, variables: &Values) -> Map<String, Value> {
    let mut scope = Map::new();
    for name in names(text) {
        if name == ALL {
            let all = variables.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
            scope.insert(name, Value::Object(all));
        } else if NodeId::of_variables(&name).is_some() {
            scope.insert(name, Value::Object(Map::new()));
        }
    }
    for (name, value) in variables {
        let mut place = &mut scope;
        let mut parts = name.as_str().split('.').peekable();
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                place.insert(part.to_owned(), value.clone());
                break;
            }
            let inner = place.entry(part).or_insert_with(|| Value::Object(Map::new()));
            // `a` and `a.b` may both be variables: then the shorter name counts.
            let Value::Object(inner) = inner else { break };
            place = inner;
        }
    }
    scope
}

/// A computed value as JSON, with at most so many levels. A list may be computed only as it is read, so its size is not known
/// before.
fn json(computed: &Computed, levels: usize, room: &mut usize) -> Result<Value, String> {
    let text = computed.as_str();
    let size = 1 + text.map_or(0, str::len);
    *room = room.checked_sub(size).ok_or_else(|| format!("its value is too large: {MAX_SIZE} bytes are the most"))?;
    let inner = || levels.checked_sub(1).ok_or_else(|| format!("its value has more than {MAX_DEPTH} levels"));
    Ok(match computed.kind() {
        ValueKind::Undefined | ValueKind::None => Value::Null,
        ValueKind::Bool => computed.is_true().into(),
        ValueKind::String => text.unwrap_or_default().into(),
        ValueKind::Number => {
            serde_json::to_value(computed).map_err(|error| format!("its value is no JSON: {error}"))?
        }
        ValueKind::Map => {
            let (levels, mut fields) = (inner()?, Map::new());
            for key in computed.try_iter().map_err(|error| problem(&error))? {
                let value = computed.get_item(&key).map_err(|error| problem(&error))?;
                fields.insert(key.to_string(), json(&value, levels, room)?);
            }
            fields.into()
        }
        ValueKind::Seq | ValueKind::Iterable => {
            let levels = inner()?;
            let all = computed.try_iter().map_err(|error| problem(&error))?;
            all.map(|value| json(&value, levels, room)).collect::<Result<Vec<_>, _>>()?.into()
        }
        kind => return Err(format!("its value is no JSON: it is of the kind {kind}")),
    })
}

fn problem(error: &Error) -> String {
    match error.kind() {
        ErrorKind::OutOfFuel => "it is too much work, and was stopped: compute less at once".to_owned(),
        ErrorKind::SyntaxError => {
            format!("it is no expression: {}", error.detail().unwrap_or("the syntax is wrong"))
        }
        kind => error.detail().map_or_else(|| kind.to_string(), |detail| format!("{kind}: {detail}")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Result<Value, String> {
        let variables = [
            ("node7.emails", json!([{"from": "ann", "unread": true}, {"from": "bob", "unread": false}])),
            ("node7.count", json!(2)),
            ("limit", json!(1.5)),
            ("my list", json!([1])),
        ];
        let variables: Values = variables.into_iter().map(|(name, value)| (name.parse().unwrap(), value)).collect();
        evaluate(text, &variables, &Map::new())
    }

    #[test]
    fn an_expression_computes_from_variables() {
        for (text, expected) in [
            ("node7.count + 1", json!(3)),
            ("node7.emails|selectattr(\"unread\")|map(attribute=\"from\")", json!(["ann"])),
            ("node7.missing|default(0)", json!(0)),
            ("node9.total is defined", json!(false)),
            ("\"many\" if node7.count > limit else \"few\"", json!("many")),
            ("vars[\"my list\"][0]", json!(1)),
            ("{\"b\": [true, none], \"a\": node7.emails[0].from|upper}", json!({"b": [true, null], "a": "ANN"})),
            ("node7.emails|length > 1 and not node7.emails[1].unread", json!(true)),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn an_expression_that_goes_wrong_says_why() {
        for (text, says) in [
            ("[0] * 9999999999", "too large"),
            ("range(99999)|sort|sort|sort|sort|sort|sort|sort|list", "too much work"),
            ("\"x\" * 9999999999", "too much work"),
            ("nothing + 1", "undefined"),
            ("node7.missing", "has no value"),
            ("node7.count +", "no expression"),
            ("{{node7.count}}", "no expression"),
            ("include(\"x\")", "unknown function"),
            ("1 / 0", "unable to calculate"),
        ] {
            let said = value(text).unwrap_err();
            assert!(said.contains(says), "{text}: {said}");
        }
    }

    #[test]
    fn an_expression_is_checked_as_it_is_written() {
        assert_eq!(fault("node4.emails|length > 0"), None);
        for wrong in ["", " ", "a +", "{{node4.x}} > 1", "{% for x in y %}", &"1+".repeat(6000)] {
            assert!(fault(wrong).is_some(), "{wrong}");
        }
        assert_eq!(names("node4.a[0] + f(b_1) ~ \"node9\"").into_iter().collect::<Vec<_>>(), ["b_1", "f", "node4"]);
    }
}
