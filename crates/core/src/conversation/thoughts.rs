//! What a model writes into its text as its thoughts, before it speaks: `<think>…</think>`. It is reasoning, and for nobody.

use serde_json::{Map, Value};

use super::{NewContent, NewMessage, Role, reasoning};

/// What thoughts begin with, and what they end with.
const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// The type of the block in which they are kept. No provider gets it back.
const BLOCK: &str = "think";

/// The thoughts with which a text begins, if there are any, and what is said behind them. Thoughts without an end are all there
/// is. Where the beginning of the thoughts stood in the prompt, the text has their end alone.
pub fn split_thoughts(text: &str) -> (Option<&str>, &str) {
    let begun = text.trim_start();
    match begun.strip_prefix(OPEN) {
        Some(thoughts) => match thoughts.split_once(CLOSE) {
            Some((thoughts, said)) => (Some(thoughts.trim()), said.trim_start()),
            None => (Some(thoughts.trim()), ""),
        },
        None => match text.split_once(CLOSE) {
            Some((thoughts, said)) if !thoughts.contains(OPEN) => (Some(thoughts.trim()), said.trim_start()),
            _ => (None, text),
        },
    }
}

/// The block of reasoning that holds thoughts.
pub fn block_of(thoughts: &str) -> Map<String, Value> {
    reasoning::block(BLOCK, thoughts.into())
}

impl NewMessage {
    /// Moves the thoughts in what a model said to its reasoning.
    pub(crate) fn set_thoughts_apart(&mut self) {
        let Some(NewContent::Text(text)) = self.content.as_ref().filter(|_| self.role == Role::Ai) else { return };
        let (Some(thoughts), said) = split_thoughts(text) else { return };
        let block = block_of(thoughts);
        self.content = Some(NewContent::Text(said.into()));
        self.reasoning.push(block);
    }
}

/// Passes on piece by piece what a model says, without its thoughts.
#[derive(Debug, Default)]
pub struct SpokenPieces {
    held: String,
    place: Place,
}

/// Where a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Place {
    #[default]
    Beginning,
    Thoughts,
    Said,
}

impl SpokenPieces {
    /// What of the next piece is said.
    pub fn push(&mut self, piece: &str) -> String {
        if self.place == Place::Said {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        if self.place == Place::Beginning {
            let begun = self.held.trim_start();
            match begun.strip_prefix(OPEN) {
                Some(thoughts) => (self.place, self.held) = (Place::Thoughts, thoughts.to_owned()),
                None if OPEN.starts_with(begun) => return String::new(),
                None => return self.speak(),
            }
        }
        match self.held.split_once(CLOSE) {
            Some((_, said)) => {
                self.held = said.trim_start().to_owned();
                self.speak()
            }
            None => {
                // The end may come in several pieces.
                let kept = self.held.len().saturating_sub(CLOSE.len());
                self.held.drain(..self.held.floor_char_boundary(kept));
                String::new()
            }
        }
    }

    /// What is said, where nothing more comes.
    pub fn finish(&mut self) -> String {
        if self.place == Place::Beginning { self.speak() } else { String::new() }
    }

    fn speak(&mut self) -> String {
        self.place = Place::Said;
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_are_set_apart_from_what_is_said() {
        assert_eq!(split_thoughts("\n<think>\nA tide?\n</think>\n\nHigh."), (Some("A tide?"), "High."));
        assert_eq!(split_thoughts("A tide?\n</think>High."), (Some("A tide?"), "High."));
        assert_eq!(split_thoughts("<think>without an end"), (Some("without an end"), ""));
        for said in ["", "High.", "It says <think> and </think>.", "a < b"] {
            assert_eq!(split_thoughts(said), (None, said));
        }
    }

    #[test]
    fn pieces_of_thoughts_are_not_passed_on_wherever_they_are_cut() {
        let all = [" <think>A tide? ü</think>\nHigh <think>.", "<thin air", "<", "High."];
        let said = ["High <think>.", "<thin air", "<", "High."];
        for (text, said) in all.into_iter().zip(said) {
            for size in 1..=text.chars().count() {
                let (chars, mut spoken) = (text.chars().collect::<Vec<_>>(), SpokenPieces::default());
                let mut heard: String =
                    chars.chunks(size).map(|piece| spoken.push(&piece.iter().collect::<String>())).collect();
                heard += &spoken.finish();
                assert_eq!(heard.trim_start(), said, "{text:?} in pieces of {size}");
            }
        }
    }
}
