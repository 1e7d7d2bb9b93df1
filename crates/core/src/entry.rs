//! Entries: what a journal is made of.
//!
//! An entry is a [`Header`], which stores index, and `data`, which they never look into. Entries are only ever
//! appended; what people wrote in one can be [erased](Erasure), and nothing else of it changes. Each carries a [`Tag`] that chains over all entries before it, so that a journal which was replaced,
//! rolled back or tampered with is noticed when the next entry is appended.

pub mod line;
mod mark;

pub use self::mark::{Erasure, SaltSeed};
pub(crate) use self::mark::{copied, erased};

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use crate::{
    audience::Audience,
    id::{AgentName, BadName, Seq},
    json::text_of,
    time::Timestamp,
};

/// One numbered fact of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The part that stores index.
    pub header: Header,
    /// Its data: the JSON text that was decided, with its [salt](SaltSeed::salt) before it. Where that was erased, what stands in its
    /// place.
    pub data: Arc<str>,
    /// The chained hash over this entry and all before it.
    pub tag: Tag,
}

/// The indexed part of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Its number in the journal.
    pub seq: Seq,
    /// The version of the form that `data` has for this type.
    pub v: u16,
    /// When it was decided. For people: order is `seq`.
    pub at: Timestamp,
    /// Its author.
    pub by: Actor,
    /// Its type: `noun.verb_past`, for instance `context_set.updated`.
    pub kind: Arc<str>,
    /// Its subject: `session`, `agent:NAME`, `thread:NAME`, `set:NAME`, `run:ID` …
    pub subject: Arc<str>,
    /// Which agents could see it when it was decided.
    pub audience: Audience,
    /// The time that the author gave a message; lists of messages are ordered by it.
    pub time: Option<Timestamp>,
    /// The keys that it claims, each unique in its session, for instance `message:4:main/greeting-1`.
    pub keys: Vec<Arc<str>>,
    /// A number of the writer that appended it. Two writers that decide the same change at the same moment on the same
    /// head make different entries by it, so each recognises its own. What no other
    /// writer could append has none.
    pub nonce: Option<u32>,
}

/// A decided entry before it gets its place in the journal: a [`Header`] without `seq`, `at`, `by` and `nonce`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// See [`Header::v`].
    pub v: u16,
    /// See [`Header::kind`].
    pub kind: Arc<str>,
    /// See [`Header::subject`].
    pub subject: Arc<str>,
    /// See [`Header::audience`].
    pub audience: Audience,
    /// See [`Header::time`].
    pub time: Option<Timestamp>,
    /// See [`Header::keys`].
    pub keys: Vec<Arc<str>>,
    /// See [`Entry::data`].
    pub data: Arc<str>,
}

impl Entry {
    /// Makes the entry that follows `head`.
    pub fn seal(head: Head, at: Timestamp, by: Actor, nonce: Option<u32>, draft: Draft) -> Self {
        let Draft { v, kind, subject, audience, time, keys, data } = draft;
        let header = Header { seq: head.seq.next(), v, at, by, kind, subject, audience, time, keys, nonce };
        let tag = head.tag.chain(&header, &Hash::of(data.as_bytes()));
        Self { header, data, tag }
    }

    /// The head of a journal that ends with this entry.
    pub fn head(&self) -> Head {
        Head { seq: self.header.seq, tag: self.tag }
    }
}

impl Header {
    /// The bytes that the tag is computed over: a JSON array of the fields in the order of this struct, fixed for ever.
    /// Where there is no nonce it ends before it.
    pub fn canonical(&self) -> Vec<u8> {
        let fields = (
            self.seq,
            self.v,
            self.at.as_millis(),
            &self.by,
            &self.kind,
            &self.subject,
            &self.audience,
            self.time.map(Timestamp::as_millis),
            &self.keys,
        );
        let mut bytes = text_of(&fields).into_bytes();
        if let Some(nonce) = self.nonce {
            bytes.pop();
            bytes.extend_from_slice(format!(",{nonce}]").as_bytes());
        }
        bytes
    }
}

/// Where a journal ends: the number and the tag of its last entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The number of the last entry, 0 for an empty journal.
    pub seq: Seq,
    /// The tag of the last entry, zeros for an empty journal.
    pub tag: Tag,
}

/// A hash over an entry and all before it in its journal: the first 128 bits of a SHA-256. Zeros before the first entry.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub [u8; 16]);

impl Tag {
    /// The tag of the entry with this header and this hash of its data, where `self` is the tag of the one before.
    #[must_use]
    pub fn chain(self, header: &Header, data: &Hash) -> Self {
        let digest =
            Sha256::new().chain_update(self.0).chain_update(header.canonical()).chain_update(data.0).finalize();
        let mut tag = [0; 16];
        tag.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        Self(tag)
    }
}

/// A SHA-256, written as 64 hexadecimal digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// Gives a byte array its hexadecimal form, in text and in JSON.
macro_rules! hexadecimal {
    ($type:ident, $size:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                let wrong = || de::Error::custom(concat!("expected ", $size, " bytes in hexadecimal"));
                if text.len() != 2 * $size || !text.is_ascii() {
                    return Err(wrong());
                }
                let mut bytes = [0; $size];
                for (at, byte) in bytes.iter_mut().enumerate() {
                    let digits = text.get(2 * at..2 * at + 2).ok_or_else(wrong)?;
                    *byte = u8::from_str_radix(digits, 16).map_err(|_| wrong())?;
                }
                Ok(Self(bytes))
            }
        }
    };
}

hexadecimal!(Tag, 16);
hexadecimal!(Hash, 32);

/// The author of an entry: `user`, `system` or `agent:NAME`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Actor {
    /// The person or program that owns the session.
    User,
    /// Callboard itself.
    System,
    /// One of the team.
    Agent(AgentName),
}

impl Actor {
    /// What people call it: the name of the agent, or what it is.
    pub fn called(&self) -> &str {
        match self {
            Self::User => "user",
            Self::System => "system",
            Self::Agent(name) => name.as_str(),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("user"),
            Self::System => f.write_str("system"),
            Self::Agent(name) => write!(f, "agent:{name}"),
        }
    }
}

impl FromStr for Actor {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        match text {
            "user" => Ok(Self::User),
            "system" => Ok(Self::System),
            _ => text.strip_prefix("agent:").unwrap_or(text).parse().map(Self::Agent),
        }
    }
}

impl Serialize for Actor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Actor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}
