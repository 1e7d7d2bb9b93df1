//! What can happen in a conversation.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Message, add::message_key, audience_of, thread_subject};
use crate::{
    audience::Audience,
    context_set::passing,
    entry::Header,
    fact::{Fact, Seen},
    id::{MessageId, ThreadId},
    run,
    state::State,
    time::Timestamp,
    view::View,
};

/// A message was added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageAdded(pub(crate) Message);

/// It was said who sees a thread from now on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadUpdated {
    pub(crate) name: ThreadId,
    pub(crate) visible_to: Audience,
}

/// An answer was held against what was expected of it. The answer itself stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageChecked {
    /// The thread of the answer.
    pub thread_id: ThreadId,
    /// The answer.
    pub message_id: MessageId,
    /// The message that said what was expected.
    pub criteria_of: MessageId,
    /// Whether it is what was expected; `None` where that could not be found out.
    pub valid: Option<bool>,
    /// Why.
    pub reason: Arc<str>,
}

impl Fact for MessageAdded {
    const TYPE: &'static str = "message.added";

    fn subject(&self) -> String {
        thread_subject(&self.0.thread_id)
    }

    fn audience(&self, before: &State) -> Audience {
        audience_of(before, &self.0.thread_id)
    }

    fn time(&self) -> Option<Timestamp> {
        Some(self.0.timestamp)
    }

    fn keys(&self, before: &State) -> Vec<String> {
        // An id that derives from the entry is found by its number: as long as nobody gives ids of that form to other
        // entries of the thread, it need not be claimed.
        let Message { thread_id, message_id, .. } = &self.0;
        let derived = message_id.as_seq() == Some(before.head.seq.next());
        let contested = before.threads.get(thread_id).is_some_and(|thread| thread.has_given_derived_ids);
        if derived && !contested { Vec::new() } else { vec![message_key(thread_id, message_id)] }
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.runs.hear(&self.0, header);
        let criteria = run::criteria_of(&self.0, state.team.manager().map(|manager| &manager.name));
        let Message { thread_id, message_id, tokens, .. } = self.0;
        let given = message_id.as_seq().is_some_and(|seq| seq != header.seq);
        state.threads.change(&thread_id, header.seq, &header.audience, |thread| {
            thread.hear(tokens, header);
            thread.has_given_derived_ids |= given;
            if let Some(criteria) = criteria {
                thread.criteria = criteria;
            }
        });
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.sees_in(&self.0.thread_id, header) { Seen::fact(&self) } else { None }
    }
}

impl Fact for ThreadUpdated {
    const TYPE: &'static str = "thread.updated";

    fn subject(&self) -> String {
        thread_subject(&self.name)
    }

    fn audience(&self, before: &State) -> Audience {
        let sight = before.threads.get(&self.name).map(|thread| &thread.sight);
        passing(sight, self.visible_to.clone(), &before.team)
    }

    fn apply(self, state: &mut State, header: &Header) {
        state.threads.change(&self.name, header.seq, &self.visible_to, |thread| {
            thread.change_sight(self.visible_to.clone(), header.seq);
        });
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        let agent = view.agent().filter(|_| view.was_meant(header))?;
        if !self.visible_to.contains(agent) {
            return Some(Seen { kind: "thread.deleted", data: serde_json::json!({"name": self.name}) });
        }
        if view.sees_in(&self.name, header) { Seen::fact(&self) } else { None }
    }
}

impl Fact for MessageChecked {
    const TYPE: &'static str = "message.checked";

    fn subject(&self) -> String {
        thread_subject(&self.thread_id)
    }

    fn audience(&self, before: &State) -> Audience {
        before.team.managers()
    }

    fn apply(self, _: &mut State, _: &Header) {}

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if view.sees_in(&self.thread_id, header) { Seen::fact(&self) } else { None }
    }
}
