//! Views: what of a session one viewer gets. Whatever reads goes through one; what is hidden is not in it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    agent::{Agent, AgentRole},
    audience::{Audience, ThingView},
    count::TokenCounter,
    entry::{Actor, Header},
    error::Error,
    id::{AgentName, Seq},
    rights::Share,
    state::State,
    time::Timestamp,
    viewer::Viewer,
};

/// A session through the eyes of one viewer.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// The session as it is now, or as of an entry.
    pub state: &'a State,
    /// What sizes are given in.
    pub count: &'a dyn TokenCounter,
    agent: Option<&'a Agent>,
}

/// An entry of a journal, as its reader may see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Entry))]
pub struct Projected {
    /// Its number.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub seq: Seq,
    /// When it was decided.
    pub at: Timestamp,
    /// Its author: `user`, `system` or `agent:NAME`.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub by: Actor,
    /// Its type. If the viewer may no longer see the thing: the type of its deletion.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "message.added"))]
    #[serde(rename = "type")]
    pub kind: Arc<str>,
    /// What it is about.
    #[cfg_attr(feature = "schema", schema(value_type = String, example = "thread:main"))]
    pub subject: Arc<str>,
    /// Its data, as the viewer may see it.
    #[cfg_attr(feature = "schema", schema(value_type = serde_json::Value))]
    #[serde(with = "raw")]
    pub data: Arc<str>,
    /// Which agents could see it when it was decided. Only the user and the manager are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// What it says, in a sentence of at most 120 characters. Only where sentences were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sentence: Option<String>,
}

/// Entries of a journal.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct JournalPage {
    /// The entries.
    pub entries: Vec<Projected>,
    /// Where the next page begins: give it as `after`, or with the newest first as `before`. Absent if there are no more. A page may
    /// have fewer entries than wanted, since only some thousand entries are looked at for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>))]
    pub next: Option<Seq>,
    /// The number of the newest entry of the journal. It may be one that the caller cannot see.
    #[cfg_attr(feature = "schema", schema(value_type = u64))]
    pub head: Seq,
}

impl<'a> View<'a> {
    /// The view of `viewer`. An agent that is not in the team has none.
    pub fn new(state: &'a State, viewer: &Viewer, count: &'a dyn TokenCounter) -> Result<Self, Error> {
        let agent = match viewer {
            Viewer::User => None,
            Viewer::Agent(name) => Some(state.team.agent(name)?),
        };
        Ok(Self { state, count, agent })
    }

    /// The agent that looks; `None` where it is the user.
    pub fn agent(&self) -> Option<&'a AgentName> {
        self.agent.map(|agent| &agent.name)
    }

    /// Whether the user or the manager looks.
    pub fn is_in_charge(&self) -> bool {
        self.agent.is_none_or(|agent| agent.role == AgentRole::Manager)
    }

    /// Whether the viewer may see what is for the user and the manager unless the session shares it.
    pub fn may_see(&self, what: Share) -> bool {
        self.is_in_charge() || self.state.session.settings.share.contains(&what)
    }

    /// What the viewer sees of a thing that is for `audience`.
    pub(crate) fn see<T>(&self, held: &'a T, audience: &Audience) -> Option<ThingView<'a, T>> {
        match self.is_in(audience) {
            true => Some(ThingView::Whole(held)),
            false => self.is_in_charge().then_some(ThingView::Outline(held)),
        }
    }

    /// Whether the viewer is in `audience`; the user is in all.
    pub(crate) fn is_in(&self, audience: &Audience) -> bool {
        self.agent().is_none_or(|agent| audience.contains(agent))
    }

    /// Whether the viewer was meant to see an entry when it was decided.
    pub fn was_meant(&self, header: &Header) -> bool {
        self.is_in(&header.audience)
    }
}

/// Data is JSON as it is, written and read without looking into it.
mod raw {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error};
    use serde_json::value::RawValue;

    pub(super) fn serialize<S: Serializer>(data: &str, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(data).map_err(S::Error::custom)?.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        Ok(Box::<RawValue>::deserialize(deserializer)?.get().into())
    }
}
