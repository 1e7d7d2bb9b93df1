//! Where in a conversation that is known a request of its client goes on.

use std::{collections::HashMap, iter};

use callboard_core::id::Seq;
use serde_json::Value;

/// The messages that a client sends.
pub(super) struct Wanted {
    /// What counts of each, with a number: comparing numbers is cheap.
    numbers: HashMap<Value, usize>,
    said: Vec<Said>,
}

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said {
    /// `None` if the client says nothing like it.
    number: Option<usize>,
    /// Whether the agent said it.
    is_answer: bool,
}

/// A message that is known.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) seq: Seq,
    said: Said,
}

/// How what a client sends goes on with what is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fit {
    /// How many of its messages are known.
    pub(super) count: usize,
    /// The last entry before the answer, if the client asks again what was answered already.
    pub(super) before_answer: Option<Seq>,
}

impl Wanted {
    /// The messages of which this counts.
    pub(super) fn of(essences: Vec<Value>) -> Self {
        let mut wanted = Self { numbers: HashMap::new(), said: Vec::with_capacity(essences.len()) };
        for essence in essences {
            let (is_answer, next) = (is_answer(&essence), wanted.numbers.len());
            let number = *wanted.numbers.entry(essence).or_insert(next);
            wanted.said.push(Said { number: Some(number), is_answer });
        }
        wanted
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.said.len()
    }

    /// The known message of the entry `seq`, of which this counts.
    pub(super) fn known(&self, seq: Seq, essence: &Value) -> Known {
        let number = self.numbers.get(essence).copied();
        Known { seq, said: Said { number, is_answer: is_answer(essence) } }
    }

    /// Whether the client says nothing of the agent's behind so many messages.
    pub(super) fn has_all_answers_in(&self, count: usize) -> bool {
        !self.said.iter().skip(count).any(|said| said.is_answer)
    }

    /// Whether a conversation that ends with these messages may fit. What was asked last in it has to be among what the client sends.
    pub(super) fn may_fit(&self, end: &[Known]) -> bool {
        let asked_last = end.iter().rfind(|known| !known.said.is_answer);
        asked_last.is_none_or(|known| known.said.number.is_some())
    }

    /// How the client goes on with the end of what is known. Of `effort`, which is how many messages may be compared, it takes what
    /// it needed. `is_unchanged` says whether the client's instructions and tools are those of the conversation.
    pub(super) fn fit(&self, known: &[Known], effort: &mut usize, is_unchanged: impl Fn() -> bool) -> Option<Fit> {
        for begin in self.begins(known) {
            if begin > 0 && *effort == 0 {
                return None;
            }
            let rest = known.get(begin..).unwrap_or_default();
            let (through, count) = self.common(rest);
            *effort = effort.saturating_sub(through + 1);
            // A client may leave out what is old. One message alone does not show that it did.
            if begin > 0 && count < 2 {
                continue;
            }
            let left = rest.get(through..).unwrap_or_default();
            let Some(next) = left.first() else { return Some(Fit { count, before_answer: None }) };
            let is_asked_again = count == self.said.len()
                && !self.said.last().is_some_and(|last| last.is_answer)
                && left.iter().all(|known| known.said.is_answer);
            if is_asked_again && is_unchanged() {
                return Some(Fit { count, before_answer: Some(Seq(next.seq.0.saturating_sub(1))) });
            }
        }
        None
    }

    /// Where in what is known the client may begin. What it does not leave out it has to send, but for answers: where it asked again,
    /// it goes on with one of them.
    fn begins(&self, known: &[Known]) -> impl Iterator<Item = usize> {
        let mut room = self.said.iter().filter(|said| !said.is_answer).count();
        let has_room = |known: &&Known| {
            if known.said.is_answer {
                return true;
            }
            let has_room = room > 0;
            room = room.saturating_sub(1);
            has_room
        };
        let end = known.iter().rev().take_while(has_room).count();
        iter::once(0).chain(known.len().saturating_sub(end).max(1)..known.len())
    }

    /// Through which of the known messages, and how many of the client's, both say the same. Where a client asked again, the answers
    /// stand behind each other, and it goes on with one of them.
    pub(super) fn common(&self, known: &[Known]) -> (usize, usize) {
        let is_answer = |known: &&Known| known.said.is_answer;
        let (mut through, mut count) = (0, 0);
        while let Some(next) = self.said.get(count) {
            let rest = known.get(through..).unwrap_or_default().iter();
            let is_next = |known: &Known| known.said == *next;
            let at = match next.is_answer {
                true => rest.take_while(is_answer).position(is_next),
                false => rest.take(1).position(is_next),
            };
            let Some(at) = at else { break };
            through += at + 1;
            count += 1;
            if next.is_answer && !self.said.get(count).is_some_and(|said| said.is_answer) {
                through += known.get(through..).unwrap_or_default().iter().take_while(is_answer).count();
            }
        }
        (through, count)
    }
}

fn is_answer(essence: &Value) -> bool {
    essence.get(0).and_then(Value::as_str) == Some("assistant")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// How a client that sends these messages goes on with those that are known. Answers begin with `A`.
    fn fit(known: &[&str], sent: &[&str], mut effort: usize) -> Option<Fit> {
        let essence = |text: &&str| json!([if text.starts_with('A') { "assistant" } else { "user" }, text]);
        let wanted = Wanted::of(sent.iter().map(essence).collect());
        let known: Vec<_> = known.iter().zip(1..).map(|(text, seq)| wanted.known(Seq(seq), &essence(text))).collect();
        wanted.fit(&known, &mut effort, || true)
    }

    fn on(count: usize) -> Option<Fit> {
        Some(Fit { count, before_answer: None })
    }

    #[test]
    fn a_client_goes_on_where_it_was() {
        assert_eq!(fit(&["1", "A"], &["1", "A", "2"], 100), on(2));
        // It leaves out what is old.
        assert_eq!(fit(&["1", "A", "2", "AA"], &["2", "AA", "3"], 100), on(2));
        assert_eq!(fit(&["1", "A", "2", "AA"], &["AA", "3"], 100), None);
        // It says something else.
        assert_eq!(fit(&["1", "A", "2", "AA"], &["1", "A", "3"], 100), None);
    }

    #[test]
    fn a_client_that_asked_again_goes_on_with_one_of_the_answers() {
        assert_eq!(fit(&["1", "A"], &["1"], 100), Some(Fit { count: 1, before_answer: Some(Seq(1)) }));
        for answer in ["A", "AA"] {
            assert_eq!(fit(&["1", "A", "AA", "2", "AAA"], &["1", answer, "2", "AAA", "3"], 100), on(4));
        }
        assert_eq!(fit(&["0", "A", "1", "A", "AA"], &["1", "AA", "2"], 100), on(2));
    }

    #[test]
    fn where_a_client_goes_on_is_found_among_many_messages_that_say_the_same() {
        for said in [&["1"][..], &["A"], &["1", "A"]] {
            let (known, mut sent) = (said.repeat(2_000), said.repeat(1_000));
            let count = sent.len();
            sent.push("2");
            assert_eq!(fit(&known, &sent, 10_000), on(count), "{said:?}");
        }
    }

    #[test]
    fn where_a_client_goes_on_is_not_looked_for_without_an_end() {
        let (known, sent) = (["1", "A", "2", "AA"], ["2", "AA", "3"]);
        assert_eq!(fit(&known, &sent, 1), None);
        assert_eq!(fit(&known, &sent, 10), on(2));
    }
}
