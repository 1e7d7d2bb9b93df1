//! Streams: every later entry that a viewer may see, once, in order.

use std::{collections::VecDeque, sync::Arc};

use callboard_core::{
    conversation::{
        Role,
        facts::{MessageAdded, thread_subject},
    },
    entry::Entry,
    fact::{self, Fact},
    id::{Seq, ThreadId},
    state::State,
    view::{Projected, View},
    viewer::Viewer,
};
use tokio::sync::watch;

use crate::{Error, Session, live::Live, session::sizes};

/// Which entries are wanted. What is empty or absent filters nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Only entries of these types.
    pub types: Vec<Arc<str>>,
    /// Only entries about this thread.
    pub thread: Option<ThreadId>,
    /// Only messages in these roles.
    pub roles: Vec<Role>,
}

/// A stream of entries that stays open. It reads at its own pace: who is slow holds up nobody and misses nothing.
pub struct Subscription {
    live: Arc<Live>,
    viewer: Viewer,
    filter: Filter,
    cursor: Seq,
    heads: watch::Receiver<Option<Arc<State>>>,
    ready: VecDeque<Projected>,
}

impl Session {
    /// Reads on after `after`, or after the head where it is absent, and goes on as entries come. `after` may not be
    /// beyond the head.
    pub async fn subscribe(&self, viewer: Viewer, after: Option<Seq>, filter: Filter) -> Result<Subscription, Error> {
        let state = self.state().await?;
        View::new(&state, &viewer, sizes())?;
        let head = state.head.seq;
        let cursor = after.unwrap_or(head);
        if cursor > head {
            let problem = format!("there is no entry {cursor} yet: the head is {head}");
            return Err(callboard_core::error::Error::invalid("/after", problem).into());
        }
        let (live, heads) = (self.live.clone(), self.live.state.clone());
        Ok(Subscription { live, viewer, filter, cursor, heads, ready: VecDeque::new() })
    }
}

impl Subscription {
    /// The next entry; `None` once the session is gone. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Result<Option<Projected>, Error> {
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Ok(Some(entry));
            }
            let Some(state) = self.heads.borrow_and_update().clone() else { return Ok(None) };
            if self.cursor < state.head.seq {
                self.read_on(&state).await?;
            } else if self.heads.changed().await.is_err() {
                return Ok(None);
            }
        }
    }

    /// The last entry that was looked at, whether or not it was given: reading on from here misses nothing.
    pub fn cursor(&self) -> Seq {
        self.ready.front().map_or(self.cursor, |entry| entry.seq.previous())
    }

    async fn read_on(&mut self, state: &State) -> Result<(), Error> {
        let entries = self.live.entries(self.cursor, state.head.seq).await?;
        let view = View::new(state, &self.viewer, sizes())?;
        let mut cursor = self.cursor;
        for entry in &entries {
            cursor = entry.header.seq;
            if self.filter.lets_through(entry)? {
                self.ready.extend(view.project(entry)?);
            }
        }
        // An empty page means that what was there has just gone: the next state says so.
        self.cursor = if entries.is_empty() { state.head.seq } else { cursor };
        Ok(())
    }
}

impl Filter {
    fn lets_through(&self, entry: &Entry) -> Result<bool, Error> {
        let kind = &entry.header.kind;
        if !self.types.is_empty() && !self.types.contains(kind) {
            return Ok(false);
        }
        if self.thread.as_ref().is_some_and(|thread| *entry.header.subject != *thread_subject(thread)) {
            return Ok(false);
        }
        if self.roles.is_empty() {
            return Ok(true);
        }
        let is_message = **kind == *MessageAdded::TYPE;
        Ok(is_message && self.roles.contains(&fact::read::<MessageAdded>(entry)?.0.role))
    }
}
