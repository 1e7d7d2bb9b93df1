//! Compressing a thread, and undoing that.

use std::sync::Arc;

use super::{
    Compressed, Method, Spent,
    facts::{CompressionUndone, ContextWarned},
    material::Base,
    plan::{Plan, Summary},
};
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    conversation::facts::audience_of,
    count::Tokens,
    error::{ConflictKind, Error},
    fact::{self, Fact},
    id::{AgentName, Seq, ThreadId},
    input::InputVisitor,
    rights::Right,
    text::Text,
};

/// Puts a summary in the place of what it covers, if the compression of the thread and who sees it are as they were when
/// it was made. What was said meanwhile follows it.
#[derive(Clone, Debug)]
pub struct Compress {
    /// What is compressed.
    pub plan: Arc<Plan>,
    /// The summary.
    pub summary: Summary,
    /// The model that wrote it.
    pub model: Option<Arc<str>>,
    /// Why no model did.
    pub reason: Option<Arc<str>>,
    /// What it cost.
    pub spent: Spent,
    /// The sizes of the history before and after, as its first reader is shown it; without, what was planned with, which is
    /// at least as much.
    pub measured: Option<(Tokens, Tokens)>,
    /// The summaries of the same compression that were made before it, for others.
    pub with: Vec<Seq>,
}

/// Undoes the newest compression of a thread that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoCompression {
    /// The thread.
    pub thread: ThreadId,
    /// The entry of the compression.
    pub seq: Seq,
}

/// Notes that a prompt has passed the size of a warning; once until its thread is compressed.
#[derive(Clone, Debug, PartialEq)]
pub struct WarnOfContext(pub ContextWarned);

impl Command for Compress {
    type Answer = Seq;

    const RIGHT: Right = Right::manager("compress threads");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Seq, Undecided> {
        let Plan { thread, scope, base, from, through, earlier, kept, kept_tokens, pins, target, .. } = &*self.plan;
        check_seen(decision, thread)?;
        let now = decision.state.threads.get(thread).map(|thread| Base::of(&decision.state, thread));
        if now.as_ref() != Some(base) {
            return Err(Error::Conflict {
                kind: ConflictKind::CompressedMeanwhile,
                what: format!("the thread {thread} was compressed, or is seen by others, or something was erased, since this summary was begun"),
                hint: "compress it again",
            }
            .into());
        }
        let summary = Text::keep(&self.summary.text, "the summary", &mut decision.values)?;
        let seq = decision.next_seq();
        let (tokens_before, tokens_after) =
            self.measured.unwrap_or((self.plan.tokens_before, self.summary.tokens_after));
        decision.record(Compressed {
            thread: thread.clone(),
            from: *from,
            through: *through,
            messages: self.plan.messages(),
            readers: scope.readers.clone(),
            with: self.with.clone(),
            summary,
            open_calls: self.summary.open_calls.clone(),
            more_open_calls: self.summary.more_open_calls,
            identifiers: self.summary.identifiers.clone(),
            more_identifiers: self.summary.more_identifiers,
            kept: kept.clone(),
            kept_tokens: *kept_tokens,
            pins: pins.clone(),
            replaced: earlier.as_ref().map(|earlier| earlier.head.clone()),
            method: if self.model.is_some() { Method::Model } else { Method::Extractive },
            model: self.model.clone(),
            reason: self.reason.clone(),
            target_tokens: *target,
            tokens_before,
            tokens_after,
            summary_tokens: self.plan.summary_tokens(&self.summary),
            spent: self.spent,
            withdrawn: false,
        });
        Ok(seq)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.summary.text);
        self.summary.identifiers.iter_mut().for_each(|one| visitor.text(one));
        for call in &mut self.summary.open_calls {
            visitor.text(&mut call.id);
            visitor.text(&mut call.name);
        }
        visitor.text_if_any(&mut self.reason);
        if let Some(model) = &self.model {
            visitor.name(format_args!("/model"), model);
        }
    }

    fn texts(&self) -> Vec<Arc<str>> {
        vec![self.summary.text.clone()]
    }
}

impl Command for UndoCompression {
    type Answer = ();

    const RIGHT: Right = Right::manager("undo compressions");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let Self { thread, seq } = self;
        check_seen(decision, thread)?;
        let held = decision.state.threads.get(thread).ok_or_else(|| Error::not_found("thread", thread))?;
        let newest = held.compression.newest().map(|head| head.seq);
        let absent = || Error::not_found("compression", seq);
        if *seq == Seq::ZERO || *seq > decision.state.head.seq {
            return Err(absent().into());
        }
        let entry = decision.entry(*seq)?.filter(|entry| *entry.header.kind == *Compressed::TYPE).ok_or_else(absent)?;
        let compressed: Compressed = fact::read(&entry)?;
        let sees = decision.agent().is_none_or(|agent| entry.header.audience.contains(agent));
        if compressed.thread != *thread || !sees {
            return Err(absent().into());
        }
        let together = newest.map(|newest| together(decision, newest)).transpose()?.unwrap_or_default();
        if !together.contains(seq) {
            let stands = newest.map_or_else(|| "none stands".to_owned(), |newest| format!("that is {newest}"));
            return Err(Error::Conflict {
                kind: ConflictKind::NotNewest,
                what: format!("the compression {seq} is not the newest one that stands in {thread}: {stands}"),
                hint: "undo the newest one first",
            }
            .into());
        }
        for seq in together.into_iter().rev() {
            let Some(entry) = decision.entry(seq)? else { continue };
            let Compressed { thread, through, replaced, readers, .. } = fact::read(&entry)?;
            decision.record(CompressionUndone { thread, seq, through, stands_again: replaced, readers });
        }
        Ok(())
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.name(format_args!("/thread"), self.thread.as_str());
    }

    fn entries(&self) -> Vec<Seq> {
        vec![self.seq]
    }
}

impl Command for WarnOfContext {
    type Answer = ();

    const RIGHT: Right = Right::system("warn of the size of a prompt");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let thread = decision.state.threads.get(&self.0.thread);
        if thread.is_some_and(|thread| !thread.compression.warned.contains(&self.0.agent)) {
            decision.record(self.0.clone());
        }
        Ok(())
    }

    /// It is Callboard's own.
    fn input(&mut self, _: &mut dyn InputVisitor) {}
}

/// The summaries that were made with the newest one that stands, for others, as far as they stand, and that one.
fn together(decision: &DecisionBuilder<'_>, newest: Seq) -> Result<Vec<Seq>, Undecided> {
    let Some(entry) = decision.entry(newest)? else { return Ok(vec![newest]) };
    let Compressed { thread, with, .. } = fact::read(&entry)?;
    let standing = decision.state.threads.get(&thread).map(|held| held.compression.standing.clone());
    let stands = |seq: &Seq| standing.iter().flatten().any(|head| head.seq == *seq);
    Ok(with.into_iter().filter(stands).chain([newest]).collect())
}

/// Refuses a thread that is not there for whoever decides.
pub(super) fn check_seen(decision: &DecisionBuilder<'_>, thread: &ThreadId) -> Result<(), Error> {
    let sees = |agent: &AgentName| audience_of(&decision.state, thread).contains(agent);
    let there = decision.state.threads.get(thread).is_some();
    match there && decision.agent().is_none_or(sees) {
        true => Ok(()),
        false => Err(Error::not_found("thread", thread)),
    }
}
