//! What of a history is shown: the newest whole as far as there is room, and what is long shortened, so that one long
//! message does not take the room of all others.

use callboard_core::{
    count::Tokens,
    id::{Seq, ThreadId},
    view::View,
};

use crate::{
    Lacking,
    fetch::READ_MESSAGES,
    history_cache::{HistoryCache, Piece},
    rendered::{RenderedPiece, Renderer},
    shorten::water_level,
    tail::Source,
    utterance::{Kind, Utterance},
};

/// Where not all fits, a message that is longer than this part of the history is shortened to it.
const FAIR_SHARE: u64 = 8;

/// No message is shortened because of its share to fewer tokens than this.
const LITTLE: Tokens = Tokens(128);

/// The cut moves in steps of at most this part of the history. At most as much stays empty, which with what notes leave
/// is less than a twentieth.
const STEP: u64 = 21;

/// What was said before the task.
pub(super) struct History<'a> {
    cache: &'a mut HistoryCache,
    /// How many pieces are shown before all others, whatever room there is: summaries, and what is shown beside them.
    kept: usize,
    /// The piece with which the task begins.
    task: usize,
    renderer: Renderer<'a>,
    head: Seq,
    /// The size of all that was ever said here before the reader, by the sizes that the entries have.
    all: u64,
}

/// What is shown of the history.
#[derive(Clone, Debug, Default)]
pub(super) struct Excerpt {
    /// How many pieces are shown before the others, and how many tokens each of them may have.
    kept: (usize, Tokens),
    /// The first piece that is shown.
    cut: usize,
    /// How many tokens that one may have.
    first: Tokens,
    /// How many tokens each of the others may have.
    level: Tokens,
    /// What was said before this entry is left out.
    left_out: Option<Seq>,
    pub(super) tokens: Tokens,
}

/// What is shown of a thread may be more than the thread knows of: its beginning is counted from here.
const ALL_BEFORE: u128 = 1 << 96;

/// What is shortened gets shorter in steps of at most this part of the history, together: its ends leave a little more.
const SHORTER: u64 = 32;

/// How many finer steps there are in a step.
const FINER: u64 = 8;

/// How many tokens a piece has at the most where none is to be shortened.
const WHOLE: Tokens = Tokens(u64::MAX);

impl<'a> History<'a> {
    /// What was said before the piece `task`.
    pub(super) fn new(
        view: &View<'_>,
        thread: &ThreadId,
        cache: &'a mut HistoryCache,
        task: usize,
        renderer: Renderer<'a>,
    ) -> Self {
        let threads = Source::of(view, thread).threads;
        let threads = threads.iter().filter_map(|name| view.thread(name).ok());
        let all = threads.map(|thread| view.size(thread).tokens).sum::<Tokens>().0;
        let kept = cache.kept.min(task);
        Self { cache, kept, task, renderer, head: view.state.head.seq, all }
    }

    /// As much as fits in `allowed`; where nothing does, it says at least that it was left out.
    ///
    /// Where all fits if what is long is shortened, all is shown. Else what is newest is shown, and what is longer than
    /// a fair share is shortened to that.
    pub(super) fn fit(&mut self, allowed: Tokens) -> Result<Excerpt, Lacking> {
        let kept = self.fit_kept(allowed);
        let mut excerpt = self.fit_newer(allowed.minus(kept.tokens))?;
        if kept.kept.0 < self.kept && excerpt.left_out.is_none() {
            excerpt = self.cut_at(excerpt.cut, excerpt.first, excerpt.level);
        }
        Ok(Excerpt { kept: kept.kept, tokens: excerpt.tokens + kept.tokens, ..excerpt })
    }

    /// Summaries and what is shown beside them: whole where they take no more than three quarters of the room, else
    /// shortened to that.
    fn fit_kept(&mut self, allowed: Tokens) -> Excerpt {
        if self.kept == 0 {
            return Excerpt::default();
        }
        let room = allowed.minus(self.longest_note());
        let sizes: Vec<_> = (0..self.kept).map(|at| (Tokens(0), self.cache.size(&self.renderer, at))).collect();
        let level = water_level(&sizes, Tokens(room.0 / 4 * 3));
        let mut tokens: Tokens = (0..self.kept).map(|at| self.size(at, level)).sum();
        let mut kept = self.kept;
        if tokens > room {
            // There is no room even to say that they are left out.
            (kept, tokens) = (0, Tokens(0));
        }
        Excerpt { kept: (kept, level), tokens, ..Excerpt::default() }
    }

    fn fit_newer(&mut self, allowed: Tokens) -> Result<Excerpt, Lacking> {
        let share = fair_share(allowed);
        match self.level_for_all(allowed, share)? {
            Some(level) => Ok(self.all(level)),
            None => self.newest(allowed, share),
        }
    }

