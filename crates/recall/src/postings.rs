//! Postings: for each term the passages in which it stands. They are packed into one run of bytes, which is also what the file
//! has; those of the newest passages are in a map until they are packed too.

use integer_encoding::VarInt;
use rustc_hash::FxHashMap;

use crate::{
    terms::{Key, Terms},
    texts::to_u32,
};

/// So many passages are not packed at the most, or an eighth of those that are.
const UNPACKED: u32 = 8192;

/// How many bytes are unpacked to find the postings of a term, about, and how many a posting takes.
const RANGE_BYTES: usize = 512;
const POSTING_BYTES: usize = 4;

/// A passage in which a term stands, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting {
    pub(crate) passage: u32,
    pub(crate) count: u16,
}

/// All postings of an index.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    pub(crate) packed: Packed,
    /// How many passages were there when they were packed.
    packed_passages: u32,
    /// Those of the passages since.
    new: FxHashMap<Key, Vec<Posting>>,
}

impl Postings {
    /// Those of the first `passages` passages, as they were packed.
    pub(crate) fn read(packed: Packed, passages: u32) -> Self {
        Self { packed, packed_passages: passages, new: FxHashMap::default() }
    }

    /// Adds the terms of the next passage.
    pub(crate) fn add(&mut self, passage: u32, terms: &Terms) {
        for key in terms.words.iter().copied().chain(terms.pairs()).chain(terms.identifiers.iter().copied()) {
            let postings = self.new.entry(key).or_default();
            match postings.last_mut() {
                Some(last) if last.passage == passage => last.count = last.count.saturating_add(1),
                _ => postings.push(Posting { passage, count: 1 }),
            }
        }
    }

    /// Where a term stands, in order.
    pub(crate) fn of(&self, key: Key) -> Vec<Posting> {
        let range = self.packed.range(self.packed.range_of(key));
        let packed = range.skip_while(|(other, _)| *other < key).take_while(|(other, _)| *other == key);
        packed.map(|(_, posting)| posting).chain(self.new.get(&key).into_iter().flatten().copied()).collect()
    }

    /// Whether many of the first `passages` passages are not packed.
    pub(crate) fn has_many_new(&self, passages: u32) -> bool {
        passages - self.packed_passages >= UNPACKED.max(self.packed_passages / 8)
    }

    /// Packs all of them, but those of passages that `keeps` does not want. There are `passages` passages.
    pub(crate) fn pack(&mut self, passages: u32, keeps: impl Fn(u32) -> bool) {
        let new = std::mem::take(&mut self.new).into_iter();
        let new = new.flat_map(|(key, postings)| postings.into_iter().map(move |posting| (key, posting)));
        *self = Self::read(self.packed.with(new.collect(), keeps), passages);
    }

    /// How much memory they take, about.
    pub(crate) fn bytes(&self) -> u64 {
        let packed = self.packed.bytes.len() + self.packed.starts.len() * size_of::<u32>();
        (packed + self.new.len() * (size_of::<(Key, Vec<Posting>)>() + 4 * size_of::<Posting>())) as u64
    }
}

/// Postings in the order of their terms. A posting is how far its term is from the one before, how far its passage is from the
/// one before of the same term, and how often the term stands there.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Packed {
    /// Where each range of terms begins in the bytes. The first bits of a term say which range has it, so they are as many as
    /// a power of two.
    pub(crate) starts: Vec<u32>,
    pub(crate) bytes: Vec<u8>,
}

impl Packed {
    /// These and other postings, but for those of passages that `keeps` does not want.
    fn with(&self, mut others: Vec<(Key, Posting)>, keeps: impl Fn(u32) -> bool) -> Self {
        others.sort_unstable();
        let bytes = self.bytes.len() + others.len() * POSTING_BYTES;
        let (mut these, mut others) = (self.all().peekable(), others.into_iter().peekable());
        let all = std::iter::from_fn(|| {
            let is_other_next = match (these.peek(), others.peek()) {
                (Some(one), Some(other)) => other < one,
                (one, _) => one.is_none(),
            };
            if is_other_next { others.next() } else { these.next() }
        });
        Self::of(all.filter(|(_, posting)| keeps(posting.passage)), bytes)
    }

    /// Packs postings, which are in order, into so many bytes, about.
    fn of(all: impl Iterator<Item = (Key, Posting)>, bytes: usize) -> Self {
        let ranges = (bytes / RANGE_BYTES).next_power_of_two();
        let mut packed = Self { starts: vec![0; ranges], bytes: Vec::with_capacity(bytes) };
        let mut rest = all.peekable();
        for range in 0..ranges {
            let start = to_u32(packed.bytes.len());
            let (mut last_key, mut last_passage) = (packed.first_of(range), 0);
            while let Some((key, Posting { passage, count })) = rest.next_if(|(key, _)| packed.range_of(*key) == range)
            {
                if key != last_key {
                    last_passage = 0;
                }
                push(&mut packed.bytes, key.0 - last_key.0);
                push(&mut packed.bytes, u64::from(passage - last_passage) << 1 | u64::from(count > 1));
                if count > 1 {
                    push(&mut packed.bytes, u64::from(count));
                }
                (last_key, last_passage) = (key, passage);
            }
            if let Some(place) = packed.starts.get_mut(range) {
                *place = start;
            }
        }
        packed
    }

