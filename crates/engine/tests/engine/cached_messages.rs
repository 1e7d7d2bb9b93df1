//! Messages that are read from memory are those that the store has, for every viewer.

use std::sync::Arc;

use callboard_engine::{
    MessageQuery, Session,
    core::{
        audience::Audience,
        conversation::{NewMessage, PutThread, Role},
        time::Timestamp,
        viewer::Viewer,
    },
    store::Store,
};
use proptest::prelude::*;

use crate::fixture::{add, agent, board, clock, code, id, memory, new, only, run, text, thread};

/// What happens in a session between two reads.
#[derive(Clone, Debug)]
enum Step {
    Say {
        thread: &'static str,
        millis: i64,
        role: Role,
        is_long: bool,
    },
    /// `aside` is for nobody, the writer alone, or all.
    Show {
        to: usize,
    },
    Read(Wanted),
}

#[derive(Clone, Debug)]
struct Wanted {
    viewer: usize,
    thread: &'static str,
    limit: Option<usize>,
    before: Option<i64>,
    after: Option<i64>,
    of_agents: bool,
    second_page: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let thread = || prop::sample::select(vec!["main", "aside"]);
    let role = prop::sample::select(vec![Role::User, Role::Ai]);
    let is_long = prop::bool::weighted(0.1);
    let time = || prop::option::weighted(0.3, 0i64..12);
    let say = (thread(), 0i64..12, role, is_long).prop_map(|(thread, millis, role, is_long)| Step::Say {
        thread,
        millis,
        role,
        is_long,
    });
    let limit = prop::option::weighted(0.8, 0usize..6);
    let read = (0usize..3, thread(), limit, time(), time(), any::<bool>(), any::<bool>()).prop_map(
        |(viewer, thread, limit, before, after, of_agents, second_page)| {
            Step::Read(Wanted { viewer, thread, limit, before, after, of_agents, second_page })
        },
    );
    prop::collection::vec(prop_oneof![4 => say, 1 => (0usize..3).prop_map(|to| Step::Show { to }), 4 => read], 1..40)
}

async fn take(session: &Session, step: Step) {
    match step {
        Step::Say { thread, millis, role, is_long } => {
            let words = if is_long { "x".repeat(70 * 1024) } else { millis.to_string() };
            let timestamp = Timestamp::from_millis(millis).ok();
            let message = NewMessage { timestamp, ..NewMessage::text(role, words.as_str()) };
            run(session, add(thread, vec![message])).await;
        }
        Step::Show { to } => {
            let to = [Audience::None, only(&["writer"]), Audience::All][to].clone();
            run(session, PutThread::seen_by(thread("aside"), to)).await;
        }
        Step::Read(_) => {}
    }
}

/// What is answered, as far as it can be compared.
async fn answer(session: &Session, wanted: &Wanted) -> String {
    let time = |millis: Option<i64>| millis.and_then(|millis| Timestamp::from_millis(millis).ok());
    let viewer = [Viewer::User, agent("writer"), agent("editor")][wanted.viewer].clone();
    let mut query = MessageQuery {
        limit: wanted.limit,
        before: time(wanted.before),
        after: time(wanted.after),
        roles: if wanted.of_agents { vec![Role::Ai] } else { Vec::new() },
        cursor: None,
        audience: false,
    };
    let mut page = session.messages(&viewer, &thread(wanted.thread), query.clone()).await;
    if let Ok(first) = &page
        && wanted.second_page
    {
        query.cursor = first.next;
        page = session.messages(&viewer, &thread(wanted.thread), query).await;
    }
    format!("{} {page:?}", code(page.clone()))
}

async fn same_as_the_store(steps: Vec<Step>) {
    let store: Arc<dyn Store> = memory(&clock());
    let warm = board(&store).create(new("s")).await.unwrap();
    for step in steps {
        if let Step::Read(wanted) = &step {
            // A board that has just begun has nothing in memory.
            let cold = board(&store).session(&id("s")).await.unwrap();
            assert_eq!(answer(&warm, wanted).await, answer(&cold, wanted).await, "{wanted:?}");
        }
        take(&warm, step).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn i3_pages_in_memory_are_those_of_the_store_for_every_viewer(steps in steps()) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(same_as_the_store(steps));
    }
}

#[tokio::test]
async fn i3_a_page_in_memory_has_nothing_of_a_thread_that_went_out_of_sight() {
    let session = board(&memory(&clock())).create(new("s")).await.unwrap();
    let (aside, all) = (thread("aside"), MessageQuery::default());
    run(&session, add("aside", vec![text("for all")])).await;
    assert_eq!(session.messages(&agent("writer"), &aside, all.clone()).await.unwrap().messages.len(), 1);
    run(&session, PutThread::seen_by(aside.clone(), only(&["editor"]))).await;
    run(&session, add("aside", vec![text("for the editor")])).await;
    assert_eq!(code(session.messages(&agent("writer"), &aside, all.clone()).await), "not_found");
    assert_eq!(session.messages(&agent("editor"), &aside, all.clone()).await.unwrap().messages.len(), 2);
    run(&session, PutThread::seen_by(aside.clone(), Audience::All)).await;
    run(&session, add("aside", vec![text("for all again")])).await;
    let seen = session.messages(&agent("writer"), &aside, all).await.unwrap();
    assert_eq!(
        seen.messages.iter().filter_map(|message| message.content.as_str()).collect::<Vec<_>>(),
        ["for all again"]
    );
}
