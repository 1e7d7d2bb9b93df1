//! Secrets in calls of the caller's own tools: what keys in arguments and results say to be one.

use std::{io::Cursor, sync::Arc};

use callboard_engine::{
    Board, MasterKey, PromptSpec, Session, Settings,
    core::{
        conversation::{AddMessages, NewContent, NewMessage, Role, ToolCall},
        id::{Seq, ThreadId},
        run::own::AnswerTurn,
        variable::{ClearVariables, SetVariable},
        viewer::Viewer,
    },
    store::Store,
};
use serde_json::{Value, json};

use crate::fixture::{
    add, assert_sound, clock, code, exported, holds, id, journal, memory, new, run, say, settings, texts,
};

const CANARY: &str = "zq/hunter22-ß";

fn board(store: &Arc<dyn Store>) -> Board {
    let keys = vec![MasterKey::new([1; 32])];
    Board::new(store.clone(), Settings { master_keys: Arc::new(keys), ..settings(&clock()) })
}

fn call(id: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.to_owned(), name: "log_in".to_owned(), arguments }
}

fn calls(calls: Vec<ToolCall>) -> AddMessages {
    add("main", vec![NewMessage { tool_calls: calls, ..NewMessage::text(Role::Ai, "I log in.") }])
}

fn result(id: &str, text: &str) -> AddMessages {
    add("main", vec![NewMessage { tool_call_id: Some(id.to_owned()), ..NewMessage::text(Role::Tool, text) }])
}

async fn restore(session: &Session, name: &str) -> Result<Vec<Seq>, &'static str> {
    let restored = session.restore(Viewer::User, &name.parse().unwrap(), "it is none").await;
    restored.map(|receipt| receipt.answer.entries).map_err(|error| error.code())
}

/// The data of the newest message.
async fn newest(store: &Arc<dyn Store>) -> Value {
    let entries = journal(store, &id("s")).await;
    let message = entries.iter().rev().find(|entry| &*entry.header.kind == "message.added").unwrap();
    serde_json::from_str(&message.json()).unwrap()
}

#[tokio::test]
async fn i6_what_keys_in_arguments_say_to_be_secret_is_sealed_with_the_message_and_can_be_put_back() {
    let given = json!({"user": {"name": "ann", "password": CANARY}, "keys": [{"api_key": 93_471_188}], "next_page_token": "page-2"});
    for arguments in [given.clone(), given.to_string().into()] {
        let store = memory(&clock());
        let session = board(&store).create(new("s")).await.unwrap();
        let said = say(&session, &format!("I am ann, with {CANARY}")).await;
        run(&session, calls(vec![call("c1", arguments.clone())])).await;
        say(&session, &format!("It was {CANARY}.")).await;
        assert!(!holds(&store, "s", CANARY).await && !holds(&store, "s", "93471188").await);
        assert_eq!(texts(&store, &id("s")).await, ["I am ann, with [hidden]", "I log in.", "It was [hidden]."]);
        let entries = journal(&store, &id("s")).await;
        let called = entries.iter().find(|entry| entry.data.contains("log_in")).unwrap();
        let data: Value = serde_json::from_str(&called.json()).unwrap();
        let kept = &data["tool_calls"][0]["arguments"];
        let kept = kept.as_str().map_or_else(|| kept.clone(), |text| serde_json::from_str(text).unwrap());
        assert_eq!(kept["user"], json!({"name": "ann", "password": "[hidden]"}));
        assert_eq!((&kept["keys"][0]["api_key"], &kept["next_page_token"]), (&json!("[hidden]"), &json!("page-2")));
        assert_eq!(data["secrets"][0]["name"], "call:c1.arguments");
        let state = serde_json::to_string(&*session.state().await.unwrap()).unwrap();
        assert!(!state.contains(CANARY), "{state}");
        assert_sound(&session).await;

        assert_eq!(restore(&session, "call:c1.arguments").await, Ok(vec![said, called.header.seq]));
        let entries = journal(&store, &id("s")).await;
        let called = entries.iter().find(|entry| entry.data.contains("log_in")).unwrap();
        let data: Value = serde_json::from_str(&called.json()).unwrap();
        assert_eq!(data["tool_calls"][0]["arguments"], arguments);
        assert_eq!(texts(&store, &id("s")).await[0], format!("I am ann, with {CANARY}"));
        assert_eq!(restore(&session, "call:c1.arguments").await, Err("not_found"), "it is no secret any more");
        say(&session, CANARY).await;
        assert_eq!(texts(&store, &id("s")).await.last().unwrap(), CANARY);
        assert_sound(&session).await;
    }
}

