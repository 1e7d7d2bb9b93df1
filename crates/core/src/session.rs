//! The session itself: its title, its settings, how long it lives.

mod collections;
pub(crate) mod decide;
pub mod expired;
pub mod facts;
mod merge;
mod team;
mod ttl;

use std::sync::Arc;

pub use self::ttl::{BadTtl, Ttl};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    agent::Agent,
    audience::Audience,
    compression::CompressionSettings,
    context_set::PutSet,
    id::{CollectionName, SessionId},
    input::InputVisitor,
    limits::Limits,
    prompt::profile::Profile,
    rights::{Grant, Share},
    step::{Place, Steps},
    time::Timestamp,
};

/// The settings of a session: given when it is made, and changed later.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// A title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Who sees a new context set that does not say.
    pub default_visibility: Audience,
    /// What workers may also see. Without it, only the user and the manager may.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub share: Vec<Share>,
    /// What workers may also change. Without it, only the user and the manager may.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grant: Vec<Grant>,
    /// How prompts are laid out.
    #[serde(skip_serializing_if = "crate::json::is_default")]
    pub prompt: Profile,
    /// The inactivity after which it expires.
    pub ttl_seconds: Ttl,
    /// The limits at which runs are paused.
    #[serde(skip_serializing_if = "crate::json::is_default")]
    pub limits: Limits,
    /// The steps of its team.
    #[serde(skip_serializing_if = "Steps::is_empty")]
    pub steps: Steps,
    /// When its threads are compressed.
    #[serde(skip_serializing_if = "crate::json::is_default")]
    pub compression: CompressionSettings,
    /// The collections whose documents its agents can look things up in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collections: Vec<CollectionName>,
}

impl Settings {
    /// See [`Command::input`](crate::command::Command::input).
    pub(crate) fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text_if_any(&mut self.title);
        self.prompt.input(visitor);
        self.steps.input(visitor);
        self.compression.input(visitor);
        collections::input(Some(&self.collections), visitor);
    }
}

/// Whose journal it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionKind {
    /// A session's.
    #[default]
    Session,
    /// That of a collection of documents, which sessions share.
    Collection,
}

impl SessionKind {
    pub(crate) fn is_session(&self) -> bool {
        *self == Self::Session
    }
}

/// A session as the state holds it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its name; `None` before its first entry.
    pub id: Option<SessionId>,
    /// Whether it is a session or a collection.
    #[serde(default, skip_serializing_if = "SessionKind::is_session")]
    pub kind: SessionKind,
    /// When it was made.
    pub created_at: Timestamp,
    /// The id of its workflow, which its plan bears too: a UUID that was made with the session.
    pub workflow_id: Arc<str>,
    /// Its settings.
    pub settings: Settings,
}

/// What a new session is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSession {
    /// Its name.
    pub id: SessionId,
    /// Its agents.
    pub agents: Vec<Agent>,
    /// The context sets with which it begins.
    pub sets: Vec<PutSet>,
    /// Its settings.
    pub settings: Settings,
    /// Something random, so that no other session has the same tags.
    pub salt: u64,
}

/// A change of a session. Absent fields stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SessionPatch {
    /// A title for people.
    #[cfg_attr(feature = "schema", schema(value_type = Option<crate::schema::Title>))]
    pub title: Option<String>,
    /// The new team, which replaces the old one.
    pub agents: Option<Vec<Agent>>,
    /// Who sees a new context set that has no `visible_to`.
    pub default_visibility: Option<Audience>,
    /// What workers may also see. Without it, only the user and the manager may.
    pub share: Option<Vec<Share>>,
    /// What workers may also change. Without it, only the user and the manager may.
    pub grant: Option<Vec<Grant>>,
    /// How the parts of prompts share their budgets.
    pub prompt: Option<Profile>,
    /// The inactivity after which it expires: seconds above 0, or `never`.
    pub ttl_seconds: Option<Ttl>,
    /// The limits at which runs are paused.
    pub limits: Option<Limits>,
    /// The steps of its team.
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<crate::step::Step>>))]
    pub steps: Option<Steps>,
    /// When its threads are compressed.
    pub compression: Option<CompressionSettings>,
    /// The collections whose documents its agents can look things up in. Only the user may set them.
    pub collections: Option<Vec<CollectionName>>,
    /// The change as it was brought, where the objects in it are to be merged into what is there (RFC 7396).
    #[serde(skip)]
    pub given: Option<Map<String, Value>>,
    /// Where its team is to be among its steps. It has a call of its own.
    #[serde(skip)]
    pub place: Option<Place>,
}

#[cfg(test)]
mod tests;
