//! The part that holds what is to be done now.

use std::sync::Arc;

use super::{
    Format,
    shorten::{shorten_group, water_level},
    speech::{From, Kind, Speech},
    told::{Group, Told},
    written::{Writer, Written},
};
use crate::{count::Tokens, id::Seq};

/// How many texts of a task are shortened side by side, at the most.
const LONG_TEXTS: u64 = 4;

/// What is to be done: what was given, or what the reader has not answered.
pub(super) struct Task<'a> {
    groups: Vec<Group>,
    writer: Writer<'a>,
    /// Whether something of it was shortened or left out.
    pub(super) shortened: bool,
}

impl<'a> Task<'a> {
    /// The task of a request: the one that is given, else what was told last.
    pub(super) fn new(told: &Told, given: Option<&str>, writer: Writer<'a>) -> Self {
        let groups = match given {
            Some(text) => vec![vec![spoken(text, writer.format)]],
            None => told.task().to_vec(),
        };
        Self { groups, writer, shortened: false }
    }

    /// The size of it.
    pub(super) fn size(&self) -> Tokens {
        self.writer.sizes(&self.groups).into_iter().sum()
    }

    /// Makes it fit in `allowed`, as far as that can be done: its longest texts are shortened, and where they are many,
    /// what was said between the question and the newest is left out.
    pub(super) fn fit(&mut self, allowed: Tokens) {
        if self.size() <= allowed {
            return;
        }
        self.shortened = true;
        let all = std::mem::take(&mut self.groups);
        for newest in (0..all.len()).rev() {
            let groups = beginning_and(newest, &all);
            let sizes = self.writer.sizes(&groups);
            let level = water_level(&sizes.iter().map(|size| (Tokens(0), *size)).collect::<Vec<_>>(), allowed);
            // A few whole texts are of more use than many that are shortened to next to nothing.
            let whole = sizes.iter().all(|size| *size <= level);
            if newest > 1 && !whole && level.0 < allowed.0 / LONG_TEXTS {
                continue;
            }
            self.groups = groups;
            for (group, _) in self.groups.iter_mut().zip(sizes).filter(|(_, size)| *size > level) {
                shorten_group(&self.writer, group, level);
            }
            if self.size() <= allowed {
                return;
            }
        }
    }

    /// Writes it.
    pub(super) fn write(&self) -> Vec<Written> {
        self.groups.iter().map(|group| self.writer.write(group)).collect()
    }

    /// The entries that it shows.
    pub(super) fn shows(&self) -> impl Iterator<Item = Seq> {
        self.groups.iter().flatten().map(|speech| speech.seq)
    }
}

/// The first group and the newest ones; what is between them is left out and says so.
fn beginning_and(newest: usize, all: &[Group]) -> Vec<Group> {
    let behind = all.get(all.len() - newest..).unwrap_or_default();
    let between = all.get(1..all.len() - newest).unwrap_or_default();
    let seqs = between.iter().flatten().map(|speech| speech.seq);
    let note = seqs.clone().min().zip(seqs.max()).map(|(first, last)| {
        vec![Speech::note(Kind::LeftOut(format!(
            "[what was said in the entries {first} to {last} is left out here; fetch it as messages of the thread]"
        )))]
    });
    all.iter().take(1).cloned().chain(note).chain(behind.iter().cloned()).collect()
}

fn spoken(text: &str, format: Format) -> Speech {
    // Chat templates want the last word to be the user's.
    let from = match format {
        Format::Text => From::System,
        Format::OpenAi | Format::Anthropic => From::User,
    };
    let place = "raise the budget to see it whole".to_owned();
    let text = Arc::from(text);
    Speech::note(Kind::Said { from, to: None, text, calls: Vec::new(), expected: None, place })
}