#[tokio::test]
async fn i6_what_keys_in_a_result_say_to_be_secret_is_sealed_however_long_it_is() {
    for length in [1, 20_000] {
        let store = memory(&clock());
        let session = board(&store).create(new("s")).await.unwrap();
        let text = json!({"session": {"accessToken": CANARY}, "page": "word ".repeat(length)}).to_string();
        let seq = run(&session, result("c1", &text)).await.answer[0].seq;
        assert!(!holds(&store, "s", CANARY).await);
        let kept = newest(&store).await;
        let beginning = kept["content"]["beginning"].as_str().or(kept["content"].as_str()).unwrap();
        assert!(beginning.starts_with(r#"{"session":{"accessToken":"[hidden]"},"page":"#), "{beginning}");
        assert_eq!(kept["secrets"][0]["name"], "call:c1.result");
        assert_eq!(restore(&session, "call:c1.result").await, Ok(vec![seq]));
        let page = session.messages(&Viewer::User, &ThreadId::main(), Default::default()).await.unwrap();
        assert_eq!(page.messages[0].content, text);
        assert_sound(&session).await;
    }
}

#[tokio::test]
async fn i6_results_in_parts_are_searched_and_texts_that_are_no_json_are_not() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let part = |text: String| json!({"type": "text", "text": text}).as_object().unwrap().clone();
    let parts = vec![part("It went well.".to_owned()), part(json!([{ "cookie": CANARY }]).to_string())];
    let AddMessages { mut messages, thread } = result("c1", "");
    messages[0].content = Some(NewContent::Parts(parts.clone()));
    run(&session, AddMessages { thread, messages }).await;
    assert_eq!(newest(&store).await["content"][1]["text"], r#"[{"cookie":"[hidden]"}]"#);
    assert_eq!(newest(&store).await["secrets"][0]["at"], "/content/1/text");
    assert_eq!(restore(&session, "call:c1.result").await.map(|entries| entries.len()), Ok(1));
    assert_eq!(newest(&store).await["content"], json!(parts));
    run(&session, result("c2", "the password: another-canary-2")).await;
    say(&session, r#"{"password": "another-canary-2"}"#).await;
    assert_eq!(newest(&store).await["content"], r#"{"password": "another-canary-2"}"#, "this is no result of a tool");
}

#[tokio::test]
async fn i6_a_turn_outside_of_runs_is_searched_and_its_prompts_and_exports_show_nothing_of_it() {
    let store = memory(&clock());
    let board = board(&store);
    let session = board.create(new("s")).await.unwrap();
    let prompt = session.prompt(&PromptSpec::default()).await.unwrap();
    let begin = prompt.begin_turn(Default::default());
    let turn = run(&session, begin).await.answer.0;
    let answer = AnswerTurn { tool_calls: vec![call("c1", json!({"pin": CANARY}))], ..AnswerTurn::text(turn, "") };
    let first = run(&session, answer.clone()).await;
    assert_eq!(run(&session, answer).await.answer, first.answer, "the same answer is known again");
    assert_eq!(newest(&store).await["tool_calls"][0]["arguments"], json!({"pin": "[hidden]"}));
    let prompt = session.prompt(&PromptSpec::default()).await.unwrap();
    assert!(!json!(prompt.body).to_string().contains(CANARY));
    let lines = exported(&session).await;
    assert!(!lines.contains(CANARY) && lines.contains("\"secrets_left_out\":1"), "{lines}");
    let elsewhere = memory(&clock());
    let keys = vec![MasterKey::new([2; 32])];
    let other = Board::new(elsewhere, Settings { master_keys: Arc::new(keys), ..settings(&clock()) });
    let imported = other.import(Cursor::new(lines), None, false).await.unwrap();
    assert_eq!(restore(&imported, "call:c1.arguments").await, Err("secret_gone"));
    assert_eq!(restore(&session, "call:c1.arguments").await.map(|entries| entries.len()), Ok(1));
}

#[tokio::test]
async fn i6_calls_with_one_id_or_one_value_are_put_back_each_as_it_was() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let (one, other) = (json!({ "token": CANARY }), json!({"token": "another-canary-2"}));
    run(&session, calls(vec![call("c1", one.clone()), call("c1", other.clone()), call("c2", one.clone())])).await;
    run(&session, calls(vec![call("c1", other.clone())])).await;
    assert!(!holds(&store, "s", CANARY).await && !holds(&store, "s", "another-canary-2").await);
    assert_eq!(newest(&store).await["secrets"][0]["name"], "call:c1.arguments 2");
    // What has no other value is put back with it.
    assert_eq!(restore(&session, "call:c2.arguments").await.map(|entries| entries.len()), Ok(1));
    assert_eq!(restore(&session, "call:c1.arguments").await, Err("not_found"), "it was put back, too");
    assert_eq!(restore(&session, "call:c1.arguments 2").await.map(|entries| entries.len()), Ok(2));
    assert!(session.state().await.unwrap().secrets.is_empty());
    let entries = journal(&store, &id("s")).await;
    let said: Vec<Value> = entries
        .iter()
        .filter(|entry| &*entry.header.kind == "message.added")
        .map(|entry| serde_json::from_str(&entry.json()).unwrap())
        .collect();
    let arguments = |message: usize, call: usize| said[message]["tool_calls"][call]["arguments"].clone();
    assert_eq!(
        [arguments(0, 0), arguments(0, 1), arguments(0, 2), arguments(1, 0)],
        [one.clone(), other.clone(), one, other]
    );
    assert_sound(&session).await;
}

#[tokio::test]
async fn i6_calls_with_one_id_in_several_requests_are_put_back_each_alone() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let value = |nth: usize| json!({"token": format!("canary-{nth}")});
    let mut names = Vec::new();
    for nth in [0, 1, 2, 1, 0, 3] {
        run(&session, calls(vec![call("call_0", value(nth))])).await;
        names.push(newest(&store).await["secrets"][0]["name"].as_str().unwrap().to_owned());
    }
    let [first, second, third, fourth] = ["", " 2", " 3", " 4"].map(|number| format!("call:call_0.arguments{number}"));
    assert_eq!(names, [&*first, &*second, &*third, &*second, &*first, &*fourth]);
    assert_eq!(restore(&session, &second).await.map(|entries| entries.len()), Ok(2));
    for canary in ["canary-0", "canary-2", "canary-3"] {
        assert!(!holds(&store, "s", canary).await);
    }
    run(&session, ClearVariables { name: Some(third.parse().unwrap()), reason: "done".into() }).await;
    run(&session, calls(vec![call("call_0", value(4)), call("call_0", value(5))])).await;
    let kept = newest(&store).await;
    assert_eq!([&kept["secrets"][0]["name"], &kept["secrets"][1]["name"]], [&*second, &*third], "they are free again");
    assert_eq!(restore(&session, &first).await.map(|entries| entries.len()), Ok(2));
    assert_sound(&session).await;
}

#[tokio::test]
async fn a_message_that_comes_again_is_the_same_and_nothing_is_sealed_twice() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let messages = |id: &str, value: &str| {
        let AddMessages { thread, mut messages } = calls(vec![call("c1", json!({ "password": value }))]);
        messages[0].message_id = Some(id.parse().unwrap());
        AddMessages { thread, messages }
    };
    let first = run(&session, messages("one", CANARY)).await.answer;
    run(&session, messages("two", "another-canary-2")).await;
    assert_eq!(run(&session, messages("one", CANARY)).await.answer, first);
    assert_eq!(session.state().await.unwrap().secrets.iter().count(), 2);
    assert_eq!(code(session.execute(Viewer::User, messages("one", "a-third-canary-3")).await), "message_exists");
    assert_sound(&session).await;
}

#[tokio::test]
async fn a_variable_with_the_same_value_has_to_be_restored_for_the_call_and_restores_it() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    run(&session, calls(vec![call("c1", json!({ "password": CANARY }))])).await;
    let set = SetVariable::new("mail".parse().unwrap(), json!(CANARY), Some(true), "it is one".into()).unwrap();
    run(&session, set).await;
    assert_eq!(restore(&session, "call:c1.arguments").await, Err("value_is_secret"));
    assert_eq!(restore(&session, "mail").await.map(|entries| entries.len()), Ok(1));
    assert_eq!(newest(&store).await["tool_calls"][0]["arguments"], json!({ "password": CANARY }));
    assert_sound(&session).await;
}

