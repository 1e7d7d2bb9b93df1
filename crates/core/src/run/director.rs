//! The work of a director: the manager builds a workflow with the user. It is asked with the layout `director`, calls
//! Callboard's own tools until it has nothing more to do, and then says so to the user. What the user says next begins another
//! run.

pub(super) mod answer;

use serde::{Deserialize, Serialize};

use crate::{
    agent::DIRECTOR,
    id::{AgentName, SetName, ThreadId},
    prompt::LayoutName,
    run::turn::{self, IsDuty, Turn, Who},
};

/// What is due in the work of a director.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Duty {
    /// The director is to go on.
    Build,
}

impl IsDuty for Duty {
    fn turn(&self) -> Turn {
        Turn {
            who: Who::Manager,
            thread: ThreadId::main(),
            task: None,
            output: None,
            layout: Some(LayoutName::Director),
            uses_tools: true,
            bundle: Some(DIRECTOR),
            purpose: "to go on",
        }
    }

    fn waits_for(&self, _: &AgentName) -> bool {
        false
    }

    fn words_of(&self) -> Option<ThreadId> {
        None
    }

    fn hide_words(&mut self) {}

    fn ask_another(&mut self) {}

    fn keep_outcome(&mut self, _: bool) {}
}

/// The rules of a director's run.
pub(super) struct Rules;

impl turn::Rules for Rules {
    type Duty = Duty;

    fn first(&self) -> Duty {
        Duty::Build
    }

    fn after_form(&self, _: &SetName) -> Duty {
        Duty::Build
    }

    fn after_tools(&self, _: &AgentName, _: Option<&ThreadId>) -> Duty {
        Duty::Build
    }
}
