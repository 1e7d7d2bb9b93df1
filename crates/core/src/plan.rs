//! The plan: what a team is to do, phase by phase and task by task. It is replaced whole, and all its versions are kept.

pub(crate) mod decide;
pub mod diff;
pub mod facts;
mod read;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    entry::Actor,
    id::{NodeId, Seq, words},
    number,
    time::Timestamp,
};

/// What a model is told whose plan was taken.
pub const UPDATED: &str = "Plan updated successfully";

/// A plan, as its author wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PlanContent))]
pub struct Plan {
    /// The goal.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::Saying))]
    pub overall_goal: Arc<str>,
    /// The name of the phase that is being worked on.
    pub current_phase: Arc<str>,
    /// The phases, in order.
    pub phases: Vec<Phase>,
    /// The next actions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_actions: Option<Vec<Arc<str>>>,
    /// The blockers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blockers: Option<Vec<Arc<str>>>,
    /// Notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Arc<str>>,
}

impl Plan {
    /// What it says, in lines that one can read: goal, phases, tasks with their notes, and the rest.
    pub(crate) fn lines(&self) -> String {
        let mut lines = vec![format!("Goal: {}", self.overall_goal), format!("Current phase: {}", self.current_phase)];
        for phase in &self.phases {
            lines.push(format!("Phase {} [{}]", phase.phase_name, phase.status.as_str()));
            for task in &phase.tasks {
                lines.push(format!("{}. {} [{}]", task.task_id, task.description, task.status.as_str()));
                lines.extend(task.notes.iter().map(|notes| format!("   Notes: {notes}")));
            }
        }
        lines.extend(self.next_actions.iter().flatten().map(|action| format!("Next: {action}")));
        lines.extend(self.blockers.iter().flatten().map(|blocker| format!("Blocker: {blocker}")));
        lines.extend(self.notes.iter().map(|notes| format!("Notes: {notes}")));
        lines.join("\n")
    }

    /// The plan without these nodes, which are gone; `None` where it names none of them.
    pub(crate) fn without(&self, gone: &[NodeId]) -> Option<Self> {
        let mut plan = self.clone();
        for task in plan.phases.iter_mut().flat_map(|phase| &mut phase.tasks) {
            if let Some(ids) = &mut task.node_ids {
                ids.retain(|id| !gone.contains(id));
            }
        }
        (plan != *self).then_some(plan)
    }
}

/// A part of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PlanPhase))]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Its name, unique in its plan.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::Saying))]
    pub phase_name: Arc<str>,
    /// Its status.
    pub status: Status,
    /// Its tasks, in order.
    pub tasks: Vec<Task>,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PlanTask))]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Its number, unique in its plan.
    pub task_id: u64,
    /// What has to be done.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::Saying))]
    pub description: Arc<str>,
    /// Its status.
    pub status: Status,
    /// Notes about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Arc<str>>,
    /// The nodes of the workflow that were built for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_ids: Option<Vec<NodeId>>,
}

words! {
    /// The status of a phase or a task.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PlanStatus))]
    #[serde(rename_all = "snake_case")]
    pub enum Status {
        /// Nobody has begun with it.
        Pending = "pending",
        /// Somebody works on it.
        InProgress = "in_progress",
        /// It is done.
        Completed = "completed",
        /// It did not succeed.
        Failed = "failed",
    }
}

/// A plan with the fields that Callboard sets, as prompts show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PlanDocument))]
pub struct PlanDocument {
    /// The id of the session's workflow: a UUID that was made with the session.
    pub workflow_id: Arc<str>,
    /// Its version, from 1 without gaps.
    pub plan_version: u64,
    /// When the first version was made.
    pub created_at: Timestamp,
    /// When this version was made.
    pub updated_at: Timestamp,
    /// What is planned.
    #[serde(flatten)]
    pub plan: Plan,
}

/// A version of the plan as the state holds it, or as it was read from the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldPlan {
    /// Its number, from 1 without gaps.
    pub version: u64,
    /// What is planned.
    pub plan: Arc<Plan>,
    /// Why it was changed.
    pub reason: Arc<str>,
    /// Who changed it.
    pub by: Actor,
    /// When the first version was made.
    pub created_at: Timestamp,
    /// When this version was made.
    pub updated_at: Timestamp,
    /// The entry that has it.
    pub seq: Seq,
}

impl HeldPlan {
    /// The version as prompts show it.
    pub fn document(&self, workflow_id: &Arc<str>) -> PlanDocument {
        PlanDocument {
            workflow_id: workflow_id.clone(),
            plan_version: self.version,
            created_at: self.created_at,
            updated_at: self.updated_at,
            plan: Plan::clone(&self.plan),
        }
    }
}

/// A plan that replaces the present one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct PutPlan {
    /// The whole plan. The fields that Callboard sets (`workflow_id`, `plan_version`, `created_at`, `updated_at`) are
    /// ignored.
    #[cfg_attr(feature = "schema", schema(value_type = Plan))]
    pub plan: Value,
    /// The reason for the change.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::Saying))]
    pub reason: Arc<str>,
    /// The version to replace; 0 means that there must be no plan yet. If absent: any version.
    #[serde(default, deserialize_with = "number::whole_or_none", skip_serializing_if = "Option::is_none")]
    pub expected_version: Option<u64>,
}

/// The command to change one task of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchTask {
    /// The task.
    pub task_id: u64,
    /// What changes in it.
    pub patch: TaskPatch,
}

/// A change of one task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PlanTaskPatch))]
#[serde(deny_unknown_fields)]
pub struct TaskPatch {
    /// Its status. If absent: as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
    /// The notes. A blank text removes them. If absent: as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Arc<str>>,
    /// The reason for the change.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::Saying))]
    pub reason: Arc<str>,
}

#[cfg(test)]
mod tests;
