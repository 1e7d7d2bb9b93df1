use std::{sync::Arc, time::Duration};

use callboard_engine::{
    Archive, BeforeAll, Board, Filter, NewBoardSession, Session, Settings,
    core::{
        count::Usage,
        entry::Actor,
        id::RunId,
        run::{ClaimRun, NewRun, RunKind, TurnReply, TurnRequest, own::BeginTurn},
        session::{Settings as SessionSettings, Ttl},
        viewer::Viewer,
    },
    store::{self, Clock as _, ManualClock, Store},
};

use proptest::prelude::*;

use crate::fixture::{File, clock, code, exported, id, journal, memory, new, run, say, settings, soon, text};

struct Stage {
    clock: ManualClock,
    store: Arc<dyn Store>,
    board: Board,
    session: Session,
}

/// A session that lives for 1000 seconds.
async fn stage() -> Stage {
    let clock = clock();
    let store = memory(&clock);
    let board = Board::new(store.clone(), settings(&clock));
    let session = board.create(living("s", "1000")).await.unwrap();
    Stage { clock, store, board, session }
}

fn living(id: &str, ttl: &str) -> NewBoardSession {
    let ttl_seconds: Ttl = serde_json::from_str(ttl).unwrap();
    NewBoardSession { settings: Some(SessionSettings { ttl_seconds, ..Default::default() }), ..new(id) }
}

impl Stage {
    async fn is_there(&self) -> bool {
        self.store.row(&id("s")).await.unwrap().is_some()
    }
}

#[tokio::test]
async fn a_session_that_is_not_used_expires_and_is_gone_for_all() {
    let stage = stage().await;
    let mut stream = stage.session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    stage.clock.advance_seconds(1000);
    assert_eq!(code(stage.session.state().await), "not_found");
    assert_eq!(code(stage.board.session(&id("s")).await), "not_found");
    assert_eq!(soon("the end", stream.next()).await.unwrap(), None);
    let again = stage.board.create(living("s", "1000")).await.unwrap();
    assert_eq!(again.state().await.unwrap().head.seq.0, 4, "a new one starts empty");
}

#[tokio::test]
async fn a_stream_ends_when_its_session_is_swept() {
    let stage = stage().await;
    let mut stream = stage.session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    stage.clock.advance_seconds(1000);
    let other = crate::fixture::board(&stage.store);
    assert_eq!(other.sweep().await.unwrap(), [id("s")]);
    assert_eq!(soon("the end", stream.next()).await.unwrap(), None);
}

#[tokio::test]
async fn reads_keep_a_session() {
    let stage = stage().await;
    for _ in 0..8 {
        stage.clock.advance_seconds(900);
        stage.session.state().await.unwrap();
        stage.clock.advance_seconds(900);
        stage.session.prompt(&Default::default()).await.unwrap();
        stage.clock.advance_seconds(900);
        stage.board.session(&id("s")).await.unwrap();
    }
}

#[tokio::test]
async fn writes_keep_a_session() {
    let stage = stage().await;
    for _ in 0..8 {
        stage.clock.advance_seconds(999);
        say(&stage.session, "hello").await;
    }
}

#[tokio::test]
async fn a_use_is_noted_at_most_every_thirty_seconds() {
    let stage = stage().await;
    let mut changes = stage.store.watch();
    for _ in 0..100 {
        stage.session.state().await.unwrap();
        stage.clock.advance_seconds(1);
    }
    let mut touches = 0;
    while changes.try_recv().is_ok() {
        touches += 1;
    }
    assert_eq!(touches, 3);
}

#[tokio::test]
async fn to_be_listed_or_followed_is_no_use() {
    let stage = stage().await;
    stage.clock.advance_seconds(900);
    assert_eq!(stage.board.sessions_that(None, 9, |_| true).await.unwrap().len(), 1);
    stage.clock.advance_seconds(100);
    assert!(!stage.is_there().await);
}

#[tokio::test(start_paused = true)]
async fn an_open_stream_keeps_its_session_though_nobody_reads_from_it() {
    let stage = stage().await;
    let stream = stage.session.subscribe(Viewer::User, None, Filter::default()).await.unwrap();
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_secs(40)).await;
        stage.clock.advance_seconds(40);
    }
    assert!(stage.is_there().await);
    drop(stream);
    for _ in 0..30 {
        tokio::time::sleep(Duration::from_secs(40)).await;
        stage.clock.advance_seconds(40);
    }
    assert!(!stage.is_there().await);
}

