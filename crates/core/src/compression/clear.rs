//! Clearing: long and old results of tools are named in prompts, no longer shown. That alone often makes enough room.

use super::facts::ToolResultsCleared;
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    count::Tokens,
    id::{Seq, ThreadId},
    input::InputVisitor,
    rights::Right,
};

/// Names long results of tools in prompts instead of showing them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClearToolResults {
    /// The thread.
    pub thread: ThreadId,
    /// Those up to this entry.
    pub through: Seq,
    /// Those of more than this size.
    pub over: Tokens,
    /// How many, and their size.
    pub found: (u64, Tokens),
}

impl Command for ClearToolResults {
    type Answer = ();

    const RIGHT: Right = Right::system("clear results of tools");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<(), Undecided> {
        let Self { thread, through, over, found: (results, tokens) } = self.clone();
        if decision.state.threads.get(&thread).is_some() {
            decision.record(ToolResultsCleared { thread, through, over, results, tokens });
        }
        Ok(())
    }

    /// It is Callboard's own.
    fn input(&mut self, _: &mut dyn InputVisitor) {}
}