#[tokio::test]
async fn what_was_put_back_in_a_call_stays_when_another_secret_in_it_is_put_back() {
    let arguments = json!({"password": CANARY, "note": "it is another-canary-2"});
    for first in ["call:c1.arguments", "note"] {
        let store = memory(&clock());
        let session = board(&store).create(new("s")).await.unwrap();
        run(&session, calls(vec![call("c1", arguments.clone())])).await;
        let value = json!("another-canary-2");
        run(&session, SetVariable::new("note".parse().unwrap(), value, Some(true), "it is one".into()).unwrap()).await;
        let hidden = json!({"password": "[hidden]", "note": "it is [hidden]"});
        assert_eq!(newest(&store).await["tool_calls"][0]["arguments"], hidden);
        let second = if first == "note" { "call:c1.arguments" } else { "note" };
        for name in [first, second] {
            assert_eq!(restore(&session, name).await.map(|entries| entries.len()), Ok(1), "{first} {name}");
        }
        assert_eq!(newest(&store).await["tool_calls"][0]["arguments"], arguments, "{first}");
        assert_sound(&session).await;
    }
}

#[tokio::test]
async fn what_was_put_back_in_a_long_result_stays_when_another_secret_in_it_is_put_back() {
    let page = "word ".repeat(20_000);
    let text = json!({"password": CANARY, "note": "it is another-canary-2", "page": page}).to_string();
    for names in [["call:c1.result", "note"], ["note", "call:c1.result"]] {
        let store = memory(&clock());
        let session = board(&store).create(new("s")).await.unwrap();
        run(&session, result("c1", &text)).await;
        let value = json!("another-canary-2");
        run(&session, SetVariable::new("note".parse().unwrap(), value, Some(true), "it is one".into()).unwrap()).await;
        for name in names {
            assert_eq!(restore(&session, name).await.map(|entries| entries.len()), Ok(1), "{names:?} {name}");
        }
        let page = session.messages(&Viewer::User, &ThreadId::main(), Default::default()).await.unwrap();
        assert_eq!(page.messages[0].content, text, "{names:?}");
        assert_sound(&session).await;
    }
}