/// A run in `session` asks the user something, and waits.
async fn wait_for_a_person(session: &Session) {
    let new = NewRun { kind: RunKind::Team, input: "Begin.".into(), limits: None };
    run(session, new).await;
    let run_id: RunId = session.state().await.unwrap().runs.unfinished().unwrap().id.clone();
    let system = callboard_engine::core::entry::Actor::System;
    let claim = ClaimRun { run: run_id.clone(), node: "test".into() };
    session.execute(system.clone(), claim).await.unwrap();
    let prompt = session.prompt(&Default::default()).await.unwrap().record();
    let request =
        TurnRequest { run: run_id.clone(), epoch: 1, model: "openai:x".to_owned(), tools: Default::default(), prompt };
    session.execute(system.clone(), request).await.unwrap();
    let reply = TurnReply {
        report: None,
        run: run_id,
        epoch: 1,
        turn: 1,
        text: r#"{"messageTo": "user", "message": "What is your name?"}"#.into(),
        tool_calls: vec![],
        reasoning: Vec::new(),
        messages: Vec::new(),
        usage: Usage::default(),
        cut_off: false,
        refused: false,
    };
    session.execute(system, reply).await.unwrap();
}

#[tokio::test]
async fn a_session_whose_run_waits_for_a_person_does_not_expire() {
    let stage = stage().await;
    let session = &stage.session;
    wait_for_a_person(session).await;
    stage.clock.advance_seconds(1_000_000);
    assert!(stage.is_there().await, "{:?}", session.state().await.map(|state| state.runs.clone()));
    say(session, "My name is Ann.").await;
    stage.clock.advance_seconds(1000);
    assert!(!stage.is_there().await);
}

#[tokio::test]
async fn who_has_not_heard_yet_that_a_run_waits_for_a_person_does_not_let_the_session_expire() {
    let stage = stage().await;
    let other = Board::new(stage.store.clone(), settings(&stage.clock)).session(&id("s")).await.unwrap();
    wait_for_a_person(&stage.session).await;
    stage.clock.advance_seconds(100);
    other.state().await.unwrap();
    assert_eq!(stage.store.row(&id("s")).await.unwrap().unwrap().expires_at, None);
    say(&stage.session, "My name is Ann.").await;
    stage.clock.advance_seconds(100);
    other.state().await.unwrap();
    assert!(stage.store.row(&id("s")).await.unwrap().unwrap().expires_at.is_some());
}

/// What happens to a session of a property test.
#[derive(Clone, Copy, Debug)]
enum Step {
    Say,
    Read,
    ReadElsewhere,
    Advance(i64),
    Sweep,
}

fn step() -> impl Strategy<Value = Step> {
    let advance = prop_oneof![0..60_i64, 900..1100_i64].prop_map(Step::Advance);
    prop_oneof![
        1 => Just(Step::Say),
        1 => Just(Step::Read),
        1 => Just(Step::ReadElsewhere),
        3 => advance,
        1 => Just(Step::Sweep),
    ]
}

/// Does the steps with a session that lives for 1000 seconds, of whose uses those within 30 seconds are noted once.
async fn i9_holds(store: Arc<dyn Store>, clock: ManualClock, steps: Vec<Step>) {
    let [here, there] = [(), ()].map(|()| Board::new(store.clone(), settings(&clock)));
    let mut session = here.create(living("s", "1000")).await.unwrap();
    let mut unused = 0;
    for step in steps {
        let outcome = match step {
            Step::Say => code(session.say(Viewer::User, &crate::fixture::thread("main"), text("hello")).await),
            Step::Read => code(session.state().await),
            Step::ReadElsewhere => code(there.session(&id("s")).await),
            Step::Advance(seconds) => {
                clock.advance_seconds(seconds);
                unused += seconds;
                continue;
            }
            Step::Sweep => {
                let swept = here.sweep().await.unwrap();
                assert!(unused >= 970 || swept.is_empty(), "it was in use {unused} seconds ago");
                if unused < 970 {
                    continue;
                }
                code(here.session(&id("s")).await)
            }
        };
        match outcome {
            "ok" => assert!(unused < 1000, "{step:?}: it was not used for {unused} seconds"),
            gone => assert!(gone == "not_found" && unused >= 970, "{step:?}: {gone} after {unused} seconds"),
        }
        if outcome != "ok" {
            here.sweep().await.unwrap();
            assert_eq!(store.row(&id("s")).await.unwrap(), None);
            session = here.create(living("s", "1000")).await.unwrap();
            assert_eq!(session.state().await.unwrap().head.seq.0, 4, "a new one starts empty");
        }
        unused = 0;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i9_what_is_not_used_expires_and_what_is_used_does_not(steps in proptest::collection::vec(step(), 1..60)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (clock, file) = (clock(), File::new());
            i9_holds(memory(&clock), clock.clone(), steps.clone()).await;
            let clock = crate::fixture::clock();
            i9_holds(file.open(&clock), clock.clone(), steps).await;
        });
    }
}

