//! The difference between two versions of the plan, phase by phase and task by task.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Phase, Plan, Task};

/// A difference.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PlanChange))]
pub struct Change {
    /// The task, if it concerns one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<u64>,
    /// The name of the phase. For a task: the phase that it is in, or was in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Arc<str>>,
    /// The outcome.
    pub change: How,
    /// The field that changed, such as `status` or `notes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The old value: of a removed thing the whole thing, of a moved task its phase, of a changed field what it said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Value>,
    /// The new value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
}

/// What became of a thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PlanChangeWord))]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is in another place: a task in another phase, or a task or phase in another order.
    Moved,
    /// A field of it says something else.
    Changed,
}

/// What differs between two plans; nothing where they are equal. Without `before` all is new.
pub fn diff(before: Option<&Plan>, after: &Plan) -> Vec<Change> {
    let mut changes = Vec::new();
    let fields = |plan: Option<&Plan>| {
        plan.map_or_else(Vec::new, |plan| {
            vec![
                ("overall_goal", json!(plan.overall_goal)),
                ("current_phase", json!(plan.current_phase)),
                ("next_actions", json!(plan.next_actions)),
                ("blockers", json!(plan.blockers)),
                ("notes", json!(plan.notes)),
            ]
        })
    };
    changed(&fields(before), &fields(Some(after)), &Place::default(), &mut changes);
    phases(before, after, &mut changes);
    tasks(before, after, &mut changes);
    changes
}

/// What a change is about.
#[derive(Clone, Default)]
struct Place {
    task_id: Option<u64>,
    phase: Option<Arc<str>>,
}

impl Place {
    fn change(&self, change: How, before: Option<Value>, after: Option<Value>) -> Change {
        Change { task_id: self.task_id, phase: self.phase.clone(), change, field: None, before, after }
    }
}

/// The fields that say something else.
fn changed(before: &[(&str, Value)], after: &[(&str, Value)], place: &Place, changes: &mut Vec<Change>) {
    for (name, now) in after {
        let was = before.iter().find(|(other, _)| other == name).map_or(&Value::Null, |(_, was)| was);
        if was != now {
            let given = |value: &Value| Some(value.clone()).filter(|value| !value.is_null());
            let change = place.change(How::Changed, given(was), given(now));
            changes.push(Change { field: Some((*name).to_owned()), ..change });
        }
    }
}

fn phases(before: Option<&Plan>, after: &Plan, changes: &mut Vec<Change>) {
    let of =
        |plan: &Plan| plan.phases.iter().map(|phase| (phase.phase_name.clone(), phase.clone())).collect::<Vec<_>>();
    let (before, after) = (before.map_or_else(Vec::new, of), of(after));
    let place = |name: &Arc<str>| Place { task_id: None, phase: Some(name.clone()) };
    let shown = |phase: &Phase| json!({"phase_name": phase.phase_name, "status": phase.status});
    let (was, now): (BTreeMap<_, _>, BTreeMap<_, _>) =
        (before.iter().cloned().collect(), after.iter().cloned().collect());
    for (name, phase) in before.iter().filter(|(name, _)| !now.contains_key(name)) {
        changes.push(place(name).change(How::Removed, Some(shown(phase)), None));
    }
    let order = |phases: &[(Arc<str>, Phase)], others: &BTreeMap<Arc<str>, Phase>| {
        phases.iter().map(|(name, _)| name.clone()).filter(|name| others.contains_key(name)).collect::<Vec<_>>()
    };
    let moved = out_of_order(&order(&before, &now), &order(&after, &was));
    for (name, phase) in &after {
        let Some(old) = was.get(name) else {
            changes.push(place(name).change(How::Added, None, Some(shown(phase))));
            continue;
        };
        if moved.contains(name) {
            let (old, new) = (position(&before, name), position(&after, name));
            changes.push(place(name).change(How::Moved, old.map(Value::from), new.map(Value::from)));
        }
        let status = |phase: &Phase| [("status", json!(phase.status))];
        changed(&status(old), &status(phase), &place(name), changes);
    }
}

