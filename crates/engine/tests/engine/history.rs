use callboard_engine::{
    MessagePage, MessageQuery, Session,
    core::{
        conversation::{NewMessage, Role},
        id::Seq,
        time::Timestamp,
        viewer::Viewer,
    },
};
use proptest::prelude::*;

use crate::fixture::{add, agent, assert_sound, code, put, run, say, seen, session, text, thread};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn dated(millis: i64, words: &str) -> NewMessage {
    NewMessage { timestamp: Some(at(millis)), ..text(words) }
}

async fn read(session: &Session, query: MessageQuery) -> MessagePage {
    session.messages(&Viewer::User, &thread("main"), query).await.unwrap()
}

fn words(page: &MessagePage) -> Vec<&str> {
    page.messages.iter().map(|message| message.content.as_str().unwrap()).collect()
}

/// Messages at the times 10 to 50, of which some came late and two have the same.
async fn dated_session() -> Session {
    let session = session().await;
    let messages = [(30, "c"), (10, "a"), (50, "f"), (40, "d"), (40, "e"), (20, "b")];
    run(&session, add("main", messages.map(|(millis, words)| dated(millis, words)).to_vec())).await;
    session
}

#[tokio::test]
async fn messages_are_listed_by_their_time_and_those_of_one_time_as_they_came() {
    let session = dated_session().await;
    assert_eq!(words(&read(&session, MessageQuery::default()).await), ["a", "b", "c", "d", "e", "f"]);
}

#[tokio::test]
async fn a_limit_takes_the_most_recent() {
    let session = dated_session().await;
    for limit in 0..9 {
        let page = read(&session, MessageQuery { limit: Some(limit), ..MessageQuery::default() }).await;
        assert_eq!(words(&page), ["a", "b", "c", "d", "e", "f"][6 - limit.min(6)..], "{limit}");
        assert_eq!(page.next.is_some(), (1..6).contains(&limit), "{limit}");
    }
}

#[tokio::test]
async fn before_and_after_are_exclusive() {
    let session = dated_session().await;
    let between =
        |after, before| MessageQuery { after: Some(at(after)), before: Some(at(before)), ..Default::default() };
    assert_eq!(words(&read(&session, between(10, 40)).await), ["b", "c"]);
    assert_eq!(words(&read(&session, between(9, 41)).await), ["a", "b", "c", "d", "e"]);
    assert!(words(&read(&session, between(20, 20)).await).is_empty());
}

#[tokio::test]
async fn roles_pick_messages_and_a_limit_counts_those_that_are_picked() {
    let session = session().await;
    for n in 0..20 {
        let role = if n % 4 == 0 { Role::System } else { Role::User };
        run(&session, add("main", vec![NewMessage::text(role, n.to_string().as_str())])).await;
    }
    let query = |limit| MessageQuery { roles: vec![Role::System], limit, ..Default::default() };
    assert_eq!(words(&read(&session, query(None)).await), ["0", "4", "8", "12", "16"]);
    let page = read(&session, query(Some(2))).await;
    assert_eq!(words(&page), ["12", "16"]);
    let older = read(&session, MessageQuery { cursor: page.next, ..query(Some(3)) }).await;
    assert_eq!((words(&older), older.next), (vec!["0", "4", "8"], None));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    #[test]
    fn pages_put_together_are_the_whole_also_over_ties(
        times in prop::collection::vec(0i64..6, 0..40), limit in 1usize..9,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let session = session().await;
            let messages = times.iter().enumerate().map(|(n, time)| dated(*time, &n.to_string())).collect::<Vec<_>>();
            run(&session, add("main", messages)).await;
            let mut expected: Vec<_> = times.iter().enumerate().map(|(n, time)| (*time, n)).collect();
            expected.sort_unstable();
            let expected: Vec<_> = expected.into_iter().map(|(_, n)| n.to_string()).collect();
            let (mut found, mut cursor) = (Vec::<String>::new(), None);
            loop {
                let page = match read_main(&session, limit, cursor).await {
                    Some(page) => page,
                    None => break,
                };
                let older: Vec<_> = words(&page).into_iter().map(str::to_owned).collect();
                assert!(page.next.is_none() || older.len() == limit);
                found.splice(0..0, older);
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(found, expected);
        });
    }
}

