//! The pieces of a prompt: as far as those of two prompts are the same, a provider has the prompt in its cache.

use callboard_core::{count::Tokens, entry::Hash, prompt::Format};

/// The pieces of a prompt in order, each as its hash and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptPieces {
    format: Format,
    pieces: Vec<(Hash, Tokens)>,
}

impl PromptPieces {
    /// A prompt in this format that has none yet.
    pub(super) fn new(format: Format) -> Self {
        Self { format, pieces: Vec::new() }
    }

    /// Adds what is not empty.
    pub(super) fn add(&mut self, what: &str, tokens: Tokens) {
        if !what.is_empty() {
            self.push(Hash::of(what.as_bytes()), tokens);
        }
    }

    /// Adds what a model reads before all else.
    pub(super) fn put_first(&mut self, what: &str, tokens: Tokens) {
        if !what.is_empty() {
            self.pieces.insert(0, (Hash::of(what.as_bytes()), tokens));
        }
    }

    pub(super) fn push(&mut self, hash: Hash, tokens: Tokens) {
        self.pieces.push((hash, tokens));
    }

    /// About how many bytes of memory they take.
    pub fn bytes(&self) -> usize {
        self.pieces.len() * size_of::<(Hash, Tokens)>()
    }

    /// The size of the whole pieces with which this prompt and another one begin. Those of another format are others.
    pub fn common(&self, other: &Self) -> Tokens {
        let both = self.pieces.iter().zip(&other.pieces).filter(|_| self.format == other.format);
        both.take_while(|((one, _), (other, _))| one == other).map(|((_, tokens), _)| *tokens).sum()
    }
}
