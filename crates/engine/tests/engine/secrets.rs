use std::{io::Cursor, sync::Arc};

use callboard_engine::{
    Board, MasterKey, MasterKeys, MessageQuery, PromptSpec, RecallQuery, Session, Settings,
    core::{
        audience::Audience,
        context_set::PutSet,
        conversation::{NewMessage, Role, ToolCall},
        directive::Direct,
        entry::{Actor, Entry, Hash},
        event::EventType,
        idempotency::Request,
        plan::{PatchTask, PutPlan, Status, TaskPatch},
        rights::Share,
        session::SessionPatch,
        tool::CallTool,
        variable::{ClearVariables, SetVariable},
        viewer::Viewer,
        workflow::{CreateNode, NodePatch, PatchNode, PatchWorkflow},
    },
    store::Store,
};
use serde_json::{Value, json};

use crate::fixture::{
    File, add, assert_sound, clock, code, erase, exported, holds, id, journal, memory, new, put, run, say, settings,
    text, texts, with_id,
};

const CANARY: &str = "zq/hunter22-ß";

fn keyed(keys: impl MasterKeys) -> Settings {
    Settings { master_keys: Arc::new(keys), ..settings(&clock()) }
}

fn key(byte: u8) -> MasterKey {
    MasterKey::new([byte; 32])
}

fn board(store: &Arc<dyn Store>, keys: &[MasterKey]) -> Board {
    Board::new(store.clone(), keyed(keys.to_vec()))
}

fn set(name: &str, value: Value) -> SetVariable {
    SetVariable::new(name.parse().unwrap(), value, None, "needed".into()).unwrap()
}

fn clear(name: &str) -> ClearVariables {
    ClearVariables { name: Some(name.parse().unwrap()), reason: "done with it".into() }
}

async fn reveal(session: &Session, name: &str) -> Result<Value, &'static str> {
    session.reveal(Viewer::User, &name.parse().unwrap()).await.map_err(|error| error.code())
}

#[tokio::test]
async fn a_variable_with_too_many_secrets_is_refused_and_nothing_changes() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    let many = json!(vec![json!({ "pin": 1 }); 10_001]);
    let head = session.state().await.unwrap().head.seq;
    assert_eq!(code(session.execute(Viewer::User, set("rows", many.clone())).await), "invalid");
    let state = session.state().await.unwrap();
    assert_eq!((state.head.seq, state.secrets.is_empty()), (head, true));
    let whole = SetVariable::new("rows".parse().unwrap(), many.clone(), Some(true), "needed".into()).unwrap();
    run(&session, whole).await;
    assert_eq!(reveal(&session, "rows").await, Ok(many));
}

#[tokio::test]
async fn i6_a_secret_is_sealed_and_masked_in_the_input_that_brings_it_and_in_all_that_comes_later() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    run(&session, set("creds", json!({"email": "a@b.c", "password": CANARY, "note": format!("it is {CANARY}")}))).await;
    say(&session, &format!("I use {CANARY} for all.")).await;
    run(&session, put("facts", &json!({ "it": CANARY }).to_string())).await;
    assert!(!holds(&store, "s", CANARY).await);
    assert_eq!(texts(&store, &id("s")).await, ["I use [hidden] for all."]);
    let named = session.execute(Viewer::User, add("main", vec![with_id(&format!("m {CANARY}"), "x")])).await;
    let error = named.unwrap_err();
    assert_eq!(error.code(), "invalid");
    assert!(error.to_string().contains("/messages/0/message_id") && !error.to_string().contains(CANARY), "{error}");
    assert_eq!(reveal(&session, "creds").await.unwrap()["password"], CANARY);
    let last = journal(&store, &id("s")).await.pop().unwrap();
    assert_eq!((&*last.header.kind, &*last.header.subject), ("secret.revealed", "variable:creds"));
    assert_sound(&session).await;
}

