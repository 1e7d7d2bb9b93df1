//! Who says a thing in a format of messages, and in which words.

use callboard_core::{agent::Agent, id::AgentName, prompt::escape::escape};

use crate::{
    text::verdict,
    utterance::{From, Kind, Utterance, caller, teller},
};

/// Whose message it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The system's.
    System,
    /// Anybody else's: other agents have a mark with their name before the text, which [`escape`] takes from all texts.
    User,
    /// The reader's own.
    Own,
    /// A tool's.
    Tool,
}

/// What an utterance says to `reader`. Calls of other agents stand in the text; the reader's own do not.
pub(super) fn words(utterance: &Utterance, reader: &Agent) -> (Speaker, String) {
    match &utterance.kind {
        Kind::Said { from, to, text, calls, expected, .. } => {
            let expected = expected.as_deref().map(|expected| format!("\n\nExpected output: {}", escape(expected)));
            let text = escape(text) + &expected.unwrap_or_default();
            match from {
                From::System => (Speaker::System, text),
                From::User => (Speaker::User, to.as_ref().map_or(text.clone(), |to| said_to(utterance, to, &text))),
                From::Agent(Some(name)) if *name != reader.name => {
                    let calls: String = calls.iter().map(|call| format!("\n[calls {}]", escape(&call.name))).collect();
                    (Speaker::User, format!("[from {name}] {}", (text + &calls).trim_start()))
                }
                From::Agent(_) => (Speaker::Own, to.as_ref().map_or(text.clone(), |to| format!("To {to}: {text}"))),
            }
        }
        Kind::Result { text, .. } => (Speaker::Tool, escape(text)),
        Kind::Verdict { valid, reason } => (Speaker::User, escape(&format!("[{}]", verdict(*valid, reason)))),
        Kind::Summary { text, .. } => (Speaker::User, escape(text)),
        Kind::LeftOut(words) => (Speaker::User, words.clone()),
        Kind::Outcomes(text) => (Speaker::User, escape(&format!("[results of your directive]\n{text}"))),
    }
}

/// What the result of a call of the reader's own says, in the place that the format has for it, where nobody speaks. So what a
/// client at a base URL gave stays as it is: it may be a file that its model is to edit. Lines that stand for pictures are looked for
/// in the form that [`words`] has.
pub(super) fn result_words(result: &Utterance, reader: &Agent) -> String {
    match &result.kind {
        Kind::Result { text, .. } if result.is_of_client && result.media.is_empty() => text.to_string(),
        _ => words(result, reader).1,
    }
}

/// What the user says to an agent other than the reader. A text that begins like this mark is escaped as one of a speaker.
fn said_to(utterance: &Utterance, to: &AgentName, text: &str) -> String {
    let name = utterance.author.as_deref().map(|name| format!(": {name}")).unwrap_or_default();
    format!("[from user{name} to {to}] {text}")
}

/// What the user says, with the name that it was given, if any. No agent's name has a colon.
pub(super) fn marked(utterance: &Utterance, words: String) -> String {
    match utterance.author.as_deref().filter(|_| utterance.is_bare()) {
        Some(name) => format!("[from user: {name}] {words}"),
        None => words,
    }
}

/// What stands for the result of a call that has none.
pub(super) const NO_RESULT: &str = "[there is no result]";

/// A result whose call is not the reader's own, or is not shown, shown as what it is: the result of a call in `group`, if that
/// has it. Another agent that says one of no call that is shown is named.
pub(super) fn loose_result(group: &[Utterance], result: &Utterance, words: &str, reader: &Agent) -> String {
    match (caller(group, result), teller(group, result, &reader.name)) {
        (Some((name, call)), _) => format!("[result of {name}'s call of {}]\n{words}", escape(&call.name)),
        (None, Some(name)) => format!("[from {name}] [result of a tool]\n{words}"),
        (None, None) => format!("[result of a tool]\n{words}"),
    }
}
