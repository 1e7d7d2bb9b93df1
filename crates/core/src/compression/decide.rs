//! Compressing a thread, and undoing that.

use std::sync::Arc;

use super::{
    Base, Compressed,
    facts::{CompressionUndone, ContextCrowded, ContextWarned, ToolResultsCleared},
};
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    conversation::ThreadCompression,
    error::{ConflictKind, Error},
    fact::{self, Fact},
    id::{Seq, ThreadId},
    input::InputVisitor,
    rights::Right,
    text::Text,
};

/// Puts a summary in the place of what it covers, if the compression of the thread and who sees them are as they were when
/// it was made. What was said meanwhile follows it.
#[derive(Clone, Debug)]
pub struct Compress {
    /// What it was made from.
    pub base: Base,
    /// The summary.
    pub text: Arc<str>,
    /// All else that is recorded of it.
    pub compressed: Compressed,
}

/// Undoes the newest compression of a thread that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoCompression {
    /// The thread.
    pub thread: ThreadId,
    /// The entry of the compression.
    pub seq: Seq,
}

impl Command for Compress {
    type Answer = Seq;

    const RIGHT: Right = Right::manager("compress threads");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Seq, Undecided> {
        let thread = &self.compressed.thread;
        if Base::of(&decision.state, decision.view()?.thread(thread)?) != self.base {
            let what = format!(
                "the thread {thread} was compressed, or is seen by others, or something was erased, since this summary was begun"
            );
            return Err(Error::conflict(ConflictKind::CompressedMeanwhile, what, "compress it again").into());
        }
        let summary = Text::keep(&self.text, "the summary", &mut decision.values)?;
        let seq = decision.next_seq();
        decision.record(Compressed { summary, ..self.compressed.clone() });
        Ok(seq)
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text(&mut self.text);
        self.compressed.identifiers.iter_mut().for_each(|one| visitor.text(one));
        for call in &mut self.compressed.open_calls {
            visitor.given_name(&mut call.id);
            visitor.given_name(&mut call.name);
        }
        visitor.text_if_any(&mut self.compressed.reason);
        if let Some(model) = &self.compressed.model {
            visitor.name(format_args!("/model"), model);
        }
    }

    fn texts(&self) -> Vec<Arc<str>> {
        vec![self.text.clone()]
    }
}

impl Command for UndoCompression {
    type Answer = ();

    const RIGHT: Right = Right::manager("undo compressions");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let Self { thread, seq } = self;
        let newest = decision.view()?.thread(thread)?.compression.newest().map(|head| head.seq);
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
            let what = format!("the compression {seq} is not the newest one that stands in {thread}: {stands}");
            return Err(Error::conflict(ConflictKind::NotNewest, what, "undo the newest one first").into());
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

/// Implements the command of Callboard itself to note a fact of a thread, where `$is_new` says that it is not known.
macro_rules! noted {
    ($fact:ty, $what:literal, $is_new:expr) => {
        impl Command for $fact {
            type Answer = ();

            const RIGHT: Right = Right::system($what);

            fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
                let is_new: fn(&Self, &ThreadCompression) -> bool = $is_new;
                let thread = decision.state.threads.get(&self.thread);
                if thread.is_some_and(|thread| is_new(self, &thread.compression)) {
                    decision.record(self.clone());
                }
                Ok(())
            }

            /// It is Callboard's own.
            fn input(&mut self, _: &mut dyn InputVisitor) {}
        }
    };
}

// Once until the thread is compressed.
noted!(ContextWarned, "warn of the size of a prompt", |it, known| !known.warned.contains(&it.agent));
// Once for each agent in a thread.
noted!(ContextCrowded, "note the size of a prompt", |it, known| !known.crowded.contains(&it.agent));
noted!(ToolResultsCleared, "clear results of tools", |_, _| true);

/// The summaries that were made with the newest one that stands, for others, as far as they stand, and that one.
fn together(decision: &DecisionBuilder<'_>, newest: Seq) -> Result<Vec<Seq>, Undecided> {
    let Some(entry) = decision.entry(newest)? else { return Ok(vec![newest]) };
    let Compressed { thread, with, .. } = fact::read(&entry)?;
    let standing = decision.state.threads.get(&thread).map(|held| held.compression.standing.clone());
    let stands = |seq: &Seq| standing.iter().flatten().any(|head| head.seq == *seq);
    Ok(with.into_iter().filter(stands).chain([newest]).collect())
}
