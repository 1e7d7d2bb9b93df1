//! Views: what of a session one viewer gets. Whatever reads goes through one; what is hidden is not in it.

use std::sync::Arc;

use serde::{Serialize, Serializer, ser::SerializeStruct};

use crate::{
    agent::{Agent, Role},
    count::TokenCounter,
    entry::{Actor, Header},
    error::Error,
    file::{self, ContextFile},
    id::{AgentName, Seq},
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

/// An entry as a viewer gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Projected {
    /// Its number.
    pub seq: Seq,
    /// When it was decided.
    pub at: Timestamp,
    /// Its author.
    pub by: Actor,
    /// Its type. Where a thing has gone out of the viewer's sight, that of a deletion.
    pub kind: Arc<str>,
    /// What it is about.
    pub subject: Arc<str>,
    /// What of it the viewer may see, as JSON.
    pub data: Arc<str>,
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
        self.agent.is_none_or(|agent| agent.role == Role::Manager)
    }

    /// Whether the viewer was meant to see an entry when it was decided.
    pub fn was_meant(&self, header: &Header) -> bool {
        self.agent().is_none_or(|name| header.audience.contains(name))
    }

    /// The files that the viewer sees, by path: those that are meant for it. The user and the manager see all.
    pub fn files(&self) -> impl Iterator<Item = &'a ContextFile> {
        let view = *self;
        self.state.files.iter().map(|held| &*held.file).filter(move |file| view.may_see_file_for(&file.recipient))
    }

    /// Whether the viewer may see a file that is for `recipient`.
    pub fn may_see_file_for(&self, recipient: &str) -> bool {
        self.is_in_charge() || self.agent().is_some_and(|agent| file::is_for(recipient, agent))
    }
}

impl Serialize for Projected {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data =
            serde_json::value::RawValue::from_string(self.data.to_string()).map_err(serde::ser::Error::custom)?;
        let mut fields = serializer.serialize_struct("Projected", 6)?;
        fields.serialize_field("seq", &self.seq)?;
        fields.serialize_field("at", &self.at)?;
        fields.serialize_field("by", &self.by)?;
        fields.serialize_field("type", &self.kind)?;
        fields.serialize_field("subject", &self.subject)?;
        fields.serialize_field("data", &data)?;
        fields.end()
    }
}
