//! Records: what is remembered of a keyed request that is done outside of a journal: it makes or deletes a session, or
//! writes files. Each has a small journal of its own, which says first what is meant to happen and then what was
//! answered. It is no session, and expires. What is kept of an [expired session](crate::session::expired) is a record too, and so is
//! what is kept of a client's connection.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{IdempotencyKey, Request, reused};
use crate::{
    entry::{Actor, Draft, Hash},
    error::Error,
    fact::{self, Fact, Sentence},
    id::{Seq, SessionId},
    state::State,
};

/// A request was begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    by: Actor,
    key: IdempotencyKey,
    fingerprint: Hash,
    /// What another server needs to finish the request, such as the id of a new session, or to go on with a connection.
    pub intent: Value,
}

/// It was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// The answer.
    pub answer: Value,
}

/// What the names of records begin with.
const PLACE: &str = "request-";

/// Whether a request may be recorded under this name.
pub fn is_place(id: &SessionId) -> bool {
    id.as_str().strip_prefix(PLACE).is_some_and(|hash| hash.len() == 32)
}

/// Where a request is recorded. Keys are unique within `scope`, the session that the request works on where it has one.
pub fn place(request: &Request, by: &Actor, scope: Option<&SessionId>) -> Result<SessionId, Error> {
    let scope = scope.map(SessionId::as_str).unwrap_or_default();
    place_of(&format!("{scope}\n{}", request.claim(by)))
}

/// Where it is recorded that the server with this name asks models for programs.
pub fn place_of_asker(name: &str) -> Result<SessionId, Error> {
    place_of(&format!("asker\n{name}"))
}

/// Where the connection of a client with this name is recorded.
pub fn place_of_connection(name: &str) -> Result<SessionId, Error> {
    place_of(&format!("connection\n{name}"))
}

/// Where it is recorded what has this name.
pub(crate) fn place_of(name: &str) -> Result<SessionId, Error> {
    let hash = Hash::of(name.as_bytes()).to_string();
    Ok(format!("{PLACE}{hash:.32}").parse()?)
}

impl Begun {
    /// What no request asks for: that a server asks models for programs, with its name as `key`, or that a client connected. It is
    /// begun until its record expires.
    pub fn without_request(key: &str, intent: Value) -> Result<Self, Error> {
        Ok(Self { by: Actor::System, key: key.parse()?, fingerprint: Hash::default(), intent })
    }

    /// That `request` was begun.
    pub fn new(request: &Request, by: Actor, intent: Value) -> Self {
        let Request { key, fingerprint } = request.clone();
        Self { by, key, fingerprint: fingerprint.stored(), intent }
    }

    /// Refuses another request under the same key.
    pub fn check(&self, request: &Request) -> Result<(), Error> {
        if request.fingerprint.is(self.fingerprint) { Ok(()) } else { Err(reused(request, Seq(1))) }
    }
}

/// The draft of an entry of a record.
pub fn draft(fact: &impl Fact, salt: &str) -> Draft {
    let mut draft = fact::draft(fact, &State::default());
    draft.salt(salt);
    draft
}

/// Implements [`Fact`] for a fact of records, with its type, its sentence, its subject and its texts: no agent sees it, and it
/// changes no session.
macro_rules! record_fact {
    ($type:ty, $name:literal, $sentence:expr, $subject:literal, [$($text:literal),*]) => {
        impl $crate::fact::Fact for $type {
            const TYPE: &'static str = $name;

            const SENTENCE: $crate::fact::Sentence = $sentence;

            const DESCRIPTION: $crate::fact::Description = $crate::fact::Description::of(&[$($crate::fact::json($text)),*]);

            fn subject(&self) -> String {
                $subject.to_owned()
            }

            fn apply(self, _: &mut $crate::state::State, _: &$crate::entry::Header) {}
        }
    };
}
pub(crate) use record_fact;

const SENT: Sentence = |it| format!("{} sent a request with a key", it.by);

record_fact!(Begun, "request.begun", SENT, "requests", ["intent"]);
record_fact!(Settled, "request.settled", SENT, "requests", ["answer"]);