#[tokio::test]
async fn never_is_never() {
    let stage = stage().await;
    stage.board.create(living("t", "\"never\"")).await.unwrap();
    stage.clock.advance_seconds(1_000_000_000);
    assert_eq!(stage.board.sweep().await.unwrap(), [id("s")]);
    assert_eq!(code(stage.board.session(&id("t")).await), "ok");
}

#[tokio::test(start_paused = true)]
async fn what_has_expired_is_swept_in_the_background() {
    let clock = clock();
    let store = memory(&clock);
    let sweep = Some(Duration::from_secs(60));
    let board = Board::new(store.clone(), Settings { sweep, ..settings(&clock) });
    board.create(living("s", "1000")).await.unwrap();
    let mut changes = store.watch();
    for _ in 0..17 {
        tokio::time::sleep(Duration::from_secs(60)).await;
        clock.advance_seconds(60);
    }
    soon("the sweep", changes.recv()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_jumps_sweeps_nothing_for_a_while() {
    let clock = clock();
    let store = memory(&clock);
    let board = Board::new(store.clone(), Settings { sweep: Some(Duration::from_secs(60)), ..settings(&clock) });
    board.create(living("s", "1000")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let right = callboard_engine::store::Clock::now(&clock);
    clock.advance_seconds(86_400);
    tokio::time::sleep(Duration::from_secs(120)).await;
    // Somebody notices and sets it right: everything is there.
    clock.set(right.plus_seconds(120));
    assert!(store.row(&id("s")).await.unwrap().is_some());
    drop(board);
}

#[tokio::test(start_paused = true)]
async fn a_start_with_a_clock_far_ahead_deletes_nothing_for_ten_minutes() {
    let (clock, file) = (clock(), File::new());
    let before = ManualClock::new(clock.now());
    let board = Board::new(file.open(&clock), settings(&clock));
    board.create(living("s", "1000")).await.unwrap();
    board.close().await;
    clock.advance_seconds(3 * 86_400);
    let sweeping = Settings { sweep: Some(Duration::from_secs(2)), ..settings(&clock) };
    let board = Board::new(file.open(&clock), sweeping);
    assert_eq!(code(board.session(&id("s")).await), "not_found", "reads go by the clock");
    // Who has the right time still finds it.
    let there = file.open(&before);
    for seconds in (0..590).step_by(10) {
        assert!(there.row(&id("s")).await.unwrap().is_some(), "after {seconds} seconds");
        tokio::time::sleep(Duration::from_secs(10)).await;
        clock.advance_seconds(10);
    }
    for _ in 0..10 {
        tokio::time::sleep(Duration::from_secs(10)).await;
        clock.advance_seconds(10);
    }
    // The file is written by a thread, which goes by no clock of this test.
    // clock: a pause that stands for nothing, only lets others run
    let pause = || std::thread::sleep(Duration::from_millis(1));
    for _ in 0..60_000 {
        if there.row(&id("s")).await.unwrap().is_none() {
            return;
        }
        tokio::task::spawn_blocking(pause).await.unwrap();
    }
    panic!("it was a long rest, and nothing is deleted");
}

/// What the user is told of the session `s`.
async fn missing(board: &Board) -> (String, &'static str) {
    let error = board.why_missing(&id("s")).await;
    (error.to_string(), error.code())
}

#[tokio::test]
async fn for_thirty_days_it_is_known_when_a_session_expired_and_nothing_else_of_it() {
    let stage = stage().await;
    assert_eq!(missing(&stage.board).await.1, "not_found", "it has not expired");
    stage.clock.advance_seconds(1000);
    let told = missing(&stage.board).await;
    assert_eq!((told.0.starts_with("the session s expired at "), told.1), (true, "expired"), "before any sweep");
    assert_eq!(stage.board.sweep().await.unwrap(), [id("s")]);
    assert_eq!(missing(&stage.board).await, told);
    assert_eq!(stage.board.sessions_that(None, 9, |_| true).await.unwrap(), [], "the record is no session");
    assert_eq!(code(stage.board.session(&id("s")).await), "not_found");
    let journals = stage.store.journals(None, 9).await.unwrap();
    let [(record, _)] = &journals[..] else { panic!("one record: {journals:?}") };
    let entries = journal(&stage.store, record).await;
    let data: Vec<_> =
        entries.iter().map(|entry| serde_json::from_str::<serde_json::Value>(&entry.data).unwrap()).collect();
    let at = told.0.trim_start_matches("the session s expired at ");
    assert_eq!(
        data.iter().map(|data| (&data["session"], &data["at"])).collect::<Vec<_>>(),
        [(&"s".into(), &at.into())]
    );
    stage.clock.advance_seconds(30 * 86_400 - 1);
    assert_eq!(missing(&stage.board).await, told);
    stage.clock.advance_seconds(1);
    assert_eq!(missing(&stage.board).await.1, "not_found");
    assert_eq!(stage.board.sweep().await.unwrap().len(), 1, "the record goes, and leaves none of its own");
    assert_eq!(stage.store.journals(None, 9).await.unwrap(), []);
}

#[tokio::test]
async fn of_a_name_used_again_the_last_expiry_is_told_and_a_deletion_forgets_it() {
    let stage = stage().await;
    stage.clock.advance_seconds(1000);
    stage.board.sweep().await.unwrap();
    let first = missing(&stage.board).await;
    stage.board.create(living("s", "1000")).await.unwrap();
    stage.clock.advance_seconds(1000);
    assert_eq!(stage.board.sweep().await.unwrap(), [id("s")]);
    let second = missing(&stage.board).await;
    assert_eq!((first.1, second.1, first.0 == second.0), ("expired", "expired", false));
    stage.board.create(living("s", "1000")).await.unwrap();
    stage.board.delete(&id("s")).await.unwrap();
    assert_eq!(missing(&stage.board).await.1, "not_found", "deleted by hand");
}

#[tokio::test]
async fn what_expired_long_ago_leaves_no_record() {
    let stage = stage().await;
    stage.clock.advance_seconds(1000 + 30 * 86_400);
    assert_eq!(stage.board.sweep().await.unwrap(), [id("s")]);
    assert_eq!(stage.store.journals(None, 9).await.unwrap(), []);
}

/// The lines of a compressed file.
fn unpacked(path: &std::path::Path) -> String {
    let mut lines = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()), &mut lines)
        .unwrap();
    lines
}

/// Archives and exports that were written once load for ever. The sample is one of the journal that `core` keeps.
#[tokio::test]
async fn the_sample_of_an_archive_is_imported_and_exported_as_it_is() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/engine/samples");
    let sample = unpacked(&folder.join("v1.jsonl.gz"));
    let clock = clock();
    let board = Board::new(memory(&clock), settings(&clock));
    let session = board.import(std::io::Cursor::new(sample.clone()), None, false).await.unwrap();
    let lines = exported(&session).await;
    assert!(lines == sample, "{}", lines.lines().next().unwrap());
}

