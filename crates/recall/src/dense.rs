//! What vectors add to the scores: how near passages, and passages with their neighbours, are to what the question means.

use std::ops::Range;

use callboard_core::id::Seq;

use crate::{
    index::Index,
    sight::Sight,
    texts::{Class, Role},
    vectors::{Vector, Vectors},
};

/// How much the meaning counts beside the terms, for a question of five terms.
const WEIGHT: f32 = 3.5;

/// The vectors of so many passages are added to those of their neighbours: the best.
const WITH_NEIGHBOURS: usize = 200;

/// A passage that has not got its vector yet.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingVector {
    /// Its number.
    pub passage: u32,
    /// Its entry.
    pub seq: Seq,
    /// Where it stands in the text of its entry, in bytes.
    pub bytes: Range<usize>,
    /// Who says it, as it stands before the text that gets the vector: a name, `User` or `Assistant`.
    pub speaker: Option<String>,
}

impl Index {
    /// The first passages that have not got their vectors yet, at most so many.
    pub fn without_vectors(&self, most: usize) -> Vec<MissingVector> {
        let next = self.vectors.next();
        let numbered = (0_u32..).zip(&self.texts.passages).skip(next).take(most);
        let wanted = numbered.filter_map(|(passage, indexed)| {
            let text = self.texts.texts.get(indexed.text as usize)?;
            let name = self.texts.speaker_of(text).or(match text.role {
                Role::User => Some("User"),
                Role::Assistant => Some("Assistant"),
                Role::Other => None,
            });
            let bytes = indexed.start as usize..indexed.end as usize;
            Some(MissingVector { passage, seq: text.seq, bytes, speaker: name.map(str::to_owned) })
        });
        wanted.collect()
    }

    /// Adds the vectors of `wanted`, or that a passage has none. Returns for each the entry of the passage that got one: what
    /// was erased meanwhile gets none, and another index than the one that wants them gets none at all.
    pub fn add_vectors(&mut self, wanted: &[MissingVector], vectors: &[Option<Vector>]) -> Vec<Option<Seq>> {
        let now = self.without_vectors(wanted.len());
        let is_same = |(old, new): (&MissingVector, &MissingVector)| (old.passage, old.seq) == (new.passage, new.seq);
        if now.len() != wanted.len() || !wanted.iter().zip(&now).all(is_same) {
            return Vec::new();
        }
        let all = wanted.iter().zip(&now).zip(vectors);
        let add = all.map(|((old, new), vector)| {
            let vector = vector.as_ref().filter(|_| old.bytes == new.bytes);
            self.vectors.push(vector);
            vector.map(|_| new.seq)
        });
        add.collect()
    }

    /// How many passages have their vectors, or have none for good.
    pub fn vectors(&self) -> usize {
        self.vectors.next()
    }

    /// Whether that is all that a viewer sees, who sees each class from the entry on that `from` says, as of the entry `at`.
    /// What is hidden does not count.
    pub fn has_vectors_for(&self, from: &dyn Fn(&Class) -> Option<Seq>, at: Option<Seq>) -> bool {
        self.vectors() >= self.passages() || !self.sight(from, at).sees_from(self.vectors())
    }
}

/// How much the meaning counts beside so many terms.
pub(crate) fn weight(terms: usize) -> f32 {
    WEIGHT * (terms.max(2) as f32 / 5.0).sqrt()
}

/// Adds to the scores of all passages that are seen how near they are to `question`; for the best, also how near they are
/// with their neighbours.
pub(crate) fn add(vectors: &Vectors, sight: &Sight, question: &Vector, weight: f32, scores: &mut [f32]) {
    let mut near: Vec<u32> = Vec::new();
    for (passage, score) in (0_u32..).zip(scores.iter_mut()).filter(|(passage, _)| sight.sees(*passage)) {
        *score += weight * vectors.cos(passage, question);
        near.push(passage);
    }
    let score = |passage: &u32| scores.get(*passage as usize).copied().unwrap_or_default();
    if near.len() > WITH_NEIGHBOURS {
        near.select_nth_unstable_by(WITH_NEIGHBOURS, |a, b| score(b).total_cmp(&score(a)).then(a.cmp(b)));
        near.truncate(WITH_NEIGHBOURS);
    }
    for passage in near {
        if let Some(score) = scores.get_mut(passage as usize) {
            *score += weight * with_neighbours(vectors, sight, question, passage);
        }
    }
}

/// What vectors add to the score of one of the best passages.
pub(crate) fn of(vectors: &Vectors, sight: &Sight, question: &Vector, weight: f32, passage: u32) -> f32 {
    weight * (vectors.cos(passage, question) + with_neighbours(vectors, sight, question, passage))
}

fn with_neighbours(vectors: &Vectors, sight: &Sight, question: &Vector, passage: u32) -> f32 {
    let mut window = Vec::new();
    sight.borrow(passage, |lender, weight| window.push((lender, weight)));
    vectors.cos_of_sum(&window, question)
}

#[cfg(test)]
mod tests;