    /// The size of what fits in `allowed`, or of all of it where that is less than it takes to say that it is left out.
    pub(super) fn least(&mut self, allowed: Tokens) -> Result<Tokens, Lacking> {
        Ok(self.fit(allowed.max(self.longest_note()))?.tokens)
    }

    /// What is written of an excerpt.
    pub(super) fn shown(&self, excerpt: &Excerpt) -> Vec<RenderedPiece> {
        let note = excerpt.left_out.map(|before| self.renderer.write(&[self.left_out(before)]));
        let pieces = self.pieces(excerpt).filter_map(|(piece, allowed)| piece.within(allowed).cloned());
        let kept = self.kept_pieces(excerpt).filter_map(|(piece, allowed)| piece.within(allowed).cloned());
        kept.chain(note).chain(pieces).collect()
    }

    /// The entries that an excerpt shows.
    pub(super) fn shows(&self, excerpt: &Excerpt) -> Vec<Seq> {
        let is_shown = |(piece, allowed): &(&Piece, Tokens)| {
            piece.shortened_to(*allowed).is_none_or(|shortened| !shortened.is_left_out)
        };
        let pieces = self.kept_pieces(excerpt).chain(self.pieces(excerpt)).filter(is_shown);
        pieces.flat_map(|(piece, _)| piece.group.iter().map(|utterance| utterance.seq)).collect()
    }

    /// What an excerpt leaves out, by name.
    pub(super) fn omitted(&self, excerpt: &Excerpt) -> Vec<String> {
        let before = excerpt.left_out.map(|before| format!("what was said before entry {before}"));
        let shortened = self.kept_pieces(excerpt).chain(self.pieces(excerpt)).filter_map(|(piece, allowed)| {
            let is_long = piece.tokens()? > allowed;
            is_long.then(|| Some(format!("a part of entry {}", piece.seq()?))).flatten()
        });
        let shown = self.kept_pieces(excerpt).chain(self.pieces(excerpt));
        let damaged = shown.flat_map(|(piece, _)| piece.damaged());
        before.into_iter().chain(shortened).chain(damaged).collect()
    }

    /// The pieces of an excerpt, each with the tokens that it may have.
    fn pieces(&self, excerpt: &Excerpt) -> impl Iterator<Item = (&Piece, Tokens)> {
        let pieces = self.cache.pieces().get(excerpt.cut..self.task).unwrap_or_default();
        let levels = std::iter::once(excerpt.first).chain(std::iter::repeat(excerpt.level));
        pieces.iter().zip(levels)
    }

    /// The pieces before them.
    fn kept_pieces(&self, excerpt: &Excerpt) -> impl Iterator<Item = (&Piece, Tokens)> {
        let (kept, level) = excerpt.kept;
        self.cache.pieces().iter().take(kept).map(move |piece| (piece, level))
    }

    fn size(&mut self, at: usize, level: Tokens) -> Tokens {
        self.cache.size_within(&self.renderer, at, level)
    }

    /// The size to which long pieces have to be shortened, so that all that was ever said fits in `allowed`; nothing where
    /// that is less than their `share`. It sinks in steps while more is said.
    fn level_for_all(&mut self, allowed: Tokens, share: Tokens) -> Result<Option<Tokens>, Lacking> {
        let (mut sizes, mut used) = (Vec::new(), Tokens(0));
        for at in (self.kept..self.task).rev() {
            let size = self.cache.size(&self.renderer, at);
            used += size.min(share);
            if used > allowed {
                return Ok(None);
            }
            sizes.push((Tokens(0), size));
        }
        if !self.cache.complete {
            return Err(Lacking::Older);
        }
        if sizes.iter().map(|(_, size)| *size).sum::<Tokens>() <= allowed {
            return Ok(Some(WHOLE));
        }
        let level = water_level(&sizes, allowed);
        let step = step(allowed);
        let long = sizes.iter().filter(|(_, size)| *size > level.minus(step)).count() as u64;
        let step = (step.0 / long.next_power_of_two()).max(1);
        Ok(Some(Tokens(level.0 / step * step).max(share)))
    }

    fn all(&mut self, level: Tokens) -> Excerpt {
        let tokens = (self.kept..self.task).map(|at| self.size(at, level)).sum();
        Excerpt { cut: self.kept, first: level, level, left_out: None, tokens, ..Excerpt::default() }
    }

