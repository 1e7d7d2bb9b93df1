//! The names of the parts of prompts.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The name of a part that every session has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartName(&'static str);

impl PartName {
    /// The shared context sets.
    pub const CONTEXT_SETS: Self = Self("context_sets");
    /// What was said before the task.
    pub const HISTORY: Self = Self("history");
    /// What is to be done.
    pub const TASK: Self = Self("task");
    /// The plan as it is now.
    pub const CURRENT_PLAN: Self = Self("current_plan");
    /// The workflow as it is now.
    pub const WORKFLOW_SNAPSHOT: Self = Self("workflow_snapshot");
    /// The variables.
    pub const WORKFLOW_VARIABLES: Self = Self("workflow_variables");
    /// The tabs of the browser.
    pub const BROWSER_STATE: Self = Self("browser_state");
    /// What was said before the task, and the task.
    pub const CONVERSATION_HISTORY: Self = Self("conversation_history");

    /// What was found in all that was ever said.
    pub const RECALL: Self = Self("recall");

    /// The names that there are. The parts themselves are made from all of a session, above this crate; a test there holds
    /// both against each other.
    pub const ALL: &[Self] = &[
        Self("instructions"),
        Self("team"),
        Self("duties"),
        Self("files"),
        Self::CONTEXT_SETS,
        Self::HISTORY,
        Self::RECALL,
        Self("steps"),
        Self::TASK,
        Self("system_prompt"),
        Self::CURRENT_PLAN,
        Self::WORKFLOW_SNAPSHOT,
        Self::WORKFLOW_VARIABLES,
        Self::BROWSER_STATE,
        Self::CONVERSATION_HISTORY,
    ];

    /// Those whose share of the budget a profile may set. The others are always there in full.
    pub const SHARING: &[Self] = &[
        Self::CONTEXT_SETS,
        Self::CONVERSATION_HISTORY,
        Self::CURRENT_PLAN,
        Self::HISTORY,
        Self::RECALL,
        Self::TASK,
        Self::WORKFLOW_SNAPSHOT,
        Self::WORKFLOW_VARIABLES,
    ];

    /// The name itself.
    pub fn as_str(self) -> &'static str {
        self.0
    }
}

/// Reads one of `names`.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D, names: &[PartName]) -> Result<PartName, D::Error> {
    let name = String::deserialize(deserializer)?;
    names.iter().copied().find(|part| part.0 == name).ok_or_else(|| {
        let names: Vec<_> = names.iter().map(|part| format!("`{}`", part.0)).collect();
        de::Error::custom(format!("unknown variant `{name}`, expected one of {}", names.join(", ")))
    })
}

impl fmt::Debug for PartName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for PartName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for PartName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer, Self::ALL)
    }
}