#[tokio::test]
async fn i6_secrets_in_one_batch_are_masked_in_what_comes_after_them_in_it() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    let (first, second, third) = tokio::join!(
        session.execute(Viewer::User, set("password", json!(CANARY))),
        session.execute(Viewer::User, add("main", vec![text(&format!("a {CANARY}"))])),
        session.execute(Viewer::User, set("note", json!([CANARY]))),
    );
    first.unwrap();
    second.unwrap();
    third.unwrap();
    assert!(!holds(&store, "s", CANARY).await);
    assert_eq!(texts(&store, &id("s")).await, ["a [hidden]"]);
}

#[tokio::test]
async fn i6_a_secret_that_one_server_is_given_is_masked_by_another_at_once() {
    let store = memory(&clock());
    let (here, there) = (board(&store, &[key(1)]), board(&store, &[key(1)]));
    let here = here.create(new("s")).await.unwrap();
    let there = there.session(&id("s")).await.unwrap();
    say(&there, "it has been read").await;
    run(&here, set("password", json!(CANARY))).await;
    // It was decided on what was known there before, and is masked again.
    say(&there, CANARY).await;
    run(&there, set("api_key", json!("another-canary"))).await;
    say(&here, "another-canary").await;
    assert!(!holds(&store, "s", CANARY).await && !holds(&store, "s", "another-canary").await);
    assert_eq!(texts(&store, &id("s")).await, ["it has been read", "[hidden]", "[hidden]"]);
}

#[tokio::test]
async fn who_has_another_master_key_reads_and_writes_no_text_until_the_user_drops_the_secrets() {
    let file = File::new();
    {
        let board = board(&file.open(&clock()), &[key(1)]);
        let session = board.create(new("s")).await.unwrap();
        run(&session, set("password", json!(CANARY))).await;
        say(&session, "before").await;
        board.close().await;
    }
    let store = file.open(&clock());
    let board = board(&store, &[key(2)]);
    let session = board.session(&id("s")).await.unwrap();
    let page = session.messages(&Viewer::User, &"main".parse().unwrap(), MessageQuery::default()).await.unwrap();
    assert_eq!(page.messages.len(), 1);
    assert_eq!(reveal(&session, "password").await, Err("sealed"));
    assert_eq!(code(session.execute(Viewer::User, add("main", vec![text("after")])).await), "sealed");
    assert_eq!(code(session.execute(Viewer::User, set("other", json!(1))).await), "sealed");
    let head = session.state().await.unwrap().head;
    assert_eq!(head.seq.0 as usize, journal(&store, &id("s")).await.len(), "nothing was recorded");
    run(&session, clear("password")).await;
    say(&session, "after").await;
    // No other key is taken while the noted one is missed, until the user says that it is lost.
    let again = set("password", json!("another-canary"));
    let refused = session.execute(Viewer::User, again.clone()).await.unwrap_err().to_string();
    assert!(refused.contains("under the master key") && refused.contains("another key is given"), "{refused}");
    assert_eq!(board.check_master_keys().await.unwrap_err().code(), "sealed");
    board.note_master_key().await.unwrap();
    board.check_master_keys().await.unwrap();
    run(&session, again).await;
    assert_eq!(reveal(&session, "password").await, Ok(json!("another-canary")));
    assert_sound(&session).await;
}

#[tokio::test]
async fn what_the_user_clears_is_shredded_and_what_an_agent_clears_stays_masked() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    run(&session, set("password", json!(CANARY))).await;
    let (_, sealed) =
        session.state().await.unwrap().secrets.iter().map(|(name, hash)| (name.clone(), hash)).next().unwrap();
    assert!(store.value(&id("s"), sealed).await.unwrap().is_some());
    session.execute(crate::fixture::agent("lead"), clear("password")).await.unwrap();
    say(&session, CANARY).await;
    assert!(!holds(&store, "s", CANARY).await);
    assert!(store.value(&id("s"), sealed).await.unwrap().is_some());
    let all = ClearVariables { name: None, reason: "done".into() };
    run(&session, all).await;
    assert!(store.value(&id("s"), sealed).await.unwrap().is_none(), "it is shredded");
    say(&session, CANARY).await;
    assert_eq!(texts(&store, &id("s")).await, ["[hidden]", CANARY]);
}

