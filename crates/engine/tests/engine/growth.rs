//! I11: what is asked of the store for an append, a prompt and a page of history does not grow with the history.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use callboard_engine::{
    Board, MasterKey, MessageQuery, PromptSpec, Session, Settings,
    core::{
        conversation::{NewMessage, Role},
        count::Tokens,
        id::Seq,
        prompt::Format,
        time::Timestamp,
        viewer::Viewer,
    },
    store::Store,
};

use crate::{
    faulty::{Act, Call, Faulty},
    fixture::{add, clock, id, memory, new, run, settings, thread},
};

/// Counts what is read of another store, but for what goes on in the background.
struct Counting {
    store: Arc<Faulty>,
    calls: Arc<AtomicUsize>,
}

/// How often a store was asked, and how many entries it gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Read {
    calls: usize,
    entries: usize,
}

impl Counting {
    fn new(inner: Arc<dyn Store>) -> Self {
        let (store, calls) = (Faulty::new(inner), Arc::new(AtomicUsize::new(0)));
        let counted = calls.clone();
        store.play(move |call| {
            if !matches!(call, Call::Sweep | Call::Lease | Call::Upkeep) {
                counted.fetch_add(1, Ordering::SeqCst);
            }
            Act::Pass
        });
        Self { store, calls }
    }

    /// What was read since this was asked the last time.
    fn since(&self) -> Read {
        Read { calls: self.calls.swap(0, Ordering::SeqCst), entries: self.store.take_entries() }
    }
}

const START: i64 = 1_700_000_000_000;

/// A message in the middle of many that are all alike. Every fifth is an agent's.
fn message(number: usize) -> NewMessage {
    let role = if number.is_multiple_of(5) { Role::Ai } else { Role::User };
    let timestamp = Timestamp::from_millis(START + number as i64 * 1000).ok();
    NewMessage { timestamp, ..NewMessage::text(role, "the tide turns before noon and every vessel waits") }
}

/// A session with so many messages, opened anew, and what counts the reading of it.
async fn opened(messages: usize) -> (Counting, Board, Session) {
    let inner = memory(&clock());
    let board = Board::new(inner.clone(), settings(&clock()));
    let session = board.create(new("s")).await.unwrap();
    for from in (0..messages).step_by(500) {
        run(&session, add("main", (from..from + 500).map(message).collect())).await;
    }
    board.close().await;
    let store = Counting::new(inner);
    let board = Board::new(store.store.clone(), settings(&clock()));
    let session = board.session(&id("s")).await.unwrap();
    session.state().await.unwrap();
    store.since();
    (store, board, session)
}

#[tokio::test]
async fn i11_an_append_is_one_call_however_long_the_history_is() {
    for messages in [1_000, 20_000] {
        let (store, _board, session) = opened(messages).await;
        for more in 0..3 {
            run(&session, add("main", vec![message(messages + more)])).await;
            assert_eq!(store.since(), Read { calls: 1, entries: 0 }, "after {messages} messages");
        }
    }
}

