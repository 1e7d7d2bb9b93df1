//! What can happen to the compression of a thread.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    audience::Audience,
    compression::{Compressed, Spent},
    conversation::{Cleared, StandingSummary, facts::audience_of, facts::thread_subject},
    count::Tokens,
    entry::Header,
    fact::{Description, Fact, MeantFor, Repeats, Seen, Sentence, erase_words, json, text},
    id::{AgentName, MessageId, Seq, ThreadId},
    state::State,
    view::View,
};

/// So many summaries of a thread stand at once, at most. Without the oldest, the originals are shown again.
const MOST_STANDING: usize = 64;

/// A compression was undone: the originals are shown again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompressionUndone {
    /// The thread.
    pub thread: ThreadId,
    /// The entry of the compression.
    pub seq: Seq,
    /// The last entry that it covered.
    pub through: Seq,
    /// The earlier summary that stands again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stands_again: Option<StandingSummary>,
    /// For whom it was, where it was not for everyone who sees the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readers: Option<Audience>,
}

/// A prompt has passed the size at which a warning is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextWarned {
    /// The thread.
    pub thread: ThreadId,
    /// Whose prompt it is.
    pub agent: AgentName,
    /// The size of the prompt.
    pub tokens: Tokens,
    /// The size at which there is a warning.
    pub warn_at: Tokens,
    /// The size at which the thread is compressed.
    pub compress_at: Tokens,
}

/// The parts of a prompt that no compression shortens have passed the size at which a thread is compressed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContextCrowded {
    /// The thread.
    pub thread: ThreadId,
    /// Whose prompt it is.
    pub agent: AgentName,
    /// The size of the prompt.
    pub tokens: Tokens,
    /// The size of all of it but the history.
    pub fixed_tokens: Tokens,
    /// The size at which the thread is compressed.
    pub compress_at: Tokens,
}

/// Long results of tools are named in prompts from now on, no longer shown. That alone often makes enough room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResultsCleared {
    /// The thread.
    pub thread: ThreadId,
    /// Those up to this entry.
    pub through: Seq,
    /// Those of more than this size.
    pub over: Tokens,
    /// How many.
    pub results: u64,
    /// Their size.
    pub tokens: Tokens,
}

/// A message was pinned: compression keeps it word for word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessagePinned {
    /// The thread.
    pub thread_id: ThreadId,
    /// The message.
    pub message_id: MessageId,
    /// The entry that added it.
    pub seq: Seq,
    /// What it takes to show it.
    pub tokens: Tokens,
}

/// A message was unpinned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MessageUnpinned {
    /// The thread.
    pub thread_id: ThreadId,
    /// The message.
    pub message_id: MessageId,
    /// The entry that added it.
    pub seq: Seq,
}

impl Fact for Compressed {
    const TYPE: &'static str = "conversation.compressed";

    const SENTENCE: Sentence =
        |it| format!("{} messages of {} were compressed", it.text("messages"), it.text("thread"));

    const DESCRIPTION: Description = Description {
        repeats: Repeats::Covered,
        ..Description::of(&[text("summary"), json("identifiers"), json("open_calls"), text("reason")])
    };

    fn subject(&self) -> String {
        thread_subject(&self.thread)
    }

    fn audience(&self, before: &State) -> Audience {
        readers_of(before, &self.thread, self.readers.as_ref())
    }

    fn erase(data: &mut Value) {
        erase_words(&Self::DESCRIPTION, data);
        if let Some(fields) = data.as_object_mut() {
            fields.insert("withdrawn".to_owned(), true.into());
        }
    }

    fn apply(self, state: &mut State, header: &Header) {
        if self.withdrawn {
            return;
        }
        let head = StandingSummary {
            seq: header.seq,
            from: self.from,
            through: self.through,
            audience: header.audience.clone(),
            kept: self.kept,
            kept_tokens: self.kept_tokens,
        };
        state.threads.compress(&self.thread, |compression| {
            let standing = &mut compression.standing;
            standing.retain(|other| self.replaced.as_ref().is_none_or(|replaced| replaced.seq != other.seq));
            standing.push(head);
            standing.sort_by_key(|head| head.through);
            standing.drain(..standing.len().saturating_sub(MOST_STANDING));
            // What was put back is left alone where only what lies behind it is compressed.
            compression.left_alone = compression.left_alone.filter(|left_alone| self.from > *left_alone);
            compression.warned.clear();
        });
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if !view.sees_in(&self.thread, header) {
            return None;
        }
        // What a model was asked and cost is for the user and the manager.
        let outline = |all: Self| {
            let (spent, readers) = (Spent::default(), None);
            Self { model: None, reason: None, replaced: None, spent, readers, ..all }
        };
        // That others were told more is for the user alone.
        let own = |all: Self| if view.agent().is_some() { Self { with: Vec::new(), ..all } } else { all };
        Seen::fact(&own(if view.is_in_charge() { self } else { outline(self) }))
    }
}

impl Fact for CompressionUndone {
    const TYPE: &'static str = "conversation.compression_undone";

    const SENTENCE: Sentence = |it| format!("{} undid a compression of {}", it.by, it.text("thread"));

