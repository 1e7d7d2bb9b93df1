//! What is remembered of prompts, so that the next one like it need not be made from nothing. All of it can be forgotten
//! at any time: the prompts stay the same.

use std::{
    collections::{HashMap, VecDeque},
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::{
    id::{AgentName, Seq, ThreadId},
    prompt::{Format, Style},
    text::Values,
};
use callboard_prompt::{HistoryCache, PromptPieces, Provider, ResolvedSpec};

/// The pieces of so many prompts are remembered of each kind.
const MADE: usize = 4;

/// What of prompts the sessions of a board keep in memory, all of them together. Its clones are the same memory.
#[derive(Clone)]
pub struct PromptMemory(Arc<Shared>);

struct Shared {
    max_bytes: usize,
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    sessions: HashMap<u64, HashMap<MemoryKey, Slot>>,
    bytes: usize,
    /// Counts uses, and sessions.
    count: u64,
}

struct Slot {
    remembered: Arc<Remembered>,
    bytes: usize,
    used: u64,
}

/// What of two prompts has to be the same for the second to be made of what is remembered of the first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MemoryKey {
    agent: AgentName,
    thread: ThreadId,
    format: Format,
    provider: Provider,
    style: Style,
    vocabulary: String,
    /// The entry that had last changed what older ones say when the prompt was asked for: also a prompt as of an older entry shows
    /// nothing that was erased since.
    erased: Seq,
}

/// What is remembered of prompts of one kind.
#[derive(Clone)]
pub(crate) struct Remembered {
    /// What was said that the reader may know, up to the entry `through`.
    pub(crate) history: HistoryCache,
    pub(crate) through: Seq,
    /// The long texts of context sets.
    pub(crate) values: Values,
    pub(crate) made: MadePrompts,
    /// Whether notes stand in it in the place of texts that the store has lost. They may be there again the next time.
    pub(crate) has_damage: bool,
}

/// The pieces of prompts that were made before.
#[derive(Clone, Default)]
pub(crate) struct MadePrompts {
    /// The newest, as of which entry, and what was asked for.
    made: VecDeque<(Seq, ResolvedSpec, Arc<PromptPieces>)>,
    /// That of the agent's last turn, which this entry noted; none where it cannot be compared with.
    last: Option<(Seq, Option<Arc<PromptPieces>>)>,
}

/// The memory of one session, which goes with it.
pub(crate) struct SessionMemory {
    memory: PromptMemory,
    session: u64,
}

impl MemoryKey {
    pub(crate) fn of(spec: &ResolvedSpec, erased: Seq) -> Self {
        let ResolvedSpec { agent, thread, format, provider, vocabulary, layout, .. } = spec.clone();
        Self { agent, thread, format, provider, vocabulary, style: layout.style(), erased }
    }
}

impl MadePrompts {
    /// The pieces of a prompt that was asked for in just this way.
    pub(crate) fn made(&self, at: Seq, asked: &ResolvedSpec) -> Option<Arc<PromptPieces>> {
        let same = |(of, by, _): &&(Seq, ResolvedSpec, _)| *of == at && by == asked;
        self.made.iter().find(same).map(|(_, _, pieces)| pieces.clone())
    }

    pub(crate) fn note(&mut self, at: Seq, asked: ResolvedSpec, pieces: Arc<PromptPieces>) {
        self.made.truncate(MADE - 1);
        self.made.push_front((at, asked, pieces));
    }

    /// The pieces of the prompt that the entry `requested` noted, where that is known.
    pub(crate) fn last(&self, requested: Seq) -> Option<Option<Arc<PromptPieces>>> {
        self.last.as_ref().filter(|(of, _)| *of == requested).map(|(_, pieces)| pieces.clone())
    }

    pub(crate) fn note_last(&mut self, requested: Seq, pieces: Option<Arc<PromptPieces>>) {
        self.last = Some((requested, pieces));
    }

