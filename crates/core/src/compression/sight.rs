//! What the reader of a conversation is shown of it: for which entries summaries stand, and what is shown beside those.

use std::cmp::Reverse;

use crate::{
    conversation::{Cleared, StandingSummary, ThreadCompression},
    count::Tokens,
    id::{Seq, ThreadId},
    view::View,
};

/// All of a compression that decides how messages are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownAs {
    standing: Vec<StandingSummary>,
    /// The pins among what summaries cover.
    pins: Vec<Seq>,
    cleared: Option<Cleared>,
}

impl ThreadCompression {
    /// What of it decides how messages are shown.
    pub fn shown(&self) -> ShownAs {
        let is_covered = |seq: &Seq| self.standing.iter().any(|head| head.covers(*seq));
        let pins = self.pins.keys().copied().filter(is_covered).collect();
        ShownAs { standing: self.standing.clone(), pins, cleared: self.cleared }
    }
}

impl<'a> View<'a> {
    /// The summaries of a thread that stand for the viewer, by what they cover. Of two that cover the same messages, that
    /// which begins first counts: it was made from all that the viewer sees.
    pub fn summaries(&self, thread: &ThreadId) -> Vec<&'a StandingSummary> {
        let standing = self.state.threads.get(thread).into_iter().flat_map(|held| &held.compression.standing);
        let mut seen: Vec<_> = standing.filter(|head| self.sees_said(thread, head.seq, &head.audience)).collect();
        seen.sort_by_key(|head| (head.from, Reverse(head.through)));
        let mut covered = Seq::ZERO;
        seen.retain(|head| {
            let is_new = head.from > covered;
            covered = if is_new { head.through } else { covered };
            is_new
        });
        seen
    }

    /// The most tokens that a covered entry is shown with, where something is kept of it beside a summary.
    pub fn kept_tokens(&self, thread: &ThreadId, seq: Seq) -> Option<Tokens> {
        let held = self.state.threads.get(thread)?;
        let is_pinned = held.compression.pins.contains_key(&seq);
        let kept_tokens = self.summaries(thread).iter().find(|head| head.kept.contains(&seq))?.kept_tokens;
        (!is_pinned).then_some(kept_tokens)
    }

    /// Whether a result of a tool is named in prompts, no longer shown.
    pub fn is_cleared(&self, thread: &ThreadId, seq: Seq, size: Tokens) -> bool {
        let cleared = self.state.threads.get(thread).and_then(|held| held.compression.cleared);
        cleared.is_some_and(|cleared| seq <= cleared.through && size > cleared.over)
    }
}
