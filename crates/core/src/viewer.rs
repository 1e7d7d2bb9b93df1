//! Viewers: through whose eyes something is read.

use serde::{Deserialize, Serialize};

use crate::{entry::Actor, id::AgentName};

/// Whoever reads: the user, who sees everything, or an agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "Actor")]
#[serde(from = "Actor")]
pub enum Viewer {
    /// The person, or the program, that the session belongs to.
    User,
    /// One of the team.
    Agent(AgentName),
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
    /// What Callboard does itself it does with the user's eyes.
    fn from(actor: Actor) -> Self {
        match actor {
            Actor::User | Actor::System => Self::User,
            Actor::Agent(name) => Self::Agent(name),
        }
    }
}
