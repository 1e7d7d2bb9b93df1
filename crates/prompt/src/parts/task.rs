//! The part that holds what is to be done now.

use std::sync::Arc;

use callboard_core::{
    count::Tokens,
    prompt::{Amount, Format, PartName, Shares},
};

use crate::{
    Lacking,
    assemble::Assembly,
    history_cache::{Piece, left_out_between},
    parts::{Changes, Content, Gathered, Part, PartOutcome, Source},
    rendered::{Frame, Renderer},
    shorten::{shorten_group, water_level},
    utterance::{From, Kind, Utterance},
};

/// What is to be done now, in tags.
pub(crate) const TAGGED: Part<'static> = Part {
    shares: SHARES,
    ..Part::new("task", Changes::Grows, |from| task(from, "<CURRENT_TASK>\n", "</CURRENT_TASK>\n"))
};

/// The same as the end of the conversation.
pub(crate) const LABELLED: Part<'static> =
    Part { shares: SHARES, ..Part::new("conversation_history", Changes::Grows, |from| task(from, "", "")) };

const SHARES: Option<(PartName, Shares)> = Some((
    PartName::TASK,
    Shares { min: Some(Amount::Percent(25)), max: Some(Amount::Percent(100)), priority: Some(3) },
));

fn task<'a>(from: &mut Source<'a>, open: &'static str, close: &'static str) -> Gathered<'a> {
    let frame = from.renderer.frame(open, close);
    let unanswered = std::mem::take(&mut from.unanswered);
    let task = Task::new(unanswered, from.spec.task.as_deref(), frame, from.renderer);
    Ok((!task.pieces.is_empty()).then(|| Box::new(task) as Box<dyn Content>))
}

/// How many texts of a task are shortened side by side, at the most.
const LONG_TEXTS: u64 = 4;

/// In a long loop of tool calls the cut moves in steps of at most this part of the task: a provider's cache keeps more then.
/// At most as much stays empty.
const STEP: u64 = 8;

/// What is shortened gets shorter in steps of this part of the task.
const SHORTER: u64 = 32;

/// What is to be done: what was given, or what the reader has not answered.
struct Task<'a> {
    pieces: Vec<Piece>,
    renderer: Renderer<'a>,
    frame: Frame,
    /// Whether it stands in no thread.
    is_given: bool,
    /// Whether something of it was shortened or left out.
    shortened: bool,
}

impl<'a> Task<'a> {
    /// The task of a request: the one that is given, else what was not answered, which is written.
    fn new(unanswered: Vec<Piece>, given: Option<&str>, frame: Frame, renderer: Renderer<'a>) -> Self {
        let pieces = match given {
            Some(text) => vec![Piece::of(vec![spoken(text, renderer.format)], &renderer)],
            None => unanswered,
        };
        Self { pieces, renderer, frame, is_given: given.is_some(), shortened: false }
    }

    /// The size of it.
    fn size(&self) -> Tokens {
        sizes(&self.pieces).into_iter().sum()
    }

    /// Makes it fit in `allowed`, as far as that can be done: its longest texts are shortened, and where they are many,
    /// what was said between the question and the newest is left out.
    fn fit(&mut self, allowed: Tokens) {
        if self.size() <= allowed {
            return;
        }
        self.shortened = true;
        let all = std::mem::take(&mut self.pieces);
        // A few whole texts are of more use than many that are shortened to next to nothing.
        let little = Tokens(allowed.0 / LONG_TEXTS);
        let at_least = |piece: &Piece| piece.tokens().unwrap_or_default().min(little);
        let mut all_at_least: Tokens = all.iter().map(at_least).sum();
        for newest in (0..all.len()).rev() {
            let too_many = newest > 1 && all_at_least > allowed;
            all_at_least = all_at_least.minus(all.get(all.len() - newest).map(at_least).unwrap_or_default());
            if too_many {
                continue;
            }
            let pieces = self.beginning_and(newest, &all);
            let level = level_of(&pieces, allowed);
            if newest > 1 && level < little && sizes(&pieces).iter().any(|size| *size > level) {
                continue;
            }
            let fewer = steady(newest, &all, allowed);
            let pieces = if fewer < newest { self.beginning_and(fewer, &all) } else { pieces };
            let (sizes, mut level) = (sizes(&pieces), level_of(&pieces, allowed));
            if newest > 1 && sizes.iter().any(|size| *size > level) {
                // In steps, so that it is the same for a while.
                let step = (allowed.0 / SHORTER).max(1);
                level = Tokens(level.0 / step * step).max(little.min(level));
            }
            self.pieces = pieces;
            for (piece, _) in self.pieces.iter_mut().zip(sizes).filter(|(_, size)| *size > level) {
                let mut group = piece.group.to_vec();
                shorten_group(&self.renderer, &mut group, level);
                *piece = Piece::of(group, &self.renderer);
            }
            if self.size() <= allowed {
                return;
            }
        }
    }

