//! What was said, made ready to be written in any format.

use std::sync::Arc;

use serde_json::Value;

use super::shorten::without_middle;
use crate::{
    conversation::{Message, Role, ToolCall},
    count::Tokens,
    directive::facts::Received,
    entry::Hash,
    id::{AgentName, Seq, ThreadId},
    tail::{Item, Said},
    text::Values,
};

/// With more bytes of arguments than this besides their longest text, it is not enough to shorten that.
const MUCH_BESIDES: usize = 1 << 10;

/// One thing that was said, as the reader of a prompt is told of it.
#[derive(Clone, Debug)]
pub(super) struct Utterance {
    /// The entry that holds it.
    pub(super) seq: Seq,
    /// Its size, as its entry has it.
    pub(super) size: Tokens,
    /// Whether it is the reader's own.
    pub(super) mine: bool,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Somebody said something.
    Said {
        from: From,
        /// The worker it was said to, where the manager's own thread does not show it.
        to: Option<AgentName>,
        text: Arc<str>,
        calls: Vec<ToolCall>,
        expected: Option<Arc<str>>,
        /// How it can be fetched.
        place: String,
    },
    /// A tool gave a result.
    Result { call: Option<String>, text: Arc<str>, place: String },
    /// An answer was held against what was expected.
    Verdict { valid: Option<bool>, reason: Arc<str> },
    /// What came of a directive.
    Outcomes(String),
    /// Something is left out here.
    LeftOut(String),
}

/// Who said something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum From {
    User,
    /// An agent, or a model that nobody named.
    Agent(Option<AgentName>),
    System,
}

impl Utterance {
    /// What an item says to `reader` in `thread`; nothing where a directive led to nothing that is worth a word. A text
    /// that is not at hand has to be read first.
    pub(super) fn of(
        item: &Item,
        reader: &AgentName,
        thread: &ThreadId,
        values: &Values,
    ) -> Result<Option<Self>, Hash> {
        let seq = item.header.seq;
        let aside = |kind| Some(Self { seq, ..Self::note(kind) });
        Ok(match &item.said {
            Said::Message(message) => Some(said(seq, message, reader, thread, values)?),
            Said::Checked(checked) => aside(Kind::Verdict { valid: checked.valid, reason: checked.reason.clone() }),
            Said::Directive(received) => outcomes(received).and_then(|text| aside(Kind::Outcomes(text))),
        })
    }

    /// Something that no entry says.
    pub(super) fn note(kind: Kind) -> Self {
        Self { seq: Seq::ZERO, size: Tokens(0), mine: false, kind }
    }

    /// The text that can be shortened, and how the whole of it can be fetched.
    pub(super) fn long_text(&mut self) -> Option<(&mut Arc<str>, &str)> {
        match &mut self.kind {
            Kind::Said { text, place, .. } | Kind::Result { text, place, .. } => Some((text, place)),
            Kind::Verdict { .. } | Kind::Outcomes(_) | Kind::LeftOut(_) => None,
        }
    }

    /// Shortens each of its texts that is longer than `bytes` to about that many; `note` says, for a text and how the
    /// whole of it can be fetched, what stands in the place of its middle. It is asked about every text, in order.
    pub(super) fn shorten_texts(&mut self, bytes: usize, mut note: impl FnMut(&str, &str) -> Arc<str>) {
        let entry = format!("fetch entry {}", self.seq);
        let mut short = |text: &str, place: &str| {
            let note = note(text, place);
            without_middle(text, &note, bytes)
        };
        let mut shorten = |text: &mut Arc<str>, place: &str| {
            if let Some(short) = short(text, place) {
                *text = short.into();
            }
        };
        match &mut self.kind {
            Kind::Said { text, calls, expected, place, .. } => {
                shorten(text, place);
                expected.iter_mut().for_each(|expected| shorten(expected, place));
                calls.iter_mut().for_each(|call| shorten_arguments(call, bytes, &mut |text| note(text, place)));
            }
            Kind::Result { text, place, .. } => shorten(text, place),
            Kind::Verdict { reason, .. } => shorten(reason, &entry),
            Kind::Outcomes(text) => {
                if let Some(short) = short(text, &entry) {
                    *text = short;
                }
            }
            Kind::LeftOut(_) => {}
        }
    }