#[tokio::test]
async fn a_value_that_was_replaced_is_still_masked_and_the_same_value_is_not_sealed_again() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    run(&session, set("password", json!(CANARY))).await;
    run(&session, set("password", json!(CANARY))).await;
    assert_eq!(session.state().await.unwrap().secrets.iter().count(), 1);
    run(&session, set("password", json!("another-canary"))).await;
    say(&session, &format!("{CANARY} another-canary")).await;
    assert_eq!(texts(&store, &id("s")).await, ["[hidden] [hidden]"]);
    assert_eq!(reveal(&session, "password").await, Ok(json!("another-canary")));
}

#[tokio::test]
async fn only_the_user_may_say_that_a_variable_is_not_secret_and_then_it_is_not() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    run(&session, set("password", json!(CANARY))).await;
    let open =
        || SetVariable::new("password".parse().unwrap(), json!(CANARY), Some(false), "it is not".into()).unwrap();
    assert_eq!(code(session.execute(crate::fixture::agent("lead"), open()).await), "forbidden");
    run(&session, open()).await;
    say(&session, CANARY).await;
    assert_eq!(texts(&store, &id("s")).await, [CANARY]);
}

#[tokio::test]
async fn the_key_is_wrapped_anew_and_both_states_can_be_read_meanwhile() {
    let store = memory(&clock());
    let before = board(&store, &[key(1)]);
    let session = before.create(new("s")).await.unwrap();
    run(&session, set("password", json!(CANARY))).await;
    let early = before.fork(&session, None, &id("early"), false).await.unwrap();
    before.create(new("plain")).await.unwrap();
    before.close().await;
    drop((session, early));
    let during = board(&store, &[key(2), key(1)]);
    let session = during.session(&id("s")).await.unwrap();
    assert_eq!(reveal(&session, "password").await, Ok(json!(CANARY)), "the old key still opens it");
    assert!(session.rewrap_key().await.unwrap() && !session.rewrap_key().await.unwrap());
    assert!(!during.session(&id("plain")).await.unwrap().rewrap_key().await.unwrap());
    assert_eq!(reveal(&session, "password").await, Ok(json!(CANARY)));
    // A fork as of before the rotation has the key as it is wrapped now.
    let late = during.fork(&session, Some(callboard_engine::core::id::Seq(6)), &id("late"), false).await.unwrap();
    drop(late);
    during.close().await;
    let after = board(&store, &[key(2)]);
    for (name, expected) in [("s", Ok(json!(CANARY))), ("late", Ok(json!(CANARY))), ("early", Err("sealed"))] {
        let session = after.session(&id(name)).await.unwrap();
        assert_eq!(reveal(&session, "password").await, expected, "{name}");
    }
}

#[tokio::test]
async fn an_export_has_no_secrets_and_says_so_and_what_is_imported_goes_on_without_them() {
    let store = memory(&clock());
    let board_here = board(&store, &[key(1)]);
    let session = board_here.create(new("s")).await.unwrap();
    run(&session, set("password", json!(CANARY))).await;
    say(&session, CANARY).await;
    let lines = exported(&session).await;
    assert!(
        !lines.contains(CANARY) && !lines.contains("callboard-sealed") && !lines.contains("callboard-key"),
        "{lines}"
    );
    assert!(lines.lines().next().unwrap().contains("\"secrets_left_out\":1"), "{lines}");
    let elsewhere = memory(&clock());
    let board = board(&elsewhere, &[key(2)]);
    let imported = board.import(Cursor::new(lines), None, false).await.unwrap();
    assert_eq!(journal(&elsewhere, &id("s")).await, journal(&store, &id("s")).await);
    say(&imported, "it goes on").await;
    assert_eq!(reveal(&imported, "password").await, Err("secret_gone"));
}

