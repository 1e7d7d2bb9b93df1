use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{PatchTask, PutPlan, TaskPatch, decide::PlanVersion, diff::diff, *};
use crate::{error::Error, id::Seq, session::SessionPatch, testing::Board, text::Text};

/// The plan of the specification's example.
pub(crate) fn example() -> Value {
    serde_json::from_str(include_str!("tests/example.json")).unwrap()
}

fn put(board: &mut Board, plan: &Value) -> Result<u64, Error> {
    board
        .by("lead", PutPlan { plan: plan.clone(), reason: "as I see it".into(), expected_version: None })
        .map(|it| it.0)
}

fn faults(plan: &Value) -> String {
    match put(&mut Board::team("lead writer"), plan).unwrap_err() {
        Error::Invalid(faults) => faults.iter().map(|fault| format!("{fault}\n")).collect(),
        other => panic!("{other}"),
    }
}

/// What differs, one change a line.
fn changes(before: &Value, after: &Value) -> String {
    let plan = |value: &Value| serde_json::from_value::<Plan>(value.clone()).unwrap();
    let changes = diff(Some(&plan(before)), &plan(after));
    changes.iter().map(|change| format!("{}\n", json!(change))).collect()
}

fn small() -> Value {
    let task = |id: u64, status: &str| json!({"task_id": id, "description": format!("do {id}"), "status": status});
    json!({"overall_goal": "A poem", "current_phase": "draft", "phases": [
        {"phase_name": "draft", "status": "in_progress", "tasks": [task(0, "completed"), task(1, "pending"), task(2, "pending")]},
        {"phase_name": "polish", "status": "pending", "tasks": []},
    ]})
}

#[test]
fn the_plan_of_the_specification_is_taken_and_given_back_as_it_was() {
    let mut board = Board::team("lead writer");
    assert_eq!(put(&mut board, &example()).unwrap(), 1);
    let given = json!(board.view("lead").unwrap().plan_document().unwrap());
    let mut expected = example();
    for field in ["workflow_id", "created_at", "updated_at"] {
        assert_ne!(given[field], expected[field], "Callboard sets it");
        expected[field] = given[field].clone();
    }
    assert_eq!(given, expected);
    let order = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(order(&given), order(&expected), "the fields stand in the order of the specification");
    assert_eq!(order(&given["phases"][0]["tasks"][0]), ["task_id", "description", "status", "notes"]);
    let id = given["workflow_id"].as_str().unwrap();
    assert_eq!((id.len(), &id[14..15], id.matches('-').count()), (36, "8", 4), "{id}");
}

#[test]
fn versions_are_counted_from_one_and_name_their_author() {
    let mut board = Board::team("lead writer");
    for version in 1..=3 {
        assert_eq!(put(&mut board, &small()).unwrap(), version);
    }
    let stale = |board: &mut Board, expected: u64| {
        let put = PutPlan { plan: small(), reason: "r".into(), expected_version: Some(expected) };
        board.user(put).map(|it| it.0).map_err(|error| (error.code(), error.to_string()))
    };
    assert_eq!(stale(&mut board, 3).unwrap(), 4);
    let (code, text) = stale(&mut board, 3).unwrap_err();
    assert_snapshot!(format!("{code}: {text}"), @"stale_plan: /expected_version: the plan has version 4 by now, not 3: read the plan, and change that version");
    assert_eq!(stale(&mut Board::team("lead"), 1).unwrap_err().0, "stale_plan");
    assert_eq!(stale(&mut Board::team("lead"), 0).unwrap(), 1);
    let held = board.state.plan.clone().unwrap();
    assert_eq!((held.version, held.by.to_string(), held.seq), (4, "user".to_owned(), Seq(7)));
    assert!(held.created_at < held.updated_at);
    let keys: Vec<_> = board.entries.iter().flat_map(|entry| &entry.header.keys).map(|key| &**key).collect();
    assert_eq!(keys, ["plan:1", "plan:2", "plan:3", "plan:4"]);
}

