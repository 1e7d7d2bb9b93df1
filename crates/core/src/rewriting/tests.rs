//! What erasing leaves, of every type of entry.

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::*;
use crate::{
    context_set::{PutSet, facts::Updated, form::SubmitForm},
    conversation::{AddMessages, NewMessage, Role, ToolResult},
    directive::Direct,
    entry::{Entry, Hash, Head, line},
    event::{self, EventType},
    fact::{ERASED, Fact, TextKind},
    idempotency::{Keyed, Request},
    plan::{PatchTask, PutPlan, TaskPatch},
    run::{FinishTool, StartTool, ToolResults, TurnRequest, Used},
    session::Settings,
    state::State,
    testing::Board,
    variable::SetVariable,
    workflow::{CreateNode, NodePatch, PatchNode},
};

fn samples() -> Vec<Entry> {
    include_str!("../../tests/samples/v1.jsonl").lines().map(|text| line::read(text).unwrap()).collect()
}

fn say(board: &mut Board, thread: &str, text: &str) -> Seq {
    let messages = vec![NewMessage::text(Role::User, text)];
    board.user(AddMessages { thread: thread.parse().unwrap(), messages }).unwrap()[0].seq
}

fn data(board: &Board, seq: Seq) -> Value {
    serde_json::from_str(&board.entry(seq).unwrap().json()).unwrap()
}

/// Each entry of the samples with words is erased in turn, and what is left folds.
#[test]
fn what_is_left_of_an_entry_of_any_type_is_valid() {
    let samples = samples();
    for (at, entry) in samples.iter().enumerate() {
        let kind = EventType::named(&entry.header.kind).unwrap();
        let before: Value = serde_json::from_str(&entry.json()).unwrap();
        if kind.words(&before).is_empty() {
            continue;
        }
        let mut after = before.clone();
        event::erase(kind.kind, &mut after);
        for text in kind.words(&after) {
            let is_erased =
                *text == json!([]) || *text == json!({}) || text.as_str().is_some_and(|text| text.contains(ERASED));
            assert!(is_erased, "{}: {text}", entry.header.kind);
        }
        let mut left = samples.clone();
        left[at].data = after.to_string().into();
        State::fold(&left).unwrap_or_else(|error| panic!("{}: {error}", entry.header.kind));
    }
}

/// Each entry of the samples with words is rewritten in turn as if all words in it were secrets, and what is left folds.
#[test]
fn what_is_left_of_a_rewritten_entry_of_any_type_is_valid() {
    fn hide(value: &mut Value) {
        match value {
            Value::Array(all) => all.iter_mut().for_each(hide),
            Value::Object(fields) => {
                let named = std::mem::take(fields).into_iter().enumerate();
                fields.extend(named.map(|(at, (_, inner))| (format!("[hidden] {at}"), inner)));
                fields.values_mut().for_each(hide);
            }
            Value::String(_) | Value::Number(_) => *value = "[hidden]".into(),
            Value::Null | Value::Bool(_) => {}
        }
    }
    let samples = samples();
    for (at, entry) in samples.iter().enumerate() {
        let kind = EventType::named(&entry.header.kind).unwrap();
        let mut data: Value = serde_json::from_str(&entry.json()).unwrap();
        kind.description.change_words(&mut data, |value, field| {
            if field.kind == TextKind::Json || value.is_string() {
                hide(value);
            }
        });
        let mut left = samples.clone();
        left[at].data = rewritten(entry, data, None).data;
        State::fold(&left).unwrap_or_else(|error| panic!("{}: {error}", entry.header.kind));
    }
}

#[test]
fn an_entry_that_needs_a_word_that_is_a_secret_is_erased_when_it_is_rewritten() {
    let turn = samples().into_iter().find(|entry| &*entry.header.kind == "turn.requested").unwrap();
    let mut data: Value = serde_json::from_str(&turn.json()).unwrap();
    // As if somebody had the password `failed`.
    data["prompt"]["observed"] = json!({"tabs": {"[hidden]": "it took too long"}});
    let read = |data: &Value| event::check_readable(&Entry { data: data.to_string().into(), ..turn.clone() }).is_ok();
    assert!(!read(&data));
    let rewritten: Value = serde_json::from_str(&rewritten(&turn, data, None).data).unwrap();
    assert!(read(&rewritten), "{rewritten}");
    assert_eq!(rewritten["prompt"]["observed"], json!({}));
}

