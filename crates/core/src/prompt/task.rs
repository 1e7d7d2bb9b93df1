//! The part that holds what is to be done now.

use std::sync::Arc;

use super::{
    Format,
    history_cache::{Piece, left_out_between},
    shorten::{shorten_group, water_level},
    utterance::{From, Kind, Utterance},
    written::Writer,
};
use crate::count::Tokens;

/// How many texts of a task are shortened side by side, at the most.
const LONG_TEXTS: u64 = 4;

/// What is to be done: what was given, or what the reader has not answered.
pub(super) struct Task<'a> {
    pieces: Vec<Piece>,
    writer: Writer<'a>,
    /// Whether something of it was shortened or left out.
    pub(super) shortened: bool,
}

impl<'a> Task<'a> {
    /// The task of a request: the one that is given, else what was told last, which is written.
    pub(super) fn new(waiting: Vec<Piece>, given: Option<&str>, writer: Writer<'a>) -> Self {
        let pieces = match given {
            Some(text) => vec![Piece::of(vec![spoken(text, writer.format)], &writer)],
            None => waiting,
        };
        Self { pieces, writer, shortened: false }
    }

    /// The size of it.
    pub(super) fn size(&self) -> Tokens {
        sizes(&self.pieces).into_iter().sum()
    }

    /// Makes it fit in `allowed`, as far as that can be done: its longest texts are shortened, and where they are many,
    /// what was said between the question and the newest is left out.
    pub(super) fn fit(&mut self, allowed: Tokens) {
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
            let sizes = sizes(&pieces);
            let level = water_level(&sizes.iter().map(|size| (Tokens(0), *size)).collect::<Vec<_>>(), allowed);
            if newest > 1 && level < little && sizes.iter().any(|size| *size > level) {
                continue;
            }
            self.pieces = pieces;
            for (piece, _) in self.pieces.iter_mut().zip(sizes).filter(|(_, size)| *size > level) {
                let mut group = piece.group.to_vec();
                shorten_group(&self.writer, &mut group, level);
                *piece = Piece::of(group, &self.writer);
            }
            if self.size() <= allowed {
                return;
            }
        }
    }

    /// What is shown of it.
    pub(super) fn shown(&self) -> &[Piece] {
        &self.pieces
    }

    /// The first piece and the newest ones; what is between them is left out and says so.
    fn beginning_and(&self, newest: usize, all: &[Piece]) -> Vec<Piece> {
        let behind = all.get(all.len() - newest..).unwrap_or_default();
        let between = all.get(1..all.len() - newest).unwrap_or_default();
        let note = (!between.is_empty()).then(|| {
            let note = left_out_between(between.iter().flat_map(|piece| piece.group.iter()));
            Piece::of(vec![note], &self.writer)
        });
        all.iter().take(1).cloned().chain(note).chain(behind.iter().cloned()).collect()
    }
}

fn sizes(pieces: &[Piece]) -> Vec<Tokens> {
    pieces.iter().map(|piece| piece.tokens().unwrap_or_default()).collect()
}

fn spoken(text: &str, format: Format) -> Utterance {
    // Chat templates want the last word to be the user's.
    let from = match format {
        Format::Text => From::System,
        Format::OpenAi | Format::Anthropic => From::User,
    };
    let place = "raise the budget to see it whole".to_owned();
    let text = Arc::from(text);
    Utterance::note(Kind::Said { from, to: None, text, calls: Vec::new(), expected: None, place })
}