#[test]
fn every_fault_of_a_plan_is_told_with_its_place() {
    assert_snapshot!(faults(&json!([])), @"/plan: a plan is an object with overall_goal, current_phase, phases, next_actions, blockers, notes");
    assert_snapshot!(faults(&json!({})), @"
    /plan/overall_goal: missing field
    /plan/current_phase: missing field
    /plan/phases: missing field
    ");
    let wrong = json!({
        "overall_goal": " ", "current_phase": "nowhere", "colour~/": "red", "blockers": "none", "notes": 5, "phases": [
            {"phase_name": "a", "status": "done", "tasks": [
                {"task_id": 1, "description": "x", "status": "pending", "node_ids": ["node_1", "node 2", 3]},
                {"task_id": 1, "description": "x", "status": null, "owner": "me"},
                {"task_id": "two", "description": "", "status": "failed"},
                {"task_id": -1.5, "status": "failed"},
            ]},
            {"phase_name": "a", "status": "pending", "tasks": {}},
            "later",
        ], "next_actions": ["x", 7],
    });
    assert_snapshot!(faults(&wrong), @r#"
    /plan/colour~0~1: unknown field; a plan has overall_goal, current_phase, phases, next_actions, blockers, notes
    /plan/overall_goal: use a text that is not blank
    /plan/phases/0/status: use one of pending, in_progress, completed, failed
    /plan/phases/0/tasks/0/node_ids/1: use the id of a node, for instance node_4
    /plan/phases/0/tasks/0/node_ids/2: use the id of a node, for instance node_4
    /plan/phases/0/tasks/1/owner: unknown field; a task has task_id, description, status, notes, node_ids
    /plan/phases/0/tasks/1/task_id: another task has the id 1: give each its own
    /plan/phases/0/tasks/1/status: use one of pending, in_progress, completed, failed
    /plan/phases/0/tasks/2/task_id: use a whole number, 0 or more
    /plan/phases/0/tasks/2/description: use a text that is not blank
    /plan/phases/0/tasks/3/task_id: use a whole number, 0 or more
    /plan/phases/0/tasks/3/description: missing field
    /plan/phases/1/phase_name: another phase has the name "a": give each its own
    /plan/phases/1/tasks: use a list; it may be empty
    /plan/phases/2: a phase is an object with phase_name, status, tasks
    /plan/next_actions/1: use a text
    /plan/blockers: use a list; it may be empty
    /plan/notes: use a text
    /plan/current_phase: there is no phase "nowhere"; the phases are: "a"
    "#);
    let many = json!({"overall_goal": "x", "current_phase": "x", "phases": vec![0; 2000]});
    assert!(faults(&many).lines().last().unwrap().starts_with("and 1000 more faults"));
}

#[test]
fn empty_lists_and_a_task_of_number_0_are_valid() {
    for plan in [
        json!({"overall_goal": "x", "current_phase": "", "phases": []}),
        json!({"overall_goal": "x", "current_phase": "p", "phases": [{"phase_name": "p", "status": "failed", "tasks": []}]}),
        small(),
    ] {
        let mut board = Board::team("lead");
        put(&mut board, &plan).unwrap();
        assert_eq!(json!(board.state.plan.unwrap().plan), plan);
    }
}

#[test]
fn a_plan_that_is_too_large_or_has_no_reason_is_refused() {
    let mut board = Board::team("lead writer");
    let mut large = small();
    large["notes"] = "x".repeat(300_000).into();
    assert_eq!(put(&mut board, &large).unwrap_err().code(), "too_large");
    let no_reason = PutPlan { plan: small(), reason: " ".into(), expected_version: None };
    assert_snapshot!(board.user(no_reason).unwrap_err(), @"/reason: say why, in at most 65536 bytes");
    assert_eq!(board.state.plan, None);
}

#[test]
fn a_change_of_one_task_makes_a_version() {
    let mut board = Board::team("lead writer");
    let patch = |task_id, status, notes: Option<&str>| PatchTask {
        task_id,
        patch: TaskPatch { status, notes: notes.map(Arc::from), reason: "ticked".into() },
    };
    assert_eq!(board.user(patch(0, Some(Status::Failed), None)).unwrap_err().code(), "not_found");
    put(&mut board, &small()).unwrap();
    assert_eq!(board.user(patch(1, Some(Status::Completed), Some("well"))).unwrap().0, 2);
    let task = |board: &Board| board.state.plan.as_ref().unwrap().plan.phases[0].tasks[1].clone();
    assert_eq!((task(&board).status, task(&board).notes.as_deref()), (Status::Completed, Some("well")));
    assert_eq!(board.user(patch(1, Some(Status::Completed), None)).unwrap().0, 2, "nothing changes");
    assert_eq!(board.by("lead", patch(1, None, Some(""))).unwrap().0, 3);
    assert_eq!(task(&board).notes, None);
    assert_snapshot!(board.user(patch(9, None, Some("x"))).unwrap_err(), @r#"there is no task "9""#);
    assert_snapshot!(board.user(patch(1, None, None)).unwrap_err(), @"say what is to change: status, notes or both");
    assert_eq!(board.by("writer", patch(9, None, None)).unwrap_err().code(), "forbidden");
}

#[test]
fn workers_see_the_plan_where_the_session_shares_it() {
    let mut board = Board::team("lead writer");
    put(&mut board, &small()).unwrap();
    let share = |board: &mut Board, share: Value| {
        board.user(serde_json::from_value::<SessionPatch>(json!({ "share": share })).unwrap()).unwrap();
    };
    let versions = |board: &Board, viewer: &str| {
        let entries = board.seen(viewer).into_iter().filter(|entry| &*entry.kind == "plan.updated");
        entries.map(|entry| serde_json::from_str::<Value>(&entry.data).unwrap()["version"].clone()).collect::<Vec<_>>()
    };
    let absent = Board::team("lead writer").view("writer").unwrap().plan().unwrap_err();
    assert_eq!(board.view("writer").unwrap().plan().unwrap_err(), absent);
    assert_eq!((versions(&board, "lead").len(), versions(&board, "writer").len()), (1, 0));
    share(&mut board, json!(["plan"]));
    put(&mut board, &small()).unwrap();
    assert_eq!(board.view("writer").unwrap().plan().unwrap().version, 2);
    assert_eq!(versions(&board, "writer"), [json!(2)], "what was decided before was not for it");
    assert_eq!(put_by(&mut board, "writer").unwrap_err().code(), "forbidden");
    share(&mut board, json!([]));
    assert_eq!(versions(&board, "writer"), Vec::<Value>::new());
}

fn put_by(board: &mut Board, agent: &str) -> Result<PlanVersion, Error> {
    board.by(agent, PutPlan { plan: json!("broken"), reason: "".into(), expected_version: None })
}

#[test]
fn what_differs_is_told_task_by_task() {
    let (before, mut after) = (small(), small());
    assert_eq!(changes(&before, &after), "");
    after["phases"][0]["tasks"][1]["status"] = "failed".into();
    after["phases"][0]["tasks"][1]["notes"] = "too hard".into();
    assert_snapshot!(changes(&before, &after), @r#"
    {"task_id":1,"phase":"draft","change":"changed","field":"status","before":"pending","after":"failed"}
    {"task_id":1,"phase":"draft","change":"changed","field":"notes","after":"too hard"}
    "#);
    let mut after = small();
    let task = after["phases"][0]["tasks"].as_array_mut().unwrap().remove(0);
    after["phases"][1]["tasks"] = json!([task, {"task_id": 7, "description": "new", "status": "pending"}]);
    after["phases"][0]["tasks"].as_array_mut().unwrap().pop();
    after["current_phase"] = "polish".into();
    assert_snapshot!(changes(&before, &after), @r#"
    {"change":"changed","field":"current_phase","before":"draft","after":"polish"}
    {"task_id":2,"phase":"draft","change":"removed","before":{"task_id":2,"description":"do 2","status":"pending"}}
    {"task_id":0,"phase":"polish","change":"moved","before":"draft","after":"polish"}
    {"task_id":7,"phase":"polish","change":"added","after":{"task_id":7,"description":"new","status":"pending"}}
    "#);
    let mut after = small();
    after["phases"][0]["tasks"].as_array_mut().unwrap().rotate_left(1);
    after["phases"].as_array_mut().unwrap().reverse();
    assert_snapshot!(changes(&before, &after), @r#"
    {"phase":"draft","change":"moved","before":1,"after":2}
    {"task_id":0,"phase":"draft","change":"moved","before":{"phase":"draft","position":1},"after":{"phase":"draft","position":3}}
    "#);
    let mut after = small();
    after["phases"][1] = json!({"phase_name": "print", "status": "pending", "tasks": []});
    assert_snapshot!(changes(&before, &after), @r#"
    {"phase":"polish","change":"removed","before":{"phase_name":"polish","status":"pending"}}
    {"phase":"print","change":"added","after":{"phase_name":"print","status":"pending"}}
    "#);
}

#[test]
fn models_change_and_read_the_plan_with_their_tools() {
    use crate::tool::{CallTool, Read, ToolExecution, own_tool};
    let mut board = Board::team("lead writer");
    let read = |board: &Board, agent: &str| match own_tool("get_current_plan").unwrap().execution {
        ToolExecution::Read(read) => read(&board.view(agent).unwrap(), &Value::Null),
        ToolExecution::Command(_) => unreachable!(),
    };
    assert_eq!(read(&board, "lead").unwrap(), Read::Text("There is no plan yet.".into(), None));
    let update =
        |plan: Value| CallTool { name: "update_plan".to_owned(), arguments: json!({"plan": plan, "reason": "begin"}) };
    let told = board.by("lead", update(example())).unwrap();
    assert_eq!(told.0, "Plan updated successfully");
    let Read::Text(Text::Inline(text), seq) = read(&board, "lead").unwrap() else { unreachable!() };
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["plan_version"], 1);
    assert_eq!(seq, Some(board.state.head.seq));
    let faulty = board.by("lead", update(json!({"phases": []}))).unwrap_err();
    assert_snapshot!(faulty, @"/arguments/plan/overall_goal: missing field; /arguments/plan/current_phase: missing field");
    assert_eq!(board.by("writer", update(small())).unwrap_err().code(), "forbidden");
    assert_eq!(read(&board, "writer").unwrap_err().code(), "not_found");
    let schema = own_tool("update_plan").unwrap().described().parameters;
    let valid = jsonschema::validator_for(&json!(schema)).unwrap();
    assert!(
        valid.is_valid(&json!({"plan": small(), "reason": "r"}))
            && !valid.is_valid(&json!({"plan": {}, "reason": "r"}))
    );
}
