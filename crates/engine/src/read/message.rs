//! Messages as they are asked for, and as they are given out.

use std::sync::Arc;

use callboard_core::{
    audience::Audience,
    conversation::{Content, Message, MessageView, Role, facts::MessageAdded},
    entry::{Entry, Hash},
    fact,
    id::{AgentName, Seq},
    text::Values,
    time::Timestamp,
    view::View,
};
use serde::Serialize;
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};

use crate::{
    error::Error,
    live::message_cache::{NewestMessages, Said},
};

/// Which messages of a thread are wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageQuery {
    /// The most recent ones, at most so many; all where it is absent.
    pub limit: Option<usize>,
    /// Only those with an earlier time.
    pub before: Option<Timestamp>,
    /// Only those with a later time.
    pub after: Option<Timestamp>,
    /// Only those in these roles; in any where it is empty.
    pub roles: Vec<Role>,
    /// Only those before this place, where the last page began.
    pub cursor: Option<MessageCursor>,
    /// Whether each says which agents could see it when it was added. Workers are not told.
    pub audience: bool,
}

/// Messages of a thread, the oldest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MessagePage<M = MessageView> {
    /// The messages.
    pub messages: Vec<M>,
    /// Where older ones are, if there are any.
    #[serde(skip)]
    pub next: Option<MessageCursor>,
}

/// Where a message is in its thread.
pub type MessageCursor = (Timestamp, Seq);

/// A message as JSON: a [`MessageView`] that was put into words before.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct MessageJson {
    /// Without what its author thought.
    json: Arc<RawValue>,
    #[serde(skip)]
    reasoned: Option<Arc<Reasoned>>,
}

/// A message with what its author thought, which few may see.
#[derive(Debug)]
struct Reasoned {
    author: Option<AgentName>,
    json: Arc<RawValue>,
}

/// A message that was read: as JSON; or as it is, where its text stands beside the journal.
pub(super) type Found = Said<Result<MessageJson, Box<Message>>>;

impl Found {
    pub(super) fn read(entry: &Entry) -> Result<Self, Error> {
        let MessageAdded(message) = fact::read(entry)?;
        let (seq, audience) = (entry.header.seq, entry.header.audience.clone());
        let (time, role) = (message.timestamp, message.role);
        let content = match stored(&message) {
            Some(_) => Err(Box::new(message)),
            None => Ok(MessageJson::of(given(seq, message, &Values::new()))?),
        };
        Ok(Self { seq, time, role, audience, content })
    }

    /// Keeps it in memory; a long one, and all before it, is not.
    pub(super) fn keep_in(&self, newest: &mut NewestMessages) {
        match &self.content {
            Ok(json) => {
                let (time, seq, role, audience) = (self.time, self.seq, self.role, self.audience.clone());
                newest.add(Said { time, seq, role, audience, content: json.clone() });
            }
            Err(_) => newest.forget_through(self.place()),
        }
    }
}

impl MessageJson {
    pub(super) fn of(mut message: MessageView) -> Result<Self, Error> {
        let json = |message: &MessageView| to_raw_value(message).map(Arc::from).map_err(damaged);
        if message.reasoning.is_empty() {
            return Ok(Self { json: json(&message)?, reasoned: None });
        }
        let reasoned = Reasoned { author: message.agent.clone(), json: json(&message)? };
        message.reasoning.clear();
        Ok(Self { json: json(&message)?, reasoned: Some(Arc::new(reasoned)) })
    }

    /// The message as a viewer sees it.
    pub(super) fn seen_by(self, view: &View<'_>) -> Self {
        match &self.reasoned {
            Some(reasoned) if view.sees_reasoning_of(reasoned.author.as_ref()) => {
                Self { json: reasoned.json.clone(), reasoned: None }
            }
            _ => Self { reasoned: None, ..self },
        }
    }

    /// The message with who could see it when it was added.
    pub(super) fn with_audience(self, audience: &Audience) -> Result<Self, Error> {
        let audience = serde_json::to_string(audience).map_err(damaged)?;
        let fields = self.json.get().trim_end().strip_suffix('}').unwrap_or_default();
        let json = RawValue::from_string(format!("{fields},\"audience\":{audience}}}"));
        Ok(Self { json: json.map_err(damaged)?.into(), ..self })
    }

    /// About how many bytes of memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.json.get().len() + self.reasoned.as_ref().map_or(0, |reasoned| reasoned.json.get().len())
    }

    /// The message, as a program reads it.
    pub fn read(&self) -> Result<MessageView, Error> {
        serde_json::from_str(self.json.get()).map_err(damaged)
    }
}

fn damaged(error: serde_json::Error) -> Error {
    Error::damaged("a message", error)
}

pub(super) fn stored(message: &Message) -> Option<Hash> {
    match &message.content {
        Content::Text(text) => text.stored(),
        Content::Parts(_) => None,
    }
}

pub(super) fn given(seq: Seq, message: Message, values: &Values) -> MessageView {
    let content = match &message.content {
        Content::Text(text) => text.whole(values).map_or(Value::Null, |text| Value::from(&**text)),
        Content::Parts(parts) => parts.iter().cloned().map(Value::Object).collect(),
    };
    MessageView {
        message_id: message.message_id,
        thread_id: message.thread_id,
        seq,
        role: message.role,
        agent: message.agent,
        content,
        timestamp: message.timestamp,
        metadata: message.metadata,
        tool_calls: message.tool_calls,
        tool_call_id: message.tool_call_id,
        expected_output: message.expected_output,
        reasoning: message.reasoning,
        as_given: message.as_given,
        audience: None,
    }
}