#[tokio::test]
async fn what_the_user_clears_is_forgotten_and_own_tools_and_words_of_the_api_stay() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    run(&session, calls(vec![call("c1", json!({"password": "messageTo", "pin": 17}))])).await;
    let own = ToolCall { name: "recall".to_owned(), ..call("c2", json!({"token": "of-the-tool"})) };
    run(&session, calls(vec![own])).await;
    assert_eq!(newest(&store).await["tool_calls"][0]["arguments"], json!({"token": "of-the-tool"}));
    let page = session.messages(&Viewer::User, &ThreadId::main(), Default::default()).await.unwrap();
    assert_eq!(page.messages.len(), 2);
    say(&session, "17 is too short to be looked for").await;
    assert_eq!(newest(&store).await["content"], "17 is too short to be looked for");
    run(&session, ClearVariables { name: Some("call:c1.arguments".parse().unwrap()), reason: "done".into() }).await;
    assert!(session.state().await.unwrap().secrets.is_empty());
    say(&session, "all of messageTo").await;
    assert_eq!(newest(&store).await["content"], "all of messageTo");
    assert_eq!(restore(&session, "call:c1.arguments").await, Err("not_found"));
}

#[tokio::test]
async fn without_a_master_key_nothing_is_taken_out_and_no_message_is_refused() {
    let session = crate::fixture::session().await;
    let arguments = json!({ "password": CANARY });
    run(&session, calls(vec![call("c1", arguments.clone())])).await;
    run(&session, result("c1", &arguments.to_string())).await;
    let page = session.messages(&Viewer::User, &ThreadId::main(), Default::default()).await.unwrap();
    assert_eq!(page.messages[0].tool_calls[0].arguments, arguments);
    assert_eq!(page.messages[1].content, arguments.to_string());
    assert!(session.state().await.unwrap().secrets.is_empty());
}

