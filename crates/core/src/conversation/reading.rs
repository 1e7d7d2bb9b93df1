//! Reading messages that were given in any shape.

use super::{
    NewMessage,
    given::{GivenMessage, GivenRole},
    items,
};
use crate::error::Error;

/// Reads messages that were given in any shape. A message object of Anthropic may be several messages: results of tools
/// are messages of their own. Items of the Responses API that belong to one answer are one message.
pub fn read(given: Vec<GivenMessage>) -> Result<Vec<NewMessage>, Error> {
    read_at("/messages", given)
}

/// The same where they were given at the place `pointer`.
pub fn read_at(pointer: &str, given: Vec<GivenMessage>) -> Result<Vec<NewMessage>, Error> {
    read_each(given.into_iter().enumerate().map(|(at, given)| (format!("{pointer}/{at}"), given)))
}

/// The same where each is with the place at which it was given.
pub(super) fn read_each(given: impl IntoIterator<Item = (String, GivenMessage)>) -> Result<Vec<NewMessage>, Error> {
    let (mut messages, mut faults) = (Vec::new(), Vec::new());
    let mut answer = items::Answer::default();
    for (pointer, given) in given {
        let read = match given.item() {
            Some(_) => answer.take(given, &mut messages, &pointer),
            None => {
                let goes_on = given.kind.is_some() && given.role == Some(GivenRole::Ai);
                given.read(&pointer).map(|read| answer.add(read, goes_on, &mut messages))
            }
        };
        faults.extend(read.err());
    }
    Error::of(faults, Vec::new())?;
    Ok(messages)
}
