//! The work of a director: the manager builds a workflow with the user. It is asked with the layout `director`, calls
//! Callboard's own tools until it has nothing more to do, and then says so to the user. What the user says next begins another
//! run.

pub(super) mod answer;

use serde::{Deserialize, Serialize};

use crate::{
    agent::DIRECTOR,
    id::ThreadId,
    prompt::LayoutName,
    run::turn::{Turn, Who},
};

/// What is due in the work of a director.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Duty {
    /// The director is to go on.
    Build,
}

impl Duty {
    /// The turn.
    pub(super) fn turn(&self) -> Turn {
        match self {
            Self::Build => Turn {
                layout: Some(LayoutName::Director),
                bundle: Some(DIRECTOR),
                ..Turn::of(Who::Manager, ThreadId::main(), "to go on")
            },
        }
    }
}