#[test]
fn a_node_is_erased_with_what_moved_it() {
    let mut board = Board::team("lead writer");
    let (kind, config) = ("step".into(), json!({"say": "My number is 555-0199."}));
    let id = board.user(CreateNode { kind, config, ..CreateNode::default() }).unwrap();
    let made = board.state.head.seq;
    let other = CreateNode { kind: "x".into(), config: json!({}), ..CreateNode::default() };
    board.user(other).unwrap();
    let patch = NodePatch { position: Some(2), ..NodePatch::default() };
    board.user(PatchNode { id, patch }).unwrap();
    assert_eq!(board.erase(made).unwrap().copies, [Seq(made.0 + 2)]);
    assert!(board.entries.iter().all(|entry| !entry.data.contains("555")));
    let node = board.state.workflow.shown(id).unwrap();
    assert_eq!((node.position, node.config.len(), &*node.kind), (2, 0, ERASED));
}

#[test]
fn a_damaged_entry_is_told_and_not_taken_for_one_without_copies() {
    let mut board = Board::team("lead writer");
    let seq = say(&mut board, "main", "My number is 555-0199.");
    let again = say(&mut board, "main", "My number is 555-0199.");
    let mut damaged = board.entry(again).unwrap();
    damaged.data = "{}".into();
    let mut copies = CopySearch::of(&board.entry(seq).unwrap());
    assert_eq!(copies.look_at(&damaged).unwrap_err().code(), "damaged");
}

#[test]
fn the_words_of_a_message_go_and_the_chain_holds() {
    let mut board = Board::team("lead writer");
    let seq = say(&mut board, "main", "My number is 555-0199.");
    let erased = board.erase(seq).unwrap();
    assert_eq!(erased, ErasedEntry { seq, erased_by: Some(seq.next()), copies: vec![] });
    assert!(board.entries.iter().all(|entry| !entry.data.contains("555")));
    assert_eq!(data(&board, seq)["content"], ERASED);
    let (erasing, entry) = (board.entry(seq.next()).unwrap(), board.entry(seq).unwrap());
    assert_eq!(erasing.header.subject, format!("entry:{seq}").into());
    assert_eq!(data(&board, seq.next())["sha256"], json!(Hash::of(entry.data.as_bytes())));
    let mut head = Head::default();
    for entry in &board.entries {
        assert_eq!(head.tag.chain(&entry.header, &entry.data_hash()), entry.tag);
        head = entry.head();
    }
    assert_eq!(board.erase(seq).unwrap(), erased);
    assert_eq!(board.state.head.seq, seq.next());
    // The reason is somebody's own words too.
    assert_eq!(board.erase(seq.next()).unwrap().seq, seq.next());
    assert_eq!(data(&board, seq.next())["reason"], ERASED);
    assert_eq!(board.erase(seq).unwrap(), erased);
}

#[test]
fn what_cannot_be_erased_is_refused() {
    let mut board = Board::team("lead writer");
    let seq = say(&mut board, "main", "hello");
    let erase = |reason: &str| EraseEntry {
        seq,
        reason: reason.into(),
        copies: CopySearch::of(&board.entry(seq).unwrap()).into(),
    };
    let (blank, long, good) = (erase(" "), erase(&"x".repeat(1001)), erase("why not"));
    let beyond = EraseEntry { seq: Seq(99), ..good.clone() };
    let nothing = EraseEntry { seq: Seq(2), ..good.clone() };
    let before = board.clone();
    assert_snapshot!(board.user(blank).unwrap_err(), @"/reason: say why in at least one word");
    assert_snapshot!(board.user(long).unwrap_err(), @"/reason: use at most 1000 characters");
    assert_snapshot!(board.user(beyond).unwrap_err(), @"there is no entry 99: use 1 to 4");
    assert_snapshot!(board.user(nothing).unwrap_err(), @"entry 2 (agent.added) holds nobody's own words: erase the entry that holds them: `why` finds entries by their words");
    assert_snapshot!(board.by("lead", good).unwrap_err(), @"lead may not erase entries: ask the user");
    assert_eq!((board.state, board.entries), (before.state, before.entries));
}

#[test]
fn a_long_text_goes_unless_another_entry_refers_to_it() {
    let mut board = Board::team("lead writer");
    let long = "long words ".repeat(10_000);
    let (one, two) = (say(&mut board, "main", &long), say(&mut board, "main", &long));
    board.erase(one).unwrap();
    assert_eq!(board.values.len(), 1);
    assert_eq!(data(&board, two)["content"]["size_bytes"], long.len());
    board.erase(two).unwrap();
    assert!(board.values.is_empty());
}

