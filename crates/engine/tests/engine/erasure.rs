//! Erasing what an entry says: what is left, in memory and in the store.

use std::{fs, sync::Arc};

use callboard_engine::{
    Board, MessageQuery, Outside, Progress, PromptSpec, Session, Settings, copy,
    core::{
        conversation::MessageView,
        entry::Actor,
        id::{AgentName, Seq},
        prompt::LayoutName,
        session::SessionPatch,
        state::State,
        viewer::Viewer,
        workflow::CreateNode,
    },
    prompt::Body,
    store::{
        Store,
        testing::{PostgresServer, RedisServer},
    },
};

use serde_json::json;

use crate::fixture::{
    File, add, board, clock, erase, id, journal, memory, new, opened, put, seen, settings, text, thread,
};

const PRIVATE: &str = "The private number is 555-0199-4711.";

async fn messages(session: &Session) -> Vec<MessageView> {
    session.messages(&Viewer::User, &thread("main"), MessageQuery::default()).await.unwrap().messages
}

async fn prompt(session: &Session, at: Option<Seq>) -> String {
    let spec = PromptSpec { agent: Some("lead".parse().unwrap()), at, ..PromptSpec::default() };
    match session.prompt(&spec).await.unwrap().body {
        Body::Text(text) => text,
        _ => panic!("text was asked for"),
    }
}

/// Says something private among other things, and looks at it so that all caches have it.
async fn said(session: &Session) -> Seq {
    session.execute(Actor::User, add("main", vec![text("hello")])).await.unwrap();
    let seq = session.execute(Actor::User, add("main", vec![text(PRIVATE)])).await.unwrap().head;
    session.execute(Actor::User, put("Brief", PRIVATE)).await.unwrap();
    assert!(prompt(session, None).await.contains(PRIVATE));
    assert!(prompt(session, Some(seq)).await.contains(PRIVATE));
    assert_eq!(messages(session).await[1].content, PRIVATE);
    seq
}

async fn is_gone(session: &Session, seq: Seq) {
    for at in [None, Some(seq), Some(seq.next())] {
        assert!(!prompt(session, at).await.contains("555-0199"), "{at:?}");
    }
    assert_eq!(messages(session).await[1].content, "[erased]");
    let (entries, _) = seen(session, &Viewer::User, Seq::ZERO, 99, &[]).await.unwrap();
    assert!(entries.iter().all(|entry| !entry.data.contains("555-0199") && !entry.data.contains("hash_salt")));
    let state = serde_json::to_string(&*session.state().await.unwrap()).unwrap();
    assert!(!state.contains("555-0199"), "{state}");
}

async fn everything_goes(store: Arc<dyn Store>, settings: impl Fn() -> Settings) {
    let board = Board::new(store.clone(), settings());
    let session = board.create(new("s")).await.unwrap();
    let seq = said(&session).await;
    let fork = board.fork(&session, Some(seq), &id("f"), false).await.unwrap();
    let elsewhere = Board::new(store.clone(), settings());
    let theirs = elsewhere.session(&id("s")).await.unwrap();
    assert!(prompt(&theirs, None).await.contains(PRIVATE));
    assert_eq!(messages(&theirs).await[1].content, PRIVATE);
    let erased = erase(&session, seq, "it is private").await.unwrap();
    assert_eq!(
        (erased.answer.seq, erased.answer.erased_by, erased.head),
        (seq, Some(seq.next().next()), seq.next().next())
    );
    assert_eq!(board.holders(&session, seq).await.unwrap(), [id("f")]);
    erase(&session, seq.next(), "it is private too").await.unwrap();
    is_gone(&session, seq).await;
    is_gone(&theirs, seq).await;
    assert_eq!(messages(&fork).await[1].content, PRIVATE);
    assert_eq!(erase(&session, seq, "again").await.unwrap().answer, erased.answer);
    erase(&fork, seq, "here too").await.unwrap();
    assert_eq!(board.holders(&session, seq).await.unwrap(), []);
    // The journal still proves itself, and goes on.
    let report = callboard_engine::check(&store, &Progress::default()).await.unwrap();
    assert!(report.faults.is_empty(), "{report:?}");
    session.execute(Actor::User, add("main", vec![text("goodbye")])).await.unwrap();
    assert_eq!(messages(&theirs).await.len(), 3);
    board.close().await;
    elsewhere.close().await;
}

