//! Viewers: who reads.

use serde::{Deserialize, Serialize};

use crate::{entry::Actor, id::AgentName};

/// A reader: the user, who sees everything, or an agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "Actor")]
#[serde(from = "Actor")]
pub enum Viewer {
    /// The person or program that owns the session.
    User,
    /// One of the team.
    Agent(AgentName),
}

impl Viewer {
    /// The agent that reads; `None` where it is the user.
    pub fn agent(&self) -> Option<&AgentName> {
        match self {
            Self::User => None,
            Self::Agent(name) => Some(name),
        }
    }
}

impl From<Viewer> for Actor {
    fn from(viewer: Viewer) -> Self {
        match viewer {
            Viewer::User => Self::User,
            Viewer::Agent(name) => Self::Agent(name),
        }
    }
}

impl From<Actor> for Viewer {
    /// Callboard itself sees what the user sees.
    fn from(actor: Actor) -> Self {
        match actor {
            Actor::User | Actor::System => Self::User,
            Actor::Agent(name) => Self::Agent(name),
        }
    }
}