#[tokio::test]
async fn a_request_with_a_key_is_known_again_and_its_fingerprint_tells_no_secret() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    let plain = Hash::of(CANARY.as_bytes());
    let request = || Request { key: "once".parse().unwrap(), fingerprint: plain.into() };
    let ask = || session.execute_once(Viewer::User, None, request(), set("password", json!(CANARY)));
    let (first, again) = (ask().await.unwrap(), ask().await.unwrap());
    assert_eq!(first.head, again.head);
    assert!(!holds(&store, "s", &plain.to_string()).await, "a plain hash of a short secret can be guessed");
    let other = Request { key: "once".parse().unwrap(), fingerprint: Hash::of(b"other").into() };
    let reused = session.execute_once(Viewer::User, None, other, set("password", json!(CANARY))).await;
    assert_eq!(code(reused), "idempotency_key_reused");
}

#[tokio::test]
async fn without_a_master_key_no_secret_is_taken_and_all_else_goes_on() {
    let session = crate::fixture::session().await;
    assert_eq!(code(session.execute(Viewer::User, set("password", json!(CANARY))).await), "sealed");
    run(&session, set("color", json!("red"))).await;
    say(&session, "hello").await;
    let call = CallTool { name: "nothing".to_owned(), arguments: json!({}) };
    assert_eq!(code(session.execute(Viewer::User, call).await), "not_found");
}

/// The words of all entries, and the long texts beside them.
async fn all_words(store: &Arc<dyn Store>) -> Vec<String> {
    let entries = journal(store, &id("s")).await;
    let words = |entry: &Entry| -> Value {
        let data: Value = serde_json::from_str(&entry.json()).unwrap();
        let kind = EventType::named(&entry.header.kind).unwrap();
        kind.words(&data).into_iter().cloned().collect()
    };
    let mut all: Vec<String> = entries.iter().map(|entry| format!("{}: {}", entry.header.kind, words(entry))).collect();
    for hash in long_texts(store).await {
        all.push(store.value(&id("s"), hash).await.unwrap().unwrap().to_string());
    }
    all
}

/// Sets a secret, and says in how many entries it was hidden.
async fn mark(session: &Session, name: &str, value: &str) -> usize {
    let set = SetVariable::new(name.parse().unwrap(), json!(value), Some(true), "it is one".into()).unwrap();
    let head = session.execute(Viewer::User, set).await.unwrap().head;
    session.rewritten_by(head).await.unwrap().len()
}

async fn restore(session: &Session, name: &str) -> Result<usize, &'static str> {
    let restored = session.restore(Viewer::User, &name.parse().unwrap(), "it is none").await;
    restored.map(|receipt| receipt.answer.entries.len()).map_err(|error| error.code())
}

