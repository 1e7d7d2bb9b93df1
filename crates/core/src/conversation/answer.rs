//! Answers of models as providers give them: whole responses, and the messages in them.

use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::{NewMessage, Role, given::GivenMessage, reading};
use crate::{
    count::{self, Usage},
    error::Error,
};

/// Reads what a provider gave, which `/message` holds: a chat completion of OpenAI or the message in it, a message of Anthropic, or a
/// response of OpenAI's Responses API or the items in it. Also gives what it used, where that is in it.
pub fn read(given: Value) -> Result<(Vec<NewMessage>, Option<Usage>), Error> {
    let object = given.as_object();
    let used = object.and_then(count::of_object);
    let (pointer, objects) = objects_in(given)?;
    let place = |at: usize| format!("{pointer}/{at}");
    let objects = objects.into_iter().enumerate().map(|(at, object)| {
        GivenMessage::deserialize(object).map_err(|error| Error::invalid(place(at), error.to_string()))
    });
    let messages = reading::read_at(&pointer, objects.collect::<Result<_, _>>()?)?;
    match messages.iter().position(|message| message.role != Role::Ai) {
        Some(at) => Err(Error::invalid(place(at), "a model answers in the role `assistant`: bring what it said")),
        None if messages.is_empty() => Err(Error::invalid(pointer, "there is nothing in it that a model said")),
        None => Ok((messages, used)),
    }
}

/// The messages or items in what a provider gave, and where they are in it.
fn objects_in(given: Value) -> Result<(String, Vec<Value>), Error> {
    let refused = |problem: &str| Err(Error::invalid("/message", problem));
    match given {
        Value::Array(items) => Ok(("/message".to_owned(), items)),
        Value::Object(mut object) => match (list(&mut object, "choices"), list(&mut object, "output")) {
            (Some(choices), _) => {
                match choices.into_iter().next().and_then(|mut first| first.get_mut("message").map(Value::take)) {
                    Some(message) => Ok(("/message/choices".to_owned(), vec![message])),
                    None => refused("the completion has no message in its `choices`"),
                }
            }
            (None, Some(items)) => Ok(("/message/output".to_owned(), items)),
            (None, None) => Ok(("/message".to_owned(), vec![object.into()])),
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
