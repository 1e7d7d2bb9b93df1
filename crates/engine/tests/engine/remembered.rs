//! I5: what is remembered of prompts changes nothing in them.

use std::sync::Arc;

use callboard_engine::{
    Board, PromptMemory, PromptSpec, Session, Settings,
    core::{
        conversation::{NewMessage, PutThread, Role},
        count::Tokens,
        id::Seq,
        prompt::{Format, LayoutName},
        session::SessionPatch,
        variable::SetVariable,
        viewer::Viewer,
    },
    prompt::Prompt,
    store::Store,
};
use proptest::{collection::vec, prelude::*, sample::select, test_runner::Config};

use serde_json::json;

use crate::fixture::{add, agent, clock, id, memory, new, only, put, put_for, say, settings, text, thread};

/// One thing that happens to a session.
#[derive(Clone, Debug)]
enum Step {
    Say(&'static str, usize),
    /// The writer calls a tool, or brings its result.
    Call,
    Result,
    Long,
    Put(&'static str, usize),
    /// A variable is set.
    Set(&'static str, usize),
    Show(&'static str, Vec<&'static str>),
    Team(Vec<&'static str>),
    /// The session is dropped from memory and opened again.
    Reopen,
}

/// What is asked for.
#[derive(Clone, Debug)]
struct Ask {
    agent: &'static str,
    thread: Option<&'static str>,
    layout: Option<LayoutName>,
    format: Format,
    model: &'static str,
    budget: u64,
    back: Option<u64>,
}

const AGENTS: [&str; 3] = ["lead", "writer", "editor"];

fn step() -> impl Strategy<Value = Step> {
    let spoken = || select(vec!["main", "main", "plans", "agent:writer"]);
    let agents = || proptest::sample::subsequence(AGENTS.to_vec(), 0..=3);
    prop_oneof![
        12 => (spoken(), 1..60_usize).prop_map(|(thread, words)| Step::Say(thread, words)),
        2 => Just(Step::Call),
        2 => Just(Step::Result),
        1 => Just(Step::Long),
        3 => (select(vec!["Brief", "Notes"]), 0..40_usize).prop_map(|(set, words)| Step::Put(set, words)),
        2 => (select(vec!["page", "node7.mails"]), 0..40_usize).prop_map(|(name, words)| Step::Set(name, words)),
        3 => (spoken(), agents()).prop_map(|(thread, agents)| Step::Show(thread, agents)),
        1 => agents().prop_map(Step::Team),
        1 => Just(Step::Reopen),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let thread = select(vec![None, None, Some("main"), Some("plans"), Some("agent:writer")]);
    let format = select(vec![Format::Text, Format::OpenAi]);
    let budget = prop_oneof![400..1500_u64, 1500..6000_u64, Just(100_000)];
    let back = prop_oneof![5 => Just(None), 1 => (1..20_u64).prop_map(Some)];
    let layout = select(vec![None, None, Some(LayoutName::Director)]);
    (select(&AGENTS[..]), thread, layout, format, select(vec!["unknown", "gpt-4o"]), budget, back).prop_map(
        |(agent, thread, layout, format, model, budget, back)| Ask {
            agent,
            thread,
            layout,
            format,
            model,
            budget,
            back,
        },
    )
}

async fn take(session: &Session, step: &Step, number: usize) {
    let words = |words: &usize| format!("{number} {}", "word ".repeat(*words));
    let user = Viewer::User;
    // What is refused, since somebody has left the team, changes nothing.
    match step {
        Step::Say(name, count) => drop(session.execute(user, add(name, vec![text(&words(count))])).await),
        Step::Call => {
            let calls = json!([{"id": "c1", "name": "look", "arguments": {"n": number}}]);
            let call = json!({"role": "assistant", "content": "", "tool_calls": calls});
            let call = add("main", vec![serde_json::from_value(call).unwrap()]);
            drop(session.execute(agent("writer"), call).await);
        }
        Step::Result => {
            let result = NewMessage { tool_call_id: Some("c1".into()), ..NewMessage::text(Role::Tool, words(&3)) };
            drop(session.execute(agent("writer"), add("main", vec![result])).await);
        }
        Step::Long => {
            let long = format!("{number} {}", "long text\n".repeat(8000));
            drop(session.execute(user, put_for("Long", &long, &["writer"])).await);
        }
        Step::Put(name, count) => drop(session.execute(user, put(name, &words(count))).await),
        Step::Set(name, count) => {
            let set = SetVariable::new(name.parse().unwrap(), words(count).into(), None, "to see it".into());
            drop(session.execute(user, set.unwrap()).await);
        }
        Step::Show(name, agents) => {
            drop(session.execute(user, PutThread::seen_by(thread(name), only(agents))).await);
        }
        Step::Team(agents) => {
            let role = |name: &str| if name == "lead" { "manager" } else { "worker" };
            let agents = agents.iter().map(|name| json!({"name": name, "role": role(name)})).collect();
            let agents = serde_json::from_value(agents).unwrap();
            let patch = SessionPatch { agents: Some(agents), ..Default::default() };
            drop(session.execute(user, patch).await);
        }
        Step::Reopen => {}
    }
}

/// The prompt of a board that has never made one.
async fn anew(store: &Arc<dyn Store>, query: &PromptSpec) -> Result<Prompt, String> {
    let board = Board::new(store.clone(), settings(&clock()));
    let session = board.session(&id("s")).await.unwrap();
    session.prompt(query).await.map_err(|error| error.to_string())
}

async fn check(steps: &[(Step, Vec<Ask>)], max_bytes: usize) -> Result<(), TestCaseError> {
    let store = memory(&clock());
    let memory = PromptMemory::of_bytes(max_bytes);
    let open = || Board::new(store.clone(), Settings { prompt_memory: memory.clone(), ..settings(&clock()) });
    let mut board = open();
    let mut session = board.create(new("s")).await.unwrap();
    for (number, (step, asks)) in steps.iter().enumerate() {
        take(&session, step, number).await;
        if matches!(step, Step::Reopen) {
            board = open();
            session = board.session(&id("s")).await.unwrap();
        }
        let head = session.state().await.unwrap().head.seq;
        for ask in asks {
            let query = PromptSpec {
                agent: ask.agent.parse().ok(),
                thread: ask.thread.map(thread),
                layout: ask.layout,
                format: ask.format,
                model: Some(ask.model.to_owned()),
                budget: Some(Tokens(ask.budget)),
                at: ask.back.map(|back| Seq(head.0.saturating_sub(back).max(1))),
                ..PromptSpec::default()
            };
            let found = session.prompt(&query).await.map_err(|error| error.to_string());
            prop_assert_eq!(found, anew(&store, &query).await, "{:?} after step {}", ask, number);
        }
        prop_assert!(memory.bytes() <= max_bytes, "{} of {} bytes", memory.bytes(), max_bytes);
    }
    Ok(())
}

proptest! {
    #![proptest_config(match std::env::var_os("PROPTEST_CASES") {
        Some(_) => Config::default(),
        None => Config::with_cases(12),
    })]

    #[test]
    fn i5_a_prompt_is_the_same_bytes_whatever_is_remembered_of_earlier_ones(
        steps in vec((step(), vec(ask(), 0..4)), 1..60), max_bytes in select(vec![0, 60_000, 400_000, 100_000_000]),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(check(&steps, max_bytes))?;
    }
}

#[tokio::test]
async fn what_is_remembered_goes_with_the_session_and_stays_within_its_bytes() {
    let memory = PromptMemory::of_bytes(300_000);
    let store = crate::fixture::memory(&clock());
    let board = Board::new(store, Settings { prompt_memory: memory.clone(), ..settings(&clock()) });
    let mut most = 0;
    for name in ["a", "b", "c", "d"] {
        let session = board.create(new(name)).await.unwrap();
        for n in 0..100 {
            say(&session, &format!("message {n} {}", "word ".repeat(60))).await;
        }
        for agent in AGENTS {
            let query = PromptSpec { agent: agent.parse().ok(), ..PromptSpec::default() };
            session.prompt(&query).await.unwrap();
            assert!(memory.bytes() <= 300_000);
            most = most.max(memory.bytes());
        }
        board.delete(&id(name)).await.unwrap();
    }
    assert!(most > 100_000, "{most} bytes were remembered at the most");
    board.close().await;
    drop(board);
    assert_eq!(memory.bytes(), 0);
}

#[tokio::test]
async fn prompts_that_are_asked_for_at_once_are_all_the_same() {
    let session = crate::fixture::session().await;
    for n in 0..200 {
        say(&session, &format!("message {n}")).await;
    }
    let query = PromptSpec { agent: "writer".parse().ok(), budget: Some(Tokens(3000)), ..PromptSpec::default() };
    for _ in 0..5 {
        say(&session, "one more").await;
        let asked = (0..8).map(|_| {
            let (session, query) = (session.clone(), query.clone());
            tokio::spawn(async move { session.prompt(&query).await.unwrap() })
        });
        let asked: Vec<_> = asked.collect();
        let expected = session.prompt(&query).await.unwrap();
        for prompt in asked {
            assert_eq!(prompt.await.unwrap(), expected);
        }
    }
}
