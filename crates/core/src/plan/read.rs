//! Reading a plan that somebody wrote: every fault is told, each with its place.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Map, Value};

use super::{Phase, Plan, Status, Task};
use crate::{
    error::{Error, Fault},
    id::NodeId,
    number::Whole,
};

/// What Callboard itself sets, and so ignores in what is sent.
const SET_BY_CALLBOARD: &[&str] = &["workflow_id", "plan_version", "created_at", "updated_at"];

/// How many faults are told at most.
const MAX_FAULTS: usize = 1000;

/// Reads a plan whose place in a request is `pointer`.
pub(super) fn read(plan: &Value, pointer: &str) -> Result<Plan, Error> {
    let mut reader = Reader::default();
    match reader.plan(plan, pointer) {
        Some(plan) if reader.faults.is_empty() => Ok(plan),
        _ => Err(Error::Invalid(reader.finish())),
    }
}

/// Notes what is wrong while it reads. What cannot be read is `None`, and its fault is noted.
#[derive(Default)]
struct Reader {
    faults: Vec<Fault>,
    names: BTreeSet<Arc<str>>,
    task_ids: BTreeSet<u64>,
}

/// An object and its place.
struct Object<'a> {
    fields: &'a Map<String, Value>,
    at: &'a str,
}

impl Object<'_> {
    fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.at)
    }

    /// A field that is there and not null.
    fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }
}

impl Reader {
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
            && !self.names.is_empty()
            && !self.names.contains(current)
        {
            let names = self.names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
            self.fault(plan.at("current_phase"), format!("there is no phase {current:?}; the phases are: {names}"));
        }
        let (overall_goal, current_phase, phases) = (overall_goal?, current_phase?, phases?);
        Some(Plan { overall_goal, current_phase, phases, next_actions, blockers, notes })
    }

    fn phase(&mut self, phase: &Value, at: &str) -> Option<Phase> {
        let phase = self.object(phase, at, "a phase", &["phase_name", "status", "tasks"], &[])?;
        let phase_name = self.required(&phase, "phase_name", Self::words);
        if let Some(name) = &phase_name
            && !self.names.insert(name.clone())
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
            && !self.task_ids.insert(id)
        {
            self.fault(task.at("task_id"), format!("another task has the id {id}: give each its own"));
        }
        let description = self.required(&task, "description", Self::words);
        let status = self.required(&task, "status", Self::status);
        let notes = self.optional(&task, "notes", Self::text);
        let node_ids = self.optional(&task, "node_ids", |reader, value, at| reader.list(value, at, Self::node));
        Some(Task { task_id: task_id?, description: description?, status: status?, notes, node_ids })
    }

    fn object<'a>(
        &mut self,
        value: &'a Value,
        at: &'a str,
        what: &str,
        known: &[&str],
        ignored: &[&str],
    ) -> Option<Object<'a>> {
        let Some(fields) = value.as_object() else {
            self.fault(at, format!("{what} is an object with {}", known.join(", ")));
            return None;
        };
        for name in fields.keys().filter(|name| !known.contains(&name.as_str()) && !ignored.contains(&name.as_str())) {
            let name_in_pointer = name.replace('~', "~0").replace('/', "~1");
            self.fault(format!("{at}/{name_in_pointer}"), format!("unknown field; {what} has {}", known.join(", ")));
        }
        Some(Object { fields, at })
    }

    fn required<T>(
        &mut self,
        object: &Object<'_>,
        name: &str,
        read: impl FnOnce(&mut Self, &Value, &str) -> Option<T>,
    ) -> Option<T> {
        match object.fields.get(name) {
            Some(value) => read(self, value, &object.at(name)),
            None => {
                self.fault(object.at(name), "missing field".to_owned());
                None
            }
        }
    }

    fn optional<T>(
        &mut self,
        object: &Object<'_>,
        name: &str,
        read: impl FnOnce(&mut Self, &Value, &str) -> Option<T>,
    ) -> Option<T> {
        read(self, object.get(name)?, &object.at(name))
    }

    fn list<T>(
        &mut self,
        value: &Value,
        at: &str,
        read: impl Fn(&mut Self, &Value, &str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Some(items) = value.as_array() else {
            self.fault(at, "use a list; it may be empty".to_owned());
            return None;
        };
        // All are read before any is missed, so that every fault is told.
        let read: Vec<_> = items.iter().enumerate().map(|(n, item)| read(self, item, &format!("{at}/{n}"))).collect();
        read.into_iter().collect()
    }

    fn text(&mut self, value: &Value, at: &str) -> Option<Arc<str>> {
        if let Some(text) = value.as_str() {
            return Some(text.into());
        }
        self.fault(at, "use a text".to_owned());
        None
    }

    fn words(&mut self, value: &Value, at: &str) -> Option<Arc<str>> {
        if let Some(text) = value.as_str().filter(|text| !text.trim().is_empty()) {
            return Some(text.into());
        }
        self.fault(at, "use a text that is not blank".to_owned());
        None
    }

    fn number(&mut self, value: &Value, at: &str) -> Option<u64> {
        let number = serde_json::from_value::<Whole>(value.clone()).ok();
        let number = number.and_then(|whole| whole.read::<u64, serde_json::Error>().ok());
        if number.is_none() {
            self.fault(at, "use a whole number, 0 or more".to_owned());
        }
        number
    }

    fn status(&mut self, value: &Value, at: &str) -> Option<Status> {
        let found = Status::ALL.into_iter().find(|status| value == status.as_str());
        if found.is_none() {
            let all = Status::ALL.map(Status::as_str).join(", ");
            self.fault(at, format!("use one of {all}"));
        }
        found
    }

    fn node(&mut self, value: &Value, at: &str) -> Option<NodeId> {
        let id = value.as_str().and_then(|text| text.parse().ok());
        if id.is_none() {
            self.fault(at, "use the id of a node, for instance node_4".to_owned());
        }
        id
    }

    fn fault(&mut self, at: impl Into<String>, problem: String) {
        self.faults.push(Fault { pointer: at.into(), problem });
    }

    /// All faults, or the first ones and how many more there are.
    fn finish(mut self) -> Vec<Fault> {
        let more = self.faults.len().saturating_sub(MAX_FAULTS);
        if more > 0 {
            self.faults.truncate(MAX_FAULTS);
            self.fault("", format!("and {more} more faults: mend these first"));
        }
        self.faults
    }
}
