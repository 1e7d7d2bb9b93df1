//! Counting tokens: the trait that vocabularies implement. Counting is pure, so it belongs to the rules.

use std::{fmt, iter::Sum, ops};

use serde::{Deserialize, Serialize};

use crate::number;

/// A number of tokens in some vocabulary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tokens(#[serde(deserialize_with = "number::whole")] pub u64);

impl Tokens {
    /// This number less `other`, at least 0.
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl ops::Add for Tokens {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl ops::AddAssign for Tokens {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Self>>(tokens: I) -> Self {
        tokens.fold(Self(0), ops::Add::add)
    }
}

impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How far a count can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counting {
    /// The exact number for the rendered text.
    Exact,
    /// At least the true number.
    UpperBound,
}

/// Counts the tokens of texts in one vocabulary.
///
/// An implementation gives the same number for the same text for ever. Counts of pieces add up where each piece ends
/// with a line end and the next starts with a character that is neither white space nor `/`: every vocabulary that is
/// counted exactly splits there.
pub trait TokenCounter: Send + Sync {
    /// The name of the vocabulary, for instance `o200k_base`.
    fn vocabulary(&self) -> &str;

    /// The number of tokens of `text`. Text that looks like a special token is counted as the plain text it is.
    fn count(&self, text: &str) -> Tokens;

    /// How far [`count`](Self::count) can be trusted.
    fn counting(&self) -> Counting {
        Counting::Exact
    }
}