#[tokio::test]
async fn i11_what_is_read_for_a_new_secret_does_not_grow_with_the_history_after_the_first() {
    let with_key = || Settings { master_keys: Arc::new(vec![MasterKey::new([1; 32])]), ..settings(&clock()) };
    for messages in [1_000, 5_000] {
        let inner = memory(&clock());
        let board = Board::new(inner.clone(), with_key());
        let session = board.create(new("s")).await.unwrap();
        run(&session, add("main", (0..messages).map(message).collect())).await;
        board.close().await;
        let store = Counting::new(inner);
        let board = Board::new(store.store.clone(), with_key());
        let session = board.session(&id("s")).await.unwrap();
        for nth in 0..4 {
            let token = format!(r#"{{"token": "canary-{nth}-of-many"}}"#);
            let result = NewMessage { tool_call_id: Some(format!("c{nth}")), ..NewMessage::text(Role::Tool, &*token) };
            store.since();
            run(&session, add("main", vec![result])).await;
            let Read { calls, entries } = store.since();
            match nth {
                0 => assert!(entries >= messages, "{entries}"),
                _ => assert!(entries < 10 && calls < 10, "{calls} {entries} after {messages} messages"),
            }
        }
    }
}

fn query(format: Format) -> PromptSpec {
    let (agent, model) = ("writer".parse().ok(), Some("gpt-4o".to_owned()));
    PromptSpec { agent, model, format, budget: Some(Tokens(4000)), ..PromptSpec::default() }
}

/// What is read for prompts: the first, one after a message more, the same again.
async fn prompts(messages: usize) -> Vec<(Read, u64)> {
    let (store, _board, session) = opened(messages).await;
    let mut read = Vec::new();
    for format in [Format::Text, Format::OpenAi] {
        for _ in 0..3 {
            run(&session, add("main", vec![message(1)])).await;
            store.since();
            for _ in 0..2 {
                let prompt = session.prompt(&query(format)).await.unwrap();
                assert!(prompt.parts.iter().any(|part| part.name == "history" && part.shortened));
                read.push((store.since(), prompt.tokens.0 / 1000));
            }
        }
    }
    read
}

#[tokio::test]
async fn i11_what_is_read_for_a_prompt_does_not_grow_with_the_history_and_is_nothing_but_the_row_after_the_first() {
    let [short, long] = [prompts(1_000).await, prompts(20_000).await];
    assert_eq!(short, long);
    let firsts = [0, 6];
    for (at, (read, _)) in short.into_iter().enumerate() {
        if firsts.contains(&at) {
            assert!(read.entries > 100 && read.entries < 600 && read.calls <= 4, "{read:?}");
        } else {
            assert_eq!(read, Read { calls: 1, entries: 0 }, "the prompt {at}");
        }
    }
}

#[tokio::test]
async fn i11_for_models_that_are_asked_by_turns_no_history_is_read_again() {
    let (store, _board, session) = opened(1_000).await;
    for turn in 0..3 {
        run(&session, add("main", vec![message(1)])).await;
        store.since();
        for model in ["gpt-4o", "gpt-4.1"] {
            let model = Some(model.to_owned());
            session.prompt(&PromptSpec { model, ..query(Format::OpenAi) }).await.unwrap();
        }
        let Read { entries, .. } = store.since();
        assert_eq!(entries == 0, turn > 0, "{entries} entries in turn {turn}");
    }
}

/// What is read for pages: the newest, before a place and a time in the middle, of one role; each again after a message.
async fn pages(messages: usize) -> Vec<(Read, usize)> {
    let (store, _board, session) = opened(messages).await;
    let newest = MessageQuery { limit: Some(50), ..MessageQuery::default() };
    let middle = Timestamp::from_millis(START + messages as i64 / 2 * 1000).ok();
    let before = MessageQuery { before: middle, ..newest.clone() };
    let place = session.messages(&Viewer::User, &thread("main"), before.clone()).await.unwrap().next;
    assert!(place.is_some());
    let at_place = MessageQuery { cursor: place, ..newest.clone() };
    let of_role = MessageQuery { roles: vec![Role::Ai], ..newest.clone() };
    store.since();
    let mut read = Vec::new();
    for query in [newest, before, at_place, of_role] {
        for more in 0..2 {
            let page = session.messages(&Viewer::User, &thread("main"), query.clone()).await.unwrap();
            read.push((store.since(), page.messages.len()));
            run(&session, add("main", vec![message(messages + more)])).await;
            store.since();
        }
    }
    read
}

#[tokio::test]
async fn i11_what_is_read_for_a_page_does_not_grow_with_the_history() {
    let [short, long] = [pages(1_000).await, pages(20_000).await];
    assert_eq!(short, long);
    assert!(short.iter().all(|(read, given)| *given == 50 && read.calls <= 8 && read.entries <= 400), "{short:?}");
}

#[tokio::test]
async fn i11_newest_messages_that_were_read_before_are_read_from_memory() {
    let (store, _board, session) = opened(1_000).await;
    let newest = MessageQuery { limit: Some(50), ..MessageQuery::default() };
    session.messages(&Viewer::User, &thread("main"), newest.clone()).await.unwrap();
    run(&session, add("main", vec![message(1_000), message(1_001)])).await;
    store.since();
    let page = session.messages(&Viewer::User, &thread("main"), newest).await.unwrap();
    assert_eq!(store.since(), Read { calls: 1, entries: 0 }, "one look whether somebody else has written");
    assert_eq!(page.messages.last().unwrap().timestamp, message(1_001).timestamp.unwrap());
}

#[tokio::test]
async fn i11_a_list_is_one_call_and_two_more_for_each_session_that_has_changed() {
    for messages in [2, 400] {
        let inner = memory(&clock());
        let board = Board::new(inner.clone(), Settings { snapshot_every: 100, ..settings(&clock()) });
        for name in ["a", "b", "c"] {
            let session = board.create(new(name)).await.unwrap();
            run(&session, add("main", (0..messages).map(message).collect())).await;
        }
        board.close().await;
        let snapshot = inner.snapshot(&id("a"), Seq(u64::MAX)).await.unwrap();
        assert_eq!(snapshot.is_some(), messages > 100);
        let store = Counting::new(inner);
        let board = Board::new(store.store.clone(), settings(&clock()));
        let list = async || board.recent_sessions(None, 9, |_| true).await.unwrap();
        let infos = list().await;
        assert!(
            infos.len() == 3 && infos.iter().all(|info| info.last.as_ref().map(|last| last.seq) == Some(info.head))
        );
        assert_eq!(store.since().calls, 1 + 2 * 3, "with {messages} messages");
        list().await;
        assert_eq!(store.since(), Read { calls: 1, entries: 0 }, "nothing has changed");
        run(&board.session(&id("b")).await.unwrap(), add("main", vec![message(1)])).await;
        store.since();
        let changed =
            list().await.iter().find(|info| info.id == id("b")).and_then(|info| Some(info.last.as_ref()?.seq));
        assert_eq!(changed, Some(infos[0].head.next()));
        assert_eq!(store.since().calls, 1 + 2, "one has changed");
    }
}
