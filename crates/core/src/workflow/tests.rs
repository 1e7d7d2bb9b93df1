use serde_json::json;

use super::{
    references::{Reference, references},
    *,
};
use crate::{
    error::{ConflictKind, Error},
    plan::PutPlan,
    testing::Board,
    variable::SetVariable,
    view::View,
    viewer::Viewer,
};

fn node(kind: &str, config: Value) -> CreateNode {
    CreateNode { kind: kind.into(), config, ..CreateNode::default() }
}

fn patch(id: u64, patch: NodePatch) -> PatchNode {
    PatchNode { id: NodeId(id), patch }
}

fn moved(id: u64, position: u64) -> PatchNode {
    patch(id, NodePatch { position: Some(position), ..NodePatch::default() })
}

fn configured(id: u64, config: Value) -> PatchNode {
    patch(id, NodePatch { config: Some(config), ..NodePatch::default() })
}

fn delete(id: u64) -> DeleteNode {
    DeleteNode { id: NodeId(id), reason: None, expected_version: None }
}

fn put(nodes: Value) -> PutWorkflow {
    PutWorkflow { nodes, ..PutWorkflow::default() }
}

fn given(id: u64, status: NodeStatus, result: Value) -> PutResult {
    PutResult { id: NodeId(id), given: GivenResult { status, result, variables: Map::new() } }
}

fn result(id: u64, variables: Value) -> PutResult {
    let Value::Object(variables) = variables else { panic!() };
    let given = GivenResult { status: NodeStatus::Success, result: json!({"ok": true}), variables };
    PutResult { id: NodeId(id), given }
}

/// A session with `n` nodes, `node_1` and so on.
fn board(n: u64) -> Board {
    let mut board = Board::team("lead writer");
    for n in 1..=n {
        assert_eq!(board.user(node("step", json!({}))), Ok(NodeId(n)));
    }
    board
}

/// The numbers of the nodes in their order. Their positions must be 1, 2, 3 and so on.
fn order(board: &Board) -> Vec<u64> {
    let document = board.state.workflow.document(&board.state.session);
    assert!(document.nodes.iter().enumerate().all(|(at, node)| node.position == at as u64 + 1));
    document.nodes.iter().map(|node| node.id.0).collect()
}

/// Where the faults are that a command is refused for.
fn pointers<T: std::fmt::Debug>(refused: Result<T, Error>) -> Vec<String> {
    let Err(Error::Invalid(faults)) = refused else { panic!("{refused:?}") };
    faults.into_iter().map(|fault| fault.pointer).collect()
}

pub(super) fn conflict<T: std::fmt::Debug>(refused: Result<T, Error>) -> ConflictKind {
    let Err(Error::Conflict { kind, .. }) = refused else { panic!("{refused:?}") };
    kind
}

#[test]
fn a_new_node_moves_those_behind_it_back() {
    let mut board = board(2);
    let new = board.user(CreateNode { position: Some(1), ..node("step", json!({})) });
    assert_eq!((new, order(&board)), (Ok(NodeId(3)), vec![3, 1, 2]));
    assert_eq!(pointers(board.user(CreateNode { position: Some(5), ..node("step", json!({})) })), ["/position"]);
    assert_eq!(pointers(board.user(CreateNode { position: Some(0), ..node("step", json!({})) })), ["/position"]);
}

#[test]
fn a_new_node_is_read_from_the_body_of_its_call() {
    let read = serde_json::from_value::<CreateNode>;
    let new = read(json!({"type": "step", "position": 1.0})).unwrap();
    assert_eq!(new, CreateNode { position: Some(1), ..node("step", json!({})) });
    assert!(read(json!({"type": "step", "odd": 1})).is_err() && read(json!({"config": {}})).is_err());
    let listed = read(json!({"type": "step", "config": []})).unwrap();
    assert_eq!(pointers(board(0).user(listed)), ["/config"]);
}

#[test]
fn a_node_that_moves_moves_those_between() {
    let mut board = board(4);
    board.user(moved(1, 3)).unwrap();
    assert_eq!(order(&board), [2, 3, 1, 4]);
    board.user(moved(4, 1)).unwrap();
    assert_eq!(order(&board), [4, 2, 3, 1]);
    assert_eq!(pointers(board.user(moved(1, 5))), ["/position"]);
    assert_eq!(pointers(board.user(patch(1, NodePatch::default()))), [""]);
    let head = board.state.head;
    board.user(moved(4, 1)).unwrap();
    assert_eq!(board.state.head, head, "where nothing changes, nothing is recorded");
}

