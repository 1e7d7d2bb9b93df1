//! Records: what is remembered of a keyed request that is done outside of a journal: it makes or deletes a session, or
//! writes files. Each has a small journal of its own, which says first what is meant to happen and then what was
//! answered. It is no session, and expires.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{IdempotencyKey, Request, reused};
use crate::{
    audience::Audience,
    entry::{Actor, Draft, Hash, Header, Salt},
    error::Error,
    fact::{self, Description, Earlier, Fact, Repeats, Seen, json},
    id::{Seq, SessionId},
    state::State,
    view::View,
};

/// A request was begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Begun {
    by: Actor,
    key: IdempotencyKey,
    fingerprint: Hash,
    /// What another server needs to finish the request, such as the id of a new session.
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
    let hash = Hash::of(format!("{scope}\n{}", request.claim(by)).as_bytes()).to_string();
    Ok(format!("{PLACE}{}", hash.get(..32).unwrap_or_default()).parse()?)
}

impl Begun {
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
pub fn draft(fact: &impl Fact, salt: Salt) -> Draft {
    let mut draft = fact::draft(fact, &State::default());
    draft.salt(salt);
    draft
}

/// Implements [`Fact`] for the facts of records: no agent sees them, and they change no session.
macro_rules! record_fact {
    ($type:ty, $name:literal, $text:literal) => {
        impl Fact for $type {
            const TYPE: &'static str = $name;

            const DESCRIPTION: Description<Self> = Description {
                texts: &[json($text)],
                gone_as: None,
                earlier: Earlier::Stands,
                repeats: Repeats::Nothing,
                said: None,
            };

            fn subject(&self) -> String {
                "requests".to_owned()
            }

            fn audience(&self, _: &State) -> Audience {
                Audience::None
            }

            fn apply(self, _: &mut State, _: &Header) {}

            fn project(self, _: &View<'_>, _: &Header) -> Option<Seen> {
                None
            }
        }
    };
}

record_fact!(Begun, "request.begun", "intent");
record_fact!(Settled, "request.settled", "answer");