#[tokio::test]
async fn an_expired_session_is_archived_as_it_would_have_been_exported() {
    let folder = tempfile::tempdir().unwrap();
    let (file, archived) = (folder.path().join("x.db"), folder.path().join("archive"));
    let (clock, url) = (clock(), format!("sqlite:{}", file.display()));
    let open = |clock: Arc<dyn store::Clock>| {
        let settings = store::Settings { clock, ..store::Settings::default() };
        store::open(&url, settings)
    };
    let archive = Archive::new(&archived, open(Arc::new(BeforeAll)).await.unwrap()).unwrap();
    let store = open(Arc::new(clock.clone())).await.unwrap();
    let board = Board::new(store, Settings { archive: Some(Arc::new(archive)), ..settings(&clock) });
    let session = board.create(living("s", "1000")).await.unwrap();
    say(&session, &"long ".repeat(100_000)).await;
    let lines = exported(&session).await;
    drop(session);
    clock.advance_seconds(1000);
    assert_eq!(board.sweep().await.unwrap(), [id("s")]);
    assert_eq!(unpacked(&archived.join("s.jsonl.gz")), lines);
    let again = board.import(std::io::Cursor::new(lines), None, false).await.unwrap();
    assert_eq!(again.id(), &id("s"));
    clock.advance_seconds(1000);
    // An archive that cannot be written keeps the session, and the next sweep tries again.
    let away = folder.path().join("away");
    std::fs::rename(&archived, &away).unwrap();
    assert_eq!(board.sweep().await.unwrap(), []);
    assert_eq!(missing(&board).await.1, "expired");
    std::fs::rename(&away, &archived).unwrap();
    assert_eq!(board.sweep().await.unwrap(), [id("s")]);
    let mut files: Vec<_> = std::fs::read_dir(&archived).unwrap().map(|file| file.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["s.jsonl.gz"], "the very same file is not written twice");
}

