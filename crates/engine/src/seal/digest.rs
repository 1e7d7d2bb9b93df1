//! Digests of long texts. Whether two are the same is known without a look at either, and without a copy.

use std::ops::ControlFlow;

use super::writing::Writing;

/// A prime, so that two texts have the same digest by chance only: one in 10^18 for each byte.
const PRIME: u64 = (1 << 61) - 1;

/// Any number below the prime.
const BASE: u64 = 0x0b5d_1f3a_97c8_e64d;

/// Of how many bytes each the digests of a text are kept.
const STEP: usize = 16;

/// The digest of what was written so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digest {
    pub(super) bytes: usize,
    hash: u64,
    /// The base to the power of `bytes`.
    power: u64,
}

impl Digest {
    const EMPTY: Self = Self { bytes: 0, hash: 0, power: 1 };

    /// Of a value as it is written in one way.
    pub(super) fn of(writing: Writing, value: &str) -> Self {
        let mut digest = Self::EMPTY;
        // A sink that takes all never has enough.
        let _ = writing.write(value, &mut |piece| {
            digest.add(piece);
            ControlFlow::Continue(())
        });
        digest
    }

    /// Of the beginnings with so many bytes, which are in order. What is not longer than its beginning is left out.
    pub(super) fn of_beginnings(writing: Writing, value: &str, bytes: impl Iterator<Item = usize>) -> Vec<Self> {
        let (mut all, mut digest, mut bytes) = (Vec::new(), Self::EMPTY, bytes.peekable());
        let _ = writing.write(value, &mut |mut piece| {
            while let Some(end) = bytes.next_if(|end| *end < digest.bytes + piece.len()) {
                let (now, later) = piece.split_at(end - digest.bytes);
                digest.add(now);
                all.push(digest);
                piece = later;
            }
            digest.add(piece);
            if bytes.peek().is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        all
    }

    fn add(&mut self, piece: &[u8]) {
        self.bytes += piece.len();
        for byte in piece {
            self.hash = step(self.hash, *byte);
            self.power = times(self.power, BASE);
        }
    }
}

/// A text in which the digest of any part is found.
pub(super) struct Digested<'a> {
    text: &'a [u8],
    /// The digest of the text up to each step.
    steps: Vec<u64>,
}

impl<'a> Digested<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let text = text.as_bytes();
        let all = text.chunks(STEP).scan(0, |hash, chunk| {
            let before = *hash;
            *hash = chunk.iter().fold(before, |hash, byte| step(hash, *byte));
            Some(before)
        });
        Self { text, steps: all.collect() }
    }

    /// Whether what begins at `start` is the same.
    pub(super) fn has(&self, start: usize, digest: &Digest) -> bool {
        let end = start + digest.bytes;
        end <= self.text.len() && self.up_to(end) == (times(self.up_to(start), digest.power) + digest.hash) % PRIME
    }

    fn up_to(&self, end: usize) -> u64 {
        // At the very end of the text there may be no step any more.
        let at = (end / STEP).min(self.steps.len().saturating_sub(1));
        let before = self.steps.get(at).copied().unwrap_or_default();
        self.text.get(at * STEP..end).unwrap_or_default().iter().fold(before, |hash, byte| step(hash, *byte))
    }
}

fn step(hash: u64, byte: u8) -> u64 {
    // A byte that is zero counts too.
    (times(hash, BASE) + u64::from(byte) + 1) % PRIME
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    // 2^61 is 1 modulo the prime, so the upper bits can be added to the lower ones.
    let sum = (product & u128::from(PRIME)) as u64 + (product >> 61) as u64;
    if sum >= PRIME { sum - PRIME } else { sum }
}
