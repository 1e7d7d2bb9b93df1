use proptest::prelude::*;
use serde_json::{Value, json};

use super::{
    walk::{Next, Walk},
    *,
};
use crate::{
    error::ConflictKind,
    rights::Share,
    state::State,
    testing::Board,
    variable::SetVariable,
    view::View,
    viewer::Viewer,
    workflow::{CreateNode, DeleteNode, GivenResult, NodePatch, NodeStatus, PatchNode, tests::conflict, work::Goal},
};

fn create(kind: &str, config: Value) -> CreateNode {
    CreateNode { kind: kind.into(), config, ..CreateNode::default() }
}

/// A session with so many nodes that can be executed.
fn board(n: u64) -> Board {
    let mut board = Board::team("lead writer");
    for _ in 0..n {
        board.user(create("transform", json!({"set": {"x": "1"}}))).unwrap();
    }
    board
}

fn put(id: u64, status: NodeStatus) -> PutResult {
    let variables = Map::from_iter([("x".into(), json!(1))]);
    PutResult { id: NodeId(id), given: GivenResult { status, result: json!({"x": 1}), variables } }
}

fn start(board: &mut Board, execution: &ExecutionId, id: u64) {
    board.system(StartNode { execution: execution.clone(), node: NodeId(id) }).unwrap();
}

fn finish(execution: &ExecutionId, status: ExecutionStatus) -> FinishExecution {
    let (reason, failed, skipped) = Default::default();
    FinishExecution { execution: execution.clone(), status, reason, failed, skipped }
}

fn statuses(board: &Board) -> Vec<&'static str> {
    board.state.workflow.nodes.iter().map(|held| held.status.as_str()).collect()
}

#[test]
fn an_execution_starts_nodes_and_records_what_they_give() {
    let mut board = board(3);
    let inputs = Map::from_iter([("city".to_owned(), json!("Rome"))]);
    let id = board.by("lead", Execute { inputs, ..Execute::default() }).unwrap();
    assert!(board.state.variables.iter().any(|variable| variable.name.as_str() == "city"));
    start(&mut board, &id, 1);
    assert_eq!(statuses(&board), ["running", "not_run", "not_run"]);
    board.system(FinishNode { execution: id.clone(), result: put(1, NodeStatus::Success) }).unwrap();
    assert_eq!(statuses(&board), ["success", "not_run", "not_run"]);
    start(&mut board, &id, 2);
    let skipped = vec![NodeId(3)];
    board.system(FinishExecution { skipped, ..finish(&id, ExecutionStatus::Completed) }).unwrap();
    // Node 2 gave no result.
    assert_eq!(statuses(&board), ["success", "failed", "skipped"]);
    let execution = board.state.workflow.execution(&id).unwrap();
    assert_eq!((execution.status, execution.node_runs), (ExecutionStatus::Completed, 2));
    assert_eq!(execution.by.to_string(), "agent:lead");
    assert!(execution.finished_at.is_some() && execution.running.is_empty());
    assert_eq!(conflict(board.user(CancelExecution(id.clone()))), ConflictKind::ExecutionEnded);
    assert_eq!(conflict(board.system(StartNode { execution: id, node: NodeId(1) })), ConflictKind::ExecutionEnded);
}

#[test]
fn the_workflow_stays_as_it_is_while_it_is_executed() {
    let mut board = board(2);
    let id = board.user(Execute::default()).unwrap();
    let patch = NodePatch { description: Some("x".into()), ..NodePatch::default() };
    let patch = PatchNode { id: NodeId(1), patch };
    assert_eq!(conflict(board.user(Execute::default())), ConflictKind::ExecutionUnfinished);
    assert_eq!(conflict(board.user(patch.clone())), ConflictKind::ExecutionUnfinished);
    assert_eq!(conflict(board.user(create("a", json!({})))), ConflictKind::ExecutionUnfinished);
    assert_eq!(
        conflict(board.user(DeleteNode { id: NodeId(1), reason: None, expected_version: None })),
        ConflictKind::ExecutionUnfinished
    );
    assert_eq!(conflict(board.user(put(1, NodeStatus::Success))), ConflictKind::ExecutionUnfinished);
    board.user(SetVariable::new("city".parse().unwrap(), json!(1), None, "r".into()).unwrap()).unwrap();
    board.user(CancelExecution(id.clone())).unwrap();
    let execution = board.state.workflow.execution(&id).unwrap();
    assert_eq!(
        (execution.status, execution.reason.as_deref()),
        (ExecutionStatus::Cancelled, Some("user cancelled it"))
    );
    board.user(patch).unwrap();
}

