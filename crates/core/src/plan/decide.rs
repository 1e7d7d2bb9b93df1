//! Changing the plan.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{PatchTask, Plan, PutPlan, TaskPatch, facts::Updated, read::read};
use crate::{
    command::{Command, DecisionBuilder, KeptAnswer, Undecided},
    error::{ConflictKind, Error, Fault},
    id::NodeId,
    input::InputVisitor,
    json,
    rights::Right,
    text::INLINE_BYTES,
};

/// How large a plan may be. All of it stands in prompts.
const MAX_BYTES: usize = 256 * 1024;

/// The version that a change made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanVersion(pub u64);

impl KeptAnswer for PlanVersion {
    const NAME: &'static str = "plan_version";
}

/// Replaces the plan. It makes a version also where it says the same as before: its reason is new.
impl Command for PutPlan {
    type Answer = PlanVersion;

    const RIGHT: Right = Right::manager("change the plan");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<PlanVersion, Undecided> {
        let size_bytes = json::size_bytes(&self.plan);
        if size_bytes > MAX_BYTES {
            return Err(Error::TooLarge { what: "the plan".to_owned(), size_bytes, max_bytes: MAX_BYTES }.into());
        }
        check_reason(&self.reason)?;
        let plan = read(&self.plan, "/plan")?;
        let version = decision.state.plan.as_ref().map_or(0, |held| held.version);
        if let Some(expected) = self.expected_version.filter(|expected| *expected != version) {
            return Err(stale(expected, version).into());
        }
        check_nodes(decision, &plan)?;
        Ok(record(decision, plan, self.reason.clone()))
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.keys(format_args!("/plan"), &self.plan);
        visitor.json(&mut self.plan);
        visitor.text(&mut self.reason);
    }
}

/// Changes one task, and so makes a version of the plan. Where nothing changes, the version stays.
impl Command for PatchTask {
    type Answer = PlanVersion;

    const RIGHT: Right = Right::manager("change the plan");

    fn decide(&self, decision: &mut DecisionBuilder<'_>) -> Result<PlanVersion, Undecided> {
        let TaskPatch { status, notes, reason } = &self.patch;
        check_reason(reason)?;
        if status.is_none() && notes.is_none() {
            return Err(Error::invalid("", "say what is to change: status, notes or both").into());
        }
        if notes.as_ref().is_some_and(|notes| notes.len() > INLINE_BYTES) {
            return Err(Error::invalid("/notes", format!("use at most {INLINE_BYTES} bytes")).into());
        }
        let held = decision.state.plan.clone().ok_or_else(|| Error::not_found("plan", ""))?;
        let mut plan = Plan::clone(&held.plan);
        let mut tasks = plan.phases.iter_mut().flat_map(|phase| &mut phase.tasks);
        let task = tasks.find(|task| task.task_id == self.task_id);
        let task = task.ok_or_else(|| Error::not_found("task", self.task_id))?;
        task.status = status.unwrap_or(task.status);
        if let Some(notes) = notes {
            task.notes = Some(notes.clone()).filter(|notes| !notes.trim().is_empty());
        }
        if plan == *held.plan {
            return Ok(PlanVersion(held.version));
        }
        let size_bytes = json::size_bytes(&plan);
        if size_bytes > MAX_BYTES {
            let what = "the plan with this change".to_owned();
            return Err(Error::TooLarge { what, size_bytes, max_bytes: MAX_BYTES }.into());
        }
        Ok(record(decision, plan, reason.clone()))
    }

    fn input(&mut self, visitor: &mut dyn InputVisitor) {
        visitor.text_if_any(&mut self.patch.notes);
        visitor.text(&mut self.patch.reason);
    }
}

/// Records the next version of the plan.
pub(crate) fn record(decision: &mut DecisionBuilder<'_>, plan: Plan, reason: Arc<str>) -> PlanVersion {
    let version = decision.state.plan.as_ref().map_or(0, |held| held.version).saturating_add(1);
    decision.record(Updated { version, plan, reason });
    PlanVersion(version)
}

/// Refuses nodes that are gone. What stood in the plan before may stay.
fn check_nodes(decision: &DecisionBuilder<'_>, plan: &Plan) -> Result<(), Error> {
    let tasks = |plan: &Plan| plan.phases.iter().flat_map(|phase| phase.tasks.clone()).collect::<Vec<_>>();
    let before = decision.state.plan.as_ref().map(|held| tasks(&held.plan)).unwrap_or_default();
    let stood = |id: &NodeId| before.iter().any(|task| task.node_ids.iter().flatten().any(|other| other == id));
    let mut faults = Vec::new();
    for (phase, of_phase) in plan.phases.iter().enumerate() {
        for (task, of_task) in of_phase.tasks.iter().enumerate() {
            for (at, id) in of_task.node_ids.iter().flatten().enumerate() {
                if decision.state.workflow.is_gone(id.0) && !stood(id) {
                    let pointer = format!("/plan/phases/{phase}/tasks/{task}/node_ids/{at}");
                    faults.push(Fault { pointer, problem: format!("there is no {id} any more: leave it out") });
                }
            }
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
}

fn check_reason(reason: &str) -> Result<(), Error> {
    if reason.trim().is_empty() || reason.len() > INLINE_BYTES {
        return Err(Error::invalid("/reason", format!("say why, in at most {INLINE_BYTES} bytes")));
    }
    Ok(())
}

fn stale(expected: u64, version: u64) -> Error {
    let what = match version {
        0 => format!("/expected_version: there is no plan yet, so no version {expected}"),
        version => format!("/expected_version: the plan has version {version} by now, not {expected}"),
    };
    Error::Conflict { kind: ConflictKind::StalePlan, what, hint: "read the plan, and change that version" }
}
