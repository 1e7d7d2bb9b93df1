//! Plans: any is either taken and given back as it was, or refused with a place for each fault; and what differs between
//! two is told completely.

use std::collections::BTreeSet;

use callboard_core::{
    error::Error,
    plan::{
        Plan, PutPlan,
        diff::{How, diff},
    },
    testing::Board,
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

/// A value that stands where it does not belong, now and then.
fn odd() -> impl Strategy<Value = Value> {
    select(vec![
        json!(null),
        json!(""),
        json!(7),
        json!(-1),
        json!(0.5),
        json!([]),
        json!({}),
        json!("done"),
        json!([null]),
    ])
}

/// Mostly `right`, and now and then something odd or nothing.
fn mostly(right: impl Strategy<Value = Value> + 'static, wrong: u32) -> BoxedStrategy<Option<Value>> {
    prop_oneof![40 => right.prop_map(Some), wrong => odd().prop_map(Some), wrong => Just(None)].boxed()
}

fn object(fields: Vec<(&'static str, BoxedStrategy<Option<Value>>)>) -> BoxedStrategy<Value> {
    let (names, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    let made = move |values: Vec<Option<Value>>| {
        let fields = names.iter().zip(values).filter_map(|(name, value)| Some(((*name).to_owned(), value?)));
        Value::Object(fields.collect::<Map<_, _>>())
    };
    values.prop_map(made).boxed()
}

fn maybe(value: impl Strategy<Value = Value> + 'static, wrong: u32) -> BoxedStrategy<Option<Value>> {
    prop_oneof![20 => Just(None), 20 => value.prop_map(Some), wrong => odd().prop_map(Some)].boxed()
}

fn texts() -> impl Strategy<Value = Value> {
    vec("[a-c </>]{0,4}", 0..3).prop_map(|texts| json!(texts))
}

fn status() -> impl Strategy<Value = Value> {
    select(&["pending", "in_progress", "completed", "failed"][..]).prop_map(|word| json!(word))
}

fn task(wrong: u32) -> BoxedStrategy<Value> {
    object(vec![
        ("task_id", mostly((0..12_u64).prop_map(|id| json!(id)), wrong)),
        ("description", mostly("[a-c]{1,3}".prop_map(|text| json!(text)), wrong)),
        ("status", mostly(status(), wrong)),
        ("notes", maybe("[a-c ]{0,3}".prop_map(|text| json!(text)), wrong)),
        (
            "node_ids",
            maybe(vec(0..9_u64, 0..3).prop_map(|ids| ids.iter().map(|id| format!("node_{id}")).collect()), wrong),
        ),
    ])
}

fn plan(wrong: u32) -> BoxedStrategy<Value> {
    let name = || select(&["a", "b", "c", "d"][..]).prop_map(|name| json!(name));
    let phase = object(vec![
        ("phase_name", mostly(name(), wrong)),
        ("status", mostly(status(), wrong)),
        ("tasks", mostly(vec(task(wrong), 0..5).prop_map(Value::Array), wrong)),
    ]);
    object(vec![
        ("overall_goal", mostly(Just(json!("goal")), wrong)),
        ("current_phase", mostly(name(), wrong)),
        ("phases", mostly(vec(phase, 0..4).prop_map(Value::Array), wrong)),
        ("next_actions", maybe(texts(), wrong)),
        ("blockers", maybe(texts(), wrong)),
        ("notes", maybe("[a-c ]{0,3}".prop_map(|text| json!(text)), wrong)),
        ("plan_version", maybe(Just(json!("any")), wrong)),
        ("/odd", prop_oneof![60 => Just(None), wrong => Just(Some(json!(1)))].boxed()),
    ])
}

/// A plan without what Callboard ignores.
fn essential(plan: &Value) -> Value {
    match plan {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, value)| *name != "plan_version" && !value.is_null());
            Value::Object(kept.map(|(name, value)| (name.clone(), essential(value))).collect())
        }
        Value::Array(all) => all.iter().map(essential).collect(),
        value => value.clone(),
    }
}

/// Makes the names and numbers of a plan unique, so that it is valid.
fn mend(mut plan: Value) -> Value {
    let (mut names, mut ids) = (BTreeSet::new(), BTreeSet::new());
    let phases = plan["phases"].as_array_mut().unwrap();
    phases.retain(|phase| names.insert(phase["phase_name"].to_string()));
    for phase in phases.iter_mut() {
        phase["tasks"].as_array_mut().unwrap().retain(|task| ids.insert(task["task_id"].to_string()));
    }
    if let Some(first) = phases.first().map(|phase| phase["phase_name"].clone()) {
        plan["current_phase"] = first;
    }
    plan
}

/// A plan that is valid.
fn valid() -> impl Strategy<Value = Value> {
    plan(0).prop_map(|plan| {
        let complete = ["overall_goal", "current_phase", "phases"].iter().all(|name| plan.get(name).is_some());
        assert!(complete);
        mend(plan)
    })
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn any_plan_is_taken_as_it_is_or_refused_with_a_place_for_each_fault(plan in prop_oneof![plan(1), plan(0), valid()]) {
        let mut board = Board::team("lead");
        let request = json!({"plan": plan});
        match board.user(PutPlan { plan: plan.clone(), reason: "r".into(), expected_version: None }) {
            Ok(version) => {
                prop_assert_eq!(version.0, 1);
                prop_assert_eq!(essential(&json!(board.state.plan.unwrap().plan)), essential(&plan));
            }
            Err(Error::Invalid(faults)) => {
                prop_assert!(!faults.is_empty() && board.state.plan.is_none());
                for fault in faults {
                    let (parent, _) = fault.pointer.rsplit_once('/').unwrap();
                    let there = request.pointer(&fault.pointer).is_some();
                    let missing = fault.problem == "missing field" && request.pointer(parent).is_some_and(Value::is_object);
                    prop_assert!(there != missing, "{fault} in {request}");
                }
            }
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        }
    }

    #[test]
    fn a_plan_without_faults_is_taken(plan in valid()) {
        let mut board = Board::team("lead");
        let put = PutPlan { plan, reason: "r".into(), expected_version: Some(0) };
        prop_assert_eq!(board.user(put).map(|version| version.0), Ok(1));
    }

    #[test]
    fn what_differs_is_told_completely(before in valid(), after in valid()) {
        let read = |plan: &Value| serde_json::from_value::<Plan>(essential(plan)).unwrap();
        let (before, after) = (read(&before), read(&after));
        let changes = diff(Some(&before), &after);
        prop_assert_eq!(changes.is_empty(), before == after, "{:?}", changes);
        prop_assert!(diff(Some(&after), &after).is_empty());
        let ids = |plan: &Plan| plan.phases.iter().flat_map(|phase| &phase.tasks).map(|task| task.task_id).collect::<BTreeSet<_>>();
        let told = |how: How| changes.iter().filter(|it| it.change == how).filter_map(|it| it.task_id).collect::<BTreeSet<_>>();
        let (old, new) = (ids(&before), ids(&after));
        prop_assert_eq!(told(How::Added), new.difference(&old).copied().collect());
        prop_assert_eq!(told(How::Removed), old.difference(&new).copied().collect());
    }
}
