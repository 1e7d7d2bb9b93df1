//! Recall: what is found, by whom, and what becomes of it when journals change.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use callboard_engine::{
    Board, MasterKey, PromptSpec, RecallAnswer, RecallQuery, RecallSettings, Session, Settings,
    core::{
        conversation::Role, count::Tokens, document::PutDocument, entry::Actor, id::Seq, recall::Source,
        variable::SetVariable, viewer::Viewer,
    },
    prompt::compression::plan::{Aim, Outlook, Writing},
    store::{
        Store,
        testing::{PostgresServer, RedisServer},
    },
};

use tokio::{sync::Semaphore, time::Instant};

use crate::{
    faulty::{Act, Call, Faulty},
    fixture::{
        File, add, agent, clock, code, id, memory, moment, new, opened, put, run, say, session, settings, soon, text,
        thread,
    },
};

async fn asked(session: &Session, viewer: &Viewer, query: &str) -> RecallAnswer {
    session.recall(viewer, RecallQuery::new(query)).await.unwrap()
}

pub(crate) async fn texts(session: &Session, viewer: &Viewer, query: &str) -> Vec<String> {
    asked(session, viewer, query).await.hits.into_iter().map(|hit| hit.text).collect()
}

/// Settings with the indices in this folder.
pub(crate) fn settings_in(folder: &Path) -> Settings {
    let recall = RecallSettings { file: Some(folder.join("recall.db")), ..settings(&clock()).recall };
    Settings { recall, ..settings(&clock()) }
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
async fn what_was_replaced_is_not_found_again_once_a_secret_is_hidden_in_it() {
    let store = memory(&clock());
    let with_keys = || Settings { master_keys: Arc::new(vec![MasterKey::new([7; 32])]), ..settings(&clock()) };
    let session = Board::new(store.clone(), with_keys()).create(new("s")).await.unwrap();
    run(&session, put("Brief", "The harbour opens with quokkafish.")).await;
    run(&session, put("Brief", "The harbour opens at ten.")).await;
    let is_the_new_one = async |session: &Session| {
        let found = texts(session, &Viewer::User, "harbour").await;
        assert!(found.len() == 1 && found[0].contains("ten"), "{found:?}");
    };
    is_the_new_one(&session).await;
    run(&session, SetVariable::new("password".parse().unwrap(), "quokkafish".into(), None, "r".into()).unwrap()).await;
    is_the_new_one(&session).await;
    // In an index that is made at once, too.
    is_the_new_one(&Board::new(store, with_keys()).session(session.id()).await.unwrap()).await;
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
async fn what_is_quiet_is_read_before_anybody_asks() {
    let store = Faulty::new(memory(&clock()));
    let recall = RecallSettings { quiet: Some(Duration::ZERO), ..settings(&clock()).recall };
    let board = Board::new(store.clone(), Settings { recall, ..settings(&clock()) });
    let session = board.create(new("s")).await.unwrap();
    let reads = calls_of(&store, Call::Read);
    say(&session, "the xylophonist").await;
    soon("the background", async {
        while reads.load(Ordering::SeqCst) == 0 {
            moment().await;
        }
    })
    .await;
    let answer = asked(&session, &Viewer::User, "xylophonist").await;
    assert_eq!((answer.behind, answer.hits.len()), (None, 1));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_read_before_anybody_asks_where_that_is_off() {
    let store = Faulty::new(memory(&clock()));
    let session = Board::new(store.clone(), settings(&clock())).create(new("s")).await.unwrap();
    let reads = calls_of(&store, Call::Read);
    say(&session, "the xylophonist").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(reads.load(Ordering::SeqCst), 0);
    assert_eq!(asked(&session, &Viewer::User, "xylophonist").await.hits.len(), 1);
    assert_ne!(reads.load(Ordering::SeqCst), 0);
}

/// How often a store is called so from now on.
pub(crate) fn calls_of(store: &Faulty, counted: Call) -> Arc<AtomicUsize> {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    store.play(move |call| {
        count.fetch_add(usize::from(call == counted), Ordering::SeqCst);
        Act::Pass
    });
    calls
}

/// A document that has many passages, and stands beside the journal.
pub(crate) fn long_document() -> PutDocument {
    let text = "The harbour opens at nine, and the boats leave it one by one.\n".repeat(2000);
    PutDocument { name: "guide.txt".parse().unwrap(), text: text.into(), visible_to: None, media_type: None }
}

#[tokio::test]
async fn a_long_text_is_read_once_however_many_of_its_passages_are_found() {
    let store = Faulty::new(memory(&clock()));
    let session = Board::new(store.clone(), settings(&clock())).create(new("s")).await.unwrap();
    run(&session, long_document()).await;
    let reads = calls_of(&store, Call::Value);
    for asked_times in 1..=2 {
        assert_eq!(texts(&session, &Viewer::User, "harbour").await.len(), 10);
        // Once for the index, and once for each answer.
        assert_eq!(reads.load(Ordering::SeqCst), 1 + asked_times);
    }
}

#[tokio::test(start_paused = true)]
async fn while_an_index_is_made_anew_one_question_waits_and_the_others_are_answered_at_once() {
    let patience = Duration::from_secs(1);
    let recall = RecallSettings { quiet: None, patience, ..RecallSettings::default() };
    let store = Faulty::new(memory(&clock()));
    let board = Board::new(store.clone(), Settings { recall, ..settings(&clock()) });
    let session = board.create(new("s")).await.unwrap();
    let said = say(&session, "the xylophonist").await;
    let gate = Arc::new(Semaphore::new(0));
    let closed = gate.clone();
    store.play(move |call| if call == Call::Read { Act::Wait(closed.clone()) } else { Act::Pass });
    let ask = async || {
        // The time is paused: it goes on only where somebody waits for it.
        let until = Instant::now() + patience;
        let answer = asked(&session, &Viewer::User, "xylophonist").await;
        (Instant::now() >= until, answer.behind, answer.hits.len())
    };
    assert_eq!(ask().await, (true, Some(said.0), 0));
    for _ in 0..3 {
        assert_eq!(ask().await, (false, Some(said.0), 0));
    }
    assert_eq!(board.recall_behind(), said.0);
    // A prompt says so too.
    store.mend();
    let (agent, query) = ("writer".parse().ok(), Some("a harpist".to_owned()));
    let spec = PromptSpec { agent, recall: Some(true), query, ..PromptSpec::default() };
    let prompt = session.prompt(&spec).await.unwrap();
    let said = format!("[not all was looked at: {said} entries are not in the index yet]");
    assert!(prompt.text().contains(&said), "{}", prompt.text());
    gate.add_permits(100);
    soon("the index", async {
        while ask().await != (false, None, 1) || board.recall_behind() > 0 {
            moment().await;
        }
    })
    .await;
}

#[tokio::test]
async fn prose_is_cut_at_its_headings_and_source_code_is_not() {
    let session = session().await;
    let put = async |name: &str, text: &str| {
        let name = name.parse().unwrap();
        run(&session, PutDocument { name, text: text.into(), visible_to: None, media_type: None }).await;
    };
    put("guide.md", "# Lighthouse\nIt is old.\n## Lamp\nIt turns.\n## Horn\nIt sounds.\n").await;
    put("horn.py", "# The horn\nsound()\n# The lamp\nturn()\n").await;
    let mut found = texts(&session, &Viewer::User, "Does the lamp or the horn of the lighthouse turn?").await;
    found.sort_unstable();
    assert_eq!(
        found,
        [
            "# Lighthouse\nIt is old.",
            "# The horn\nsound()\n# The lamp\nturn()",
            "## Horn\nIt sounds.",
            "## Lamp\nIt turns."
        ]
    );
}

/// Puts a summary in the place of nearly all that was said.
async fn compress(session: &Session) {
    let aim = Aim { target: Tokens(500), keep_recent: Some(Tokens(50)) };
    let Outlook::Compress(plan) = session.plan_compression(&thread("main"), Default::default(), aim).await.unwrap()
    else {
        panic!()
    };
    let summary = plan.extract(callboard_engine::sizes()).unwrap();
    session.execute(Actor::System, plan.compress(&summary, Writing::default())).await.unwrap();
}

/// How much is said since.
const MESSAGES: usize = 50_000;

/// What was said long ago is found, also after the index was deleted.
async fn is_found_on(store: Arc<dyn Store>, settings: impl Fn() -> Settings) {
    let folder = tempfile::tempdir().unwrap();
    let settings_in = |folder: &Path| Settings { recall: settings_in(folder).recall, ..settings() };
    let board = Board::new(store.clone(), settings_in(folder.path()));
    let session = board.create(new("s")).await.unwrap();
    // Each line is another one: of lines that are alike, a summary has one.
    let letters = |number: usize| number.to_string().bytes().map(|digit| char::from(digit + 49)).collect::<String>();
    let small_talk = |number: usize| text(&format!("we talked of {} and had tea", letters(number)));
    run(&session, add("main", (0..200).map(small_talk).collect())).await;
    say(&session, "the vault opens with the word bergamot").await;
    run(&session, add("main", (200..400).map(small_talk).collect())).await;
    for number in 0..2 {
        let chatter = |one: usize| text(&format!("chatter {number} about {}, and tea", letters(one)));
        for page in (0..MESSAGES / 2).collect::<Vec<_>>().chunks(5000) {
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

#[tokio::test]
async fn what_was_said_long_ago_is_found_in_memory_and_sqlite() {
    is_found_on(memory(&clock()), || settings(&clock())).await;
    let file = File::new();
    is_found_on(file.open(&clock()), || settings(&clock())).await;
}

#[tokio::test]
async fn what_was_said_long_ago_is_found_in_postgres() {
    let postgres = PostgresServer::start();
    is_found_on(opened(&postgres.url("board")).await, Settings::default).await;
}

#[tokio::test]
async fn what_was_said_long_ago_is_found_in_redis() {
    let redis = RedisServer::durable();
    is_found_on(opened(&redis.url("board")).await, Settings::default).await;
}
