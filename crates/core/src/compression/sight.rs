//! What the reader of a conversation is shown of it: for which entries summaries stand, and what is shown beside those.

use std::{cmp::Reverse, collections::BTreeSet};

use super::{Cleared, Compression, Head};
use crate::{
    conversation::said::Said,
    count::Tokens,
    id::{Seq, ThreadId},
    tail::{Item, Source},
    view::View,
};

/// All of a compression that decides how messages are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    standing: Vec<Head>,
    /// The pins among what summaries cover.
    pins: Vec<Seq>,
    cleared: Option<Cleared>,
}

impl Compression {
    /// What of it decides how messages are shown.
    pub(crate) fn shown(&self) -> Shown {
        let is_covered = |seq: &Seq| self.standing.iter().any(|head| head.covers(*seq));
        let pins = self.pins.keys().copied().filter(is_covered).collect();
        Shown { standing: self.standing.clone(), pins, cleared: self.cleared }
    }
}

impl<'a> View<'a> {
    /// The summaries of a thread that stand for the viewer, by what they cover. Of two that cover the same messages, that
    /// which begins first counts: it was made from all that the viewer sees.
    pub fn summaries(&self, thread: &ThreadId) -> Vec<&'a Head> {
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

    /// Whether a summary stands for an entry of a conversation. What came of directives is left out with what was said in
    /// `main` before it.
    pub(crate) fn is_covered(&self, item: &Item) -> bool {
        let seq = item.header.seq;
        let covers = |thread: &ThreadId| self.summaries(thread).iter().any(|head| head.covers(seq));
        match &item.said {
            Said::Message(message) => covers(&message.thread_id),
            Said::Checked(checked) => covers(&checked.thread_id),
            Said::Directive(_) => covers(&ThreadId::main()),
            Said::Summary(_) => true,
        }
    }

    /// The most tokens that a covered entry is shown with, where something is kept of it beside a summary.
    pub(crate) fn kept_tokens(&self, thread: &ThreadId, seq: Seq) -> Option<Tokens> {
        let held = self.state.threads.get(thread)?;
        let is_pinned = held.compression.pins.contains_key(&seq);
        let kept_tokens = self.summaries(thread).iter().find(|head| head.kept.contains(&seq))?.kept_tokens;
        (!is_pinned).then_some(kept_tokens)
    }

    /// Whether a result of a tool is named in prompts, no longer shown.
    pub(crate) fn is_cleared(&self, thread: &ThreadId, seq: Seq, size: Tokens) -> bool {
        let cleared = self.state.threads.get(thread).and_then(|held| held.compression.cleared);
        cleared.is_some_and(|cleared| seq <= cleared.through && size > cleared.over)
    }
}

impl Source {
    /// The entries that are shown although they are older than where the conversation [begins](Self::begins), or stand
    /// among what a summary covers: first the summaries, then what is kept and pinned.
    pub fn kept(&self, view: &View<'_>) -> Vec<Seq> {
        let (mut summaries, mut kept) = (Vec::new(), BTreeSet::new());
        for thread in &self.threads {
            let pins = view.state.threads.get(thread).map(|held| &held.compression.pins);
            for head in view.summaries(thread) {
                summaries.push(head.seq);
                kept.extend(&head.kept);
                kept.extend(
                    pins.into_iter().flat_map(|pins| pins.range(head.from..=head.through)).map(|(seq, _)| *seq),
                );
            }
        }
        summaries.extend(kept);
        summaries
    }

    /// The first entry that has to be read: a summary stands for all before it.
    pub fn begins(&self, view: &View<'_>) -> Seq {
        let begins = |thread: &ThreadId| {
            let held = view.state.threads.get(thread)?;
            let behind =
                |begins: Seq, head: &Head| if head.from <= begins { begins.max(head.through.next()) } else { begins };
            Some(view.summaries(thread).into_iter().fold(held.sight.since, behind))
        };
        let first = self.threads.iter().filter_map(begins).min();
        // What came of directives may be older than any thread.
        let directives = self.directives && view.state.threads.get(&ThreadId::main()).is_none();
        first.filter(|_| !directives).unwrap_or(Seq(1)).max(Seq(1))
    }
}