    /// Its size with the tags around it.
    fn whole(&self) -> Tokens {
        let size = self.size();
        if size > Tokens(0) { size + self.frame.tokens() } else { size }
    }

    /// The first piece and the newest ones; what is between them is left out and says so.
    fn beginning_and(&self, newest: usize, all: &[Piece]) -> Vec<Piece> {
        let behind = all.get(all.len() - newest..).unwrap_or_default();
        let between = all.get(1..all.len() - newest).unwrap_or_default();
        let note = (!between.is_empty()).then(|| {
            let note = left_out_between(between.iter().flat_map(|piece| piece.group.iter()), &self.renderer);
            Piece::of(vec![note], &self.renderer)
        });
        all.iter().take(1).cloned().chain(note).chain(behind.iter().cloned()).collect()
    }
}

impl Content for Task<'_> {
    fn least(&mut self, min: Tokens) -> Result<Tokens, Lacking> {
        Ok(self.whole().min(min))
    }

    fn settle(&mut self, limit: Tokens) -> Result<Tokens, Lacking> {
        let taken = self.whole().min(limit);
        self.fit(taken.minus(self.frame.tokens()));
        Ok(taken)
    }

    fn render(&self, prompt: &mut Assembly<'_>) -> PartOutcome {
        let shown: Vec<_> = self.pieces.iter().filter_map(|piece| piece.written.clone()).collect();
        let tokens = prompt.section(self.frame, &shown);
        let shows = self.pieces.iter().flat_map(|piece| piece.group.iter().map(|utterance| utterance.seq)).collect();
        // A task that is given stands in no thread, and one that is shortened comes out otherwise the next time.
        let passes = self.is_given || self.shortened;
        let omitted: Vec<_> = self.pieces.iter().flat_map(Piece::damaged).collect();
        PartOutcome { tokens, shortened: self.shortened || !omitted.is_empty(), omitted, shows, passes }
    }
}

fn sizes(pieces: &[Piece]) -> Vec<Tokens> {
    pieces.iter().map(|piece| piece.tokens().unwrap_or_default()).collect()
}

/// To how many tokens the longest of the pieces have to be shortened, so that all fit.
fn level_of(pieces: &[Piece], allowed: Tokens) -> Tokens {
    water_level(&sizes(pieces).into_iter().map(|size| (Tokens(0), size)).collect::<Vec<_>>(), allowed)
}

/// So many of the newest pieces, or a few less, that what is shown begins with the same piece for a while: what was said is
/// counted, and the cut chosen that passes the roundest number.
fn steady(newest: usize, all: &[Piece], allowed: Tokens) -> usize {
    let cut = all.len() - newest;
    if newest < 2 || cut < 2 {
        return newest;
    }
    let sizes = sizes(all);
    let mut before: Tokens = sizes.iter().take(cut - 1).copied().sum();
    let (mut best, mut roundest, mut empty) = (cut, 0, Tokens(0));
    for (at, size) in (cut..all.len()).zip(sizes.iter().skip(cut - 1)) {
        empty += if at > cut { *size } else { Tokens(0) };
        if empty.0 > allowed.0 / STEP {
            break;
        }
        let roundness = (before.0 ^ (before + *size).0).checked_ilog2().unwrap_or(0);
        if roundness > roundest {
            (best, roundest) = (at, roundness);
        }
        before += *size;
    }
    all.len() - best
}

fn spoken(text: &str, format: Format) -> Utterance {
    // Chat templates want the last word to be the user's.
    let from = match format {
        Format::Text => From::System,
        Format::OpenAi | Format::Responses | Format::Anthropic => From::User,
    };
    let place = "raise the budget to see it whole".to_owned();
    let text = Arc::from(text);
    Utterance::note(Kind::Said { from, to: None, text, calls: Vec::new(), expected: None, place })
}