#[tokio::test]
async fn i6_each_of_many_values_under_one_id_has_a_name_and_comes_back() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let value = |nth: usize| json!({"token": format!("canary-{nth:05}")});
    let given: Vec<_> = (0..998).chain([997, 0]).map(value).collect();
    run(&session, calls(given.iter().map(|arguments| call("c1", arguments.clone())).collect())).await;
    assert!(!holds(&store, "s", "canary-").await);
    let kept = newest(&store).await;
    let names = [0, 1, 997, 998, 999].map(|nth| kept["secrets"][nth]["name"].as_str().unwrap().to_owned());
    let last = "call:c1.arguments 998";
    assert_eq!(names, ["call:c1.arguments", "call:c1.arguments 2", last, last, "call:c1.arguments"]);
    assert_eq!(restore(&session, last).await.map(|entries| entries.len()), Ok(1));
    let kept = newest(&store).await;
    assert_eq!(kept["tool_calls"][997]["arguments"], value(997));
    assert_eq!(kept["tool_calls"][0]["arguments"], json!({"token": "[hidden]"}));
}

#[tokio::test]
async fn i6_all_of_more_than_1000_values_in_a_result_are_hidden_in_their_places_and_come_back() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let rows = |token: &dyn Fn(usize) -> Value| {
        json!((0..1_200).map(|nth| json!({ "token": token(nth) })).collect::<Vec<_>>())
    };
    let given = rows(&|nth| json!(format!("canary-{nth:05}"))).to_string();
    let kept = rows(&|_| json!("[hidden]")).to_string();
    run(&session, result("c1", &given)).await;
    assert_eq!(newest(&store).await["content"], kept);
    assert!(!holds(&store, "s", "canary-").await);
    // In the order of their places, in which `/999` is the last.
    say(&session, "first canary-00000, last canary-00999").await;
    assert_eq!(newest(&store).await["content"], "first [hidden], last canary-00999");
    run(&session, calls(vec![call("c2", json!({ "token": "canary-00999" }))])).await;
    assert_eq!(newest(&store).await["tool_calls"][0]["arguments"], json!({ "token": "[hidden]" }));
    assert_eq!(restore(&session, "call:c2.arguments").await.map(|entries| entries.len()), Ok(2));
    assert_eq!(restore(&session, "call:c1.result").await.map(|entries| entries.len()), Ok(1));
    assert_eq!(texts(&store, &id("s")).await[..2], [&*given, "first [hidden], last canary-00999"]);
    assert_sound(&session).await;
}

