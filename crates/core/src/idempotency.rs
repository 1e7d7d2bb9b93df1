//! Requests with an idempotency key: a caller that does not know whether one arrived can send it again.
//!
//! The entries of such a request and its answer land in one append, and the entry with the answer claims the key. From
//! then on the same request gets the same answer from any server; another request under the same key is refused.

pub mod facts;
pub mod record;

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    entry::Actor,
    error::{ConflictKind, Error},
    id::{BadName, Seq, name},
    input::Fingerprint,
};

/// A request that carries a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its key, unique among the requests of one caller.
    pub key: IdempotencyKey,
    /// Tells what it asks for: another one under the same key is another request.
    pub fingerprint: Fingerprint,
}

impl Request {
    /// What the request claims in the journal. A name has no `:`, so keys of two agents never meet.
    pub fn claim(&self, by: &Actor) -> String {
        claim(by, &self.key)
    }
}

fn claim(by: &Actor, key: &IdempotencyKey) -> String {
    format!("request:{by}:{key}")
}

/// A command of a request that carries a key: it is executed once.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyed<C> {
    /// The request.
    pub request: Request,
    /// What it asks for.
    pub command: C,
}

/// An answer that may have been given before.
#[derive(Clone, Debug, PartialEq)]
pub struct Again<A> {
    /// The answer.
    pub answer: A,
    /// The head of the session after the first time, where this was not the first time.
    pub before: Option<Seq>,
}

name! {
    /// The key of a request: 1 to 200 characters that can be seen, and blanks between them.
    IdempotencyKey, parse_key;
}

fn parse_key(text: &str) -> Result<String, BadName> {
    let seen = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    if (1..=200).contains(&text.len()) && text.bytes().all(seen) {
        return Ok(text.to_owned());
    }
    Err(BadName::new("request key", text, "use 1 to 200 visible ASCII characters, for instance a UUID"))
}

/// That the key was used for another request.
fn reused(request: &Request, seq: Seq) -> Error {
    let what = format!("the key {} belongs to another request, which entry {seq} records", request.key);
    Error::conflict(ConflictKind::IdempotencyKeyReused, what, "use a new key for each new request")
}
