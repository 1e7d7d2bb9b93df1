//! Recall: what is found, by whom, and what becomes of it when journals change.

use std::{path::Path, sync::Arc, time::Duration};

use callboard_engine::{
    Board, PromptSpec, RecallAnswer, RecallQuery, RecallSettings, Session, Settings,
    core::{
        audience::Audience,
        compression::{
            decide::Compress,
            plan::{Aim, Outlook},
        },
        conversation::{NewMessage, PutThread, Role},
        count::Tokens,
        entry::Actor,
        id::Seq,
        recall::Source,
        session::SessionPatch,
        variable::SetVariable,
        viewer::Viewer,
    },
    store::{
        self, Settings as StoreSettings, Store,
        testing::{PostgresServer, RedisServer},
    },
};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::fixture::{
    File, add, agent, board, clock, code, id, memory, new, only, patch, put, run, say, session, settings, text, thread,
};

async fn asked(session: &Session, viewer: &Viewer, query: &str) -> RecallAnswer {
    session.recall(viewer, RecallQuery::new(query)).await.unwrap()
}

async fn texts(session: &Session, viewer: &Viewer, query: &str) -> Vec<String> {
    asked(session, viewer, query).await.hits.into_iter().map(|hit| hit.text).collect()
}

/// Settings with the indices in this folder.
fn settings_in(folder: &Path) -> Settings {
    let recall = RecallSettings { file: Some(folder.join("recall.db")), quiet: None, ..RecallSettings::default() };
    Settings { recall, ..settings(&clock()) }
}

/// Whether the file of the indices, or what SQLite keeps beside it, has these letters.
fn file_has(folder: &Path, letters: &str) -> bool {
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files = files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("recall.db"));
    files.any(|path| std::fs::read(path).unwrap().windows(letters.len()).any(|bytes| bytes == letters.as_bytes()))
}

#[tokio::test]
async fn what_was_said_is_found_with_who_said_it_and_where() {
    let session = session().await;
    say(&session, "We meet in Lisbon on Friday.").await;
    let said = say(&session, "Ana likes sardines, by the way.").await;
    run(&session, put("Brief", "The harbour opens at nine.")).await;
    let answer = asked(&session, &Viewer::User, "What does Ana like?").await;
    let hit = &answer.hits[0];
    assert_eq!((hit.source, hit.seq, &*hit.text), (Source::Message, said, "Ana likes sardines, by the way."));
    assert_eq!((hit.thread.clone(), hit.role), (Some(thread("main")), Some(Role::User)));
    assert!(hit.why.terms.contains(&"ana".to_owned()), "{:?}", hit.why);
    assert_eq!((answer.behind, answer.note), (None, None));
    let harbour = asked(&session, &Viewer::User, "harbour").await.hits;
    assert_eq!((harbour[0].source, &*harbour[0].subject), (Source::ContextSet, "set:Brief"));
    assert!(harbour[0].text.contains("opens at nine"));
}

#[tokio::test]
async fn what_was_replaced_or_deleted_is_not_found_but_as_of_then() {
    let session = session().await;
    let before = run(&session, put("Brief", "The harbour opens at nine.")).await.head;
    run(&session, put("Brief", "The harbour opens at ten.")).await;
    assert!(texts(&session, &Viewer::User, "harbour").await[0].contains("ten"));
    let then = RecallQuery { at: Some(before), ..RecallQuery::new("harbour") };
    let then = session.recall(&Viewer::User, then).await.unwrap().hits;
    assert!(then.len() == 1 && then[0].text.contains("nine"), "{then:?}");
    run(&session, callboard_engine::core::context_set::DeleteSet("Brief".parse().unwrap())).await;
    assert!(texts(&session, &Viewer::User, "harbour").await.is_empty());
    let set = |value: &str| SetVariable::new("port".parse().unwrap(), value.into(), None, "r".into()).unwrap();
    run(&session, set("Leixoes")).await;
    assert_eq!(texts(&session, &Viewer::User, "Leixoes").await, ["port = Leixoes"]);
    assert!(texts(&session, &agent("writer"), "Leixoes").await.is_empty());
    run(&session, set("Sines")).await;
    assert!(texts(&session, &Viewer::User, "Leixoes").await.is_empty());
}