#[tokio::test]
async fn i6_what_was_said_before_is_hidden_in_the_append_that_makes_a_value_secret_and_can_be_put_back() {
    let (store, long) = (memory(&clock()), format!("{CANARY} {}", "and so on ".repeat(8_000)));
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    say(&session, &format!("I use {CANARY} here")).await;
    say(&session, &long).await;
    run(&session, set("note", json!({"said": [format!("it is {CANARY}")]}))).await;
    run(&session, set("page", json!({"html": long.repeat(3)}))).await;
    session.execute(Viewer::User, put("Brief", &format!("Use {CANARY}."))).await.unwrap();
    let (before, values) = (all_words(&store).await, long_texts(&store).await);
    let entries = journal(&store, &id("s")).await.len();
    assert_eq!(mark(&session, "password", CANARY).await, 5);

    let kinds: Vec<_> = journal(&store, &id("s")).await.drain(entries..).map(|entry| entry.header.kind).collect();
    assert_eq!(
        kinds.iter().map(|kind| &**kind).collect::<Vec<_>>(),
        ["secret.key_wrapped", "variable.set", "secret.hidden"]
    );
    assert!(!holds(&store, "s", CANARY).await);
    for hash in values {
        assert_eq!(store.value(&id("s"), hash).await.unwrap(), None);
    }
    assert!(all_words(&store).await.iter().all(|words| !words.contains(CANARY)));
    let again = board(&store, &[key(1)]).session(&id("s")).await.unwrap();
    for session in [&session, &again] {
        assert_eq!(texts(&store, &id("s")).await.first().unwrap(), "I use [hidden] here");
        assert_eq!(reveal(session, "password").await.unwrap(), CANARY);
        assert!(!serde_json::to_string(&*session.state().await.unwrap()).unwrap().contains(CANARY));
        assert_sound(session).await;
    }
    assert_eq!(mark(&session, "password", CANARY).await, 0, "it is hidden already");

    let agent = session.restore(Actor::Agent("lead".parse().unwrap()), &"password".parse().unwrap(), "mine").await;
    assert_eq!(code(agent), "forbidden");
    assert_eq!(restore(&session, "password").await, Ok(5));
    let after = all_words(&store).await;
    for words in before {
        assert!(after.contains(&words), "{words}");
    }
    assert_eq!(restore(&session, "password").await, Err("not_found"), "it is no secret any more");
    say(&session, CANARY).await;
    assert_eq!(texts(&store, &id("s")).await.last().unwrap(), CANARY);
    assert_sound(&session).await;
}

#[tokio::test]
async fn i6_arguments_of_tools_that_others_execute_are_hidden_in_before_and_after_and_stay_json() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    let arguments = json!({"login": {"with": [format!("it is {CANARY}")]}, "seat": 48_291_376, "tries": 3});
    let calls = || {
        [arguments.clone(), arguments.to_string().into()].map(|arguments| {
            let call = ToolCall { id: "c1".to_owned(), name: "log_in".to_owned(), arguments };
            add("main", vec![NewMessage { tool_calls: vec![call], ..NewMessage::text(Role::Ai, "I log in.") }])
        })
    };
    for call in calls() {
        run(&session, call).await;
    }
    assert_eq!(mark(&session, "password", CANARY).await, 2);
    assert_eq!(mark(&session, "number", "48291376").await, 2);
    for call in calls() {
        run(&session, call).await;
    }
    assert!(!holds(&store, "s", CANARY).await && !holds(&store, "s", "48291376").await);
    let said = journal(&store, &id("s")).await.into_iter().filter(|entry| &*entry.header.kind == "message.added");
    let said = said.map(|entry| {
        let data: Value = serde_json::from_str(&entry.json()).unwrap();
        match &data["tool_calls"][0]["arguments"] {
            Value::String(text) => serde_json::from_str(text).unwrap(),
            arguments => arguments.clone(),
        }
    });
    let hidden = json!({"login": {"with": ["it is [hidden]"]}, "seat": "[hidden]", "tries": 3});
    assert_eq!(said.collect::<Vec<_>>(), vec![hidden; 4]);
    assert_sound(&session).await;
}

#[tokio::test]
async fn i6_of_two_secrets_in_one_entry_each_can_be_put_back_and_the_other_stays_hidden() {
    let (one, other) = ("first-canary", "other-canary");
    for (first, second) in [(one, other), (other, one)] {
        let store = memory(&clock());
        let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
        say(&session, &format!("{one} and {other}")).await;
        assert_eq!(mark(&session, "one", one).await, 1);
        assert_eq!(mark(&session, "other", other).await, 1);
        assert_eq!(texts(&store, &id("s")).await, ["[hidden] and [hidden]"]);
        let name = |value: &str| if value == one { "one" } else { "other" };
        assert_eq!(restore(&session, name(first)).await, Ok(1));
        let said = format!("{one} and {other}").replace(second, "[hidden]");
        assert_eq!(texts(&store, &id("s")).await, [said]);
        assert_eq!(restore(&session, name(second)).await, Ok(1));
        assert_eq!(texts(&store, &id("s")).await, [format!("{one} and {other}")]);
        assert_sound(&session).await;
    }
}

