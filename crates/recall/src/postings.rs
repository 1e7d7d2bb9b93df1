//! Postings: for each term the passages in which it stands, in segments. The newest segment is in memory; full ones are
//! encoded in buckets, and read one bucket at a time.

use std::{fmt, ops::Range, sync::Arc};

use integer_encoding::VarInt;
use rustc_hash::FxHashMap;

use crate::{
    Error,
    terms::{Key, Terms},
};

/// How many passages a full segment has.
pub(crate) const SEGMENT: u32 = 8192;

/// How many buckets a segment has, as bits of the terms' keys.
const BUCKET_BITS: u32 = 9;

/// How many buckets a segment has.
pub(crate) const BUCKETS: u32 = 1 << BUCKET_BITS;

/// A passage in which a term stands, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) passage: u32,
    pub(crate) count: u16,
}

/// Where full segments are kept.
pub(crate) trait Buckets: fmt::Debug + Send + Sync {
    /// What was written of a bucket.
    fn bucket(&self, segment: u32, bucket: u32) -> Result<Arc<[u8]>, Error>;

    /// The numbers under which the segments were written.
    fn segments(&self) -> &[i64];
}

/// All postings of an index.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    /// The number of the segment in memory. Those before it are full.
    pub(crate) newest: u32,
    /// The segment in memory.
    open: FxHashMap<Key, Vec<Posting>>,
    /// Segments that are full, or were changed, and are not yet written.
    pub(crate) unwritten: FxHashMap<u32, Vec<Arc<[u8]>>>,
    /// Segments of which only what is known of texts and passages was changed.
    pub(crate) touched: Vec<u32>,
    /// Where the others are.
    pub(crate) written: Option<Arc<dyn Buckets>>,
}

impl Postings {
    /// Adds the terms of the next passage.
    pub(crate) fn add(&mut self, passage: u32, terms: &Terms) {
        let segment = passage / SEGMENT;
        if segment > self.newest {
            let full = std::mem::take(&mut self.open);
            self.unwritten.insert(self.newest, encode(self.newest, full));
            self.newest = segment;
        }
        for key in terms.words.iter().copied().chain(terms.pairs()).chain(terms.identifiers.iter().copied()) {
            let postings = self.open.entry(key).or_default();
            match postings.last_mut() {
                Some(last) if last.passage == passage => last.count = last.count.saturating_add(1),
                _ => postings.push(Posting { passage, count: 1 }),
            }
        }
        self.touch(passage);
    }

    /// Notes that something changed in the segment of a passage.
    pub(crate) fn touch(&mut self, passage: u32) {
        let segment = passage / SEGMENT;
        if !self.touched.contains(&segment) {
            self.touched.push(segment);
        }
    }

    /// Where a term stands, in order.
    pub(crate) fn of(&self, key: Key) -> Result<Vec<Posting>, Error> {
        let mut found = Vec::new();
        for segment in 0..self.newest {
            let bucket = bucket_of(key);
            decode(&self.bucket(segment, bucket)?, segment, bucket, |other, posting| {
                if other == key {
                    found.push(posting);
                }
                other <= key
            })?;
        }
        found.extend(self.open.get(&key).into_iter().flatten());
        Ok(found)
    }

    /// Takes away all postings of these passages.
    pub(crate) fn remove(&mut self, passages: Range<u32>) -> Result<(), Error> {
        for segment in passages.start / SEGMENT..=passages.end.saturating_sub(1) / SEGMENT {
            self.touch(segment * SEGMENT);
            if segment < self.newest {
                let mut kept: FxHashMap<Key, Vec<Posting>> = FxHashMap::default();
                for bucket in 0..BUCKETS {
                    decode(&self.bucket(segment, bucket)?, segment, bucket, |key, posting| {
                        if !passages.contains(&posting.passage) {
                            kept.entry(key).or_default().push(posting);
                        }
                        true
                    })?;
                }
                self.unwritten.insert(segment, encode(segment, kept));
            } else {
                self.open.retain(|_, postings| {
                    postings.retain(|posting| !passages.contains(&posting.passage));
                    !postings.is_empty()
                });
            }
        }
        Ok(())
    }

    fn bucket(&self, segment: u32, bucket: u32) -> Result<Arc<[u8]>, Error> {
        if let Some(buckets) = self.unwritten.get(&segment) {
            return Ok(buckets.get(bucket as usize).cloned().unwrap_or_default());
        }
        let written = self.written.as_ref().ok_or_else(|| Error::damaged(format!("segment {segment} is missing")))?;
        written.bucket(segment, bucket)
    }

    /// Notes that all of it is written.
    pub(crate) fn note_written(&mut self, written: Arc<dyn Buckets>) {
        self.unwritten.clear();
        self.touched.clear();
        self.written = Some(written);
    }

    /// How much memory it takes, about.
    pub(crate) fn bytes(&self) -> u64 {
        let unwritten = self.unwritten.values().flatten().map(|bucket| bucket.len()).sum::<usize>();
        let open = self.open.len() * (size_of::<(Key, Vec<Posting>)>() + 4 * size_of::<Posting>());
        (unwritten + open) as u64
    }

