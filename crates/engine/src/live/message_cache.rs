//! A cache of the newest messages of threads, as the JSON that callers get, so that a page of them needs no read of the
//! store. The cache can be dropped at any time.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::{
    audience::Audience,
    conversation::Role,
    id::{Seq, ThreadId},
    state::State,
    time::Timestamp,
};

use crate::MessageJson;

/// The approximate limit in bytes for the threads of all sessions of a board.
const MAX_BYTES: usize = 32 << 20;

/// The approximate limit in bytes for one thread.
const MAX_THREAD_BYTES: usize = 2 << 20;

/// The approximate size in bytes of a message without its JSON.
const MESSAGE_BYTES: usize = 128;

/// The newest messages of the threads of all sessions of a board. Clones share the cache.
#[derive(Clone, Default)]
pub(crate) struct MessageCache(Arc<Mutex<Cached>>);

/// The part of the cache for one session. It is dropped with the session.
pub(crate) struct SessionMessages {
    cache: MessageCache,
    session: u64,
}

/// The newest messages of one thread in the order of their times, without gaps.
#[derive(Clone, Default)]
pub(crate) struct NewestMessages {
    /// The entries of the journal are included up to this one.
    pub(crate) through: Seq,
    /// What was erased up to this entry is not in it.
    pub(crate) erased: Seq,
    /// Messages before this position are not in the cache; `None` if all are.
    first: Option<(Timestamp, Seq)>,
    messages: VecDeque<Arc<CachedMessage>>,
    bytes: usize,
}

/// A message, and who may see it.
pub(crate) struct CachedMessage {
    pub(crate) time: Timestamp,
    pub(crate) seq: Seq,
    pub(crate) role: Role,
    /// Who could see it when it was added.
    pub(crate) audience: Audience,
    pub(crate) json: MessageJson,
}

#[derive(Default)]
struct Cached {
    sessions: HashMap<u64, HashMap<ThreadId, CachedThread>>,
    bytes: usize,
    /// A counter for the ids of sessions and the order of uses.
    count: u64,
}

struct CachedThread {
    newest: Arc<NewestMessages>,
    used: u64,
}

impl CachedMessage {
    /// Its place in the thread.
    pub(crate) fn place(&self) -> (Timestamp, Seq) {
        (self.time, self.seq)
    }

    fn bytes(&self) -> usize {
        MESSAGE_BYTES + self.json.bytes()
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
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<CachedMessage>> {
        self.messages.iter().rev()
    }

    /// Whether all messages after `place` are in the cache; `None` for all messages of the thread.
    pub(crate) fn has_all_behind(&self, place: Option<(Timestamp, Seq)>) -> bool {
        self.first.is_none_or(|first| place.is_some_and(|place| first <= place))
    }

    /// Inserts a message at its position. Beyond the limit the oldest messages are dropped.
    pub(crate) fn add(&mut self, message: CachedMessage) {
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

impl MessageCache {
    pub(crate) fn of_session(&self) -> SessionMessages {
        SessionMessages { cache: self.clone(), session: self.lock().next_count() }
    }

    fn lock(&self) -> MutexGuard<'_, Cached> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionMessages {
    /// The cached messages of a thread.
    pub(crate) fn of(&self, thread: &ThreadId) -> Option<Arc<NewestMessages>> {
        let mut cached = self.cache.lock();
        let used = cached.next_count();
        let thread = cached.sessions.get_mut(&self.session)?.get_mut(thread)?;
        thread.used = used;
        Some(thread.newest.clone())
    }

    /// Forgets all messages.
    pub(crate) fn forget(&self) {
        let mut cached = self.cache.lock();
        let threads = cached.sessions.remove(&self.session).unwrap_or_default();
        cached.bytes = cached.bytes.saturating_sub(threads.values().map(CachedThread::bytes).sum());
        drop(cached);
        drop(threads);
    }

    /// Caches the newest messages of a thread, unless newer ones were cached meanwhile. Beyond the limit the least recently
    /// used threads are dropped.
    pub(crate) fn keep(&self, thread: &ThreadId, newest: &Arc<NewestMessages>) {
        let mut cached = self.cache.lock();
        let used = cached.next_count();
        let threads = cached.sessions.entry(self.session).or_default();
        if threads.get(thread).is_some_and(|now| now.newest.through > newest.through) {
            return;
        }
        let before = threads.insert(thread.clone(), CachedThread { newest: newest.clone(), used });
        cached.bytes = (cached.bytes + newest.bytes).saturating_sub(before.as_ref().map_or(0, CachedThread::bytes));
        let forgotten = cached.forget_unused();
        // Dropping many messages takes a while, so it happens after unlocking.
        drop(cached);
        drop((before, forgotten));
    }
}

impl Drop for SessionMessages {
    fn drop(&mut self) {
        self.forget();
    }
}

impl Cached {
    fn next_count(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Beyond the limit, removes a quarter: the least recently used threads. With less, it would have to search each time.
    fn forget_unused(&mut self) -> Vec<CachedThread> {
        if self.bytes <= MAX_BYTES {
            return Vec::new();
        }
        let threads = self.sessions.values().flat_map(HashMap::values);
        let mut by_use: Vec<_> = threads.map(|thread| (thread.used, thread.bytes())).collect();
        by_use.sort_unstable();
        let mut last = 0;
        for (used, bytes) in by_use {
            if self.bytes <= MAX_BYTES / 4 * 3 {
                break;
            }
            (last, self.bytes) = (used, self.bytes.saturating_sub(bytes));
        }
        let unused = |threads: &mut HashMap<ThreadId, CachedThread>| {
            threads.extract_if(|_, thread| thread.used <= last).map(|(_, thread)| thread).collect::<Vec<_>>()
        };
        let forgotten = self.sessions.values_mut().flat_map(unused).collect();
        self.sessions.retain(|_, threads| !threads.is_empty());
        forgotten
    }
}

impl CachedThread {
    fn bytes(&self) -> usize {
        self.newest.bytes
    }
}