#[tokio::test]
async fn bad_questions_are_refused_and_empty_ones_answered_with_a_note() {
    let session = session().await;
    say(&session, "hello there").await;
    let ask = async |query: RecallQuery| session.recall(&Viewer::User, query).await;
    for text in ["", " \n\t", &"long ".repeat(200_000)] {
        let error = ask(RecallQuery::new(text)).await.unwrap_err();
        assert!(error.code() == "invalid" && error.to_string().contains("/query"), "{error}");
    }
    for limit in [0, 1001] {
        let error = ask(RecallQuery { limit, ..RecallQuery::new("hello") }).await.unwrap_err();
        assert!(error.to_string().contains("/limit"), "{error}");
    }
    for text in ["what is the of and", "... !? --"] {
        let answer = ask(RecallQuery::new(text)).await.unwrap();
        assert!(answer.hits.is_empty() && answer.note.is_some(), "{text}: {answer:?}");
    }
    let elsewhere = RecallQuery { thread: Some(thread("nowhere")), ..RecallQuery::new("hello") };
    assert_eq!(code(ask(elsewhere).await), "not_found");
    assert_eq!(code(ask(RecallQuery { at: Some(Seq(99)), ..RecallQuery::new("hello") }).await), "not_found");
    let answer = ask(RecallQuery::new("שלום 東京 🎉 fn main() {} hello")).await.unwrap();
    assert_eq!(answer.hits.len(), 1);
}

#[tokio::test]
async fn an_erased_entry_leaves_no_word_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory(&clock());
    let board = Board::new(store.clone(), settings_in(folder.path()));
    let session = board.create(new("s")).await.unwrap();
    say(&session, "before").await;
    let seq = say(&session, "The code word is xylophonist.").await;
    say(&session, "afterwards").await;
    assert!(texts(&session, &Viewer::User, "xylophonist").await[0].contains("xylophonist"));
    session.erase(Actor::User, seq, "it is private").await.unwrap();
    assert!(texts(&session, &Viewer::User, "xylophonist").await.is_empty());
    assert_eq!(texts(&session, &Viewer::User, "afterwards").await[0], "afterwards");
    board.close().await;
    assert!(!file_has(folder.path(), "xylophonist"));
}

#[tokio::test]
async fn nothing_is_left_of_a_session_that_was_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory(&clock());
    let board = Board::new(store.clone(), settings_in(folder.path()));
    let session = board.create(new("a-session-that-goes")).await.unwrap();
    say(&session, "a word: xylophonist").await;
    assert_eq!(texts(&session, &Viewer::User, "xylophonist").await.len(), 1);
    assert!(file_has(folder.path(), "a-session-that-goes"));
    board.delete(session.id()).await.unwrap();
    // Another one under its name knows nothing of it.
    let next = board.create(new("a-session-that-goes")).await.unwrap();
    assert!(texts(&next, &Viewer::User, "xylophonist").await.is_empty());
    board.delete(next.id()).await.unwrap();
    board.close().await;
    assert!(!file_has(folder.path(), "a-session-that-goes"));
}

#[tokio::test]
async fn another_journal_under_a_name_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["first xylophonist", "second harpist"];
    for (number, word) in words.into_iter().enumerate() {
        // Each store has a journal of its own, and the indices are in the same file.
        let board = Board::new(memory(&clock()), settings_in(folder.path()));
        let session = board.create(new("s")).await.unwrap();
        say(&session, word).await;
        let found =
            [texts(&session, &Viewer::User, "xylophonist").await, texts(&session, &Viewer::User, "harpist").await];
        assert_eq!(found.map(|found| found.len()), [usize::from(number == 0), usize::from(number == 1)]);
        board.close().await;
    }
}

#[tokio::test]
async fn a_damaged_file_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let store = memory(&clock());
    let damages: [fn(&Path); 4] = [
        |path| std::fs::write(path, b"noise, no index at all").unwrap(),
        |path| {
            let bytes = std::fs::read(path).unwrap();
            std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        },
        |path| {
            let mut bytes = std::fs::read(path).unwrap();
            bytes.iter_mut().skip(100).step_by(3).for_each(|byte| *byte ^= 0x5a);
            std::fs::write(path, bytes).unwrap();
        },
        |path| std::fs::remove_file(path).unwrap(),
    ];
    let board = Board::new(store.clone(), settings_in(folder.path()));
    let session = board.create(new("s")).await.unwrap();
    for number in 0..50 {
        say(&session, &format!("sentence {number} about the xylophonist")).await;
    }
    assert_eq!(texts(&session, &Viewer::User, "xylophonist").await.len(), 10);
    board.close().await;
    for (number, damage) in damages.into_iter().enumerate() {
        for suffix in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("recall.db{suffix}")));
        }
        damage(&path);
        let board = Board::new(store.clone(), settings_in(folder.path()));
        let session = board.session(&id("s")).await.unwrap();
        assert_eq!(texts(&session, &Viewer::User, "xylophonist").await.len(), 10, "damage {number}");
        board.close().await;
    }
}

