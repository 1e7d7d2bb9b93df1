//! The newest messages of threads in memory, each as the JSON that is given out, so that a page of them needs no look into
//! the store. All of it can be forgotten at any time.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::{
    audience::Audience,
    conversation::Role,
    id::{Seq, ThreadId},
    time::Timestamp,
};
use serde_json::value::RawValue;

/// How many bytes the threads of all sessions of a board have, about and at most.
const MAX_BYTES: usize = 32 << 20;

/// How many bytes one thread has, about and at most.
const MAX_THREAD_BYTES: usize = 2 << 20;

/// How many bytes a message has beside its JSON, about.
const MESSAGE_BYTES: usize = 128;

/// The newest messages of the threads of all sessions of a board. Its clones are the same cache.
#[derive(Clone, Default)]
pub(crate) struct MessageCache(Arc<Mutex<Cached>>);

/// The part of the cache that is of one session, and goes with it.
pub(crate) struct SessionMessages {
    cache: MessageCache,
    session: u64,
}

/// The newest messages of one thread, by their time and without a gap.
#[derive(Clone, Default)]
pub(crate) struct NewestMessages {
    /// The entries of the journal up to this one were looked at.
    pub(crate) through: Seq,
    /// The messages before this place are not here; `None` where all are.
    first: Option<(Timestamp, Seq)>,
    messages: VecDeque<Arc<CachedMessage>>,
    bytes: usize,
}

/// A message, and who may see it.
pub(crate) struct CachedMessage {
    pub(crate) time: Timestamp,
    pub(crate) seq: Seq,
    pub(crate) role: Role,
    /// Who could see it when it was said.
    pub(crate) audience: Audience,
    pub(crate) json: Arc<RawValue>,
}

#[derive(Default)]
struct Cached {
    sessions: HashMap<u64, HashMap<ThreadId, CachedThread>>,
    bytes: usize,
    /// Counts sessions and uses.
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
        MESSAGE_BYTES + self.json.get().len()
    }
}

impl NewestMessages {
    /// The messages of a thread that has none up to the entry `through`, or whose messages are added now.
    pub(crate) fn through(through: Seq) -> Self {
        Self { through, ..Self::default() }
    }

    /// Notes that messages before `place` are not here.
    pub(crate) fn begin_at(&mut self, place: (Timestamp, Seq)) {
        self.first = self.first.max(Some(place));
    }

    /// The messages, the newest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<CachedMessage>> {
        self.messages.iter().rev()
    }

    /// Whether all messages behind `place` are here; all of the thread where that is `None`.
    pub(crate) fn has_all_behind(&self, place: Option<(Timestamp, Seq)>) -> bool {
        self.first.is_none_or(|first| place.is_some_and(|place| first <= place))
    }

    /// Takes a message in, in its place. Where it gets too much, the oldest go.
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

    /// Forgets the message at `place` and all before it.
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
    /// The newest messages of a thread, as far as they are known.
    pub(crate) fn of(&self, thread: &ThreadId) -> Option<Arc<NewestMessages>> {
        let mut cached = self.cache.lock();
        let used = cached.next_count();
        let thread = cached.sessions.get_mut(&self.session)?.get_mut(thread)?;
        thread.used = used;
        Some(thread.newest.clone())
    }

    /// Keeps the newest messages of a thread, unless newer ones were kept meanwhile. Where it gets too much, the threads
    /// go that were not used for longest.
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
        // To drop many takes a while: nobody waits for it.
        drop(cached);
        drop((before, forgotten));
    }
}

impl Drop for SessionMessages {
    fn drop(&mut self) {
        let mut cached = self.cache.lock();
        let threads = cached.sessions.remove(&self.session).unwrap_or_default();
        cached.bytes = cached.bytes.saturating_sub(threads.values().map(CachedThread::bytes).sum());
        drop(cached);
        drop(threads);
    }
}

impl Cached {
    fn next_count(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Forgets what was not used for longest where there is too much: a quarter, so that it is not looked for each time.
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