#[test]
fn what_cannot_be_executed_is_refused_at_once() {
    let mut board = Board::team("lead writer");
    let refused = |board: &mut Board, execute: Execute| board.user(execute).unwrap_err().to_string();
    assert!(refused(&mut board, Execute::default()).contains("no node to execute"));
    board.user(create("table", json!({"rows": 1}))).unwrap();
    board.user(create("transform", json!({}))).unwrap();
    let said = refused(&mut board, Execute::default());
    assert!(said.contains("node_1 is of the type \"table\", which Callboard does not execute"), "{said}");
    assert!(said.contains("node_2: /config/set: missing field"), "{said}");
    let from = Some(NodeId(9));
    assert_eq!(refused(&mut board, Execute { from, ..Execute::default() }), "/from: there is no node_9");
    let nodes = Some(vec![NodeId(9)]);
    assert_eq!(refused(&mut board, Execute { nodes, ..Execute::default() }), "/nodes/0: there is no node_9");
    let limits = Some(ExecutionLimits { node_runs: 0, ..ExecutionLimits::default() });
    assert!(refused(&mut board, Execute { limits, ..Execute::default() }).starts_with("/limits/node_runs: use 1 to"));
    board.user(create("iterate", json!({"over": [1], "last": "node_1"}))).unwrap();
    let nodes = Some(vec![NodeId(3)]);
    assert!(refused(&mut board, Execute { nodes, ..Execute::default() }).contains("does not stand behind it"));
    assert_eq!(board.by("writer", Execute::default()).unwrap_err().code(), "forbidden");
    assert!(board.state.workflow.executions.is_empty());
}

#[test]
fn the_state_holds_the_newest_executions() {
    let mut board = board(1);
    for _ in 0..KEPT + 3 {
        let id = board.user(Execute::default()).unwrap();
        board.system(finish(&id, ExecutionStatus::Completed)).unwrap();
    }
    assert_eq!(board.state.workflow.executions.len(), KEPT);
    let user = View::new(&board.state, &Viewer::User, board.count).unwrap();
    let all = user.executions().unwrap();
    assert!(all[0].started_at > all[1].started_at, "the newest is the first");
    let writer = Viewer::Agent("writer".parse().unwrap());
    assert_eq!(
        View::new(&board.state, &writer, board.count).unwrap().execution(&all[0].id).unwrap_err().code(),
        "not_found"
    );
    let share = Some(vec![Share::Workflow]);
    board.user(crate::session::SessionPatch { share, ..Default::default() }).unwrap();
    assert!(View::new(&board.state, &writer, board.count).unwrap().execution(&all[0].id).is_ok());
}

/// The way through a workflow in short. `repeats` says how often a node repeats those through which other, and `jumps` where
/// nodes lead.
fn way(n: u64, repeats: &[(u64, u64, usize)], mut jumps: Vec<(u64, Goal)>) -> String {
    let board = board(n);
    let mut walk = Walk::new(&board.state.workflow, None, None);
    let mut shown = Vec::new();
    loop {
        match walk.step() {
            Next::Done => return shown.join(" "),
            Next::Round { node, round } => shown.push(format!("{}:{round}", node.0)),
            Next::Leave { node, rounds, whole } => {
                shown.push(format!("/{}:{rounds}{}", node.0, if whole { "" } else { "!" }))
            }
            Next::Node(id) => {
                shown.push(id.0.to_string());
                if let Some((_, last, rounds)) = repeats.iter().find(|(node, ..)| *node == id.0) {
                    walk.repeat(id, NodeId(*last), *rounds);
                }
                if let Some(at) = jumps.iter().position(|(node, _)| *node == id.0) {
                    walk.go_to(jumps.remove(at).1);
                }
            }
        }
        assert!(shown.len() < 200, "{shown:?}");
    }
}