    /// About how many bytes of memory it takes.
    pub(super) fn bytes(&self) -> usize {
        let of_kind = match &self.kind {
            Kind::Said { text, calls, expected, place, .. } => {
                let of_calls: usize = calls.iter().map(|call| 128 + 2 * call.arguments_text().len()).sum();
                text.len() + place.len() + of_calls + expected.as_deref().map_or(0, str::len)
            }
            Kind::Result { text, place, .. } => text.len() + place.len(),
            Kind::Verdict { reason, .. } => reason.len(),
            Kind::Outcomes(text) | Kind::LeftOut(text) => text.len(),
        };
        size_of::<Self>() + of_kind
    }

    /// The calls that it makes.
    pub(super) fn calls(&self) -> &[ToolCall] {
        match &self.kind {
            Kind::Said { calls, .. } => calls,
            _ => &[],
        }
    }

    /// The call that it is the result of.
    pub(super) fn result_of(&self) -> Option<&str> {
        match &self.kind {
            Kind::Result { call, .. } => call.as_deref(),
            _ => None,
        }
    }
}

/// The arguments of a call lose the middle of their longest text. Where there is much besides that, they are told as one
/// text, for they have to stay an object.
fn shorten_arguments(call: &mut ToolCall, bytes: usize, note: &mut dyn FnMut(&str) -> Arc<str>) {
    let whole = call.arguments_text();
    let longest = longest_text(&mut call.arguments);
    let around = |text: &str| whole.len().saturating_sub(serde_json::to_string(text).map_or(0, |quoted| quoted.len()));
    match longest.map(|text| (around(text), text)).filter(|(around, _)| *around <= MUCH_BESIDES) {
        Some((around, text)) => {
            let note = note(text);
            if let Some(short) = without_middle(text, &note, bytes.saturating_sub(around)) {
                *text = short;
            }
        }
        None => {
            let note = note(&whole);
            if let Some(short) = without_middle(&whole, &note, bytes) {
                call.arguments = serde_json::json!({"shortened": short});
            }
        }
    }
}

fn longest_text(value: &mut Value) -> Option<&mut String> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(values) => values.iter_mut().filter_map(longest_text).max_by_key(|text| text.len()),
        Value::Object(fields) => fields.values_mut().filter_map(longest_text).max_by_key(|text| text.len()),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn said(
    seq: Seq,
    message: &Message,
    reader: &AgentName,
    thread: &ThreadId,
    values: &Values,
) -> Result<Utterance, Hash> {
    let text = message.content.in_text(values)?;
    let place = format!("fetch message {} of thread {}", message.message_id, message.thread_id);
    // What a model said that nobody named is the reader's own: programs that keep one agent's talk need not name it.
    let nameless = message.role == Role::Ai && message.agent.is_none();
    let mine = nameless || message.agent.as_ref() == Some(reader);
    let kind = if message.role == Role::Tool {
        Kind::Result { call: message.tool_call_id.clone(), text, place }
    } else {
        let from = match (message.role, &message.agent) {
            (_, Some(agent)) => From::Agent(Some(agent.clone())),
            (Role::System, None) => From::System,
            (Role::Ai, None) => From::Agent(None),
            (Role::User | Role::Tool, None) => From::User,
        };
        let elsewhere = mine && message.thread_id != *thread;
        let to = || message.thread_id.as_str().strip_prefix("agent:").and_then(|name| name.parse().ok());
        Kind::Said {
            from,
            to: if elsewhere { to() } else { None },
            text,
            calls: message.tool_calls.clone(),
            expected: message.expected_output.clone(),
            place,
        }
    };
    Ok(Utterance { seq, size: message.tokens, mine, kind })
}

/// What the manager is told of a directive of its own: how its updates came out and what was wrong, not what it wrote.
fn outcomes(received: &Received) -> Option<String> {
    let set = |set: &crate::context_set::SetOutcome| {
        let outcome = serde_json::to_value(set.outcome).ok();
        let outcome = outcome.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().replace('_', " ");
        let reason = set.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!("- context set {}: {outcome}{reason}", set.name)
    };
    let mut lines: Vec<_> = received.outcomes.iter().map(set).collect();
    lines.extend(received.faults.iter().map(|fault| format!("- left out: {fault}")));
    lines.extend(received.unparsed.iter().map(|line| format!("- not understood: {line}")));
    if lines.is_empty() { None } else { Some(lines.join("\n")) }
}
