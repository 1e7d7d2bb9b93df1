//! Reading a plan that somebody wrote: every fault is told, each with its place.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::Value;

use super::{Phase, Plan, Status, Task};
use crate::{error::Error, reader::Reader};

/// What Callboard itself sets, and so ignores in what is sent.
const SET_BY_CALLBOARD: &[&str] = &["id", "workflow_id", "plan_version", "created_at", "updated_at"];

/// Reads a plan whose place in a request is `pointer`.
pub(super) fn read(plan: &Value, pointer: &str) -> Result<Plan, Error> {
    Reader::<Seen>::read(|reader| reader.plan(plan, pointer))
}

/// What is unique in a plan.
#[derive(Default)]
struct Seen {
    names: BTreeSet<Arc<str>>,
    task_ids: BTreeSet<u64>,
}

impl Reader<Seen> {
    fn plan(&mut self, plan: &Value, at: &str) -> Option<Plan> {
        let known = ["overall_goal", "current_phase", "phases", "next_actions", "blockers", "notes"];
        let plan = self.object(plan, at, "a plan", &known, SET_BY_CALLBOARD)?;
        let overall_goal = self.required(&plan, "overall_goal", Self::words);
        let current_phase = self.required(&plan, "current_phase", Self::text);
        let phases = self.required(&plan, "phases", |reader, value, at| reader.list(value, at, Self::phase));
        let next_actions = self.optional(&plan, "next_actions", |reader, value, at| reader.list(value, at, Self::text));
        let blockers = self.optional(&plan, "blockers", |reader, value, at| reader.list(value, at, Self::text));
        let notes = self.optional(&plan, "notes", Self::text);
        if let Some(current) = &current_phase
            && !self.seen.names.is_empty()
            && !self.seen.names.contains(current)
        {
            let names = self.seen.names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
            self.fault(plan.at("current_phase"), format!("there is no phase {current:?}; the phases are: {names}"));
        }
        let (overall_goal, current_phase, phases) = (overall_goal?, current_phase?, phases?);
        Some(Plan { overall_goal, current_phase, phases, next_actions, blockers, notes })
    }

    fn phase(&mut self, phase: &Value, at: &str) -> Option<Phase> {
        let phase = self.object(phase, at, "a phase", &["phase_name", "status", "tasks"], &[])?;
        let phase_name = self.required(&phase, "phase_name", Self::words);
        if let Some(name) = &phase_name
            && !self.seen.names.insert(name.clone())
        {
            self.fault(phase.at("phase_name"), format!("another phase has the name {name:?}: give each its own"));
        }
        let status = self.required(&phase, "status", Self::status);
        let tasks = self.required(&phase, "tasks", |reader, value, at| reader.list(value, at, Self::task));
        Some(Phase { phase_name: phase_name?, status: status?, tasks: tasks? })
    }

    fn task(&mut self, task: &Value, at: &str) -> Option<Task> {
        let task = self.object(task, at, "a task", &["task_id", "description", "status", "notes", "node_ids"], &[])?;
        let task_id = self.required(&task, "task_id", Self::number);
        if let Some(id) = task_id
            && !self.seen.task_ids.insert(id)
        {
            self.fault(task.at("task_id"), format!("another task has the id {id}: give each its own"));
        }
        let description = self.required(&task, "description", Self::words);
        let status = self.required(&task, "status", Self::status);
        let notes = self.optional(&task, "notes", Self::text);
        let node_ids = self.optional(&task, "node_ids", |reader, value, at| reader.list(value, at, Self::node));
        Some(Task { task_id: task_id?, description: description?, status: status?, notes, node_ids })
    }

    fn status(&mut self, value: &Value, at: &str) -> Option<Status> {
        let found = Status::ALL.into_iter().find(|status| value == status.as_str());
        if found.is_none() {
            let all = Status::ALL.map(Status::as_str).join(", ");
            self.fault(at, format!("use one of {all}"));
        }
        found
    }
}
