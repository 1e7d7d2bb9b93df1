//! What happens to requests that carry a key.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Again, IdempotencyKey, Keyed, Request, reused};
use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    entry::{Actor, Entry, Hash, Header},
    error::{ConflictKind, Error},
    fact::{self, Description, Fact, Repeats, Sentence, erase_words, json},
    id::Seq,
    input::InputVisitor,
    rights::Right,
    state::State,
};

/// A request that carries a key was answered. It is the last entry of what the request led to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// Who asked.
    pub by: Actor,
    /// The key.
    pub key: IdempotencyKey,
    /// See [`Fingerprint::stored`](super::Fingerprint::stored).
    pub fingerprint: Hash,
    /// The first entry that the request led to, or this one.
    pub from: Seq,
    /// The answer, as [it is kept](KeptAnswer::keep).
    pub answer: Value,
}

impl Fact for Answered {
    const TYPE: &'static str = "request.answered";

    const SENTENCE: Sentence = |it| format!("{} sent a request with a key", it.by);

    const DESCRIPTION: Description = Description { repeats: Repeats::Answer, ..Description::of(&[json("answer")]) };

    fn subject(&self) -> String {
        "requests".to_owned()
    }

    fn keys(&self, _: &State) -> Vec<String> {
        vec![super::claim(&self.by, &self.key)]
    }

    fn erase(data: &mut Value) {
        erase_words(&Self::DESCRIPTION, data);
        // From the hash of a request, short words in it could be guessed.
        if let Some(fingerprint) = data.get_mut("fingerprint") {
            *fingerprint = Hash::default().to_string().into();
        }
    }

    fn apply(self, _: &mut State, _: &Header) {}
}

/// Decides a request that carries a key, unless it was answered before: then that answer is given again.
impl<C: Command<Answer: KeptAnswer>> Command for Keyed<C> {
    type Answer = Again<C::Answer>;

    const RIGHT: Right = C::RIGHT;

    const CREATES_SESSION: bool = C::CREATES_SESSION;

    const ERASES: bool = C::ERASES;

    const NEEDS_WORDS: bool = C::NEEDS_WORDS;

    const IN_COLLECTIONS: bool = C::IN_COLLECTIONS;

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<Again<C::Answer>, Undecided> {
        let by = decision.context.by.clone();
        if let Some(seq) = decision.context.lookups.keys.get(self.request.claim(&by).as_str()) {
            let there = decision.entry(*seq)?.ok_or_else(|| Error::not_found("entry", seq))?;
            let (answer, head) = again(&self.request, &there)?;
            return Ok(Again { answer, before: Some(head) });
        }
        let from = decision.next_seq();
        let answer = self.command.decide(decision)?;
        let Request { key, fingerprint } = self.request.clone();
        let kept = Answered { by, key, fingerprint: fingerprint.stored(), from, answer: answer.keep() };
        let quoted = std::mem::take(&mut decision.quoted);
        decision.copying(quoted, |decision| decision.record(kept));
        Ok(Again { answer, before: None })
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        self.command.input(visitor);
        visitor.name(format_args!("/Idempotency-Key"), self.request.key.as_str());
        visitor.fingerprint(&mut self.request.fingerprint);
    }

    fn texts(&self) -> Vec<Arc<str>> {
        self.command.texts()
    }

    fn entries(&self) -> Vec<Seq> {
        self.command.entries()
    }

    fn items(&self) -> usize {
        self.command.items()
    }
}

/// The answer that `there` recorded, if it is the same request, and the head of the session after it.
pub fn again<A: KeptAnswer>(request: &Request, there: &Entry) -> Result<(A, Seq), Error> {
    let before: Answered = fact::read(there)?;
    let seq = there.header.seq;
    if fact::is_erased(there, Answered::erase) {
        let what = format!("the request with the key {} was done, and its answer was erased", request.key);
        return Err(Error::conflict(ConflictKind::AnswerErased, what, "read what it led to; do not send it again"));
    }
    let answer = Some(before).filter(|before| request.fingerprint.is(before.fingerprint));
    let answer = answer.and_then(|before| A::read(&before.answer)).ok_or_else(|| reused(request, seq))?;
    Ok((answer, seq))
}