    /// The newest pieces that fit in `allowed`, each with at most its `share`.
    fn newest(&mut self, allowed: Tokens, share: Tokens) -> Result<Excerpt, Lacking> {
        let (mut cut, mut used) = (self.task, Tokens(0));
        while cut > self.kept {
            let more = used + self.size(cut - 1, share);
            if more > allowed {
                break;
            }
            (used, cut) = (more, cut - 1);
        }
        if cut <= self.cache.unsettled() && !self.cache.complete {
            return Err(Lacking::Older);
        }
        if cut == self.kept {
            return Ok(self.all(share));
        }
        let room = allowed.minus(self.longest_note());
        while used > room && cut < self.task {
            used = used.minus(self.size(cut, share));
            cut += 1;
        }
        let rest = room.minus(used);
        let mut excerpt = match self.filled(cut, rest, allowed, share) {
            Some(first) => self.cut_at(cut - 1, first, share),
            None => {
                let cut = self.steady_cut(cut, rest, allowed, share);
                self.cut_at(cut, share, share)
            }
        };
        while excerpt.tokens > allowed && excerpt.cut < self.task {
            excerpt = self.cut_at(excerpt.cut + 1, share, share);
        }
        Ok(excerpt)
    }

    /// To how many tokens the piece before the cut is shortened to fill the `rest`. Less than a step stays empty, so that
    /// it is not another one with each message that is added. If too much stayed empty since the piece cannot be so short,
    /// it is tried in finer steps.
    fn filled(&mut self, cut: usize, rest: Tokens, allowed: Tokens, share: Tokens) -> Option<Tokens> {
        let step = step(allowed).0;
        let finer = (step / FINER).max(1);
        let filled = self.filled_in_steps(cut, rest, step, share);
        if filled.is_none() && rest.0 > allowed.0 / STEP {
            return self.filled_in_steps(cut, rest, finer, share);
        }
        filled
    }

    fn filled_in_steps(&mut self, cut: usize, rest: Tokens, step: u64, share: Tokens) -> Option<Tokens> {
        let first = Tokens(rest.0 / step * step);
        if share == WHOLE || first == Tokens(0) || self.size(cut - 1, first) > first {
            return None;
        }
        let piece = self.cache.pieces().get(cut - 1)?;
        piece.shortened_to(first).is_some_and(|shortened| !shortened.is_left_out).then_some(first)
    }

    /// A cut at or a little behind `cut` that stays where it is for a while: what was said is counted by the sizes that
    /// the entries have, and the cut chosen that passes the roundest number.
    fn steady_cut(&mut self, cut: usize, mut rest: Tokens, allowed: Tokens, share: Tokens) -> usize {
        let size = |piece: &Piece| piece.group.iter().map(|utterance| u128::from(utterance.size.0)).sum::<u128>();
        let sizes: Vec<_> = self.cache.pieces().iter().skip(cut.saturating_sub(1)).map(size).collect();
        let mut before = ALL_BEFORE + u128::from(self.all) - sizes.iter().sum::<u128>();
        let (mut best, mut roundest) = (cut, 0);
        for (at, size) in (cut..self.task.max(cut + 1)).zip(sizes) {
            if at > cut {
                rest += self.size(at - 1, share);
                if rest.0 > allowed.0 / STEP {
                    break;
                }
            }
            let roundness = (before ^ (before + size)).checked_ilog2().unwrap_or(0);
            if roundness > roundest {
                (best, roundest) = (at, roundness);
            }
            before += size;
        }
        best
    }

    fn cut_at(&mut self, cut: usize, first: Tokens, level: Tokens) -> Excerpt {
        let before = self.cache.pieces().get(cut).and_then(Piece::seq).unwrap_or(self.head.next());
        let level_of = |at| if at == cut { first } else { level };
        let shown = (cut..self.task).map(|at| self.size(at, level_of(at))).sum::<Tokens>();
        let tokens = shown + self.renderer.size(&[self.left_out(before)]);
        Excerpt { cut, first, level, left_out: Some(before), tokens, ..Excerpt::default() }
    }

    /// What it takes to say that something is left out.
    fn longest_note(&self) -> Tokens {
        self.renderer.size(&[self.left_out(self.head.next())])
    }

    /// Says that older entries are left out.
    fn left_out(&self, before: Seq) -> Utterance {
        let fetch = self.renderer.by("fetch it as older messages of the thread", READ_MESSAGES);
        Utterance::note(Kind::LeftOut(format!("[what was said before entry {before} is left out here{fetch}]")))
    }
}

/// How many tokens of a history of `allowed` tokens one message may have, where not all fits.
fn fair_share(allowed: Tokens) -> Tokens {
    if allowed < LITTLE { WHOLE } else { power_of_two(allowed.0 / FAIR_SHARE).max(LITTLE) }
}

/// The step in which what is shortened gets shorter.
fn step(allowed: Tokens) -> Tokens {
    power_of_two(allowed.0 / SHORTER)
}

/// The largest power of two up to `most`: it is the same for budgets that differ by little.
pub(super) fn power_of_two(most: u64) -> Tokens {
    Tokens(1 << most.max(1).ilog2())
}