fn tasks(before: Option<&Plan>, after: &Plan, changes: &mut Vec<Change>) {
    let of = |plan: &Plan| {
        let phases = plan.phases.iter();
        let tasks = phases
            .flat_map(|phase| phase.tasks.iter().map(|task| (task.task_id, (phase.phase_name.clone(), task.clone()))));
        tasks.collect::<Vec<_>>()
    };
    let (before, after) = (before.map_or_else(Vec::new, of), of(after));
    let (was, now): (BTreeMap<_, _>, BTreeMap<_, _>) =
        (before.iter().cloned().collect(), after.iter().cloned().collect());
    let place = |id: u64, phase: &Arc<str>| Place { task_id: Some(id), phase: Some(phase.clone()) };
    for (id, (phase, task)) in before.iter().filter(|(id, _)| !now.contains_key(id)) {
        changes.push(place(*id, phase).change(How::Removed, Some(json!(task)), None));
    }
    // Tasks that stay in their phase are in another order there, or not.
    let stays = |id: &u64| was.get(id).zip(now.get(id)).is_some_and(|((old, _), (new, _))| old == new);
    let order = |tasks: &[(u64, (Arc<str>, Task))], phase: &Arc<str>| {
        let of_phase = tasks.iter().filter(|(_, (its, _))| its == phase);
        of_phase.map(|(id, _)| *id).filter(stays).collect::<Vec<_>>()
    };
    let mut moved = Vec::new();
    for phase in after.iter().map(|(_, (phase, _))| phase).collect::<std::collections::BTreeSet<_>>() {
        moved.extend(out_of_order(&order(&before, phase), &order(&after, phase)));
    }
    for (id, (phase, task)) in &after {
        let Some((old_phase, old)) = was.get(id) else {
            changes.push(place(*id, phase).change(How::Added, None, Some(json!(task))));
            continue;
        };
        if old_phase != phase {
            changes.push(place(*id, phase).change(How::Moved, Some(json!(old_phase)), Some(json!(phase))));
        } else if moved.contains(id) {
            let within = |tasks: &[(u64, (Arc<str>, Task))]| {
                let of_phase: Vec<_> = tasks.iter().filter(|(_, (its, _))| its == phase).cloned().collect();
                position(&of_phase, id).map(|position| json!({"phase": phase, "position": position}))
            };
            changes.push(place(*id, phase).change(How::Moved, within(&before), within(&after)));
        }
        changed(&fields(old), &fields(task), &place(*id, phase), changes);
    }
}

/// Where it is among these, from 1.
fn position<K: PartialEq, T>(all: &[(K, T)], key: &K) -> Option<usize> {
    all.iter().position(|(other, _)| other == key).map(|at| at + 1)
}

fn fields(task: &Task) -> [(&'static str, Value); 4] {
    [
        ("description", json!(task.description)),
        ("status", json!(task.status)),
        ("notes", json!(task.notes)),
        ("node_ids", json!(task.node_ids)),
    ]
}

/// The fewest things that were moved where `before` and `after` hold the same ones: all but those of a longest run that
/// kept its order.
fn out_of_order<T: Clone + Ord>(before: &[T], after: &[T]) -> Vec<T> {
    if before == after {
        return Vec::new();
    }
    let places: BTreeMap<_, _> = before.iter().enumerate().map(|(place, thing)| (thing, place)).collect();
    // For each thing: the longest run in order that ends with it, and the thing before it in that run.
    let mut runs: Vec<(usize, Option<usize>)> = Vec::new();
    for (at, thing) in after.iter().enumerate() {
        let earlier = runs.iter().enumerate().filter(|(other, _)| {
            after.get(*other).and_then(|other| places.get(other)) < places.get(thing) && *other < at
        });
        let best = earlier.max_by_key(|(other, (length, _))| (*length, std::cmp::Reverse(*other)));
        runs.push(best.map_or((1, None), |(other, (length, _))| (length + 1, Some(other))));
    }
    let mut kept = Vec::new();
    let longest = runs.iter().enumerate().max_by_key(|(at, (length, _))| (*length, std::cmp::Reverse(*at)));
    let mut next = longest.map(|(at, _)| at);
    while let Some(at) = next {
        kept.push(at);
        next = runs.get(at).and_then(|(_, before)| *before);
    }
    after.iter().enumerate().filter(|(at, _)| !kept.contains(at)).map(|(_, thing)| thing.clone()).collect()
}