#[tokio::test]
async fn what_was_erased_is_in_no_cache_of_any_server() {
    everything_goes(memory(&clock()), || settings(&clock())).await;
}

#[tokio::test]
async fn what_was_erased_is_in_no_file_after_an_orderly_end() {
    let (file, clock) = (File::new(), clock());
    everything_goes(file.open(&clock), || settings(&clock)).await;
    for file in fs::read_dir(file.folder()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(8).any(|bytes| bytes == b"555-0199"));
    }
}

#[tokio::test]
async fn what_was_erased_is_gone_for_all_servers_on_postgres() {
    let server = PostgresServer::start();
    everything_goes(opened(&server.url("board")).await, Settings::default).await;
}

#[tokio::test]
async fn what_was_erased_is_gone_for_all_servers_on_redis() {
    let server = RedisServer::durable();
    everything_goes(opened(&server.url("board")).await, Settings::default).await;
}

#[tokio::test]
async fn a_prompt_says_which_of_its_entries_were_erased() {
    let session = board(&memory(&clock())).create(new("s")).await.unwrap();
    let seq = said(&session).await;
    let erased = async |at: Option<Seq>, agent: &str| {
        let spec = PromptSpec { agent: Some(agent.parse().unwrap()), at, ..PromptSpec::default() };
        session.prompt(&spec).await.unwrap().erased
    };
    assert_eq!(erased(None, "lead").await, []);
    session.execute(Actor::User, add("agent:writer", vec![text("for the writer")])).await.unwrap();
    let hidden = session.state().await.unwrap().head.seq;
    for seq in [seq, seq.next(), hidden] {
        erase(&session, seq, "private").await.unwrap();
    }
    // The manager reads what is said to workers with what is said in main.
    assert_eq!(erased(None, "lead").await, [seq, seq.next(), hidden]);
    assert_eq!(erased(Some(seq), "lead").await, [seq]);
    assert_eq!(erased(None, "editor").await, [seq, seq.next()]);
    // Whatever else a prompt shows, its instructions and the session's steps among them.
    let other = board(&memory(&clock())).create(new("other")).await.unwrap();
    let node = CreateNode {
        kind: "step".into(),
        config: json!({"say": PRIVATE}),
        description: Some(PRIVATE.into()),
        ..CreateNode::default()
    };
    other.execute(Actor::User, node).await.unwrap();
    let node = other.state().await.unwrap().head.seq;
    let steps = serde_json::from_value(json!([{"name": "begin", "is_default": true, "description": PRIVATE}])).unwrap();
    let patch = SessionPatch { steps: Some(steps), ..SessionPatch::default() };
    let steps = other.execute(Actor::User, patch).await.unwrap().head;
    for seq in [node, steps] {
        erase(&other, seq, "private").await.unwrap();
    }
    let shown = async |agent: &str, layout| {
        let spec = PromptSpec { agent: Some(agent.parse().unwrap()), layout: Some(layout), ..PromptSpec::default() };
        other.prompt(&spec).await.unwrap().erased
    };
    assert_eq!(shown("lead", LayoutName::Director).await, [node]);
    assert_eq!(shown("lead", LayoutName::Team).await, [steps]);
}

