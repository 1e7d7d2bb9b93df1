//! What a thread holds that can be compressed: its messages behind the last summary, as far as all for whom they are
//! summarised may see them, and that summary.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callboard_core::{
    agent::Team,
    audience::Audience,
    compression::{Base, Compressed, facts::ToolResultsCleared},
    conversation::{
        Cleared, Message, Role, StandingSummary,
        facts::{MessageAdded, thread_subject},
    },
    count::Tokens,
    entry::Entry,
    error::Error,
    fact::{self, Fact},
    id::{AgentName, Seq, ThreadId},
    prompt::{Layout, LayoutName, Style},
    state::State,
    text::Values,
};

use crate::{
    Lacking,
    compression::{shared::plan_for, transcript::Spoken},
    said::may_answer,
};

/// What of a thread is to be compressed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompressionScope {
    /// For whom: one of [`Thread::readers`](callboard_core::conversation::Thread::readers).
    pub readers: Option<Audience>,
    /// What was said up to this entry stays as it is.
    pub behind: Seq,
    /// The agent whose history is measured. What it said last is history, too.
    pub reader: Option<AgentName>,
    /// Whether nobody else reads the thread, for whom that could be the task.
    pub is_alone: bool,
    /// The layout of the prompts that it is for; without, the session's.
    pub layout: Option<LayoutName>,
}

/// What is to be read of a journal to compress a thread.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The thread.
    pub thread: ThreadId,
    /// The earlier summary, where it stands for all that its readers see, and what prompts show of the messages that it
    /// covers.
    pub each: Vec<Seq>,
    /// All messages of the thread behind this entry.
    pub after: Seq,
    scope: CompressionScope,
    earlier: Option<StandingSummary>,
    base: Base,
}

/// An earlier summary.
#[derive(Clone, Debug)]
pub struct Earlier {
    pub(super) head: StandingSummary,
    pub(super) compressed: Arc<Compressed>,
    /// What it says.
    pub text: Arc<str>,
}

/// What a thread holds that can be compressed.
#[derive(Clone, Debug)]
pub struct Material {
    pub(super) thread: ThreadId,
    pub(super) scope: CompressionScope,
    pub(super) base: Base,
    /// The first entry that a summary would cover.
    pub(super) from: Seq,
    pub(super) earlier: Option<Earlier>,
    /// The messages, the oldest first.
    pub(super) messages: Vec<Spoken>,
    /// What is pinned of what the earlier summary covers.
    pub(super) pinned: Vec<Spoken>,
    /// The pins of the thread.
    pub(super) pins: BTreeMap<Seq, Tokens>,
    /// The plan, if all readers may see it.
    pub(super) plan: Option<String>,
    /// Whether the prompts that it is for show nothing that the system said.
    pub(super) hides_system: bool,
    /// Which results of tools are not shown any more.
    pub(super) cleared: Option<Cleared>,
}

impl Earlier {
    /// What is listed after it.
    pub fn identifiers(&self) -> impl Iterator<Item = &str> {
        self.compressed.identifiers.iter().map(|one| &**one)
    }
}

impl Wanted {
    /// What is to be read of `thread`.
    pub fn of(state: &State, thread: &ThreadId, scope: CompressionScope) -> Result<Self, Error> {
        let held = state.threads.get(thread).ok_or_else(|| Error::not_found("thread", thread))?;
        let readers = scope.readers.as_ref().unwrap_or(&held.sight.audience);
        // One that begins behind what they see first was made for others, from less.
        let first = held.begins(readers).unwrap_or_default().max(held.sight.since).max(scope.behind.next());
        let stands_for_all = |head: &&StandingSummary| {
            head.from > scope.behind && head.from <= first && held.is_for(readers, head.seq, &head.audience)
        };
        let standing = held.compression.standing.iter().filter(stands_for_all);
        let earlier = standing.min_by_key(|head| (head.from, Reverse(head.through))).cloned();
        let each = earlier.iter().flat_map(|head| {
            let pins = held.compression.pins.range(head.from..=head.through).map(|(seq, _)| *seq);
            pins.chain(head.kept.iter().copied()).chain([head.seq])
        });
        let each = Vec::from_iter(each.collect::<BTreeSet<Seq>>());
        let begins = held.sight.since.previous().max(scope.behind);
        let after = earlier.as_ref().map_or(begins, |head| head.through);
        Ok(Self { thread: thread.clone(), each, after, scope, earlier, base: Base::of(state, held) })
    }

    /// Whether an entry behind [`after`](Self::after) is one of its.
    pub fn has(&self, entry: &Entry) -> bool {
        *entry.header.kind == *MessageAdded::TYPE && *entry.header.subject == *thread_subject(&self.thread)
    }
}

