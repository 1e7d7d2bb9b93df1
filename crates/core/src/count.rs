//! Counting tokens: the trait that vocabularies implement. Counting is pure, so it belongs to the rules.

mod usage;

use std::{fmt, iter::Sum, ops};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub(crate) use self::usage::of_object;
pub use self::usage::{Cost, GivenUsage, Usage};
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

    /// So many parts of it, where it has `of` of them; parts of a token do not count.
    pub fn part(self, parts: u64, of: u64) -> Self {
        let part = u128::from(self.0) * u128::from(parts) / u128::from(of.max(1));
        Self(u64::try_from(part).unwrap_or(u64::MAX))
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
    /// About the true number: what another vocabulary counts, times the [`Factor`] of the model.
    Estimated,
    /// At least the true number.
    UpperBound,
}

/// How many tokens of a model one token of the vocabulary that stands in for the model's own comes to, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor(u32);

impl Factor {
    /// Tokens of a model are those of the vocabulary.
    pub const ONE: Self = Self(1000);

    /// So many thousandths, at least one.
    pub const fn thousandths(thousandths: u32) -> Self {
        Self(if thousandths == 0 { 1 } else { thousandths })
    }

    /// What `used` tokens of a model come to, where the vocabulary counts `counted`. `None` where nothing was counted.
    pub fn between(used: Tokens, counted: Tokens) -> Option<Self> {
        let thousandths = used.0.checked_mul(1000)?.checked_div(counted.0)?;
        Some(Self::thousandths(u32::try_from(thousandths).ok()?))
    }

    /// The factor as a number of thousandths.
    pub const fn as_thousandths(self) -> u32 {
        self.0
    }

    /// What tokens of the vocabulary come to for the model; parts of a token count as one.
    pub fn of(self, counted: Tokens) -> Tokens {
        Tokens(counted.0.saturating_mul(u64::from(self.0)).div_ceil(1000))
    }

    /// How many tokens of the vocabulary fit into `room` tokens of the model.
    pub fn fitting(self, room: Tokens) -> Tokens {
        room.part(1000, self.0.into())
    }
}

/// As a number such as `1.35`.
impl Serialize for Factor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1000.0)
    }
}

impl<'de> Deserialize<'de> for Factor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let factor = f64::deserialize(deserializer)?;
        let thousandths = number::of_float((factor * 1000.0).round()).and_then(|whole| u32::try_from(whole).ok());
        thousandths
            .filter(|thousandths| *thousandths > 0)
            .map(Self)
            .ok_or_else(|| de::Error::custom("a factor is above 0"))
    }
}

/// The name of the vocabulary in which each byte is a token. No model has fewer bytes than tokens.
pub const BYTES: &str = "bytes";

/// In which vocabulary a prompt is counted, and what its tokens come to for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The name of the vocabulary.
    pub vocabulary: String,
    /// The factor of the model, where the vocabulary is not its own.
    pub factor: Option<Factor>,
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

/// A text with fewer bytes is counted about as fast as its count is looked up.
const BLOCK_BYTES: usize = 1 << 10;

/// Counts a text of many lines in blocks. A counter that keeps counts then counts only the blocks anew in which a line
/// was changed. The last line of a block decides that it is the last, so a line that comes or goes moves no other block.
pub fn count_in_blocks(counter: &dyn TokenCounter, text: &str) -> Tokens {
    let (mut tokens, mut block, mut rest) = (Tokens(0), text, text);
    while let Some((line, behind)) = rest.split_once('\n') {
        rest = behind;
        let bytes = block.len() - rest.len();
        let is_apart = rest.starts_with(|c: char| c.is_ascii_graphic() && c != '/');
        if bytes >= BLOCK_BYTES && is_apart && line.bytes().fold(0, u8::wrapping_add) % 4 == 0 {
            tokens += counter.count(block.get(..bytes).unwrap_or_default());
            block = rest;
        }
    }
    tokens + counter.count(block)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, sync::Mutex};

    use super::*;

    /// Counts characters, and knows what it was asked.
    #[derive(Default)]
    struct Asked(Mutex<BTreeSet<String>>);

    impl TokenCounter for Asked {
        fn vocabulary(&self) -> &str {
            "characters"
        }

        fn count(&self, text: &str) -> Tokens {
            self.0.lock().unwrap().insert(text.to_owned());
            Tokens(text.chars().count() as u64)
        }
    }

    #[test]
    fn a_line_that_moves_leaves_most_blocks_as_they_were() {
        let line =
            |n: u32| format!("- node{n}.emails = [Array of {} results - first: {{\"sender\": \"a{n}\"}}]\n", n % 7);
        let mut lines: Vec<_> = (0..300).map(line).collect();
        let counter = Asked::default();
        let blocks = |counter: &Asked| counter.0.lock().unwrap().clone();
        for moved in [0, 20, 150, 298] {
            counter.0.lock().unwrap().clear();
            let text = lines.concat();
            assert_eq!(count_in_blocks(&counter, &text), Tokens(text.len() as u64));
            let before = blocks(&counter);
            let line = lines.remove(moved);
            lines.push(line);
            assert_eq!(count_in_blocks(&counter, &lines.concat()), Tokens(text.len() as u64));
            let more = blocks(&counter).len() - before.len();
            assert!(before.len() > 8 && more <= 4, "{more} blocks more than {}", before.len());
        }
    }

    #[test]
    fn a_block_ends_where_all_vocabularies_split() {
        let counter = Asked::default();
        // Blocks end only behind `/y`: neither white space nor `/` begins one.
        let one = format!("{}\n  \n/y\n", "a".repeat(2000));
        count_in_blocks(&counter, &one.repeat(40));
        assert_eq!(*counter.0.lock().unwrap(), BTreeSet::from([one]));
    }
}