/// What a model is told of them in a run is erased with them.
#[tokio::test]
async fn what_tools_read_names_its_entries() {
    let session = board(&memory(&clock())).create(new("s")).await.unwrap();
    let seq = said(&session).await;
    let read = async |tool: &str, arguments: serde_json::Value| {
        let lead: AgentName = "lead".parse().unwrap();
        let told = session.call_tool(Actor::Agent(lead), tool, &arguments, &Outside::default()).await.unwrap();
        assert!(told.text.contains("555-0199"), "{tool}: {}", told.text);
        told.copied_from
    };
    assert_eq!(read("read_messages", json!({"thread": "main"})).await, [Seq(seq.0 - 1), seq]);
    assert_eq!(read("read_message", json!({"thread": "main", "message_id": format!("m{seq}")})).await, [seq]);
    assert_eq!(read("read_context_set", json!({"name": "Brief"})).await, [seq.next()]);
    let mut found = read("search", json!({"q": "555-0199-4711"})).await;
    found.sort_unstable();
    assert_eq!(found, [seq, seq.next()]);
}

#[tokio::test]
async fn what_is_erased_is_erased_in_a_copy_of_the_store_when_it_is_copied_again() {
    let (from, to) = (memory(&clock()), memory(&clock()));
    let session = board(&from).create(new("s")).await.unwrap();
    let seq = said(&session).await;
    let long = "long and private ".repeat(10_000);
    let written = session.execute(Actor::User, add("main", vec![text(&long)])).await.unwrap().head;
    copy(&from, &to, &Progress::default()).await.unwrap();
    for seq in [seq, seq.next(), written] {
        erase(&session, seq, "private").await.unwrap();
    }
    let copied = copy(&from, &to, &Progress::default()).await.unwrap();
    assert!(copied.faults.is_empty(), "{copied:?}");
    let theirs = board(&to).session(&id("s")).await.unwrap();
    is_gone(&theirs, seq).await;
    let sound = callboard_engine::check(&to, &Progress::default()).await.unwrap();
    assert!(sound.faults.is_empty(), "{sound:?}");
}

/// Two servers write and erase side by side, and write snapshots all the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn i8_what_is_erased_while_others_write_is_erased_and_nothing_else_is_lost() {
    let store = memory(&clock());
    let board = || Board::new(store.clone(), Settings { snapshot_every: 3, ..settings(&clock()) });
    let boards = [board(), board()];
    boards[0].create(new("s")).await.unwrap();
    let work = (0..6_u64).map(|task| {
        let board = boards[task as usize % 2].clone();
        tokio::spawn(async move {
            let session = board.session(&id("s")).await.unwrap();
            for n in 0..13 {
                let words = format!("{} of {task}", if n % 3 == 0 { "private" } else { "public" });
                let said = session.execute(Actor::User, add("main", vec![text(&words)])).await.unwrap().answer[0].seq;
                let set = session.execute(Actor::User, put(&format!("Set {task}"), &words)).await.unwrap();
                if n % 3 == 0 {
                    erase(&session, said, "private").await.unwrap();
                    erase(&session, set.head, "private").await.unwrap();
                }
            }
        })
    });
    for work in work.collect::<Vec<_>>() {
        work.await.unwrap();
    }
    let entries = journal(&store, &id("s")).await;
    let (erased, public): (Vec<_>, Vec<_>) = entries
        .iter()
        .filter(|entry| &*entry.header.kind == "message.added")
        .partition(|entry| entry.erasure().is_some());
    assert_eq!((erased.len(), public.len()), (30, 48));
    assert!(entries.iter().all(|entry| !entry.data.contains("private of")));
    let folded = State::fold(&entries).unwrap();
    for board in boards.into_iter().chain([board()]) {
        let session = board.session(&id("s")).await.unwrap();
        assert_eq!(*session.state().await.unwrap(), folded);
        let said = messages(&session).await;
        assert_eq!(said.iter().filter(|message| message.content == "[erased]").count(), 30);
        assert!(!prompt(&session, None).await.contains("private of"));
    }
    let sound = callboard_engine::check(&store, &Progress::default()).await.unwrap();
    assert!(sound.faults.is_empty(), "{sound:?}");
}