    const DESCRIPTION: Description = Description::of(&[]);

    fn subject(&self) -> String {
        thread_subject(&self.thread)
    }

    fn audience(&self, before: &State) -> Audience {
        readers_of(before, &self.thread, self.readers.as_ref())
    }

    fn apply(self, state: &mut State, _: &Header) {
        state.threads.compress(&self.thread, |compression| {
            let stood = compression.standing.len();
            compression.standing.retain(|head| head.seq != self.seq);
            // One that was withdrawn took the place of no other.
            let is_undone = compression.standing.len() < stood;
            compression.standing.extend(self.stands_again.filter(|_| is_undone));
            compression.standing.sort_by_key(|head| head.through);
            compression.left_alone = compression.left_alone.max(Some(self.through));
        });
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        if !view.sees_in(&self.thread, header) {
            return None;
        }
        Seen::fact(&if view.is_in_charge() { self } else { Self { stands_again: None, readers: None, ..self } })
    }
}

/// Implements what the facts have in common that are noted of a thread for the manager, who sees them where `$sees` says so.
macro_rules! of_manager {
    ($thread:ident, $sees:expr) => {
        const DESCRIPTION: Description = Description::of(&[]);

        const MEANT_FOR: MeantFor = MeantFor::Manager;

        fn subject(&self) -> String {
            thread_subject(&self.$thread)
        }

        fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
            let sees: fn(&Self, &View<'_>, &Header) -> bool = $sees;
            if sees(&self, view, header) { Seen::fact(&self) } else { None }
        }
    };
}

impl Fact for ContextWarned {
    const TYPE: &'static str = "context.warned";

    const SENTENCE: Sentence = |it| {
        let (agent, tokens, warn_at) = (it.text("agent"), it.text("tokens"), it.text("warn_at"));
        format!("the prompt of {agent} has {tokens} tokens, {warn_at} is the warning")
    };

    of_manager!(thread, |it, view, header| sees_upkeep(view, &it.thread, header));

    fn apply(self, state: &mut State, _: &Header) {
        state.threads.compress(&self.thread, |compression| {
            compression.warned.insert(self.agent);
        });
    }
}

impl Fact for ContextCrowded {
    const TYPE: &'static str = "context.crowded";

    const SENTENCE: Sentence = |it| {
        let (agent, tokens) = (it.text("agent"), it.text("fixed_tokens"));
        format!("the prompt of {agent} has {tokens} tokens without what was said")
    };

    of_manager!(thread, |it, view, header| sees_upkeep(view, &it.thread, header));

    fn apply(self, state: &mut State, _: &Header) {
        state.threads.compress(&self.thread, |compression| {
            compression.crowded.insert(self.agent);
        });
    }
}

impl Fact for ToolResultsCleared {
    const TYPE: &'static str = "conversation.tool_results_cleared";

    const SENTENCE: Sentence =
        |it| format!("{} results of tools in {} are no longer shown", it.text("results"), it.text("thread"));

    of_manager!(thread, |it, view, header| sees_upkeep(view, &it.thread, header));

    fn apply(self, state: &mut State, _: &Header) {
        let cleared = Some(Cleared { through: self.through, over: self.over });
        state.threads.compress(&self.thread, |compression| compression.cleared = cleared);
    }
}

impl Fact for MessagePinned {
    const TYPE: &'static str = "message.pinned";

    const SENTENCE: Sentence = |it| format!("{} pinned {}", it.by, it.text("message_id"));

    of_manager!(thread_id, |it, view, header| sees_pin(view, &it.thread_id, it.seq, header));

    fn apply(self, state: &mut State, _: &Header) {
        state.threads.compress(&self.thread_id, |compression| {
            compression.pins.insert(self.seq, self.tokens);
        });
    }
}

impl Fact for MessageUnpinned {
    const TYPE: &'static str = "message.unpinned";

    const SENTENCE: Sentence = |it| format!("{} unpinned {}", it.by, it.text("message_id"));

    of_manager!(thread_id, |it, view, header| sees_pin(view, &it.thread_id, it.seq, header));

    fn apply(self, state: &mut State, _: &Header) {
        state.threads.compress(&self.thread_id, |compression| {
            compression.pins.remove(&self.seq);
        });
    }
}

/// Who sees a summary: its readers, as far as they see the thread.
fn readers_of(before: &State, thread: &ThreadId, readers: Option<&Audience>) -> Audience {
    let all = audience_of(before, thread);
    readers.map_or_else(|| all.clone(), |readers| readers.and(&all))
}

/// Whether the viewer sees what is noted of a thread for the user and the manager.
fn sees_upkeep(view: &View<'_>, thread: &ThreadId, header: &Header) -> bool {
    view.is_in_charge() && view.sees_in(thread, header)
}

/// Whether the viewer sees that the message of the entry `seq` was pinned or unpinned. A pin says that there is a message,
/// so it is shown to those who see the message.
fn sees_pin(view: &View<'_>, thread: &ThreadId, seq: Seq, header: &Header) -> bool {
    view.sees_in(thread, header) && view.sees_said(thread, seq, &header.audience)
}