#[test]
fn a_variable_and_a_set_say_that_they_were_erased() {
    let mut board = Board::team("lead writer");
    for (name, value) in [("short", json!({"a": ["zq1"]})), ("long", json!("zq1 ".repeat(50_000)))] {
        let name = name.parse().unwrap();
        board.user(SetVariable::new(name, value, None, "for zq1".into()).unwrap()).unwrap();
    }
    let content = "zq1".into();
    board.user(PutSet { name: "Brief".parse().unwrap(), content, visible_to: None, enabled: None }).unwrap();
    let last = board.state.head.seq;
    for seq in last.previous().previous().0..=last.0 {
        board.erase(Seq(seq)).unwrap();
    }
    let state = serde_json::to_string(&board.state).unwrap();
    assert!(!state.contains("zq1") && board.values.is_empty(), "{state}");
    let displays: Vec<_> = board.state.variables.iter().map(|one| one.display.to_string()).collect();
    assert_eq!(displays, ["\"[erased]\""; 2]);
    assert_eq!(data(&board, last.previous())["value"], ERASED);
}

#[test]
fn what_a_run_repeats_of_it_goes_too() {
    let mut board = Board::team("lead writer");
    board.start("Ask the user for a season.").unwrap();
    let asks = json!({"isInfoRequest": true, "message": "What is your number, is it 555-0199?"});
    board.reply(&asks.to_string()).unwrap();
    board.request().unwrap();
    let said = board.entries.iter().find(|entry| entry.data.contains("555-0199")).unwrap().clone();
    assert_eq!(&*said.header.kind, "message.added");
    let erased = board.erase(said.header.seq).unwrap();
    let kinds: Vec<_> = erased.copies.iter().map(|seq| board.entry(*seq).unwrap().header.kind.to_string()).collect();
    assert_eq!(kinds, ["turn.answered", "turn.requested"]);
    assert!(board.entries.iter().all(|entry| !entry.data.contains("555-0199")));
    assert!(!serde_json::to_string(&board.state).unwrap().contains("555-0199"));
    // The run goes on.
    board.reply("{\"message\": \"hello\"}").unwrap();
}

#[test]
fn the_hash_of_a_prompt_that_showed_it_goes() {
    let mut board = Board::team("lead writer");
    board.start("Write a poem about 555-0199.").unwrap();
    let input = board.entries.iter().find(|entry| entry.data.contains("555-0199")).unwrap().header.seq;
    let run = board.run();
    let (run, epoch, mut prompt) = (run.id.clone(), run.epoch, board.no_prompt());
    prompt.shows = vec![(Seq(1), input)];
    board
        .system(TurnRequest { run, epoch, model: "openai:test".to_owned(), tools: Default::default(), prompt })
        .unwrap();
    let turn = board.state.head.seq;
    assert_ne!(data(&board, turn)["prompt"]["sha256"], json!(Hash::default()));
    assert_eq!(board.erase(input).unwrap().copies, [turn]);
    assert_eq!(data(&board, turn)["prompt"]["sha256"], json!(Hash::default()));
    assert_eq!(data(&board, turn)["prompt"]["shows"], json!([[1, input]]));
}

#[test]
fn the_hash_of_the_request_that_brought_it_goes() {
    let mut board = Board::team("lead writer");
    let message = |text: &str| AddMessages {
        thread: "main".parse().unwrap(),
        messages: vec![NewMessage::text(Role::User, text)],
    };
    let keyed = |key: &str, text: &str| Keyed {
        request: Request { key: key.parse().unwrap(), fingerprint: Hash::of(text.as_bytes()).into() },
        command: message(text),
    };
    let one = board.user(keyed("one", "555")).unwrap().answer[0].seq;
    let two = board.user(keyed("two", "666")).unwrap().answer[0].seq;
    assert_eq!(board.erase(one).unwrap().copies, [one.next()]);
    assert!(!board.entries.iter().any(|entry| entry.data.contains(&Hash::of(b"555").to_string())));
    assert_eq!(board.user(keyed("one", "555")).unwrap_err().code(), "answer_erased");
    assert_eq!(board.user(keyed("two", "666")).unwrap().answer[0].seq, two);
}

