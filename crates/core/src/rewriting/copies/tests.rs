//! Copies that Callboard makes by itself.

use serde_json::{Value, json};

use crate::{
    context_set::PutSet,
    fact::ERASED,
    id::Seq,
    rewriting::ErasedEntry,
    rights::Grant,
    session::Settings,
    testing::Board,
    workflow::{CreateNode, NodePatch, PatchNode, PatchWorkflow, PutWorkflow},
};

fn data(board: &Board, seq: Seq) -> Value {
    serde_json::from_str(&board.entry(seq).unwrap().json()).unwrap()
}

fn kinds(board: &Board, erased: &ErasedEntry) -> Vec<String> {
    erased.copies.iter().map(|seq| board.entry(*seq).unwrap().header.kind.to_string()).collect()
}

#[test]
fn what_a_later_change_of_the_workflow_says_again_goes() {
    let mut board = Board::team("lead writer");
    let patch = |name: Option<&str>, description: Option<&str>| {
        let (name, description) = (name.map(Into::into), description.map(Into::into));
        PatchWorkflow { name, description, ..PatchWorkflow::default() }
    };
    board.user(patch(None, Some("Call 555."))).unwrap();
    let first = board.state.head.seq;
    board.user(patch(Some("Sales"), None)).unwrap();
    let nodes = json!([{"id": "node_1", "position": 1, "type": "step", "config": {}}]);
    board.user(PutWorkflow { nodes, ..PutWorkflow::default() }).unwrap();
    assert!(board.entries.iter().filter(|entry| entry.data.contains("555")).count() > 1);
    let erased = board.erase(first).unwrap();
    assert!(kinds(&board, &erased).iter().all(|kind| kind == "workflow.updated"), "{erased:?}");
    assert!(board.entries.iter().all(|entry| !entry.data.contains("555")));
    let workflow = &board.state.workflow;
    assert_eq!((workflow.name.as_deref(), workflow.description.as_deref()), (Some("Sales"), Some(ERASED)));
}

#[test]
fn what_is_new_in_a_later_version_of_a_node_stays() {
    let mut board = Board::team("lead writer");
    let config = json!({"say": "Call 555.", "times": 3, "quick": true, "to": {"name": "Ann", "note": "555 again"}});
    let (kind, description) = ("step".into(), Some("First 555.".into()));
    let id = board.user(CreateNode { kind, config, description, ..CreateNode::default() }).unwrap();
    let first = board.state.head.seq;
    let config = json!({"say": "Write.", "times": 4, "quick": true, "to": {"name": "Bob", "note": "555 again"}});
    let patch = NodePatch { config: Some(config), description: Some("Second.".into()), ..NodePatch::default() };
    board.user(PatchNode { id, patch }).unwrap();
    assert_eq!(board.erase(first).unwrap().copies, [first.next()]);
    assert!(board.entries.iter().all(|entry| !entry.data.contains("555")));
    let node = data(&board, first.next())["node"].clone();
    let config = json!({"say": "Write.", "times": 4, "quick": true, "to": {"name": "Bob", "note": ERASED}});
    assert_eq!((&node["config"], &node["description"]), (&config, &json!("Second.")));
    assert_eq!(json!(board.state.workflow.shown(id).unwrap().config), config);
}

#[test]
fn what_a_command_tool_says_of_the_words_goes() {
    let settings = Settings { grant: [Grant::ContextSets].into(), ..Settings::default() };
    let tools = json!([{"name": "callboard:write_context_set"}]);
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker", "tools": tools}]);
    let mut board = Board::with(serde_json::from_value(agents).unwrap(), settings);
    let name = "Brief".parse().unwrap();
    board.user(PutSet { name, content: "Sell.".into(), visible_to: None, enabled: None }).unwrap();
    board.start("Write a poem.").unwrap();
    board.reply(&json!({"messageTo": "writer", "message": "Write."}).to_string()).unwrap();
    let calls = json!([
        {"id": "c0", "name": "write_context_set", "arguments": "\"Call 555.\""},
        {"id": "c1", "name": "write_context_set", "arguments": {"name": "Brief", "content": "Call 555."}},
    ]);
    board.reply_with(|reply| reply.tool_calls = serde_json::from_value(calls).unwrap()).unwrap();
    let [calling, told, other] = ["tool_calls", "not done", "is changed"].map(|words| {
        let mut said = board.entries.iter().filter(|entry| &*entry.header.kind == "message.added");
        said.rfind(|entry| entry.data.contains(words)).map_or(Seq::ZERO, |entry| entry.header.seq)
    });
    let content = |board: &Board, seq| data(board, seq)["content"].as_str().unwrap().to_owned();
    assert!(content(&board, told).contains("invalid type: string \"Call 555.\""), "{}", content(&board, told));
    let before = content(&board, other);
    let set = board.entries.iter().rfind(|entry| &*entry.header.kind == "context_set.updated").unwrap().header.seq;
    let mut by_call = board.clone();
    assert_eq!(board.erase(set).unwrap().copies, [told]);
    assert_eq!((content(&board, told), content(&board, other)), (ERASED.to_owned(), before));
    assert!(by_call.erase(calling).unwrap().copies.contains(&told));
    assert_eq!(content(&by_call, told), ERASED);
}