#[tokio::test]
async fn what_is_quiet_is_read_before_anybody_asks() {
    let store = memory(&clock());
    let quiet = Some(Duration::from_millis(50));
    let recall = RecallSettings { quiet, patience: Duration::ZERO, ..RecallSettings::default() };
    let board = Board::new(store, Settings { recall, ..settings(&clock()) });
    let session = board.create(new("s")).await.unwrap();
    say(&session, "the xylophonist").await;
    // Nobody waits here for what was not read, so it is found only once it was read without being asked for.
    crate::fixture::soon("the background", async {
        loop {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let answer = asked(&session, &Viewer::User, "xylophonist").await;
            if answer.behind.is_none() {
                assert_eq!(answer.hits.len(), 1);
                return;
            }
        }
    })
    .await;
}

/// Puts a summary in the place of nearly all that was said.
async fn compress(session: &Session) {
    let aim = Aim { target: Tokens(500), keep_recent: Some(Tokens(50)) };
    let Outlook::Compress(plan) = session.plan_compression(&thread("main"), aim).await.unwrap() else { panic!() };
    let summary = plan.extract(callboard_engine::sizes()).unwrap();
    let (model, reason, spent) = Default::default();
    let compress = Compress { plan: plan.into(), summary, model, reason, spent };
    session.execute(Actor::System, compress).await.unwrap();
}

/// What was said long ago is found, also after the index was deleted.
async fn is_found_on(store: Arc<dyn Store>, messages: usize, settings: impl Fn() -> Settings) {
    let folder = tempfile::tempdir().unwrap();
    let settings_in = |folder: &Path| Settings { recall: settings_in(folder).recall, ..settings() };
    let board = Board::new(store.clone(), settings_in(folder.path()));
    let session = board.create(new("s")).await.unwrap();
    let small_talk = |number: usize| text(&format!("we talked of the weather and had tea {number}"));
    run(&session, add("main", (0..200).map(small_talk).collect())).await;
    say(&session, "the vault opens with the word bergamot").await;
    run(&session, add("main", (200..400).map(small_talk).collect())).await;
    for number in 0..2 {
        let chatter = |one: usize| text(&format!("chatter {number} {one} about the weather, and tea"));
        for page in (0..messages / 2).collect::<Vec<_>>().chunks(5000) {
            run(&session, add("main", page.iter().map(|one| chatter(*one)).collect())).await;
        }
        compress(&session).await;
    }
    let found = async |session: &Session| {
        let prompt = |recall| PromptSpec {
            agent: Some("writer".parse().unwrap()),
            budget: Some(Tokens(6000)),
            task: Some("Which word opens the vault?".to_owned()),
            recall,
            ..PromptSpec::default()
        };
        assert!(!session.prompt(&prompt(None)).await.unwrap().text().contains("bergamot"));
        let prompt = session.prompt(&prompt(Some(true))).await.unwrap();
        assert!(prompt.text().contains("<RECALLED_PASSAGES>") && prompt.text().contains("bergamot"));
        // What is noted of it gives the same prompt again.
        let again = PromptSpec {
            agent: Some("writer".parse().unwrap()),
            budget: Some(Tokens(6000)),
            task: Some("Which word opens the vault?".to_owned()),
            recall: Some(false),
            at: Some(prompt.seq),
            observed: prompt.observed.clone(),
            ..PromptSpec::default()
        };
        assert_eq!(session.prompt(&again).await.unwrap().sha256(), prompt.sha256());
        texts(session, &agent("writer"), "Which word opens the vault?").await
    };
    assert!(found(&session).await[0].contains("bergamot"));
    let elsewhere = Board::new(store.clone(), settings());
    assert!(found(&elsewhere.session(&id("s")).await.unwrap()).await[0].contains("bergamot"));
    board.close().await;
    elsewhere.close().await;
    std::fs::remove_file(folder.path().join("recall.db")).unwrap();
    let board = Board::new(store, settings_in(folder.path()));
    assert!(found(&board.session(&id("s")).await.unwrap()).await[0].contains("bergamot"));
    board.close().await;
}