#[test]
fn a_way_goes_through_loops_and_where_nodes_lead() {
    assert_eq!(way(3, &[], vec![]), "1 2 3");
    assert_eq!(way(4, &[], vec![(1, Goal::Node(NodeId(3)))]), "1 3 4");
    assert_eq!(way(3, &[], vec![(2, Goal::Node(NodeId(1)))]), "1 2 1 2 3");
    assert_eq!(way(3, &[], vec![(1, Goal::End)]), "1");
    assert_eq!(way(3, &[(1, 2, 3)], vec![]), "1 2 1:1 2 1:2 2 /1:3 3");
    assert_eq!(way(3, &[(1, 2, 0)], vec![]), "1 3");
    assert_eq!(way(4, &[(1, 3, 2), (2, 3, 2)], vec![]), "1 2 3 2:1 3 /2:2 1:1 2 3 2:1 3 /2:2 /1:2 4");
    // A loop is left by going on behind it, also right behind it, or before it.
    assert_eq!(way(4, &[(1, 2, 5)], vec![(2, Goal::Node(NodeId(3)))]), "1 2 /1:1! 3 4");
    assert_eq!(way(3, &[(2, 3, 2)], vec![(3, Goal::Node(NodeId(1)))]), "1 2 3 /2:1! 1 2 3 2:1 3 /2:2");
    assert_eq!(way(3, &[(1, 3, 5)], vec![(2, Goal::End)]), "1 2 /1:1!");
}

#[test]
fn what_was_passed_over_is_told() {
    let board = board(4);
    let mut walk = Walk::new(&board.state.workflow, Some(NodeId(2)), None);
    assert_eq!(walk.step(), Next::Node(NodeId(2)));
    walk.go_to(Goal::Node(NodeId(4)));
    assert_eq!((walk.step(), walk.step()), (Next::Node(NodeId(4)), Next::Done));
    assert_eq!(walk.skipped(), [NodeId(3)]);
    let mut walk = Walk::new(&board.state.workflow, None, Some(&[NodeId(3), NodeId(1)]));
    assert_eq!((walk.step(), walk.step(), walk.step()), (Next::Node(NodeId(1)), Next::Node(NodeId(3)), Next::Done));
}

proptest! {
    /// Whatever happens in executions, it folds the same, and no node is left running when one has ended.
    #[test]
    fn no_node_is_left_running(steps in proptest::collection::vec((0..6_u8, 1..4_u64), 0..40)) {
        let mut board = board(3);
        for (what, node) in steps {
            let id = board.state.workflow.executions.last().map(|execution| execution.id.clone());
            let id = id.unwrap_or_else(|| ExecutionId::of_seq(crate::id::Seq(1)));
            let status = [NodeStatus::Running, NodeStatus::Success, NodeStatus::Failed][node as usize % 3];
            let _ = match what {
                0 => board.user(Execute::default()).map(drop),
                1 | 2 => board.system(StartNode { execution: id, node: NodeId(node) }),
                3 => board.system(FinishNode { execution: id, result: put(node, status) }),
                4 => board.system(finish(&id, ExecutionStatus::Interrupted)),
                _ => board.user(CancelExecution(id)),
            };
            let workflow = &board.state.workflow;
            if workflow.at_work().is_none() {
                prop_assert!(workflow.nodes.iter().all(|held| held.status != NodeStatus::Running));
            }
        }
        prop_assert_eq!(&State::fold(&board.entries).unwrap(), &board.state);
        let restored: State = serde_json::from_str(&serde_json::to_string(&board.state).unwrap()).unwrap();
        prop_assert_eq!(&restored, &board.state);
    }
}
