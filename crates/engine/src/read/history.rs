//! History: entries and messages, page by page, through the eyes of a viewer.

use std::sync::Arc;

use callboard_core::{
    conversation::{
        Content, Message, Role,
        facts::{MessageAdded, thread_subject},
    },
    entry::{Entry, Hash},
    error::Error as Refusal,
    fact::{self, Fact},
    id::{AgentName, MessageId, Seq, ThreadId},
    text::Values,
    time::Timestamp,
    view::{Projected, View},
    viewer::Viewer,
};
use callboard_store::{Order, Query, TimeQuery};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{error::Error, journal::PAGE, read::filter::Filter, session::Session, sizes::sizes};

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
    pub cursor: Option<(Timestamp, Seq)>,
}

/// Messages of a thread, the oldest first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MessagePage {
    /// The messages.
    pub messages: Vec<MessageView>,
    /// Where older ones are, if there are any.
    #[serde(skip)]
    pub next: Option<(Timestamp, Seq)>,
}

/// A message as it is given out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageView {
    /// Its id.
    pub message_id: MessageId,
    /// Its thread.
    pub thread_id: ThreadId,
    /// The entry that added it.
    pub seq: Seq,
    /// In which role it was said.
    pub role: Role,
    /// The agent that said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// What it says, whole: a text, or a list of parts.
    pub content: Value,
    /// When it was said.
    pub timestamp: Timestamp,
    /// What its author keeps with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// The tools it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<callboard_core::conversation::ToolCall>,
    /// The call that it is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// What the answer to it is held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_output: Option<Arc<str>>,
}

impl Session {
    /// The entries after `after` that `viewer` may see, at most `limit`, and the head. `types` picks types, as the viewer
    /// sees them; without any, all.
    pub async fn journal(
        &self,
        viewer: &Viewer,
        after: Seq,
        limit: usize,
        types: &[Arc<str>],
    ) -> Result<(Vec<Projected>, Seq), Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let filter = Filter { types: types.to_vec(), ..Filter::default() };
        let (mut seen, mut after, head) = (Vec::new(), after, state.head.seq);
        while seen.len() < limit && after < head {
            let query = Query {
                seqs: after.next()..head.next(),
                types: filter.stored_types(),
                subjects: Vec::new(),
                order: Order::Forward,
                limit: PAGE.min(limit),
            };
            let page = self.live.store.read(self.id(), query).await?;
            let Some(last) = page.last() else { break };
            after = last.header.seq;
            for entry in &page {
                seen.extend(filter.project(&view, entry)?);
            }
        }
        self.live.confirm(&state).await?;
        seen.truncate(limit);
        Ok((seen, head))
    }

    /// The messages of a thread that `viewer` may see, by their own time, those with the same time as they came.
    pub async fn messages(
        &self,
        viewer: &Viewer,
        thread: &ThreadId,
        query: MessageQuery,
    ) -> Result<MessagePage, Error> {
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        match view.thread(thread) {
            Err(_) if *thread == ThreadId::main() && state.threads.get(thread).is_none() => {}
            known => drop(known?),
        }
        // One more than wanted says whether there are older ones.
        let (limit, mut from) = (query.limit.unwrap_or(usize::MAX), query.cursor);
        let (mut found, mut wanted) = (Vec::new(), PAGE.min(limit.saturating_add(1)));
        while found.len() <= limit && limit > 0 {
            let page = self.page_by_time(thread, &query, from, Order::Backward, wanted).await?;
            for entry in &page {
                from = entry.header.time.map(|time| (time, entry.header.seq));
                found.extend(seen(&view, entry, &query.roles)?.map(|message| (entry.header.seq, message)));
            }
            if page.len() < wanted {
                break;
            }
            // Where few are in the roles that are wanted, many are read at once.
            wanted = PAGE.min(wanted * 2);
        }
        let has_more = found.len() > limit;
        found.truncate(limit);
        found.reverse();
        let stored = found.iter().filter_map(|(_, message)| stored(message)).collect::<Vec<_>>();
        let values = self.values(stored).await?;
        self.live.confirm(&state).await?;
        let next = found.first().filter(|_| has_more).map(|(seq, message)| (message.timestamp, *seq));
        let messages = found.into_iter().map(|(seq, message)| given(seq, message, &values));
        Ok(MessagePage { messages: messages.collect(), next })
    }

    /// The messages of a thread, whoever may see them, between the times of `query`, behind `from` in `order`.
    pub(crate) async fn page_by_time(
        &self,
        thread: &ThreadId,
        query: &MessageQuery,
        from: Option<(Timestamp, Seq)>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<Entry>, Error> {
        let query = TimeQuery {
            subject: thread_subject(thread).into(),
            kind: MessageAdded::TYPE.into(),
            after: query.after,
            before: query.before,
            from,
            order,
            limit,
        };
        Ok(self.live.store.read_by_time(self.id(), query).await?)
    }

    /// What a set says, whole.
    pub async fn text(&self, text: &callboard_core::text::Text) -> Result<Arc<str>, Error> {
        let values = self.values(text.stored()).await?;
        text.whole(&values).cloned().map_err(|_| self.live.gone())
    }
}

pub(crate) fn seen(view: &View<'_>, entry: &Entry, roles: &[Role]) -> Result<Option<Message>, Refusal> {
    if view.project(entry)?.is_none() {
        return Ok(None);
    }
    let message = fact::read::<MessageAdded>(entry)?.0;
    Ok(Some(message).filter(|message| roles.is_empty() || roles.contains(&message.role)))
}

pub(crate) fn stored(message: &Message) -> Option<Hash> {
    match &message.content {
        Content::Text(text) => text.stored(),
        Content::Parts(_) => None,
    }
}

pub(crate) fn given(seq: Seq, message: Message, values: &Values) -> MessageView {
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
    }
}
