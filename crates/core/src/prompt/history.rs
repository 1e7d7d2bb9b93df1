//! The part that holds what was said before, newest first as far as there is room.

use super::{
    Lacking,
    history_cache::{HistoryCache, Piece},
    utterance::{Kind, Utterance},
    written::Writer,
};
use crate::{
    count::Tokens,
    id::{Seq, ThreadId},
    tail::Source,
    view::View,
};

/// What was said before the task, written and counted as far back as a prompt could show it.
pub(super) struct History<'a> {
    history: &'a HistoryCache,
    /// The piece with which the task begins.
    task: usize,
    writer: Writer<'a>,
    /// Newest first.
    sizes: Vec<Tokens>,
    /// The size of all that was ever said here before the reader, by the sizes that the entries have.
    all: u64,
    head: Seq,
}

/// What is shown of the history.
#[derive(Default)]
pub(super) struct Excerpt {
    /// The first group that is shown.
    cut: usize,
    /// What was said before this entry is left out.
    pub(super) left_out: Option<Seq>,
    pub(super) tokens: Tokens,
}

impl<'a> History<'a> {
    /// What was said before the piece `task`, as far as it was written.
    pub(super) fn new(
        view: &View<'_>,
        thread: &ThreadId,
        history: &'a HistoryCache,
        task: usize,
        writer: Writer<'a>,
    ) -> Self {
        let before = history.pieces().get(..task).unwrap_or_default();
        let sizes = before.iter().rev().map_while(Piece::tokens).collect();
        let threads = Source::of(view, thread).threads;
        let threads = threads.iter().filter_map(|name| view.thread(name).ok());
        let all = threads.map(|thread| view.size(thread).tokens).sum::<Tokens>().0;
        Self { history, task, writer, sizes, all, head: view.state.head.seq }
    }

    /// The newest that fits in `allowed`; where nothing does, it says at least that it was left out. Where not all of it
    /// fits, the cut moves in steps of up to a quarter of `allowed`, so that it stays where it is for a while and a
    /// provider's prompt cache keeps its prefix.
    pub(super) fn fit(&self, allowed: Tokens) -> Result<Excerpt, Lacking> {
        let groups = self.task;
        let mut used = Tokens(0);
        let fits = |size: &&Tokens| {
            used += **size;
            used <= allowed
        };
        let fitting = self.sizes.iter().take_while(fits).count();
        if fitting == groups && self.history.is_complete() {
            return Ok(Excerpt { cut: 0, left_out: None, tokens: self.sizes.iter().copied().sum() });
        }
        if groups - fitting <= self.history.unsettled() && !self.history.is_complete() {
            return Err(Lacking::Older);
        }
        let mut cut = self.stable_cut(groups - fitting, allowed);
        loop {
            let excerpt = self.cut_at(cut);
            if excerpt.tokens <= allowed || cut >= groups {
                return Ok(excerpt);
            }
            cut += 1;
        }
    }

    /// The size of what fits in `allowed`, or of all of it where that is less than it takes to say that it is left out.
    pub(super) fn least(&self, allowed: Tokens) -> Result<Tokens, Lacking> {
        let note = self.writer.size(&[left_out(self.head.next())]);
        Ok(self.fit(allowed.max(note))?.tokens)
    }

    /// That something is left out, where it is.
    pub(super) fn note(&self, excerpt: &Excerpt) -> Option<Piece> {
        excerpt.left_out.map(|before| Piece::of(vec![left_out(before)], &self.writer))
    }

    /// What is shown of it.
    pub(super) fn shown(&self, excerpt: &Excerpt) -> &'a [Piece] {
        self.history.pieces().get(excerpt.cut..self.task).unwrap_or_default()
    }

    fn cut_at(&self, cut: usize) -> Excerpt {
        let before = self.history.pieces().get(cut).and_then(Piece::seq).unwrap_or(self.head.next());
        let shown = self.sizes.iter().take(self.task - cut).copied().sum::<Tokens>();
        Excerpt { cut, left_out: Some(before), tokens: shown + self.writer.size(&[left_out(before)]) }
    }

    /// The first group at or behind `least` that begins a new step, counted by the sizes that the entries have.
    fn stable_cut(&self, least: usize, allowed: Tokens) -> usize {
        let step = (allowed.0 / 4).max(1);
        let step = i128::from(1_u64 << step.ilog2());
        let mut start = i128::from(self.all);
        let mut starts = Vec::new();
        for (at, piece) in self.history.pieces().iter().enumerate().skip(least).rev() {
            start -= piece.group.iter().map(|utterance| i128::from(utterance.size.0)).sum::<i128>();
            starts.push((at, start));
        }
        let boundary = (start + step - 1).div_euclid(step) * step;
        let behind = starts.iter().rev().find(|(at, start)| *at <= self.task && *start >= boundary);
        behind.map_or(least, |(at, _)| (*at).min(self.task))
    }
}

/// Says that older entries are left out.
fn left_out(before: Seq) -> Utterance {
    Utterance::note(Kind::LeftOut(format!(
        "[what was said before entry {before} is left out here; fetch it as older messages of the thread]"
    )))
}
