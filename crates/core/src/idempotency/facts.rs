//! What happens to requests that carry a key.

use serde::{Deserialize, Serialize};

use super::{IdempotencyKey, Request, reused};
use crate::{
    answer::Answer,
    audience::Audience,
    entry::{Actor, Entry, Hash, Header},
    error::Error,
    fact::{self, Fact, Seen},
    state::State,
    view::View,
};

/// A request that carries a key was answered. It is the last entry of what the request led to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// Who asked.
    pub by: Actor,
    /// The key.
    pub key: IdempotencyKey,
    /// See [`Request::fingerprint`].
    pub fingerprint: Hash,
    /// The answer.
    pub answer: Answer,
}

impl Fact for Answered {
    const TYPE: &'static str = "request.answered";

    fn subject(&self) -> String {
        "requests".to_owned()
    }

    fn audience(&self, _: &State) -> Audience {
        Audience::None
    }

    fn keys(&self, _: &State) -> Vec<String> {
        vec![Request { key: self.key.clone(), fingerprint: self.fingerprint }.claim(&self.by)]
    }

    fn apply(self, _: &mut State, _: &Header) {}

    fn project(self, _: &View<'_>, _: &Header) -> Option<Seen> {
        None
    }
}

/// The answer that `there` recorded, if it is the same request.
pub fn again(request: &Request, there: &Entry) -> Result<Answer, Error> {
    let before: Answered = fact::read(there)?;
    if before.fingerprint == request.fingerprint {
        return Ok(Answer::Again { answer: Box::new(before.answer), head: there.header.seq });
    }
    Err(reused(request, there.header.seq))
}
