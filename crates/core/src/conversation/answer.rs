//! Answers of models as providers give them: whole responses, and the messages in them.

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{NewMessage, Role, given::GivenMessage, reading};
use crate::{
    count::{self, Usage},
    error::Error,
    json::{in_words, pointer_token},
};

/// Reads what a provider gave, which `/message` holds: a chat completion of OpenAI or the message in it, a message of Anthropic, or a
/// response of OpenAI's Responses API or the items in it. Also gives what it used, where that is in it.
pub fn read(given: Value) -> Result<(Vec<NewMessage>, Option<Usage>), Error> {
    let object = given.as_object();
    let used = object.and_then(count::of_object);
    let objects = objects_in(given)?.into_iter().map(|(pointer, object)| match GivenMessage::deserialize(&object) {
        Ok(given) => Ok((pointer, given)),
        Err(error) => {
            let field = fault_in(&object).unwrap_or_default();
            Err(Error::invalid(format!("{pointer}{field}"), in_words(&error.to_string())))
        }
    });
    let messages = reading::read_each(objects.collect::<Result<Vec<_>, _>>()?)?;
    if messages.iter().any(|message| message.role != Role::Ai) {
        return Err(Error::invalid("/message", "a model answers in the role `assistant`: bring what it said"));
    }
    if messages.is_empty() {
        return Err(Error::invalid("/message", "there is nothing in it that a model said"));
    }
    Ok((messages, used))
}

/// The field of an object that cannot be read, as a JSON pointer. No field needs another one to be read.
fn fault_in(object: &Value) -> Option<String> {
    let is_fault = |name: &str, value: &Value| {
        let alone = Map::from_iter([(name.to_owned(), value.clone())]);
        GivenMessage::deserialize(Value::Object(alone)).is_err()
    };
    let (name, _) = object.as_object()?.iter().find(|(name, value)| is_fault(name, value))?;
    Some(format!("/{}", pointer_token(name)))
}

/// The messages or items in what a provider gave, each with where it is in it.
fn objects_in(given: Value) -> Result<Vec<(String, Value)>, Error> {
    let refused = |problem: &str| Err(Error::invalid("/message", problem));
    let each = |pointer: &str, items: Vec<Value>| -> Vec<(String, Value)> {
        items.into_iter().enumerate().map(|(at, item)| (format!("{pointer}/{at}"), item)).collect()
    };
    match given {
        Value::Array(items) => Ok(each("/message", items)),
        Value::Object(mut object) => match (list(&mut object, "choices"), list(&mut object, "output")) {
            (Some(choices), _) => {
                match choices.into_iter().next().and_then(|mut first| first.get_mut("message").map(Value::take)) {
                    Some(message) => Ok(vec![("/message/choices/0/message".to_owned(), message)]),
                    None => refused("the completion has no message in its `choices`"),
                }
            }
            (None, Some(items)) => Ok(each("/message/output", items)),
            (None, None) => Ok(vec![("/message".to_owned(), object.into())]),
        },
        _ => refused("give the object that the provider gave, or the list of its items"),
    }
}

/// Takes a list out of an object.
fn list(object: &mut Map<String, Value>, field: &str) -> Option<Vec<Value>> {
    match object.get_mut(field).map(Value::take) {
        Some(Value::Array(list)) => Some(list),
        Some(other) => {
            object.insert(field.to_owned(), other);
            None
        }
        None => None,
    }
}
