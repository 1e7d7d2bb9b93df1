//! What is remembered of prompts, so that the next one like it need not be made from nothing. All of it can be forgotten
//! at any time: the prompts stay the same.

use std::{
    collections::{HashMap, VecDeque},
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::{
    count::Tokens,
    id::{AgentName, Seq, ThreadId},
    prompt::{Format, HistoryCache, Layout, Pieces},
    text::Values,
};

/// The pieces of so many prompts are remembered of each lane.
const MADE: usize = 4;

/// What of prompts the sessions of a board keep in memory, all of them together. Its clones are the same memory.
#[derive(Clone)]
pub struct PromptMemory(Arc<Shared>);

struct Shared {
    max_bytes: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    sessions: HashMap<u64, HashMap<Lane, Slot>>,
    bytes: usize,
    /// Counts uses, and sessions.
    count: u64,
}

struct Slot {
    remembered: Arc<Remembered>,
    bytes: usize,
    used: u64,
}

/// What is asked for, with all that was left out filled in, but for the profile, which is the session's.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) reader: AgentName,
    pub(crate) thread: ThreadId,
    pub(crate) layout: Layout,
    pub(crate) format: Format,
    pub(crate) budget: Tokens,
    pub(crate) task: Option<String>,
    pub(crate) vocabulary: String,
}

/// What of a prompt has to be the same for the next one to be made of what is remembered of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    reader: AgentName,
    thread: ThreadId,
    format: Format,
    vocabulary: String,
}

/// What is remembered of prompts of one lane.
#[derive(Clone)]
pub(crate) struct Remembered {
    /// What the reader was told, up to the entry `through`.
    pub(crate) history: HistoryCache,
    pub(crate) through: Seq,
    /// The long texts of context sets.
    pub(crate) values: Values,
    pub(crate) past: Past,
}

/// The pieces of prompts that were made before.
#[derive(Clone, Default)]
pub(crate) struct Past {
    /// The newest, as of which entry, and what was asked for.
    made: VecDeque<(Seq, Asked, Arc<Pieces>)>,
    /// That of the agent's last turn, which this entry noted; none where it cannot be compared with.
    last: Option<(Seq, Option<Arc<Pieces>>)>,
}

/// The memory of one session, which goes with it.
pub(crate) struct SessionMemory {
    memory: PromptMemory,
    session: u64,
}

impl Asked {
    pub(crate) fn lane(&self) -> Lane {
        let Self { reader, thread, format, vocabulary, .. } = self.clone();
        Lane { reader, thread, format, vocabulary }
    }
}

impl Past {
    /// The pieces of a prompt that was asked for in just this way.
    pub(crate) fn made(&self, at: Seq, asked: &Asked) -> Option<Arc<Pieces>> {
        let same = |(of, by, _): &&(Seq, Asked, _)| *of == at && by == asked;
        self.made.iter().find(same).map(|(_, _, pieces)| pieces.clone())
    }

    pub(crate) fn note(&mut self, at: Seq, asked: Asked, pieces: Arc<Pieces>) {
        self.made.truncate(MADE - 1);
        self.made.push_front((at, asked, pieces));
    }

    /// The pieces of the prompt that the entry `requested` noted, where that is known.
    pub(crate) fn last(&self, requested: Seq) -> Option<Option<Arc<Pieces>>> {
        self.last.as_ref().filter(|(of, _)| *of == requested).map(|(_, pieces)| pieces.clone())
    }

    pub(crate) fn note_last(&mut self, requested: Seq, pieces: Option<Arc<Pieces>>) {
        self.last = Some((requested, pieces));
    }

    fn bytes(&self) -> usize {
        let last = self.last.iter().filter_map(|(_, pieces)| pieces.as_ref());
        self.made.iter().map(|(_, _, pieces)| pieces).chain(last).map(|pieces| pieces.bytes()).sum()
    }
}

impl PromptMemory {
    /// A memory of about so many bytes.
    pub fn of_bytes(max_bytes: usize) -> Self {
        Self(Arc::new(Shared { max_bytes, kept: Mutex::default() }))
    }

    /// About how many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.kept().bytes
    }

    pub(crate) fn of_session(&self) -> SessionMemory {
        let mut kept = self.kept();
        kept.count += 1;
        SessionMemory { memory: self.clone(), session: kept.count }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for PromptMemory {
    fn default() -> Self {
        Self::of_bytes(128 << 20)
    }
}

impl fmt::Debug for PromptMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptMemory").field("max_bytes", &self.0.max_bytes).finish_non_exhaustive()
    }
}

impl SessionMemory {
    /// What is remembered of a lane.
    pub(crate) fn recall(&self, lane: &Lane) -> Option<Arc<Remembered>> {
        let mut kept = self.memory.kept();
        kept.count += 1;
        let used = kept.count;
        let slot = kept.sessions.get_mut(&self.session)?.get_mut(lane)?;
        slot.used = used;
        Some(slot.remembered.clone())
    }

    /// Remembers a lane, unless more of it was remembered meanwhile. What was not used for longest is forgotten where
    /// it gets too much.
    pub(crate) fn remember(&self, lane: Lane, remembered: Remembered) {
        let bytes = remembered.bytes();
        let mut kept = self.memory.kept();
        kept.count += 1;
        let slot = Slot { remembered: Arc::new(remembered), bytes, used: kept.count };
        let lanes = kept.sessions.entry(self.session).or_default();
        if lanes.get(&lane).is_some_and(|now| now.remembered.through > slot.remembered.through) {
            return;
        }
        let before = lanes.insert(lane, slot);
        kept.bytes = (kept.bytes + bytes).saturating_sub(before.as_ref().map_or(0, |slot| slot.bytes));
        let forgotten = kept.forget_down_to(self.memory.0.max_bytes);
        // What takes a while to be dropped is dropped while nobody waits.
        drop(kept);
        drop((before, forgotten));
    }
}

impl Drop for SessionMemory {
    fn drop(&mut self) {
        let mut kept = self.memory.kept();
        let lanes = kept.sessions.remove(&self.session).unwrap_or_default();
        kept.bytes = kept.bytes.saturating_sub(lanes.values().map(|slot| slot.bytes).sum());
        drop(kept);
        drop(lanes);
    }
}

impl Kept {
    /// Forgets what was not used for longest until at most `max_bytes` are kept; where it has to, a little more, so that
    /// it is not looked for each time.
    fn forget_down_to(&mut self, max_bytes: usize) -> Vec<Slot> {
        let mut forgotten = Vec::new();
        if self.bytes <= max_bytes {
            return forgotten;
        }
        let slots = self.sessions.values().flat_map(HashMap::values);
        let mut by_use: Vec<_> = slots.map(|slot| (slot.used, slot.bytes)).collect();
        by_use.sort_unstable();
        let mut last = 0;
        for (used, bytes) in by_use {
            if self.bytes <= max_bytes / 4 * 3 {
                break;
            }
            (last, self.bytes) = (used, self.bytes.saturating_sub(bytes));
        }
        for lanes in self.sessions.values_mut() {
            let (gone, stays) = mem::take(lanes).into_iter().partition(|(_, slot)| slot.used <= last);
            *lanes = stays;
            forgotten.extend(HashMap::<Lane, Slot>::into_values(gone));
        }
        self.sessions.retain(|_, lanes| !lanes.is_empty());
        forgotten
    }
}

impl Remembered {
    fn bytes(&self) -> usize {
        self.history.bytes() + self.past.bytes() + self.values.values().map(|text| text.len()).sum::<usize>()
    }
}
