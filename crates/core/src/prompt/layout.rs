//! Layouts: which parts a prompt has, in order.

use serde::{Deserialize, Serialize};

use super::parts::{
    ActiveStep, ContextSets, ConversationHistory, CurrentTask, Duties, Envelope, Files, Instructions, Members, Part,
    Tools,
};

/// How a prompt is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Instructions, the team, the manager's duties, the names of context files, shared context sets, history, the active step, the task.
    #[default]
    Team,
}

/// What changes least stands first, so that a provider's cache keeps as much as can be.
const TEAM: &[&dyn Part] = &[
    &Instructions,
    &Members,
    &Duties,
    &Files,
    &Envelope,
    &Tools,
    &ContextSets,
    &ConversationHistory,
    &ActiveStep,
    &CurrentTask,
];

impl Layout {
    const ALL: [Self; 1] = [Self::Team];

    /// The name of the layout.
    pub fn name(self) -> &'static str {
        match self {
            Self::Team => "team",
        }
    }

    /// The version of the layout: it is raised whenever the same state would give other bytes than before. Version 1 of
    /// `team` left out all that was said before a message that did not fit.
    pub fn version(self) -> u32 {
        match self {
            Self::Team => 2,
        }
    }

    /// Its parts, in order.
    pub(super) fn parts(self) -> &'static [&'static dyn Part] {
        match self {
            Self::Team => TEAM,
        }
    }
}

/// The parts of all layouts.
pub(super) fn parts() -> impl Iterator<Item = &'static dyn Part> {
    Layout::ALL.into_iter().flat_map(Layout::parts).copied()
}

#[cfg(test)]
mod tests {
    use super::parts;
    use crate::prompt::profile::PartName;

    #[test]
    fn profiles_name_the_parts_that_share_the_budget() {
        let mut sharing: Vec<_> = parts().filter(|part| part.shares().is_some()).map(|part| part.name()).collect();
        sharing.sort_unstable();
        assert_eq!(sharing, PartName::ALL.map(PartName::as_str));
    }
}