#[tokio::test]
async fn a_turn_is_ended_once_the_server_that_began_it_is_gone_or_has_given_it_up() {
    let Stage { clock, board, session, .. } = stage().await;
    let open = async || session.state().await.unwrap().runs.asking().count();
    for busy in [Some("b"), None] {
        board.note_asker("a").await.unwrap();
        let prompt = session.prompt(&Default::default()).await.unwrap();
        let begin = BeginTurn { asker: Some("a".into()), ..prompt.begin_turn(Default::default()) };
        session.execute(Actor::System, begin).await.unwrap();
        // It is there, as others see it and as it knows itself.
        board.end_left_turns(&session, &session.state().await.unwrap(), busy).await.unwrap();
        assert_eq!(open().await, 1);
        clock.advance_seconds(60);
        board.end_left_turns(&session, &session.state().await.unwrap(), Some("a")).await.unwrap();
        assert_eq!(open().await, 1);
        board.end_left_turns(&session, &session.state().await.unwrap(), busy).await.unwrap();
        assert_eq!(open().await, 0);
    }
}

#[tokio::test]
async fn a_turn_that_a_server_asks_is_over_in_copies_of_its_session_and_goes_on_where_it_was_begun() {
    let Stage { board, session, .. } = stage().await;
    board.note_asker("a").await.unwrap();
    let prompt = session.prompt(&Default::default()).await.unwrap();
    let begin = BeginTurn { asker: Some("a".into()), ..prompt.begin_turn(Default::default()) };
    session.execute(Actor::System, begin.clone()).await.unwrap();
    let lines = exported(&session).await;
    let export = || std::io::Cursor::new(lines.clone());
    let fork = board.fork(&session, None, &id("fork"), false).await.unwrap();
    let import = board.import(export(), Some(id("import")), false).await.unwrap();
    let open = async |session: &Session| session.state().await.unwrap().runs.asking().count();
    assert_eq!([open(&session).await, open(&fork).await, open(&import).await], [1, 0, 0]);
    let head = session.state().await.unwrap().head.seq;
    let failed = fork.entry(head.next()).await.unwrap().unwrap();
    assert!(failed.data.contains("the session that this one was copied from"), "{}", failed.data);
    // What is begun in the copy is its own, also where the same fork is asked for again.
    fork.execute(Actor::System, begin).await.unwrap();
    let again = board.fork(&session, Some(head), &id("fork"), true).await.unwrap();
    assert_eq!(open(&again).await, 1);
    // Nor is anything over in the session itself, where it is taken for a copy that is complete.
    board.fork(&session, Some(head), &id("s"), true).await.unwrap();
    board.import(export(), None, true).await.unwrap();
    assert_eq!(open(&session).await, 1);
}

#[tokio::test]
async fn a_connection_of_a_client_is_kept_for_a_day_from_its_last_use_on() {
    let Stage { clock, board, store, .. } = stage().await;
    let said = serde_json::json!({"capabilities": {}});
    board.keep_connection("a", said.clone()).await.unwrap();
    assert!(board.keep_connection("a", said.clone()).await.is_err(), "it is there");
    for _ in 0..3 {
        // The first use is too soon to be recorded, and counts.
        for seconds in [3599, 86_400] {
            clock.advance_seconds(seconds);
            assert!(board.use_connection("a").await.unwrap());
        }
        assert_eq!(crate::fixture::board(&store).connection("a").await.unwrap(), Some(said.clone()));
        assert_eq!(board.sessions_that(None, 9, |_| true).await.unwrap(), [], "it is no session");
    }
    clock.advance_seconds(86_400 + 3600);
    assert!(!board.use_connection("a").await.unwrap());
    assert_eq!(board.connection("a").await.unwrap(), None);
    board.keep_connection("b", said).await.unwrap();
    board.forget_connection("b").await.unwrap();
    assert!(!board.use_connection("b").await.unwrap());
    board.forget_connection("b").await.unwrap();
}
