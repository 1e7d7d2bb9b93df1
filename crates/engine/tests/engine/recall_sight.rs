//! Recall finds what one may see as if nothing else had ever been said, in the session and in its collections.

use callboard_engine::{
    Board, RecallQuery, Session,
    core::{
        audience::Audience,
        context_set::PutSet,
        conversation::{NewMessage, PutThread, Role},
        document::{PutDocument, RemoveDocument},
        plan::PutPlan,
        session::SessionPatch,
        variable::SetVariable,
        viewer::Viewer,
    },
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::json;

use crate::fixture::{agent, board, clock, memory, new, only, patch, put, run, thread};

/// Something that happens in a session.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Say { thread: usize, words: Vec<usize>, by: usize },
    Thread { thread: usize, audience: usize },
    Set { set: usize, words: Vec<usize>, audience: usize },
    Share(bool),
    Variable { name: usize, words: Vec<usize> },
    Document { name: usize, words: Vec<usize>, audience: usize },
    Remove { name: usize },
}

/// A session, and a collection that it names.
pub(crate) struct Shared {
    pub(crate) session: Session,
    handbook: Session,
}

impl Shared {
    pub(crate) async fn new(board: &Board, name: &str) -> Self {
        let handbook = board.put_collection(&HANDBOOK.parse().unwrap()).await.unwrap();
        let session = board.create(new(name)).await.unwrap();
        run(&session, patch(json!({ "collections": [HANDBOOK] }))).await;
        Self { session, handbook }
    }
}

const HANDBOOK: &str = "handbook";
const DOCUMENTS: [&str; 2] = ["tides", "ropes"];

const WORDS: [&str; 10] =
    ["harbour", "lantern", "Ana", "sardine", "violin", "user_id", "ferry", "letter", "storm", "bakery"];
const THREADS: [&str; 3] = ["main", "plans", "side"];

fn words(numbers: &[usize]) -> String {
    numbers.iter().map(|number| WORDS[*number]).collect::<Vec<_>>().join(" ")
}

fn audience(number: usize) -> Audience {
    match number {
        0 => Audience::All,
        1 => only(&["writer"]),
        2 => only(&["lead"]),
        _ => Audience::None,
    }
}

pub(crate) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let some = || vec(0..WORDS.len(), 1..8);
    let say = (0..THREADS.len(), some(), 0..3_usize).prop_map(|(thread, words, by)| Step::Say { thread, words, by });
    let thread = (1..THREADS.len(), 0..4_usize).prop_map(|(thread, audience)| Step::Thread { thread, audience });
    let set = (0..2_usize, some(), 0..4_usize).prop_map(|(set, words, audience)| Step::Set { set, words, audience });
    let variable = (0..2_usize, some()).prop_map(|(name, words)| Step::Variable { name, words });
    let share = select(vec![true, false]).prop_map(Step::Share);
    let document =
        (0..2_usize, some(), 0..4_usize).prop_map(|(name, words, audience)| Step::Document { name, words, audience });
    let remove = (0..2_usize).prop_map(|name| Step::Remove { name });
    vec(prop_oneof![8 => say, 2 => thread, 3 => set, 1 => variable, 1 => share, 3 => document, 1 => remove], 1..40)
}

fn message(words: &str, by: usize) -> NewMessage {
    let role = if by == 0 { Role::User } else { Role::Ai };
    NewMessage::text(role, words)
}

fn actor(by: usize) -> Viewer {
    [Viewer::User, agent("lead"), agent("writer")][by].clone()
}

pub(crate) async fn take(shared: &Shared, step: &Step) {
    let Shared { session, handbook } = shared;
    // What an agent may not do is refused; nothing has changed then.
    match step {
        Step::Say { thread: name, words: said, by } => {
            let message = message(&words(said), *by);
            let _ = session.say(actor(*by), &thread(THREADS[*name]), message).await;
        }
        Step::Thread { thread: name, audience: number } => {
            let visible_to = audience(*number);
            run(session, PutThread::seen_by(thread(THREADS[*name]), visible_to)).await;
        }
        Step::Set { set, words: said, audience: number } => {
            let name = ["Facts", "Notes"][*set].parse().unwrap();
            let set = PutSet { visible_to: Some(audience(*number)), ..PutSet::new(name, words(said)) };
            run(session, set).await;
        }
        Step::Share(shared) => {
            let share = if *shared { json!(["variables"]) } else { json!([]) };
            let patch: SessionPatch = patch(json!({ "share": share }));
            run(session, patch).await;
        }
        Step::Document { name, words: said, audience: number } => {
            put_document(handbook, DOCUMENTS[*name], &words(said), audience(*number)).await;
        }
        Step::Remove { name } => {
            let _ = handbook.execute(Viewer::User, RemoveDocument(DOCUMENTS[*name].parse().unwrap())).await;
        }
        Step::Variable { name, words: said } => {
            let name = ["port", "pier"][*name].parse().unwrap();
            run(session, SetVariable::new(name, words(said).into(), None, "r".into()).unwrap()).await;
        }
    }
}