#[test]
fn the_number_of_a_node_is_its_own_for_ever() {
    let mut board = board(3);
    board.user(delete(3)).unwrap();
    assert_eq!(board.user(node("step", json!({}))), Ok(NodeId(4)));
    board.user(put(json!([{"type": "step"}, {"type": "step", "id": "node_2"}]))).unwrap();
    assert_eq!(order(&board), [5, 2]);
    board.user(put(json!([{"type": "step", "id": "node_123"}, {"type": "step"}]))).unwrap();
    assert_eq!(order(&board), [123, 124]);
}

#[test]
fn a_stale_writer_is_told() {
    let mut board = board(2);
    let stale = Some(1);
    let node = CreateNode { expected_version: stale, ..node("step", json!({})) };
    assert_eq!(conflict(board.user(node)), ConflictKind::StaleWorkflow);
    let put = |expected_version| PutWorkflow { expected_version, ..put(json!([])) };
    assert_eq!(conflict(board.user(put(stale))), ConflictKind::StaleWorkflow);
    let deleted = board.user(DeleteNode { expected_version: stale, ..delete(1) });
    assert_eq!(conflict(deleted), ConflictKind::StaleWorkflow);
    assert_eq!(board.user(put(Some(2))), Ok(WorkflowVersion(3)));
}

#[test]
fn what_a_configuration_refers_to_is_told_with_its_place() {
    let config = json!({
        "then": "node_3", "cases": [{"go/to": " node_4 "}], "text": "to {{ node5.a[0].b + node6.c }}, {{other}}",
        "value": "node7.emails", "host": "node8.example.com", "said": "see node_9 or node9.x", "mail": "a@node1.x",
        "left": "{{node10", "n": 7, "zeros": "node_07", "none": "node7.1", "whole": "{{node11}} and {{ node12[0] }}, not node13",
    });
    let Value::Object(config) = config else { panic!() };
    let shown = |Reference { pointer, to, kind }: Reference| format!("{pointer} {kind:?} {to}");
    let found: Vec<_> = references("step", &config).into_iter().map(shown).collect();
    assert_eq!(
        found,
        [
            "/then Route node_3",
            "/cases/0/go~1to Route node_4",
            "/text Reads node_5",
            "/text Reads node_6",
            "/value Reads node_7",
            "/whole Reads node_11",
            "/whole Reads node_12"
        ]
    );
}

#[test]
fn edges_follow_from_order_and_configuration() {
    let mut board = board(2);
    board.user(node("step", json!({"a": "{{node1.x}} {{node1.y}}", "b": "node_1"}))).unwrap();
    let edges: Vec<_> =
        board.state.workflow.edges().iter().map(|e| format!("{} {:?} {}", e.from, e.kind, e.to)).collect();
    assert_eq!(edges, ["node_1 Next node_2", "node_2 Next node_3", "node_3 Reads node_1", "node_3 Route node_1"]);
}

#[test]
fn nothing_refers_to_a_node_that_is_not_there() {
    let mut board = board(1);
    assert_eq!(
        pointers(board.user(node("step", json!({"to": ["node_9"], "x": "{{node8.y}}"})))),
        ["/config/to/0", "/config/x"]
    );
    // A node may refer to itself.
    board.user(node("loop", json!({"to": "node_2", "then": "node_1"}))).unwrap();
    assert_eq!(pointers(board.user(configured(2, json!({"to": "node_7"})))), ["/config/to"]);
    assert_eq!(conflict(board.user(delete(1))), ConflictKind::NodeInUse);
    let nodes = json!([{"type": "loop", "id": "node_2", "config": {"to": "node_2", "then": "node_1"}}]);
    assert_eq!(pointers(board.user(put(nodes))), ["/nodes/0/config/then"]);
    board.user(delete(2)).unwrap();
    board.user(delete(1)).unwrap();
    assert_eq!(order(&board), [0_u64; 0]);
}

#[test]
fn with_a_node_go_its_variables_and_its_name_in_the_plan() {
    let mut board = board(2);
    let set = |name: &str| SetVariable::new(name.parse().unwrap(), json!(1), None, "r".into()).unwrap();
    for name in ["node1.a", "node1.b", "node2.a", "node11.a", "free"] {
        board.user(set(name)).unwrap();
    }
    let task = json!({"task_id": 1, "description": "Build", "status": "pending", "node_ids": ["node_1", "node_2"]});
    let phase = json!({"phase_name": "p", "status": "pending", "tasks": [task]});
    let plan = json!({"overall_goal": "g", "current_phase": "p", "phases": [phase]});
    board.user(PutPlan { plan, reason: "r".into(), expected_version: None }).unwrap();
    board.by("lead", delete(1)).unwrap();
    let names: Vec<_> = board.state.variables.iter().map(|variable| variable.name.to_string()).collect();
    assert_eq!(names, ["free", "node11.a", "node2.a"]);
    let held = board.state.plan.clone().unwrap();
    assert_eq!((held.version, held.plan.phases[0].tasks[0].node_ids.clone()), (2, Some(vec![NodeId(2)])));
    assert_eq!((&*held.reason, held.by.to_string()), ("deleted from the workflow: node_1", "agent:lead".to_owned()));
}