#[test]
fn the_result_of_an_own_tool_goes_and_that_of_another_tool_stays() {
    let tools = ["callboard:read_messages", "look"].map(|name| json!({ "name": name }));
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker", "tools": tools}]);
    let mut board = Board::with(serde_json::from_value(agents).unwrap(), Settings::default());
    let seq = say(&mut board, "main", "My private number is 555-0199.");
    board.start("Write a poem.").unwrap();
    board.reply(&json!({"messageTo": "writer", "message": "Write."}).to_string()).unwrap();
    let calls =
        json!([{"id": "c0", "name": "read_messages", "arguments": {}}, {"id": "c1", "name": "look", "arguments": {}}]);
    board.reply_with(|reply| reply.tool_calls = serde_json::from_value(calls).unwrap()).unwrap();
    let (run, epoch) = (board.run().id.clone(), board.run().epoch);
    let (tool_call_id, read) = ("c0".to_owned(), json!([{"content": "My private number is 555-0199."}]).to_string());
    let result = ToolResult { copied_from: vec![seq], ..read.clone().into() };
    board.system(StartTool { run: run.clone(), epoch, tool_call_id: tool_call_id.clone() }).unwrap();
    board.system(FinishTool { run: run.clone(), epoch, tool_call_id, result, used: Used::default() }).unwrap();
    let own = board.state.head.seq;
    let brought = board.user(ToolResults::new(run, vec![("c1".to_owned(), read)])).unwrap()[0].seq;
    assert_eq!(board.erase(seq).unwrap().copies, [own]);
    assert_eq!(data(&board, own)["content"], ERASED);
    assert_ne!(data(&board, brought)["content"], ERASED);
}

#[test]
fn later_versions_of_a_thing_lose_what_they_say_again_and_keep_what_is_new() {
    let mut board = Board::team("lead writer");
    let task = json!({"task_id": 1, "description": "Call 555-0199.", "status": "pending"});
    let phases = json!([{"phase_name": "One", "status": "pending", "tasks": [task]}]);
    let plan = json!({"overall_goal": "Sell it.", "current_phase": "One", "phases": phases});
    board.user(PutPlan { plan, reason: "first".into(), expected_version: None }).unwrap();
    let first = board.state.head.seq;
    let notes = Some("Nobody answers.".into());
    let patch = TaskPatch { status: None, notes, reason: "tried".into() };
    board.user(PatchTask { task_id: 1, patch }).unwrap();
    let long = "555-0199 ".repeat(9000);
    for (content, enabled) in [(long.as_str(), true), (&long, false), ("short", true)] {
        let (name, enabled) = ("Brief".parse().unwrap(), Some(enabled));
        board.user(PutSet { name, content: content.into(), visible_to: None, enabled }).unwrap();
    }
    assert_eq!(board.erase(first).unwrap().copies, [first.next()]);
    let plan = data(&board, first.next())["plan"].clone();
    let task = &plan["phases"][0]["tasks"][0];
    assert_eq!((&task["description"], &task["notes"]), (&json!(ERASED), &json!("Nobody answers.")));
    assert_eq!(plan["current_phase"], plan["phases"][0]["phase_name"]);
    let set = Seq(first.0 + 2);
    assert_eq!(board.erase(set).unwrap().copies, [set.next()]);
    assert!(board.values.is_empty());
    assert!(board.entries.iter().all(|entry| !entry.data.contains("555-0199")));
    assert_eq!(data(&board, Seq(set.0 + 2))["content"], "short");
}

#[test]
fn an_answered_form_loses_its_request_and_keeps_its_answers() {
    let mut board = Board::team("lead writer");
    let fields = json!([{"key": "colour", "valueType": "STRING", "label": "Colour", "required": true}]);
    let form = json!({"name": "Wishes", "fields": fields});
    let asks = json!({"isInfoRequest": true, "message": "Paint 555-0199?\nWhich colour?", "form": form});
    board.by("lead", Direct(asks)).unwrap();
    let asked = board.entries.iter().rev().find(|entry| *entry.header.kind == *Updated::TYPE).unwrap().header.seq;
    let Value::Object(answers) = json!({"colour": "red"}) else { unreachable!() };
    board.user(SubmitForm { form: "Wishes".parse().unwrap(), answers }).unwrap();
    let answered = board.entries.iter().rev().find(|entry| *entry.header.kind == *Updated::TYPE).unwrap().header.seq;
    assert_eq!(data(&board, answered)["content"], "Paint 555-0199?\nWhich colour?\nColour: red");
    assert!(board.erase(asked).unwrap().copies.contains(&answered));
    assert_eq!(data(&board, answered)["content"], format!("{ERASED}\nColour: red"));
    assert_eq!(data(&board, answered)["form"]["answers"]["colour"], "red");
    assert!(!serde_json::to_string(&board.state.sets).unwrap().contains("555-0199"));
}