impl Material {
    /// Reads what was wanted: `entries` holds each of [`Wanted::each`], and all messages behind [`Wanted::after`], as of
    /// `state`.
    pub fn read(state: &State, wanted: &Wanted, entries: &[Entry], values: &Values) -> Result<Self, Lacking> {
        let held = state.threads.get(&wanted.thread).ok_or_else(|| Error::not_found("thread", &wanted.thread))?;
        let readers = wanted.scope.readers.as_ref().unwrap_or(&held.sight.audience);
        let (mut messages, mut lacking, mut earlier) = (Vec::new(), Vec::new(), None);
        let read_by: Vec<_> = state.team.names().filter(|name| readers.contains(name)).collect();
        for entry in entries {
            if *entry.header.kind == *Compressed::TYPE {
                let compressed: Compressed = fact::read(entry)?;
                match compressed.summary.whole(values) {
                    Ok(text) => earlier = Some((text.clone(), Arc::new(compressed))),
                    Err(hash) => lacking.push((hash, entry.header.seq)),
                }
                continue;
            }
            let MessageAdded(message) = fact::read(entry)?;
            match message.content.in_text(values) {
                Ok(text) => {
                    let is_for_others = read_by.iter().any(|name| Some(*name) != message.agent.as_ref());
                    let spoken = Spoken::new(entry.header.seq, message, text, is_for_others);
                    messages.push((spoken, entry.header.audience.clone()));
                }
                Err(hash) => lacking.push((hash, entry.header.seq)),
            }
        }
        if !lacking.is_empty() {
            return Err(Lacking::Values(lacking));
        }
        messages.sort_by_key(|(spoken, _)| spoken.seq);
        disown_results(&mut messages, &state.team);
        // Who gained sight of the thread later sees nothing of before.
        let hidden = messages.iter().rposition(|(spoken, audience)| !held.is_for(readers, spoken.seq, audience));
        let hidden = hidden.map_or(0, |last| last + 1);
        let begins = messages.get(hidden).map_or(wanted.after.next(), |(spoken, _)| spoken.seq);
        let from = match &wanted.earlier {
            Some(head) => head.from,
            None if hidden == 0 => held.sight.since.max(wanted.scope.behind.next()).min(begins),
            None => begins,
        };
        let messages = messages.into_iter().skip(hidden).map(|(spoken, _)| spoken);
        // What is pinned and no more is in the earlier summary already.
        let kept = wanted.earlier.iter().flat_map(|head| &head.kept).collect::<BTreeSet<_>>();
        let is_new = |spoken: &Spoken| spoken.seq > wanted.after || kept.contains(&spoken.seq);
        let (messages, pinned) = messages.partition(is_new);
        let earlier = wanted.earlier.clone().zip(earlier);
        let earlier = earlier.map(|(head, (text, compressed))| Earlier { head, compressed, text });
        let pins = held.compression.pins.clone();
        let (thread, scope, base) = (wanted.thread.clone(), wanted.scope.clone(), wanted.base.clone());
        let (plan, cleared) = (plan_for(state, readers), held.compression.cleared);
        let settings = &state.session.settings.prompt;
        let layout = Layout::of(wanted.scope.layout.or(settings.layout), &settings.layout_parts);
        let hides_system = layout.style() == Style::Labelled;
        Ok(Self { thread, scope, base, from, earlier, messages, pinned, pins, plan, hides_system, cleared })
    }

    /// The results of tools of more than `over` tokens that are older than the newest messages of `keep_recent` tokens;
    /// none where there are none that are not cleared yet.
    pub fn clearable(&self, over: Tokens, keep_recent: Tokens) -> Option<ToolResultsCleared> {
        let mut recent = Tokens(0);
        let is_recent = |spoken: &&Spoken| {
            recent += spoken.size;
            recent <= keep_recent
        };
        let old: Vec<_> = self.messages.iter().rev().skip_while(is_recent).collect();
        let through = old.first()?.seq;
        let is_new =
            |spoken: &Spoken| self.cleared.is_none_or(|cleared| spoken.seq > cleared.through || over < cleared.over);
        let is_long = |spoken: &Spoken| spoken.message.role == Role::Tool && spoken.message.tokens > over;
        let found: Vec<_> = old.into_iter().filter(|spoken| is_long(spoken) && is_new(spoken)).collect();
        let tokens = found.iter().map(|spoken| spoken.message.tokens).sum();
        let (thread, results) = (self.thread.clone(), found.len() as u64);
        (results > 0).then_some(ToolResultsCleared { thread, through, over, results, tokens })
    }
}

/// Takes what an agent says as the result of a call that another one made for its own words.
fn disown_results(messages: &mut [(Spoken, Audience)], team: &Team) {
    let manager = team.manager().map(|manager| &manager.name);
    let is_alone = team.agents().len() == 1;
    let mut callers: BTreeMap<String, Vec<Option<AgentName>>> = BTreeMap::new();
    for (spoken, _) in messages {
        let Message { agent, tool_calls, tool_call_id, .. } = &*spoken.message;
        for call in tool_calls {
            callers.entry(call.id.clone()).or_default().push(agent.clone());
        }
        let callers = tool_call_id.as_ref().and_then(|id| callers.get(id));
        let is_its = |caller: &Option<AgentName>| may_answer(agent.as_ref(), caller.as_ref(), manager, is_alone);
        if callers.is_some_and(|callers| !callers.iter().any(is_its)) {
            spoken.disown();
        }
    }
}