async fn opened(url: &str) -> Arc<dyn Store> {
    store::open(url, StoreSettings::default()).await.unwrap()
}

#[tokio::test]
async fn what_was_said_long_ago_is_found_on_every_store() {
    is_found_on(memory(&clock()), 50_000, || settings(&clock())).await;
    let file = File::new();
    is_found_on(file.open(&clock()), 50_000, || settings(&clock())).await;
    let postgres = PostgresServer::start();
    is_found_on(opened(&postgres.url("board")).await, 4000, Settings::default).await;
    let redis = RedisServer::durable();
    is_found_on(opened(&redis.url("board")).await, 4000, Settings::default).await;
}

/// Something that happens in a session.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Say { thread: usize, words: Vec<usize>, by: usize },
    Thread { thread: usize, audience: usize },
    Set { set: usize, words: Vec<usize>, audience: usize },
    Share(bool),
    Variable { name: usize, words: Vec<usize> },
}

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
    vec(prop_oneof![8 => say, 2 => thread, 3 => set, 1 => variable, 1 => share], 1..40)
}

fn message(words: &str, by: usize) -> NewMessage {
    let role = if by == 0 { Role::User } else { Role::Ai };
    NewMessage::text(role, words)
}

fn actor(by: usize) -> Viewer {
    [Viewer::User, agent("lead"), agent("writer")][by].clone()
}

pub(crate) async fn take(session: &Session, step: &Step) {
    // What an agent may not do is refused; nothing has changed then.
    match step {
        Step::Say { thread: name, words: said, by } => {
            let message = message(&words(said), *by);
            let _ = session.say(actor(*by), &thread(THREADS[*name]), message).await;
        }
        Step::Thread { thread: name, audience: number } => {
            let visible_to = audience(*number);
            run(session, PutThread { thread: thread(THREADS[*name]), visible_to }).await;
        }
        Step::Set { set, words: said, audience: number } => {
            let name = ["Facts", "Notes"][*set].parse().unwrap();
            let set = callboard_engine::core::context_set::PutSet {
                visible_to: Some(audience(*number)),
                ..callboard_engine::core::context_set::PutSet::new(name, words(said))
            };
            run(session, set).await;
        }
        Step::Share(shared) => {
            let share = if *shared { serde_json::json!(["variables"]) } else { serde_json::json!([]) };
            let patch: SessionPatch = patch(serde_json::json!({ "share": share }));
            run(session, patch).await;
        }
        Step::Variable { name, words: said } => {
            let name = ["port", "pier"][*name].parse().unwrap();
            run(session, SetVariable::new(name, words(said).into(), None, "r".into()).unwrap()).await;
        }
    }
}

/// A session in which only that was ever said which `viewer` may find now.
pub(crate) async fn without_hidden(board: &Board, session: &Session, viewer: &Viewer) -> Session {
    let other = board.create(new("other")).await.unwrap();
    run(&other, patch(serde_json::json!({"share": ["variables"]}))).await;
    for name in &THREADS[1..] {
        run(&other, PutThread { thread: thread(name), visible_to: Audience::All }).await;
    }
    let all = |word: &str| RecallQuery { limit: 1000, ..RecallQuery::new(word) };
    let mut seen = std::collections::BTreeSet::new();
    for word in &WORDS {
        seen.extend(session.recall(viewer, all(word)).await.unwrap().hits.into_iter().map(|hit| hit.seq));
    }
    for seq in seen {
        let entry = session.entry(seq).await.unwrap().unwrap();
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
            _ => {
                let (name, value) = (data["name"].as_str().unwrap(), data["value"].clone());
                run(&other, SetVariable::new(name.parse().unwrap(), value, None, "r".into()).unwrap()).await;
            }
        }
    }
    other
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn i3_what_is_found_is_as_if_what_is_hidden_never_was(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let session = session().await;
            for step in &steps {
                take(&session, step).await;
            }
            for viewer in [agent("writer"), agent("lead"), Viewer::User] {
                let apart = board(&memory(&clock()));
                let other = without_hidden(&apart, &session, &viewer).await;
                finds_the_same(&session, &other, &viewer).await?;
            }
            Ok::<_, TestCaseError>(())
        })?;
    }
}