async fn read_main(session: &Session, limit: usize, cursor: Option<(Timestamp, Seq)>) -> Option<MessagePage> {
    let query = MessageQuery { limit: Some(limit), cursor, ..MessageQuery::default() };
    session.messages(&Viewer::User, &thread("main"), query).await.ok()
}

#[tokio::test]
async fn more_messages_than_are_read_at_once_come_all() {
    let session = session().await;
    run(&session, add("main", (0..1300).map(|n| dated(n, &n.to_string())).collect())).await;
    let all = read(&session, MessageQuery::default()).await;
    assert_eq!(all.messages.len(), 1300);
    let page = read(&session, MessageQuery { limit: Some(1024), ..Default::default() }).await;
    assert_eq!((page.messages.len(), words(&page)[0]), (1024, "276"));
}

#[tokio::test]
async fn main_is_empty_before_it_is_made_and_other_threads_are_not_there() {
    let session = session().await;
    assert_eq!(read(&session, MessageQuery::default()).await.messages, []);
    assert_eq!(code(session.messages(&Viewer::User, &thread("aside"), Default::default()).await), "not_found");
}

#[tokio::test]
async fn a_message_comes_back_as_it_was_given() {
    let session = session().await;
    let given = serde_json::json!({"message_id": "call", "role": "AI", "content": [{"type": "text", "text": "Looking."}],
        "timestamp": "2025-01-18T14:30:22.123Z", "metadata": {"a": [1, null]},
        "tool_calls": [{"id": "1", "name": "search", "arguments": {"q": "tides"}}]});
    let message: NewMessage = serde_json::from_value(given).unwrap();
    session.execute(agent("writer"), add("main", vec![message])).await.unwrap();
    let page = read(&session, MessageQuery::default()).await;
    let found = serde_json::to_value(&page.messages[0]).unwrap();
    let expected = serde_json::json!({"message_id": "call", "thread_id": "main", "seq": 5, "role": "AI",
        "agent": "writer", "content": [{"type": "text", "text": "Looking."}], "timestamp": "2025-01-18T14:30:22.123Z",
        "metadata": {"a": [1, null]}, "tool_calls": [{"id": "1", "name": "search", "arguments": {"q": "tides"}}]});
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_journal_is_read_page_by_page() {
    let session = session().await;
    for n in 0..30 {
        say(&session, &n.to_string()).await;
    }
    run(&session, put("Brief", "one")).await;
    let (mut seqs, mut after) = (Vec::new(), Seq::ZERO);
    loop {
        let (page, head) = seen(&session, &Viewer::User, after, 7, &[]).await.unwrap();
        assert_eq!(head, Seq(35));
        let Some(last) = page.last() else { break };
        after = last.seq;
        seqs.extend(page.iter().map(|entry| entry.seq.0));
    }
    assert_eq!(seqs, (1..=35).collect::<Vec<_>>());
    let types = ["context_set.updated".into(), "agent.added".into()];
    let (found, _) = seen(&session, &Viewer::User, Seq(3), 9, &types).await.unwrap();
    assert_eq!(found.iter().map(|entry| entry.seq.0).collect::<Vec<_>>(), [4, 35]);
    assert!(seen(&session, &Viewer::User, Seq::ZERO, 0, &[]).await.unwrap().0.is_empty());
    assert!(seen(&session, &Viewer::User, Seq(99), 9, &[]).await.unwrap().0.is_empty());
}

#[tokio::test]
async fn the_state_as_of_an_entry_is_what_it_was_then() {
    let session = session().await;
    let mut states = vec![session.state().await.unwrap()];
    for n in 0..20 {
        run(&session, put(&format!("set {}", n % 3), &n.to_string())).await;
        states.push(session.state().await.unwrap());
    }
    for state in states {
        assert_eq!(session.state_at(state.head.seq).await.unwrap(), state);
    }
    for seq in [0, 25, u64::MAX] {
        assert_eq!(code(session.state_at(Seq(seq)).await), "not_found");
    }
    assert_sound(&session).await;
}
