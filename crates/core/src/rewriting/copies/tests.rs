//! Copies that Callboard makes by itself.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{
    audience::Audience,
    context_set::PutSet,
    conversation::{AddMessages, NewMessage, Role, ToolResult},
    document::PutDocument,
    entry::Hash,
    fact::ERASED,
    id::{NodeId, Seq},
    rewriting::ErasedEntry,
    rights::Grant,
    run::{FinishTool, StartTool, TurnFailure, TurnRequest, Used},
    session::Settings,
    testing::Board,
    workflow::{CreateNode, GivenResult, NodePatch, NodeStatus, PatchNode, PatchWorkflow, PutResult, PutWorkflow},
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

fn say(board: &mut Board, thread: &str, text: &str, copied_from: Vec<Seq>) -> Seq {
    let messages = vec![NewMessage { copied_from, ..NewMessage::text(Role::User, text) }];
    board.user(AddMessages { thread: thread.parse().unwrap(), messages }).unwrap()[0].seq
}

/// A team at work, whose writer has called this tool with an answer that says nothing else.
fn called(board: &mut Board, tool: &str, arguments: Value) -> Seq {
    board.start("Write a poem.").unwrap();
    board.reply(&json!({"messageTo": "writer", "message": "Write."}).to_string()).unwrap();
    let calls = json!([{"id": "c0", "name": tool, "arguments": arguments}]);
    board.reply_with(|reply| reply.tool_calls = serde_json::from_value(calls).unwrap()).unwrap();
    board.entries.iter().rfind(|entry| entry.data.contains("tool_calls")).unwrap().header.seq
}

/// The writer calls its memory once more.
fn call(board: &mut Board, arguments: &Value) {
    let calls = json!([{"id": "c1", "name": "memory", "arguments": arguments}]);
    board.reply_with(|reply| reply.tool_calls = serde_json::from_value(calls).unwrap()).unwrap();
}

/// A file of the writer's, `/memories/a.md`.
fn remember(board: &mut Board, text: &str) -> Seq {
    let (name, visible_to) = ("memories/writer/a.md".parse().unwrap(), Audience::of(["writer".parse().unwrap()]));
    board.user(PutDocument { name, text: text.into(), visible_to: Some(visible_to), media_type: None }).unwrap();
    board.state.head.seq
}

fn with_tools(tools: &[&str]) -> Board {
    let tools: Vec<_> = tools.iter().map(|name| json!({ "name": name })).collect();
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker", "tools": tools}]);
    Board::with(serde_json::from_value(agents).unwrap(), Settings::default())
}

#[test]
fn a_copy_goes_however_short_it_is_and_however_it_is_written() {
    for told in ["7", "5 5\n5", "{\n  \"said\": \"Five, five, five.\"\n}"] {
        let mut board = with_tools(&["callboard:read_messages"]);
        let (seq, other) = (say(&mut board, "main", "555", vec![]), say(&mut board, "main", "666", vec![]));
        called(&mut board, "read_messages", json!({}));
        let (run, epoch, tool_call_id) = (board.run().id.clone(), board.run().epoch, "c0".to_owned());
        board.system(StartTool { run: run.clone(), epoch, tool_call_id: tool_call_id.clone() }).unwrap();
        let result = ToolResult { copied_from: vec![seq], ..told.into() };
        board.system(FinishTool { run, epoch, tool_call_id, result, used: Used::default() }).unwrap();
        let copy = board.state.head.seq;
        assert_eq!(board.clone().erase(other).unwrap().copies, []);
        assert_eq!(board.erase(seq).unwrap().copies, [copy]);
        assert_eq!(data(&board, copy)["content"], ERASED);
    }
}

#[test]
fn what_a_tool_read_goes_with_the_call_too() {
    let mut board = with_tools(&["callboard:read_messages"]);
    let calling = called(&mut board, "read_messages", json!({"thread": "zq7"}));
    let (run, epoch, tool_call_id) = (board.run().id.clone(), board.run().epoch, "c0".to_owned());
    board.system(StartTool { run: run.clone(), epoch, tool_call_id: tool_call_id.clone() }).unwrap();
    let result = "[not done: there is no thread \"zq7\"]".into();
    board.system(FinishTool { run, epoch, tool_call_id, result, used: Used::default() }).unwrap();
    let erased = board.erase(calling).unwrap();
    assert_eq!(kinds(&board, &erased), ["turn.answered", "message.added"]);
    assert!(board.entries.iter().all(|entry| !entry.data.contains("zq7")));
}