    /// The buckets of the segment in memory.
    pub(crate) fn encode_open(&self) -> Vec<Arc<[u8]>> {
        encode(self.newest, self.open.clone())
    }

    /// The postings that were written, with the buckets of the segment that is in memory.
    pub(crate) fn read(newest: u32, written: Arc<dyn Buckets>, open: Vec<Arc<[u8]>>) -> Result<Self, Error> {
        let mut postings = Self { newest, written: Some(written), ..Self::default() };
        for (bucket, bytes) in (0..).zip(open) {
            decode(&bytes, newest, bucket, |key, posting| {
                postings.open.entry(key).or_default().push(posting);
                true
            })?;
        }
        Ok(postings)
    }
}

fn bucket_of(key: Key) -> u32 {
    u32::try_from(key.0 >> (Key::BITS - BUCKET_BITS)).unwrap_or_default()
}

/// The buckets of a segment. Each says how many terms it has, and then has them in order: how far from the one before, how
/// many passages, and for each how far from the one before, and how often.
fn encode(segment: u32, postings: FxHashMap<Key, Vec<Posting>>) -> Vec<Arc<[u8]>> {
    let mut buckets: Vec<Vec<(Key, Vec<Posting>)>> = (0..BUCKETS).map(|_| Vec::new()).collect();
    for (key, postings) in postings {
        if let Some(bucket) = buckets.get_mut(bucket_of(key) as usize) {
            bucket.push((key, postings));
        }
    }
    (0..).zip(buckets).map(|(bucket, terms)| encode_bucket(segment, bucket, terms).into()).collect()
}

fn encode_bucket(segment: u32, bucket: u32, mut terms: Vec<(Key, Vec<Posting>)>) -> Vec<u8> {
    let mut bytes = Vec::new();
    if terms.is_empty() {
        return bytes;
    }
    terms.sort_unstable_by_key(|(key, _)| *key);
    push(&mut bytes, terms.len() as u64);
    let mut before = u64::from(bucket) << (Key::BITS - BUCKET_BITS);
    for (key, postings) in terms {
        push(&mut bytes, key.0 - before);
        push(&mut bytes, postings.len() as u64);
        before = key.0;
        let mut last = segment * SEGMENT;
        for Posting { passage, count } in postings {
            push(&mut bytes, u64::from(passage - last) << 1 | u64::from(count > 1));
            if count > 1 {
                push(&mut bytes, u64::from(count));
            }
            last = passage;
        }
    }
    bytes
}

fn push(bytes: &mut Vec<u8>, number: u64) {
    let mut buffer = [0; 10];
    let length = number.encode_var(&mut buffer);
    bytes.extend(buffer.iter().take(length));
}

/// Reads a bucket, as long as `found` wants more.
pub(crate) fn decode(
    bytes: &[u8],
    segment: u32,
    bucket: u32,
    mut found: impl FnMut(Key, Posting) -> bool,
) -> Result<(), Error> {
    let mut rest = bytes;
    let mut next = || -> Result<u64, Error> {
        let (number, length) = u64::decode_var(rest).ok_or_else(|| Error::damaged("a bucket is cut short"))?;
        rest = rest.get(length..).unwrap_or_default();
        Ok(number)
    };
    // A bucket without terms is empty.
    let terms = if bytes.is_empty() { 0 } else { next()? };
    let mut key = u64::from(bucket) << (Key::BITS - BUCKET_BITS);
    for _ in 0..terms {
        key = key.saturating_add(next()?);
        let mut passage = segment * SEGMENT;
        for _ in 0..next()? {
            let gap = next()?;
            passage = u32::try_from(gap >> 1).ok().and_then(|gap| passage.checked_add(gap)).ok_or_else(outside)?;
            let count = if gap & 1 == 1 { u16::try_from(next()?).map_err(|_| outside())? } else { 1 };
            if passage / SEGMENT != segment {
                return Err(outside());
            }
            if !found(Key(key), Posting { passage, count }) {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn outside() -> Error {
    Error::damaged("a bucket names a passage that is not in its segment")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(terms in prop::collection::btree_map(
            0..1_u64 << 40,
            prop::collection::btree_map(0..SEGMENT, 1..400_u16, 1..9),
            0..60,
        )) {
            let postings = |found: &std::collections::BTreeMap<u32, u16>| -> Vec<Posting> {
                found.iter().map(|(at, count)| Posting { passage: 3 * SEGMENT + at, count: *count }).collect()
            };
            let given = terms.iter().map(|(key, found)| (Key(*key), postings(found))).collect();
            let mut read: FxHashMap<Key, Vec<Posting>> = FxHashMap::default();
            for (bucket, bytes) in (0..).zip(encode(3, given)) {
                decode(&bytes, 3, bucket, |key, posting| {
                    read.entry(key).or_default().push(posting);
                    true
                })
                .unwrap();
            }
            prop_assert_eq!(read, terms.iter().map(|(key, found)| (Key(*key), postings(found))).collect());
        }

        #[test]
        fn noise_is_an_error_or_some_terms(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode(&bytes, 1, 7, |_, posting| {
                assert_eq!(posting.passage / SEGMENT, 1);
                true
            });
        }
    }
}