/// A session in which only that was ever said which `viewer` may find now.
pub(crate) async fn without_hidden(board: &Board, shared: &Shared, viewer: &Viewer) -> Session {
    let Shared { session, handbook } = shared;
    let Shared { session: other, handbook: others } = Shared::new(board, "other").await;
    run(&other, patch(json!({"share": ["variables"]}))).await;
    for name in &THREADS[1..] {
        run(&other, PutThread::seen_by(thread(name), Audience::All)).await;
    }
    let all = |word: &str| RecallQuery { limit: 1000, ..RecallQuery::new(word) };
    let mut seen = std::collections::BTreeSet::new();
    for word in &WORDS {
        seen.extend(
            session.recall(viewer, all(word)).await.unwrap().hits.into_iter().map(|hit| (hit.collection, hit.seq)),
        );
    }
    for (collection, seq) in seen {
        let journal = if collection.is_some() { handbook } else { session };
        let entry = journal.entry(seq).await.unwrap().unwrap();
        let data: serde_json::Value = serde_json::from_str(&entry.json()).unwrap();
        match &*entry.header.kind {
            "message.added" => {
                let name = thread(data["thread_id"].as_str().unwrap());
                let by = data["agent"].as_str().map_or(Viewer::User, agent);
                let role = serde_json::from_value(data["role"].clone()).unwrap();
                let said = NewMessage::text(role, data["content"].as_str().unwrap());
                other.say(by, &name, said).await.unwrap();
            }
            "context_set.updated" => {
                let name = data["name"].as_str().unwrap();
                run(&other, put(name, data["content"].as_str().unwrap())).await;
            }
            "document.added" => {
                let (name, text) = (data["name"].as_str().unwrap(), data["text"].as_str().unwrap());
                put_document(&others, name, text, Audience::All).await;
            }
            _ => {
                let (name, value) = (data["name"].as_str().unwrap(), data["value"].clone());
                run(&other, SetVariable::new(name.parse().unwrap(), value, None, "r".into()).unwrap()).await;
            }
        }
    }
    other
}

async fn put_document(handbook: &Session, name: &str, words: &str, visible_to: Audience) {
    let (name, visible_to) = (name.parse().unwrap(), Some(visible_to));
    run(handbook, PutDocument { name, text: words.into(), visible_to, media_type: None }).await;
}

pub(crate) async fn finds_the_same(session: &Session, other: &Session, viewer: &Viewer) -> Result<(), TestCaseError> {
    for query in
        ["harbour", "Ana lantern violin", "What about the user_id of Ana in March?", "storm bakery letter sardine"]
    {
        let found = async |session: &Session| {
            let all = RecallQuery { limit: 1000, ..RecallQuery::new(query) };
            let hits = session.recall(viewer, all).await.unwrap().hits;
            hits.into_iter().map(|hit| (hit.text, hit.score, hit.why.terms, hit.why.near)).collect::<Vec<_>>()
        };
        prop_assert_eq!(found(session).await, found(other).await, "{} for {:?}", query, viewer);
    }
    Ok(())
}

#[tokio::test]
async fn what_a_session_begins_to_share_is_found_at_once() {
    let session = board(&memory(&clock())).create(new("s")).await.unwrap();
    let phase = json!({"phase_name": "all", "status": "pending", "tasks": []});
    let plan = json!({"overall_goal": "Sail to Leixoes", "current_phase": "all", "phases": [phase]});
    run(&session, PutPlan { plan, reason: "begin".into(), expected_version: None }).await;
    run(&session, SetVariable::new("port".parse().unwrap(), "Leixoes".into(), None, "r".into()).unwrap()).await;
    let found = async |shared: serde_json::Value| {
        run(&session, patch(json!({ "share": shared }))).await;
        let hits = session.recall(&agent("writer"), RecallQuery::new("Leixoes")).await.unwrap().hits;
        let mut sources: Vec<&str> = hits.iter().map(|hit| hit.source.as_str()).collect();
        sources.sort_unstable();
        sources.join(" ")
    };
    assert_eq!(found(json!([])).await, "");
    assert_eq!(found(json!(["variables"])).await, "variable");
    assert_eq!(found(json!(["plan", "variables"])).await, "plan variable");
    assert_eq!(found(json!([])).await, "");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn i3_what_is_found_is_as_if_what_is_hidden_never_was(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let shared = Shared::new(&board(&memory(&clock())), "s").await;
            for step in &steps {
                take(&shared, step).await;
            }
            for viewer in [agent("writer"), agent("lead"), Viewer::User] {
                let apart = board(&memory(&clock()));
                let other = without_hidden(&apart, &shared, &viewer).await;
                finds_the_same(&shared.session, &other, &viewer).await?;
            }
            Ok::<_, TestCaseError>(())
        })?;
    }
}