    /// Adds what was noted elsewhere meanwhile: prompts of one reader are built side by side.
    fn join(&mut self, other: &Self) {
        for (at, spec, pieces) in &other.made {
            if self.made.len() < MADE && self.made(*at, spec).is_none() {
                self.made.push_back((*at, spec.clone(), pieces.clone()));
            }
        }
        if self.last.as_ref().map(|(at, _)| *at) < other.last.as_ref().map(|(at, _)| *at) {
            self.last.clone_from(&other.last);
        }
    }

    fn bytes(&self) -> usize {
        let last = self.last.iter().filter_map(|(_, pieces)| pieces.as_ref());
        self.made.iter().map(|(_, _, pieces)| pieces).chain(last).map(|pieces| pieces.bytes()).sum()
    }
}

impl PromptMemory {
    /// A memory of about so many bytes.
    pub fn of_bytes(max_bytes: usize) -> Self {
        Self(Arc::new(Shared { max_bytes, contents: Mutex::default() }))
    }

    /// About how many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.contents().bytes
    }

    pub(crate) fn of_session(&self) -> SessionMemory {
        let mut contents = self.contents();
        contents.count += 1;
        SessionMemory { memory: self.clone(), session: contents.count }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.0.contents.lock().unwrap_or_else(PoisonError::into_inner)
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
    /// What is remembered under a key.
    pub(crate) fn recall(&self, key: &MemoryKey) -> Option<Arc<Remembered>> {
        let mut contents = self.memory.contents();
        contents.count += 1;
        let used = contents.count;
        let slot = contents.sessions.get_mut(&self.session)?.get_mut(key)?;
        slot.used = used;
        Some(slot.remembered.clone())
    }

    /// Forgets everything.
    pub(crate) fn forget(&self) {
        let mut contents = self.memory.contents();
        let slots = contents.sessions.remove(&self.session).unwrap_or_default();
        contents.bytes = contents.bytes.saturating_sub(slots.values().map(|slot| slot.bytes).sum());
        drop(contents);
        drop(slots);
    }

    /// Remembers it under a key, unless more was remembered meanwhile; what is known of prompts that were made is kept of
    /// both. What was not used for longest is forgotten where
    /// it gets too much.
    pub(crate) fn remember(&self, key: MemoryKey, mut remembered: Remembered) {
        if let Some(known) = self.recall(&key) {
            remembered.made.join(&known.made);
        }
        let bytes = remembered.bytes();
        let mut contents = self.memory.contents();
        contents.count += 1;
        let slot = Slot { remembered: Arc::new(remembered), bytes, used: contents.count };
        let slots = contents.sessions.entry(self.session).or_default();
        if slots.get(&key).is_some_and(|now| now.remembered.through > slot.remembered.through) {
            return;
        }
        let before = slots.insert(key, slot);
        contents.bytes = (contents.bytes + bytes).saturating_sub(before.as_ref().map_or(0, |slot| slot.bytes));
        let forgotten = contents.forget_down_to(self.memory.0.max_bytes);
        // What takes a while to be dropped is dropped while nobody waits.
        drop(contents);
        drop((before, forgotten));
    }
}

impl Drop for SessionMemory {
    fn drop(&mut self) {
        self.forget();
    }
}

impl Contents {
    /// Forgets what was not used for longest until at most `max_bytes` are contents; where it has to, a little more, so that
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
        for slots in self.sessions.values_mut() {
            let (gone, stays) = mem::take(slots).into_iter().partition(|(_, slot)| slot.used <= last);
            *slots = stays;
            forgotten.extend(HashMap::<MemoryKey, Slot>::into_values(gone));
        }
        self.sessions.retain(|_, slots| !slots.is_empty());
        forgotten
    }
}

impl Remembered {
    fn bytes(&self) -> usize {
        self.history.bytes() + self.made.bytes() + self.values.values().map(|text| text.len()).sum::<usize>()
    }
}
