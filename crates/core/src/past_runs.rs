//! Runs that have left the state. They are read from their entries in the journal.

use std::sync::Arc;

use crate::{
    entry::Entry,
    error::Error,
    event,
    fact::Fact,
    run::{
        Run,
        facts::{Claimed, Ended, Paused, Resumed, Started, ToolFinished},
        turn_facts::{TurnAnswered, TurnFailed, TurnRequested},
    },
    state::State,
};

/// Folds runs from their own entries alone, one after the other. For ended runs that gives everything that is shown of them;
/// other entries only changed what was due.
#[derive(Default)]
pub struct PastRuns {
    state: State,
    finished: Vec<Arc<Run>>,
}

impl PastRuns {
    /// The types of the entries that it reads.
    pub fn types() -> Vec<Arc<str>> {
        let (of_runs, of_turns) = (
            [Started::TYPE, Claimed::TYPE, Paused::TYPE, Resumed::TYPE, Ended::TYPE],
            [TurnRequested::TYPE, TurnAnswered::TYPE, TurnFailed::TYPE, ToolFinished::TYPE],
        );
        of_runs.into_iter().chain(of_turns).map(Arc::from).collect()
    }

    /// Adds the next entry of these types.
    pub fn take(&mut self, entry: &Entry) -> Result<(), Error> {
        if *entry.header.kind == *Started::TYPE {
            self.finished.extend(self.state.runs.newest.take());
        }
        event::apply(&mut self.state, entry)
    }

    /// The runs, in the order in which they were started.
    pub fn finish(mut self) -> Vec<Arc<Run>> {
        self.finished.extend(self.state.runs.newest);
        self.finished
    }
}