#[test]
fn nothing_is_said_of_a_node_that_is_gone_and_no_other_gets_its_number() {
    let mut board = board(3);
    let plan = |nodes: Value| {
        let task = json!({"task_id": 1, "description": "Build", "status": "pending", "node_ids": nodes});
        let phase = json!({"phase_name": "p", "status": "pending", "tasks": [task]});
        json!({"overall_goal": "g", "current_phase": "p", "phases": [phase], "id": "mine"})
    };
    let put_plan = |nodes: Value| PutPlan { plan: plan(nodes), reason: "r".into(), expected_version: None };
    let set = |name: &str| SetVariable::new(name.parse().unwrap(), json!(1), None, "r".into()).unwrap();
    board.user(delete(2)).unwrap();
    assert_eq!(pointers(board.user(put_plan(json!(["node_1", "node_2"])))), ["/plan/phases/0/tasks/0/node_ids/1"]);
    assert_eq!(pointers(board.user(set("node2.x"))), ["/name"]);
    let nodes = json!([{"type": "a", "id": "node_1"}, {"type": "b", "id": "node_2"}]);
    assert_eq!(pointers(board.user(put(nodes))), ["/nodes/1/id"]);
    assert_eq!(order(&board), [1, 3]);
    // Those that are there, and those that may come, can be named.
    board.user(put_plan(json!(["node_1", "node_9"]))).unwrap();
    board.user(set("node9.x")).unwrap();
    board.user(put(json!([{"type": "a", "id": "node_1"}, {"type": "b", "id": "node_9"}, {"type": "c"}]))).unwrap();
    assert_eq!(order(&board), [1, 9, 10]);
    // A number that was passed over was nobody's.
    board.user(put(json!([{"type": "a", "id": "node_1"}, {"type": "b", "id": "node_4"}]))).unwrap();
    assert_eq!(pointers(board.user(set("node9.x"))), ["/name"]);
}

#[test]
fn a_whole_workflow_is_refused_with_all_its_faults() {
    let mut board = board(1);
    let nodes = json!([
        {"id": "node_1", "type": "a", "position": 1, "colour": "red"},
        {"id": "node_1", "type": " ", "position": 1},
        {"id": "seven", "position": 0, "config": [], "description": 7},
        7,
        {"type": "x".repeat(101), "id": "node_1000000000"},
    ]);
    let command = PutWorkflow { workflow: Some(json!({"name": 7, "odd": 1, "id": "mine"})), ..put(nodes) };
    let head = board.state.head;
    assert_eq!(
        pointers(board.user(command)),
        [
            "/workflow/odd",
            "/workflow/name",
            "/nodes/0/colour",
            "/nodes/1/id",
            "/nodes/1/position",
            "/nodes/1/type",
            "/nodes/2/id",
            "/nodes/2/position",
            "/nodes/2/type",
            "/nodes/2/config",
            "/nodes/2/description",
            "/nodes/3",
            "/nodes/4/id"
        ]
    );
    assert_eq!(
        pointers(board.user(put(json!([{"type": "x".repeat(101)}, {"type": "a\nb"}])))),
        ["/nodes/0/type", "/nodes/1/type"]
    );
    assert_eq!(pointers(board.user(put(json!({})))), ["/nodes"]);
    assert_eq!(board.state.head, head);
}

#[test]
fn a_whole_workflow_changes_what_differs() {
    let mut board = board(3);
    board.user(result(2, json!({}))).unwrap();
    let nodes = json!([
        {"id": "node_3", "position": 20, "type": "step", "status": "success"},
        {"id": "node_2", "position": 10, "type": "step", "config": {"x": 1}, "description": "Second"},
        {"position": 15, "type": "new", "config": {"then": "node_3"}},
    ]);
    let workflow = Some(json!({"name": "Sync", "description": " ", "created_at": "any"}));
    let before = board.entries.len();
    board.by("lead", PutWorkflow { workflow, reason: Some("again".into()), ..put(nodes) }).unwrap();
    assert_eq!(order(&board), [2, 4, 3]);
    let kinds: Vec<_> = board.entries[before..].iter().map(|entry| entry.header.kind.to_string()).collect();
    assert_eq!(kinds, ["node.deleted", "node.updated", "node.created", "workflow.updated"]);
    let document = board.state.workflow.document(&board.state.session);
    assert_eq!((document.workflow.name.as_deref(), document.workflow.version), (Some("Sync"), 4));
    let statuses: Vec<_> = document.nodes.iter().map(|node| node.status).collect();
    assert_eq!(statuses, [NodeStatus::Success, NodeStatus::NotRun, NodeStatus::NotRun], "a status is Callboard's");
    // What was read can be put again.
    let nodes = json!(document.nodes);
    let before = board.entries.len();
    board.user(PutWorkflow { workflow: Some(json!(document.workflow)), ..put(nodes) }).unwrap();
    assert_eq!(board.entries.len(), before + 1);
    let after = board.state.workflow.document(&board.state.session);
    assert_eq!((after.nodes, after.edges), (document.nodes, document.edges));
    assert_eq!(after.workflow.name, document.workflow.name);
}