#[tokio::test]
async fn i6_what_hides_a_secret_that_nobody_knows_any_more_stays_hidden() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    say(&session, "first-canary and other-canary").await;
    mark(&session, "one", "first-canary").await;
    mark(&session, "other", "other-canary").await;
    run(&session, clear("one")).await;
    mark(&session, "one", "another-one").await;
    assert_eq!(restore(&session, "other").await, Ok(0));
    assert_eq!(texts(&store, &id("s")).await, ["[hidden] and [hidden]"]);
    assert!(!holds(&store, "s", "first-canary").await);
}

#[tokio::test]
async fn a_value_under_two_names_is_put_back_once_the_other_is_none() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    say(&session, &format!("it is {CANARY}")).await;
    assert_eq!(mark(&session, "password", CANARY).await, 1);
    assert_eq!(mark(&session, "again", CANARY).await, 0);
    let refused = session.restore(Viewer::User, &"password".parse().unwrap(), "it is none").await.unwrap_err();
    assert_eq!(refused.code(), "value_is_secret");
    assert!(refused.to_string().contains("again") && !refused.to_string().contains(CANARY), "{refused}");
    run(&session, clear("again")).await;
    assert_eq!(restore(&session, "password").await, Ok(1));
    assert_eq!(texts(&store, &id("s")).await, [format!("it is {CANARY}")]);
}

#[tokio::test]
async fn i6_what_is_erased_is_not_put_back_and_nothing_is_sealed_of_it() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    let seq = say(&session, &format!("my number is 555-0199, {CANARY}")).await;
    assert_eq!(mark(&session, "password", CANARY).await, 1);
    let hidden = journal(&store, &id("s")).await.pop().unwrap();
    let sealed =
        EventType::named(&hidden.header.kind).unwrap().sealed_values(&serde_json::from_str(&hidden.json()).unwrap());
    assert!(store.value(&id("s"), sealed[0]).await.unwrap().is_some());
    erase(&session, seq, "it is private").await.unwrap();
    assert_eq!(store.value(&id("s"), sealed[0]).await.unwrap(), None);
    assert_eq!(restore(&session, "password").await, Ok(0));
    assert!(!holds(&store, "s", "555-0199").await);
    assert_sound(&session).await;
}

#[tokio::test]
async fn i6_a_secret_is_hidden_in_what_another_server_writes_at_that_moment() {
    let store = memory(&clock());
    let (here, there) = (board(&store, &[key(1)]), board(&store, &[key(1)]));
    let here = here.create(new("s")).await.unwrap();
    let there = there.session(&id("s")).await.unwrap();
    let saying = async {
        for number in 0..30 {
            say(&there, &format!("{number}: I use {CANARY} here")).await;
        }
    };
    let marking = async {
        say(&here, &format!("I use {CANARY} here, too")).await;
        mark(&here, "password", CANARY).await;
    };
    tokio::join!(saying, marking);
    assert!(!holds(&store, "s", CANARY).await);
    assert_eq!(texts(&store, &id("s")).await.len(), 31);
    assert_eq!(restore(&there, "password").await.map(|restored| restored > 0), Ok(true));
    assert_sound(&here).await;
    assert_sound(&there).await;
}

