//! Workflows: whatever is done to one, its nodes stand one after another, each has its own number for ever, and none
//! refers to one that is gone. What is read of one can be put again, and changes nothing.

use std::collections::{BTreeMap, BTreeSet};

use callboard_core::{
    id::NodeId,
    testing::Board,
    workflow::{EdgeKind, PutWorkflow, Shown},
};
use proptest::prelude::*;
use serde_json::json;

use crate::story::{Step, Told};

/// A change of the workflow.
fn change() -> impl Strategy<Value = Step> {
    let what = prop_oneof![3 => 0..3_u8, 4 => 3..10_u8];
    (what, 0..5_u8, 0..12_usize).prop_map(|(what, place, words)| Step::Workflow { by: "user", what, place, words })
}

/// All nodes of a board, which must stand one after another.
fn nodes(board: &Board) -> Result<Vec<Shown>, TestCaseError> {
    let document = board.state.workflow.document(&board.state.session);
    let positions: Vec<_> = document.nodes.iter().map(|node| node.position).collect();
    prop_assert_eq!(positions, (1..=document.nodes.len() as u64).collect::<Vec<_>>());
    let ids: BTreeSet<_> = document.nodes.iter().map(|node| node.id).collect();
    prop_assert_eq!(ids.len(), document.nodes.len(), "two nodes have one id");
    prop_assert!(document.edges.iter().all(|edge| ids.contains(&edge.from) && ids.contains(&edge.to)));
    let next = document.edges.iter().filter(|edge| edge.kind == EdgeKind::Next).count();
    prop_assert_eq!(next, document.nodes.len().saturating_sub(1));
    Ok(document.nodes)
}

/// The numbers that the configuration of a node names.
fn named(node: &Shown) -> BTreeSet<u64> {
    let text = json!(node.config).to_string();
    let pieces = text.split("{{node").skip(1).filter_map(|rest| rest.split_once('.')?.0.parse().ok());
    pieces.collect()
}

proptest! {
    #![proptest_config(crate::cases(128))]

    #[test]
    fn nodes_stand_one_after_another_and_none_refers_to_one_that_is_gone(steps in proptest::collection::vec(change(), 0..40)) {
        let mut told = Told::new();
        let (mut ever, mut before) = (BTreeSet::<NodeId>::new(), Vec::<Shown>::new());
        for step in &steps {
            let version = told.board.state.workflow.version;
            told.take(step);
            let after = nodes(&told.board)?;
            let there: BTreeSet<_> = after.iter().map(|node| node.id).collect();
            for node in &after {
                prop_assert!(named(node).iter().all(|number| there.contains(&NodeId(*number))), "{:?}", node);
                let is_new = !before.iter().any(|other| other.id == node.id);
                prop_assert!(!is_new || ever.insert(node.id), "{} was there before", node.id);
            }
            let gone: Vec<_> = before.iter().filter(|node| !there.contains(&node.id)).collect();
            for variable in told.board.state.variables.iter() {
                let node = variable.name.node();
                prop_assert!(!gone.iter().any(|gone| Some(gone.id.0) == node), "{} is left", variable.name);
            }
            let content = |nodes: &[Shown]| {
                let nodes = nodes.iter().map(|node| (node.id, node.position, node.kind.clone(), node.config.clone()));
                nodes.collect::<Vec<_>>()
            };
            if content(&before) != content(&after) {
                prop_assert!(told.board.state.workflow.version == version + 1);
            }
            before = after;
        }
        let status: BTreeMap<_, _> = before.iter().map(|node| (node.id, node.status)).collect();
        let put = PutWorkflow { nodes: json!(before), ..PutWorkflow::default() };
        let entries = told.board.entries.len();
        prop_assert!(told.board.user(put).is_ok());
        prop_assert_eq!(told.board.entries.len(), entries + 1, "what was read is put again, and changes no node");
        let again = nodes(&told.board)?;
        prop_assert_eq!(again.iter().map(|node| (node.id, node.status)).collect::<BTreeMap<_, _>>(), status);
        prop_assert_eq!(again, before);
    }
}
