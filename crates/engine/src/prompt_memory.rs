//! What is remembered of prompts, so that the next one like it need not be made from nothing. All of it can be forgotten
//! at any time: the prompts stay the same.

use std::{collections::VecDeque, fmt, sync::Arc};

use callboard_core::{
    id::{AgentName, Seq, ThreadId},
    prompt::{Format, Style},
    text::Values,
};
use callboard_prompt::{HistoryCache, PromptPieces, Provider, ResolvedSpec};

use crate::session_cache::{Cache, Cached, SessionCache};

/// The pieces of so many prompts are remembered of each kind.
const MADE: usize = 4;

/// What of prompts the sessions of a board keep in memory, all of them together. Its clones are the same memory.
#[derive(Clone)]
pub struct PromptMemory(Arc<Cache<MemoryKey, Remembered>>);

/// The memory of one session, which goes with it.
pub(crate) type SessionMemory = SessionCache<MemoryKey, Remembered>;

/// What of two prompts has to be the same for the second to be made of what is remembered of the first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MemoryKey {
    agent: AgentName,
    thread: ThreadId,
    format: Format,
    provider: Provider,
    /// The model, which gets back what it thought itself; of a text it is no matter.
    model: Option<String>,
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

impl MemoryKey {
    pub(crate) fn of(spec: &ResolvedSpec, erased: Seq) -> Self {
        let ResolvedSpec { agent, thread, format, provider, model, vocabulary, layout, .. } = spec.clone();
        let model = model.filter(|_| format != Format::Text);
        Self { agent, thread, format, provider, model, vocabulary, style: layout.style(), erased }
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
        Self(Arc::new(Cache::of_bytes(max_bytes)))
    }

    /// About how many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    pub(crate) fn of_session(&self) -> SessionMemory {
        self.0.of_session()
    }
}

impl Default for PromptMemory {
    fn default() -> Self {
        Self::of_bytes(128 << 20)
    }
}

impl fmt::Debug for PromptMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptMemory").field("max_bytes", &self.0.max_bytes()).finish_non_exhaustive()
    }
}

impl SessionMemory {
    /// Remembers it under a key, unless more was remembered meanwhile; what is known of prompts that were made is kept of both.
    pub(crate) fn remember(&self, key: MemoryKey, mut remembered: Remembered) {
        if let Some(known) = self.get(&key) {
            remembered.made.join(&known.made);
        }
        self.keep(key, Arc::new(remembered));
    }
}

impl Cached for Remembered {
    fn through(&self) -> Seq {
        self.through
    }

    fn bytes(&self) -> usize {
        self.history.bytes() + self.made.bytes() + self.values.values().map(|text| text.len()).sum::<usize>()
    }
}