    /// All of them, in order.
    fn all(&self) -> impl Iterator<Item = (Key, Posting)> {
        (0..self.starts.len()).flat_map(move |range| self.range(range))
    }

    /// Those of a range of terms.
    fn range(&self, range: usize) -> Unpacked<'_> {
        let at = |range: usize| self.starts.get(range).map_or(self.bytes.len(), |start| *start as usize);
        let bytes = self.bytes.get(at(range)..at(range + 1)).unwrap_or_default();
        Unpacked { bytes, key: self.first_of(range), passage: 0 }
    }

    /// Which range has a term.
    fn range_of(&self, key: Key) -> usize {
        usize::try_from(key.0 >> self.bits_in_range()).unwrap_or(usize::MAX)
    }

    /// The first term that a range can have.
    fn first_of(&self, range: usize) -> Key {
        Key((range as u64) << self.bits_in_range())
    }

    fn bits_in_range(&self) -> u32 {
        Key::BITS - self.starts.len().max(1).ilog2()
    }
}

/// Postings that are unpacked one by one, as far as they can be read.
struct Unpacked<'a> {
    bytes: &'a [u8],
    key: Key,
    passage: u32,
}

impl Unpacked<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, length) = u64::decode_var(self.bytes)?;
        self.bytes = self.bytes.get(length..)?;
        Some(number)
    }
}

impl Iterator for Unpacked<'_> {
    type Item = (Key, Posting);

    fn next(&mut self) -> Option<Self::Item> {
        let further = self.number()?;
        if further > 0 {
            (self.key, self.passage) = (Key(self.key.0.checked_add(further)?), 0);
        }
        let number = self.number()?;
        self.passage = self.passage.checked_add(u32::try_from(number >> 1).ok()?)?;
        let count = if number & 1 == 1 { u16::try_from(self.number()?).ok()? } else { 1 };
        Some((self.key, Posting { passage: self.passage, count }))
    }
}

fn push(bytes: &mut Vec<u8>, number: u64) {
    let mut buffer = [0; 10];
    let length = number.encode_var(&mut buffer);
    bytes.extend(buffer.iter().take(length));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// A passage with these terms, each so often.
    fn terms(counts: &BTreeMap<u64, u16>) -> Terms {
        let key = |key: u64| Key(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - Key::BITS));
        let identifiers = counts.iter().flat_map(|(at, count)| vec![key(*at); usize::from(*count)]);
        Terms { identifiers: identifiers.collect(), ..Terms::default() }
    }

    proptest! {
        #[test]
        fn postings_are_those_of_a_list_whenever_they_are_packed_and_whatever_is_taken_away(
            passages in prop::collection::vec(
                (prop::collection::btree_map(0..400_u64, 1..4_u16, 0..40), any::<bool>(), prop::bool::weighted(0.1)),
                0..60,
            ),
        ) {
            let (mut postings, mut naive) = (Postings::default(), BTreeMap::<Key, Vec<Posting>>::new());
            for (passage, (counts, is_packed, is_gone)) in (0..).zip(&passages) {
                let terms = terms(counts);
                postings.add(passage, &terms);
                for key in &terms.identifiers {
                    let all = naive.entry(*key).or_default();
                    match all.last_mut() {
                        Some(last) if last.passage == passage => last.count += 1,
                        _ => all.push(Posting { passage, count: 1 }),
                    }
                }
                if *is_gone {
                    postings.pack(passage + 1, |other| other != passage / 2);
                    naive.values_mut().for_each(|all| all.retain(|posting| posting.passage != passage / 2));
                } else if *is_packed {
                    postings.pack(passage + 1, |_| true);
                }
            }
            for key in (0..400).flat_map(|at| terms(&BTreeMap::from([(at, 1)])).identifiers) {
                prop_assert_eq!(postings.of(key), naive.get(&key).cloned().unwrap_or_default());
            }
            let count = to_u32(passages.len());
            postings.pack(count, |_| true);
            let all = naive.iter().flat_map(|(key, all)| all.iter().map(move |posting| (*key, *posting)));
            prop_assert_eq!(postings.packed.all().collect::<Vec<_>>(), all.collect::<Vec<_>>());
            // As it is written, so it is read.
            let Postings { packed: Packed { starts, bytes }, .. } = postings;
            let again = Postings::read(Packed { starts, bytes }, count);
            for (key, all) in &naive {
                prop_assert_eq!(&again.of(*key), all);
            }
        }

        #[test]
        fn noise_is_some_postings(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            starts in prop::collection::vec(0..300_u32, 0..9),
        ) {
            let noise = Packed { starts, bytes };
            let all = noise.all().count();
            prop_assert!(Postings::read(noise, 1).of(Key(77)).len() <= all);
        }
    }

    #[test]
    fn few_bytes_are_unpacked_to_find_a_term_however_many_there_are() {
        for passages in [10, 1000, 5000] {
            let mut postings = Postings::default();
            for passage in 0..passages {
                postings.add(passage, &terms(&(u64::from(passage) * 20..).take(20).map(|at| (at, 1)).collect()));
            }
            postings.pack(passages, |_| true);
            let ranges = 0..postings.packed.starts.len();
            let longest = ranges.map(|range| postings.packed.range(range).bytes.len()).max();
            assert!(longest < Some(4 * RANGE_BYTES), "{passages} passages: {longest:?}");
        }
    }
}
