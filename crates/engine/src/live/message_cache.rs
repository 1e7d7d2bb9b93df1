//! A cache of the newest messages of threads, as the JSON that callers get, so that a page of them needs no read of the
//! store.

use std::{collections::VecDeque, sync::Arc};

use callboard_core::{
    audience::Audience,
    conversation::Role,
    id::{Seq, ThreadId},
    state::State,
    time::Timestamp,
    view::View,
};

use crate::{
    MessageJson,
    session_cache::{Cache, Cached, SessionCache},
};

/// The approximate limit in bytes for the threads of all sessions of a board.
pub(crate) const MAX_BYTES: usize = 32 << 20;

/// The approximate limit in bytes for one thread.
const MAX_THREAD_BYTES: usize = 2 << 20;

/// The approximate size in bytes of a message without its JSON.
const MESSAGE_BYTES: usize = 128;

/// The newest messages of the threads of all sessions of a board.
pub(crate) type MessageCache = Cache<ThreadId, NewestMessages>;

/// The part of the cache for one session.
pub(crate) type SessionMessages = SessionCache<ThreadId, NewestMessages>;

/// The newest messages of one thread in the order of their times, without gaps.
#[derive(Clone, Default)]
pub(crate) struct NewestMessages {
    /// The entries of the journal are included up to this one.
    pub(crate) through: Seq,
    /// What was erased up to this entry is not in it.
    pub(crate) erased: Seq,
    /// Messages before this position are not in the cache; `None` if all are.
    first: Option<(Timestamp, Seq)>,
    messages: VecDeque<Arc<Said<MessageJson>>>,
    bytes: usize,
}

/// A message, what it says as `C`, and who may see it.
pub(crate) struct Said<C> {
    pub(crate) time: Timestamp,
    pub(crate) seq: Seq,
    pub(crate) role: Role,
    /// Who could see it when it was added.
    pub(crate) audience: Audience,
    pub(crate) content: C,
}

impl<C> Said<C> {
    /// Its place in the thread.
    pub(crate) fn place(&self) -> (Timestamp, Seq) {
        (self.time, self.seq)
    }

    pub(crate) fn is_wanted(&self, view: &View<'_>, thread: &ThreadId, roles: &[Role]) -> bool {
        (roles.is_empty() || roles.contains(&self.role)) && view.sees_said(thread, self.seq, &self.audience)
    }
}

impl Said<MessageJson> {
    fn bytes(&self) -> usize {
        MESSAGE_BYTES + self.content.bytes()
    }
}

impl NewestMessages {
    /// An empty cache of a thread as of `state`. Messages are then added.
    pub(crate) fn as_of(state: &State) -> Self {
        Self { through: state.head.seq, erased: state.erased, ..Self::default() }
    }

    /// Notes that messages before `place` are not in the cache.
    pub(crate) fn begin_at(&mut self, place: (Timestamp, Seq)) {
        self.first = self.first.max(Some(place));
    }

    /// The messages, the newest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Said<MessageJson>>> {
        self.messages.iter().rev()
    }

    /// Whether all messages after `place` are in the cache; `None` for all messages of the thread.
    pub(crate) fn has_all_behind(&self, place: Option<(Timestamp, Seq)>) -> bool {
        self.first.is_none_or(|first| place.is_some_and(|place| first <= place))
    }

    /// Inserts a message at its position. Beyond the limit the oldest messages are dropped.
    pub(crate) fn add(&mut self, message: Said<MessageJson>) {
        if self.first.is_some_and(|first| message.place() < first) {
            return;
        }
        self.bytes += message.bytes();
        let at = self.messages.partition_point(|other| other.place() < message.place());
        self.messages.insert(at, Arc::new(message));
        while self.bytes > MAX_THREAD_BYTES {
            let Some(oldest) = self.messages.front().map(|oldest| oldest.place()) else { return };
            self.forget_through(oldest);
        }
    }

    /// Drops the message at `place` and all before it.
    pub(crate) fn forget_through(&mut self, (time, seq): (Timestamp, Seq)) {
        let first = (time, seq.next());
        while let Some(oldest) = self.messages.pop_front_if(|oldest| oldest.place() < first) {
            self.bytes -= oldest.bytes();
        }
        self.begin_at(first);
    }
}

impl Cached for NewestMessages {
    fn through(&self) -> Seq {
        self.through
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}