#[tokio::test]
async fn words_in_the_place_of_a_secret_are_hidden_in_their_place_alone() {
    let words = [
        (r#"{"password":"function"}"#, "function", r#"{"password":"[hidden]"}"#),
        (r#"{"errors":{"password":["is required"]}}"#, "is required", r#"{"errors":{"password":"[hidden]"}}"#),
        (r#"{"credentials":"include"}"#, "include", r#"{"credentials":"[hidden]"}"#),
        (r#"[{"token":"return"}]"#, "return", r#"[{"token":"[hidden]"}]"#),
    ];
    for (text, word, kept) in words {
        let store = memory(&clock());
        let session = board(&store).create(new("s")).await.unwrap();
        let said = format!("It says {word}.");
        say(&session, &said).await;
        run(&session, result("c1", text)).await;
        assert_eq!(newest(&store).await["content"], kept);
        say(&session, &said).await;
        assert_eq!(texts(&store, &id("s")).await, [&*said, kept, &*said]);
        assert_eq!(restore(&session, "call:c1.result").await.map(|entries| entries.len()), Ok(1));
        assert_eq!(texts(&store, &id("s")).await, [&*said, text, &*said]);
        assert_sound(&session).await;
    }
}

#[tokio::test]
async fn a_word_beside_a_secret_is_not_put_back_with_another_call_that_has_the_secret_alone() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let both = json!({"password": "function", "token": format!("Bearer {CANARY}")});
    run(&session, calls(vec![call("c1", both), call("c2", json!({ "token": CANARY }))])).await;
    say(&session, &format!("The function has {CANARY}.")).await;
    assert_eq!(newest(&store).await["content"], "The function has [hidden].");
    assert_eq!(restore(&session, "call:c2.arguments").await, Err("value_is_secret"));
}

#[tokio::test]
async fn the_name_of_a_type_is_not_looked_for_and_numbers_beside_a_secret_keep_their_digits() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let text = r#"{ "id": 123456789012345678901, "price": 1.10, "password": {"type":"string","value":"a-canary-4"} }"#;
    let kept = r#"{ "id": 123456789012345678901, "price": 1.10, "password": "[hidden]" }"#;
    run(&session, result("c1", text)).await;
    assert_eq!(newest(&store).await["content"], kept);
    say(&session, "a string, but no a-canary-4").await;
    assert_eq!(newest(&store).await["content"], "a string, but no [hidden]");
    assert_eq!(restore(&session, "call:c1.result").await.map(|entries| entries.len()), Ok(1));
    // What is said of a known secret is hidden as it is added, and nothing else of it is kept.
    assert_eq!(texts(&store, &id("s")).await, [text, "a string, but no [hidden]"]);
    assert_sound(&session).await;
}

#[tokio::test]
async fn a_name_that_stands_in_a_call_in_the_place_of_a_secret_stays_a_name() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let names = ["room:coder-2", "call-0001", "m-2026-11", "log_in_2"];
    let given: Vec<_> = names.iter().map(|name| json!({ "token": name })).collect();
    run(&session, result("c1", &json!(given).to_string())).await;
    let called = ToolCall { name: "log_in_2".to_owned(), ..call("call-0001", json!({ "token": CANARY })) };
    let message = NewMessage {
        message_id: Some("m-2026-11".parse().unwrap()),
        metadata: json!({"call-0001": "call-0001"}).as_object().cloned(),
        tool_calls: vec![called.clone()],
        ..NewMessage::text(Role::Ai, "I call log_in_2 in room:coder-2.")
    };
    run(&session, add("room:coder-2", vec![message])).await;
    let kept = newest(&store).await;
    assert_eq!([&kept["thread_id"], &kept["message_id"]], ["room:coder-2", "m-2026-11"]);
    assert_eq!([&kept["tool_calls"][0]["id"], &kept["tool_calls"][0]["name"]], ["call-0001", "log_in_2"]);
    assert_eq!(kept["secrets"][0]["name"], "call:call-0001.arguments");
    assert_eq!(kept["metadata"], json!({"call-0001": "[hidden]"}));
    assert_eq!(kept["content"], "I call [hidden] in [hidden].");
    let value = json!({"log_in_2": {"password": "another-canary-2"}});
    run(&session, SetVariable::new("log".parse().unwrap(), value.clone(), None, "a key".into()).unwrap()).await;
    assert_eq!(session.reveal(Viewer::User, &"log".parse().unwrap()).await.unwrap(), value);
    run(&session, result("call-0001", "done")).await;
    assert_eq!(newest(&store).await["tool_call_id"], "call-0001");
    let prompt = session.prompt(&PromptSpec::default()).await.unwrap();
    let turn = run(&session, prompt.begin_turn(Default::default())).await.answer.0;
    run(&session, AnswerTurn { tool_calls: vec![called], ..AnswerTurn::text(turn, "") }).await;
    assert_eq!(newest(&store).await["tool_calls"][0]["id"], "call-0001");
    session.check_name("/model", "room:coder-2").await.unwrap();
    // A secret that the user brings is no name.
    let value = json!("room:coder-2");
    run(&session, SetVariable::new("room".parse().unwrap(), value, Some(true), "it is one".into()).unwrap()).await;
    let message = NewMessage::text(Role::User, "Hello");
    assert_eq!(code(session.execute(Viewer::User, add("room:coder-2", vec![message])).await), "invalid");
    assert_eq!(code(session.check_name("/model", "room:coder-2").await), "invalid");
    assert_sound(&session).await;
}

#[tokio::test]
async fn i6_a_secret_that_is_an_object_is_looked_for_and_comes_back_as_it_is_written() {
    let value = r#"{ "a": 12345678.10, "a": 1e400, "b":"first-canary-1", "b":"second-canary-2", "c": [123456789012345678901234] }"#;
    let text = format!(r#"{{"credentials": {value}, "otp": "\ud800 half"}}"#);
    let kept = r#"{"credentials": "[hidden]", "otp": "[hidden]"}"#;
    let called = calls(vec![call("c1", json!(text))]);
    for (command, name, at) in
        [(called, "call:c1.arguments", "/tool_calls/0/arguments"), (result("c1", &text), "call:c1.result", "/content")]
    {
        let store = memory(&clock());
        let session = board(&store).create(new("s")).await.unwrap();
        let seq = run(&session, command).await.answer[0].seq;
        assert_eq!(newest(&store).await.pointer(at), Some(&json!(kept)));
        for part in ["12345678.10", "12345678.1", "first-canary-1", "second-canary-2", "123456789012345678901234"] {
            say(&session, &format!("It is {part}.")).await;
            assert_eq!(newest(&store).await["content"], "It is [hidden].", "{part}");
        }
        assert_eq!(restore(&session, name).await, Ok(vec![seq]));
        let entries = journal(&store, &id("s")).await;
        let message = entries.iter().find(|entry| entry.header.seq == seq).unwrap();
        let message: Value = serde_json::from_str(&message.json()).unwrap();
        assert_eq!(message.pointer(at), Some(&json!(text)));
        assert_sound(&session).await;
    }
}

#[tokio::test]
async fn a_message_that_comes_again_once_its_secret_was_put_back_or_forgotten_is_the_same() {
    let page = "word ".repeat(20_000);
    let long = |value: &str| json!({"password": value, "page": page}).to_string();
    let called = |value: &str| calls(vec![call("c1", json!({ "password": value }))]);
    type Give<'a> = &'a dyn Fn(&str) -> AddMessages;
    let given: [(&str, Give<'_>); 3] = [
        ("call:c1.arguments", &called),
        ("call:c1.result", &|value| result("c1", &json!({ "password": value }).to_string())),
        ("call:c1.result", &|value| result("c1", &long(value))),
    ];
    let with_id = |command: AddMessages| {
        let AddMessages { thread, mut messages } = command;
        messages[0].message_id = Some("one".parse().unwrap());
        AddMessages { thread, messages }
    };
    for (name, message) in given {
        // One looks like a secret, and one does not.
        for value in [CANARY, "hunter"] {
            let store = memory(&clock());
            let session = board(&store).create(new("s")).await.unwrap();
            let message = |value: &str| with_id(message(value));
            let first = run(&session, message(value)).await.answer;
            assert_eq!(restore(&session, name).await.map(|entries| entries.len()), Ok(1));
            let before = journal(&store, &id("s")).await;
            assert_eq!(run(&session, message(value)).await.answer, first);
            assert_eq!(journal(&store, &id("s")).await, before, "it stays as it was put back");
            assert!(session.state().await.unwrap().secrets.is_empty());
            assert_eq!(code(session.execute(Viewer::User, message("a-third-canary-3")).await), "message_exists");
            let mut both = message(value);
            both.messages.extend(result("c2", r#"{"password": "another-canary-2"}"#).messages);
            if value == CANARY {
                assert_eq!(code(session.execute(Viewer::User, both).await), "secrets_changed");
            }
            assert_sound(&session).await;
        }
    }
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let first = run(&session, with_id(called(CANARY))).await.answer;
    run(&session, ClearVariables { name: Some("call:c1.arguments".parse().unwrap()), reason: "done".into() }).await;
    assert_eq!(run(&session, with_id(called(CANARY))).await.answer, first);
    assert!(session.state().await.unwrap().secrets.is_empty());
}

#[tokio::test]
async fn an_answer_that_comes_again_once_its_secret_was_put_back_is_the_same() {
    let store = memory(&clock());
    let session = board(&store).create(new("s")).await.unwrap();
    let prompt = session.prompt(&PromptSpec::default()).await.unwrap();
    let turn = run(&session, prompt.begin_turn(Default::default())).await.answer.0;
    let answer = AnswerTurn { tool_calls: vec![call("c1", json!({ "pin": CANARY }))], ..AnswerTurn::text(turn, "") };
    let first = run(&session, answer.clone()).await.answer;
    assert_eq!(restore(&session, "call:c1.arguments").await.map(|entries| entries.len()), Ok(1));
    assert_eq!(run(&session, answer).await.answer, first);
    assert_eq!(newest(&store).await["tool_calls"][0]["arguments"], json!({ "pin": CANARY }));
}

#[tokio::test]
async fn i6_what_was_said_is_found_after_others_were_looked_for_also_where_it_was_put_back() {
    let store = memory(&clock());
    let first = board(&store);
    let session = first.create(new("s")).await.unwrap();
    run(&session, result("c0", r#"{"token": "first-canary-1"}"#)).await;
    say(&session, &format!("I am ann, with {CANARY}")).await;
    run(&session, calls(vec![call("c1", json!({ "password": CANARY }))])).await;
    assert!(!holds(&store, "s", CANARY).await);
    first.close().await;
    // Who looks now has never seen it.
    let session = board(&store).session(&id("s")).await.unwrap();
    run(&session, result("c2", r#"{"token": "second-canary-2"}"#)).await;
    assert_eq!(restore(&session, "call:c1.arguments").await.map(|entries| entries.len()), Ok(2));
    assert!(holds(&store, "s", CANARY).await);
    run(&session, calls(vec![call("c3", json!({ "password": CANARY }))])).await;
    assert!(!holds(&store, "s", CANARY).await);
    assert_eq!(restore(&session, "call:c3.arguments").await.map(|entries| entries.len()), Ok(3));
    assert_sound(&session).await;
}