#[test]
fn a_result_sets_the_status_and_the_nodes_variables() {
    let mut board = board(7);
    board.user(result(7, json!({"emails": [1], "node7.count": 2}))).unwrap();
    let names: Vec<_> = board.state.variables.iter().map(|variable| variable.name.to_string()).collect();
    assert_eq!(names, ["node7.count", "node7.emails"]);
    assert_eq!(board.state.workflow.get(NodeId(7)).unwrap().status, NodeStatus::Success);
    assert!(!json!(board.state).to_string().contains("\"ok\""), "a result is not in the state");
    let head = board.state.head;
    assert_eq!(pointers(board.user(result(7, json!({"good": 1, "node8.x": 1})))), ["/variables/node8.x"]);
    assert_eq!(pointers(board.user(result(7, json!({"a/\nb": 1})))), ["/variables/a~1\nb"]);
    assert_eq!(pointers(board.user(given(7, NodeStatus::NotRun, json!({})))), ["/status"]);
    assert_eq!(board.user(result(8, json!({}))), Err(Error::not_found("node", "node_8")));
    let large = given(7, NodeStatus::Success, json!("x".repeat(17 * 1024 * 1024)));
    assert!(matches!(board.user(large), Err(Error::TooLarge { .. })));
    assert_eq!(board.state.head, head);
}

#[test]
fn secrets_that_were_not_sealed_are_refused() {
    let mut board = board(1);
    let secret = json!({"login": {"password": "hunter2"}});
    assert_eq!(board.user(node("step", secret.clone())).unwrap_err().code(), "sealed");
    assert_eq!(board.user(configured(1, secret.clone())).unwrap_err().code(), "sealed");
    assert_eq!(board.user(put(json!([{"type": "step", "config": secret}]))).unwrap_err().code(), "sealed");
    assert_eq!(board.user(given(1, NodeStatus::Success, secret)).unwrap_err().code(), "sealed");
    let placeholder = json!({"login": {"password": "[hidden]"}});
    assert_eq!(pointers(board.user(node("step", placeholder))), ["/config/login/password"]);
}

#[test]
fn a_workflow_has_a_size() {
    let mut board = board(0);
    let large = json!({"x": "y".repeat(70_000)});
    assert_eq!(pointers(board.user(node("step", large))), ["/config"]);
    let full = json!({"x": "y".repeat(60_000)});
    let nodes: Vec<_> = (0..18).map(|_| json!({"type": "step", "config": full})).collect();
    assert_eq!(board.user(put(json!(nodes))).unwrap_err().code(), "too_large");
    board.user(put(json!(nodes[..17]))).unwrap();
    assert_eq!(board.user(node("step", full)).unwrap_err().code(), "too_large");
    assert_eq!(pointers(board.user(put(vec![json!({"type": "a"}); 1001].into()))), ["/nodes"]);
    let deep = (0..70).fold(json!(1), |value, _| json!([value]));
    assert_eq!(pointers(board.user(node("step", json!({"x": deep})))), ["/config"]);
}

#[test]
fn workers_see_a_workflow_that_is_shared_and_change_none() {
    let mut board = board(1);
    let see = |board: &Board, agent: &str| {
        let viewer = Viewer::Agent(agent.parse().unwrap());
        View::new(&board.state, &viewer, board.count).unwrap().workflow_document().is_ok()
    };
    assert!(see(&board, "lead") && !see(&board, "writer"));
    let share = Some(vec![crate::rights::Share::Workflow]);
    board.user(crate::session::SessionPatch { share, ..Default::default() }).unwrap();
    assert!(see(&board, "writer"));
    for refused in [
        board.by("writer", node("step", json!({}))).unwrap_err(),
        board.by("writer", delete(9)).unwrap_err(),
        board.by("writer", result(9, json!({}))).unwrap_err(),
    ] {
        assert_eq!(refused.code(), "forbidden");
    }
    board.by("lead", delete(1)).unwrap();
}