#[test]
fn a_copy_of_a_copy_goes() {
    let mut board = Board::team("lead writer");
    let seq = say(&mut board, "main", "zq7", vec![]);
    let copy = say(&mut board, "one", "five", vec![seq]);
    let other = say(&mut board, "two", "cinq", vec![copy]);
    assert_eq!(board.erase(seq).unwrap().copies, [copy, other]);
    // It is known still where something else was taken from, once some of it was erased.
    assert_eq!(board.entry(other).unwrap().copied_from(), [copy]);
}

#[test]
fn a_memory_goes_from_what_its_tool_shows_and_from_where_it_is_moved_to() {
    let mut board = with_tools(&["callboard:memory"]);
    let seq = remember(&mut board, "Call\nzq7.");
    called(&mut board, "memory", json!({"command": "view", "path": "/memories/a.md"}));
    let shown = |board: &Board| board.entries.iter().filter(|entry| entry.data.contains("zq7.")).count();
    assert_eq!(shown(&board), 2);
    call(&mut board, &json!({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"}));
    assert_eq!(shown(&board), 3);
    let erased = board.erase(seq).unwrap();
    assert_eq!(kinds(&board, &erased), ["message.added", "document.added"]);
    assert_eq!(shown(&board), 0);
}

#[test]
fn a_memory_that_was_edited_goes_where_anything_is_left_in_it() {
    let replace = |old: &str, new: &str| json!({"command": "str_replace", "path": "/memories/a.md", "old_str": old, "new_str": new});
    let insert = || json!({"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "Hello."});
    for (edits, is_left) in [
        (vec![replace("Ann", "Bob")], true),
        (vec![insert()], true),
        (vec![replace("Call Ann:", "Write to"), insert(), replace("Be qj3.", "Be brief.")], true),
        (vec![replace("Call Ann: zq7.\nBe qj3.", "Write to nobody.")], false),
    ] {
        let mut board = with_tools(&["callboard:memory"]);
        let seq = remember(&mut board, "Call Ann: zq7.\nBe qj3.");
        called(&mut board, "memory", edits[0].clone());
        edits.iter().skip(1).for_each(|edit| call(&mut board, edit));
        let newest = board.state.documents.get(&"memories/writer/a.md".parse().unwrap()).unwrap().seq;
        assert!(newest > seq);
        board.erase(seq).unwrap();
        assert_eq!(data(&board, newest)["text"] == ERASED, is_left, "{edits:?}");
        let words = ["zq7", "qj3"];
        let mut said = board.entries.iter().filter(|entry| words.iter().any(|word| entry.data.contains(word)));
        // What the model itself wrote in its calls is its own.
        assert!(said.all(|entry| entry.data.contains("str_replace")), "{edits:?}");
    }
}

#[test]
fn what_a_command_tool_says_again_of_its_call_goes_with_the_call() {
    let mut board = with_tools(&["callboard:memory"]);
    remember(&mut board, "Call Ann.");
    let edit = json!({"command": "str_replace", "path": "/memories/a.md", "old_str": "Ann", "new_str": "zq7"});
    let calling = called(&mut board, "memory", edit);
    let told = board.entries.iter().rfind(|entry| entry.data.contains("has been edited")).unwrap().header.seq;
    assert!(data(&board, told)["content"].as_str().unwrap().contains("Call zq7."));
    assert!(board.erase(calling).unwrap().copies.contains(&told));
    assert_eq!(data(&board, told)["content"], ERASED);
}

#[test]
fn what_was_read_before_it_was_erased_is_not_recorded_afterwards() {
    for (erases_read, is_shown) in [(true, false), (false, true)] {
        let mut board = with_tools(&["callboard:read_messages"]);
        let (seq, other) = (say(&mut board, "main", "zq7", vec![]), say(&mut board, "main", "666", vec![]));
        called(&mut board, "read_messages", json!({}));
        let (run, epoch, tool_call_id) = (board.run().id.clone(), board.run().epoch, "c0".to_owned());
        board.system(StartTool { run: run.clone(), epoch, tool_call_id: tool_call_id.clone() }).unwrap();
        board.erase(if erases_read { seq } else { other }).unwrap();
        let result = ToolResult { copied_from: vec![seq], ..r#"[{"content": "zq7"}]"#.into() };
        board.system(FinishTool { run, epoch, tool_call_id, result, used: Used::default() }).unwrap();
        let told = data(&board, board.state.head.seq)["content"].as_str().unwrap().to_owned();
        assert_eq!((told.contains("zq7"), told.contains("was erased meanwhile")), (is_shown, !is_shown), "{told}");
    }
}

#[test]
fn a_prompt_that_was_made_before_something_was_erased_is_noted_without_its_hash() {
    let mut board = Board::team("lead writer");
    let seq = say(&mut board, "main", "zq7", vec![]);
    board.start("Write a poem.").unwrap();
    let (run, epoch, prompt) = (board.run().id.clone(), board.run().epoch, board.no_prompt());
    board.erase(seq).unwrap();
    let (model, tools) = ("openai:test".to_owned(), BTreeSet::new());
    board.system(TurnRequest { run, epoch, model, tools, prompt }).unwrap();
    assert_eq!(data(&board, board.state.head.seq)["prompt"]["sha256"], json!(Hash::default()));
}

#[test]
fn the_form_that_a_message_of_the_manager_became_loses_what_it_says() {
    let fields = json!([{"key": "colour", "valueType": "STRING", "label": "Colour", "required": true}]);
    let form = json!({"name": "Wishes", "fields": fields});
    for (asks, describes) in [
        (json!({"isInfoRequest": true, "message": "Paint zq7?", "form": form}), None),
        (json!({"isInfoRequest": true, "message": "Paint zq7?"}), Some(form.to_string())),
    ] {
        let mut board = Board::team("lead writer");
        board.start("Ask the user.").unwrap();
        board.reply(&asks.to_string()).unwrap();
        describes.iter().for_each(|form| board.reply(form).unwrap());
        let said = board.entries.iter().find(|entry| entry.data.contains("zq7")).unwrap().header.seq;
        board.erase(said).unwrap();
        assert!(board.entries.iter().all(|entry| !entry.data.contains("zq7")));
        let set = board.state.sets.get(&"Wishes".parse().unwrap()).unwrap().set.clone();
        assert_eq!(&*set.form.as_ref().unwrap().fields[0].label, "Colour");
    }
}

#[test]
fn variables_that_are_parts_of_a_result_go_with_it() {
    let mut board = Board::team("lead writer");
    let (kind, config) = ("step".into(), json!({}));
    let id: NodeId = board.user(CreateNode { kind, config, ..CreateNode::default() }).unwrap();
    let Value::Object(variables) = json!({"number": "zq7", "other": "12"}) else { unreachable!() };
    let given = GivenResult { status: NodeStatus::Success, result: json!({"number": "zq7"}), variables };
    board.user(PutResult { id, given }).unwrap();
    let [result, number, other] = [2, 1, 0].map(|before| Seq(board.state.head.seq.0 - before));
    assert_eq!(board.erase(result).unwrap().copies, [number]);
    assert_eq!((&data(&board, number)["value"], &data(&board, other)["value"]), (&json!(ERASED), &json!("12")));
}

#[test]
fn why_a_run_is_paused_goes_with_why_there_was_no_answer() {
    let mut board = Board::team("lead writer");
    board.start("Write a poem.").unwrap();
    board.request().unwrap();
    let (run, epoch, turn) = (board.run().id.clone(), board.run().epoch, board.run().turns);
    board.system(TurnFailure { run, epoch, turn, error: "zq7".to_owned() }).unwrap();
    let paused = board.state.head.seq;
    assert_eq!(board.erase(paused.previous()).unwrap().copies, [paused]);
    assert!(board.entries.iter().all(|entry| !entry.data.contains("zq7")));
}
