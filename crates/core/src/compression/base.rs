//! What a compression is made from.

use crate::{
    audience::VisibilitySpan,
    conversation::{StandingSummary, Thread},
    id::Seq,
    state::State,
};

/// What must not have changed when a compression is recorded that was made from a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    standing: Vec<StandingSummary>,
    sight: VisibilitySpan,
    erased: Seq,
}

impl Base {
    /// That of `thread` now.
    pub fn of(state: &State, thread: &Thread) -> Self {
        let (standing, sight) = (thread.compression.standing.clone(), thread.sight.clone());
        Self { standing, sight, erased: state.erased }
    }
}