#[tokio::test]
async fn i6_hits_and_scores_and_reasons_equal_those_where_the_value_was_never_said() {
    let store = memory(&clock());
    let board = board(&store, &[key(1)]);
    let (told, untold) = (board.create(new("told")).await.unwrap(), board.create(new("untold")).await.unwrap());
    let secret = "wombat-yaqui-7261";
    for (session, value) in [(&told, secret), (&untold, "[hidden]")] {
        say(session, "We meet at noon.").await;
        say(session, &format!("The key is {value} for now.")).await;
        say(session, &format!("Is it wombat? No: {value}")).await;
        run(session, put("facts", &format!("Use {value} and nothing else."))).await;
        session.recall(&Viewer::User, RecallQuery::new("key")).await.unwrap();
        assert_eq!(mark(session, "password", secret).await, if value == secret { 3 } else { 0 });
    }
    let writer = crate::fixture::agent("writer");
    for end in 1..=secret.len() {
        for guess in [&secret[..end], &secret[end - 1..]] {
            let mut answers = Vec::new();
            for session in [&told, &untold] {
                let found = session.recall(&writer, RecallQuery::new(guess)).await.unwrap().hits;
                let hits = found.into_iter().map(|hit| (hit.seq, hit.text, hit.score, hit.bytes));
                let exact = session.search_words(&writer, guess, 10).await.unwrap_or_default();
                let exact = exact.into_iter().map(|hit| (hit.seq, hit.text, hit.score, hit.bytes));
                let why = session.why(&writer, guess).await.unwrap();
                answers.push((hits.collect::<Vec<_>>(), exact.collect::<Vec<_>>(), format!("{why:?}")));
            }
            assert_eq!(answers[0].0, answers[1].0, "{guess}");
            assert_eq!(answers[0].1, answers[1].1, "{guess}");
        }
    }
}

#[tokio::test]
async fn i6_an_export_and_a_fork_after_a_late_marking_hold_nothing_of_it() {
    let store = memory(&clock());
    let board = board(&store, &[key(1)]);
    let session = board.create(new("s")).await.unwrap();
    say(&session, &format!("I use {CANARY} here")).await;
    let early = board.fork(&session, None, &id("early"), false).await.unwrap();
    assert_eq!(mark(&session, "password", CANARY).await, 1);
    let first = session.rewritten_by(session.state().await.unwrap().head.seq).await.unwrap()[0];
    assert_eq!(board.holders(&session, first).await.unwrap(), [early.id().clone()]);
    let late = board.fork(&session, None, &id("late"), false).await.unwrap();
    let lines = exported(&session).await;
    assert!(lines.contains("I use [hidden] here") && !lines.contains(CANARY), "{lines}");
    assert!(!holds(&store, "late", CANARY).await && holds(&store, "early", CANARY).await);
    assert_eq!(restore(&late, "password").await, Ok(1), "a fork can put it back, too");
    assert_eq!(texts(&store, &id("late")).await, [format!("I use {CANARY} here")]);
    assert_eq!(texts(&store, &id("s")).await, ["I use [hidden] here"]);
    let elsewhere = memory(&clock());
    let imported =
        Board::new(elsewhere.clone(), keyed(vec![key(2)])).import(Cursor::new(lines), None, false).await.unwrap();
    assert_sound(&imported).await;
}

#[tokio::test]
async fn an_old_prompt_says_which_of_its_entries_were_rewritten() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    let seq = say(&session, &format!("I use {CANARY} here")).await;
    say(&session, "and go on").await;
    let spec = PromptSpec { at: Some(session.state().await.unwrap().head.seq), ..PromptSpec::default() };
    assert_eq!(session.prompt(&spec).await.unwrap().rewritten, []);
    mark(&session, "password", CANARY).await;
    let prompt = session.prompt(&spec).await.unwrap();
    assert_eq!((prompt.rewritten, prompt.erased), (vec![seq], vec![]));
    assert!(!json!(prompt.body).to_string().contains(CANARY));
}

/// The hashes of the long texts that the journal refers to.
async fn long_texts(store: &Arc<dyn Store>) -> Vec<Hash> {
    let texts = |entry: &Entry| {
        let data = serde_json::from_str(&entry.json()).unwrap();
        EventType::named(&entry.header.kind).map(|kind| kind.long_texts(&data)).unwrap_or_default()
    };
    journal(store, &id("s")).await.iter().flat_map(texts).collect()
}

#[tokio::test]
async fn i6_what_is_said_again_of_older_words_is_masked_in_the_new_entry() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    let said = format!("log in with {CANARY}");
    let task = json!({"task_id": 1, "description": said, "status": "pending"});
    let phase = json!({"phase_name": said, "status": "pending", "tasks": [task]});
    let plan = json!({"overall_goal": "g", "current_phase": said, "phases": [phase]});
    run(&session, PutPlan { plan, reason: "begin".into(), expected_version: None }).await;
    run(&session, put("Brief", &said)).await;
    let reason: Option<Arc<str>> = Some("needed".into());
    let (kind, config, description) = ("note".into(), json!({"text": said}), Some(said.as_str().into()));
    let node = CreateNode { kind, config, description, reason: reason.clone(), ..CreateNode::default() };
    run(&session, node).await;
    let (name, description) = (Some("Log-in".into()), Some(said.as_str().into()));
    run(&session, PatchWorkflow { name, description, reason: reason.clone(), expected_version: None }).await;
    run(&session, SessionPatch { title: Some(said.as_str().into()), ..SessionPatch::default() }).await;
    run(&session, set("password", json!(CANARY))).await;
    let head = session.state().await.unwrap().head.seq;

    let patch = TaskPatch { status: Some(Status::Completed), notes: None, reason: "done".into() };
    run(&session, PatchTask { task_id: 1, patch }).await;
    let everybody = PutSet { visible_to: Some(Audience::All), enabled: Some(false), ..put("Brief", &said) };
    run(&session, everybody).await;
    let patch = NodePatch { kind: Some("step".into()), reason: reason.clone(), ..NodePatch::default() };
    run(&session, PatchNode { id: "node_1".parse().unwrap(), patch }).await;
    run(&session, PatchWorkflow { name: Some("Log in".into()), reason, ..PatchWorkflow::default() }).await;
    let share = Some(vec![Share::Plan]);
    run(&session, SessionPatch { share, ..SessionPatch::default() }).await;
    let later = journal(&store, &id("s")).await.into_iter().filter(|entry| entry.header.seq > head);
    let later: Vec<Entry> = later.collect();
    assert!(later.len() >= 5, "{later:?}");
    for entry in &later {
        assert!(!entry.data.contains(CANARY), "{entry:?}");
    }
    let state = session.state().await.unwrap();
    assert_eq!(state.plan.as_ref().unwrap().plan.current_phase.to_string(), "log in with [hidden]");
    assert_sound(&session).await;
}

#[tokio::test]
async fn a_directive_with_a_secret_in_a_name_is_refused_however_it_is_written() {
    let store = memory(&clock());
    let session = board(&store, &[key(1)]).create(new("s")).await.unwrap();
    run(&session, set("password", json!("hunter22"))).await;
    let head = session.state().await.unwrap().head;
    let structured = json!({"contextSetUpdate": {"contextSets": [{"name": "about hunter22", "context": "x"}]}});
    let field = |key: &str| json!([{"key": key, "valueType": "STRING", "label": "L", "required": true}]);
    let asking = |form: Value| json!({"isInfoRequest": true, "messageTo": "user", "message": "m", "form": form});
    for (directive, place) in [
        (structured.clone(), "/contextSetUpdate/contextSets/0/name"),
        (json!({ "text": structured.to_string() }), "/text"),
        (json!({ "text": format!("```json\n{structured}\n```") }), "/text"),
        (json!({"text": "Context update: about hunter22 (visible to: all)\nx"}), "/text"),
        (asking(json!({"name": "hunter22", "fields": field("k")})), "/form/name"),
        (asking(json!({"name": "F", "fields": field("hunter22")})), "/form/fields/0/key"),
    ] {
        let error = session.execute(Viewer::User, Direct(directive.clone())).await.unwrap_err();
        assert_eq!(error.code(), "invalid", "{directive}");
        assert!(error.to_string().contains(place) && !error.to_string().contains("hunter22"), "{error}");
    }
    assert_eq!(session.state().await.unwrap().head, head);
}
