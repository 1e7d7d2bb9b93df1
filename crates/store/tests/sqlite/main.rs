//! What SQLite and the store in memory must pass: the suite of all stores, their comparison, and what is particular to SQLite: the
//! file, and other processes on it.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests, their helpers too"
)]

mod fixtures;
mod indexing;
#[path = "../indexing_of/mod.rs"]
mod indexing_of;
mod model;
#[path = "../model_of/mod.rs"]
mod model_of;
mod suite;

use std::{fs, path::Path, process::Command, sync::Arc, time::Duration};

use callboard_core::{
    audience::Audience,
    entry::{Draft, Hash},
    id::Seq,
    time::Timestamp,
};
use callboard_store::{
    Append, Durability, Error, Query, Rewrite, Settings, SqliteStore, Store,
    conformance::{
        Fixture, everything,
        journal_writer::{JournalWriter, about, note},
        session,
    },
    open,
};
use fixtures::Sqlite;
use rusqlite::Connection;

fn refusal(path: &Path) -> Error {
    SqliteStore::open(path, Settings::default()).unwrap_err()
}

/// The words of a refusal, without the path.
fn why(path: &Path) -> String {
    refusal(path).to_string().replace(&path.display().to_string(), "PATH")
}

#[tokio::test]
async fn a_url_opens_a_file_and_makes_its_folders() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/er/call board.db");
    let store = open(&format!("sqlite:{}", path.display()), Settings::default()).await.unwrap();
    assert_eq!(store.durability(), Durability::Normal);
    assert_eq!(JournalWriter::with(&store, "s", "a b").await.texts().await, ["a", "b"]);
    assert!(path.is_file());
}

#[tokio::test]
async fn full_durability_is_given_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { durability: Durability::Full, ..Settings::default() };
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder.path().join("x.db"), settings).unwrap());
    assert_eq!(store.durability(), Durability::Full);
    assert_eq!(JournalWriter::with(&store, "s", "a").await.texts().await, ["a"]);
}

#[tokio::test]
async fn a_file_of_another_format_is_refused_and_left_alone() {
    let fixture = Sqlite::fresh().await;
    JournalWriter::with(&fixture.open().await, "s", "a").await;
    let older = "cannot open PATH: an older version made it in format 3, and this version reads 4: `callboard export`";
    for (format, words) in [(3, older), (7, "PATH has format 7, and this version reads 4: use the newer version")] {
        Connection::open(fixture.path()).unwrap().pragma_update(None, "user_version", format).unwrap();
        let before = fs::read(fixture.path()).unwrap();
        let said = why(&fixture.path());
        assert!(said.starts_with(words), "{said}");
        assert!(fs::read(fixture.path()).unwrap() == before);
    }
    assert_eq!(refusal(&fixture.path()).code(), "written_by_newer");
}

#[test]
fn what_is_not_our_database_is_refused_in_words_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    fs::write(&text, "not a database at all, but long enough to be taken for one by its length\n".repeat(9)).unwrap();
    assert_eq!(why(&text), "cannot open PATH: it is not a database: choose another path");

    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
    let before = fs::read(&other).unwrap();
    assert_eq!(why(&other), "cannot open PATH: it is a database of another program: choose another path");
    assert!(fs::read(&other).unwrap() == before);
}

#[test]
fn a_path_that_cannot_be_a_file_is_refused_in_words() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(why(folder.path()), "cannot open PATH: it is a folder: name a file");
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let below = why(&file.join("sub/x.db"));
    assert!(below.starts_with("cannot open PATH: its folder cannot be created: "), "{below}");
}

/// Runs one test of these in a process of its own for which permissions mean something, also where root starts it.
fn without_privileges(test: &str) {
    assert!(std::env::var_os("WITHOUT_PRIVILEGES").is_none(), "setpriv did not take the privileges away");
    let mut again = Command::new("setpriv");
    again.arg("--bounding-set=-dac_override,-dac_read_search").arg(std::env::current_exe().unwrap());
    let done = again
        .args(["--exact", test])
        .env("WITHOUT_PRIVILEGES", "1")
        .output()
        .expect("setpriv is missing: install util-linux");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&done.stderr));
}

#[tokio::test]
async fn a_file_that_may_not_be_written_is_refused_in_words() {
    let fixture = Sqlite::fresh().await;
    drop(fixture.open().await);
    let mut permissions = fs::metadata(fixture.path()).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(fixture.path(), permissions).unwrap();
    if fs::OpenOptions::new().append(true).open(fixture.path()).is_ok() {
        return without_privileges("a_file_that_may_not_be_written_is_refused_in_words");
    }
    let why = why(&fixture.path());
    assert!(why.contains("change its permissions") || why.contains("change their permissions"), "{why}");
}

#[tokio::test]
async fn an_empty_file_is_taken_for_a_new_one() {
    let fixture = Sqlite::fresh().await;
    fs::write(fixture.path(), "").unwrap();
    assert_eq!(JournalWriter::with(&fixture.open().await, "s", "a").await.texts().await, ["a"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_may_open_a_new_file_at_once() {
    let fixture = Arc::new(Sqlite::fresh().await);
    let mut opening = tokio::task::JoinSet::new();
    for n in 0..8 {
        let fixture = fixture.clone();
        opening.spawn(async move {
            let shared = fixture.clone();
            let store = tokio::task::spawn_blocking(move || shared.store()).await.unwrap();
            JournalWriter::with(&(Arc::new(store) as _), &format!("s{n}"), "a").await;
        });
    }
    opening.join_all().await;
    assert_eq!(fixture.open().await.sessions(None, 100).await.unwrap().len(), 8);
}

#[tokio::test]
async fn people_can_read_the_journal_in_a_view() {
    let fixture = Sqlite::fresh().await;
    let mut journal = JournalWriter::new(&fixture.open().await, "demo");
    let hidden = Draft { audience: Audience::of(["writer".parse().unwrap()]), ..about("set:facts", "{\"x\":1}") };
    journal.write([note("hello"), hidden]).await;
    let db = Connection::open(fixture.path()).unwrap();
    let mut rows = db.prepare("SELECT * FROM journal WHERE session = 'demo' ORDER BY seq").unwrap();
    let columns: Vec<_> = rows.column_names().collect();
    assert_eq!(columns, ["session", "seq", "at", "by", "type", "subject", "audience", "data"]);
    let text = |row: &rusqlite::Row<'_>| (2..8).map(|at| row.get::<_, String>(at)).collect::<Result<Vec<_>, _>>();
    let rows: Vec<_> = rows.query_map([], text).unwrap().map(|row| row.unwrap().join(" | ")).collect();
    assert_eq!(
        rows,
        [
            "2023-11-14T22:13:20.000Z | user | note.made | thread:main | all | hello",
            "2023-11-14T22:13:20.000Z | user | note.made | set:facts | writer | {\"x\":1}",
        ]
    );
}

#[tokio::test]
async fn what_is_deleted_is_not_in_the_file_any_more() {
    let fixture = Sqlite::fresh().await;
    let store = fixture.open().await;
    let secret = "a word that nobody else says";
    let mut gone = JournalWriter::new(&store, "gone");
    gone.write((0..2000).map(|n| Draft { keys: vec![format!("{n}").into()], ..about(secret, secret) })).await;
    let kept = JournalWriter::with(&store, "kept", "a").await;
    store.delete(&gone.session).await.unwrap();
    let db = Connection::open(fixture.path()).unwrap();
    let left = || db.query_row("SELECT count(*) FROM dead", [], |row| row.get::<_, i64>(0)).unwrap();
    let all_removed = async {
        while left() > 0 {
            store.touch(&kept.session, None).await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all_removed).await.unwrap();
    for table in ["entry", "claim", "word"] {
        let of_others = format!("SELECT count(*) FROM {table} WHERE session NOT IN (SELECT id FROM session)");
        assert_eq!(db.query_row(&of_others, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "{table}");
    }
    drop((db, store, gone, kept));
    let file = fs::read(fixture.path()).unwrap();
    assert!(!file.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()));
}

/// Texts of many sizes, so that pages are split and joined: what is taken away is in no unused part of a page either.
#[tokio::test]
async fn what_was_rewritten_or_dropped_is_not_in_the_files_after_an_orderly_end() {
    let fixture = Sqlite::fresh().await;
    let words = |n: usize| format!("the-{n:04}-secret ").repeat(1 + (n * 37) % 400);
    let large = |n: usize| format!("the-{n:04}-secret-value ").repeat(5000);
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    for n in 0..200 {
        let mut batch = journal.batch([note(&words(n))]);
        if n % 20 == 0 {
            batch.values = vec![(Hash::of(large(n).as_bytes()), large(n).into())];
        }
        journal.append(batch).await.unwrap();
        store.put_snapshot(&journal.session, journal.head, words(n).into_bytes().into()).await.unwrap();
    }
    for n in (0..200).rev() {
        let rewrites = vec![Rewrite { seq: Seq(n as u64 + 1), data: "erased".into() }];
        let drop_values = vec![Hash::of(large(n).as_bytes())];
        journal.append(Append { rewrites, drop_values, ..journal.batch([note("x")]) }).await.unwrap();
    }
    assert!(journal.texts().await.iter().all(|text| text == "erased" || text == "x"));
    drop((store, journal));
    let folder = fixture.path().parent().unwrap().to_owned();
    for file in fs::read_dir(folder).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(7).any(|bytes| bytes == b"-secret"));
    }
    assert_eq!(JournalWriter::new(&fixture.open().await, "s").texts().await.len(), 400);
}

#[tokio::test]
async fn rows_that_were_not_removed_before_the_end_are_removed_after_the_start() {
    let fixture = Sqlite::fresh().await;
    JournalWriter::with(&fixture.open().await, "s", "a").await;
    let db = Connection::open(fixture.path()).unwrap();
    db.execute_batch("INSERT INTO dead SELECT id FROM session; DELETE FROM session").unwrap();
    let store = fixture.open().await;
    let left = || db.query_row("SELECT count(*) FROM entry", [], |row| row.get::<_, i64>(0)).unwrap();
    let all_removed = async {
        while left() > 0 {
            store.sweep(1).await.unwrap();
        }
    };
    tokio::time::timeout(Duration::from_secs(60), all_removed).await.unwrap();
}

/// The size of the file with 4,000 messages of 400 characters, in relation to the requests that brought them.
#[tokio::test]
async fn the_file_is_little_larger_than_the_requests() {
    let fixture = Sqlite::fresh().await;
    let text: String = "The quick brown fox jumps over the lazy dog. ".chars().cycle().take(400).collect();
    let request = format!("{{\"messages\":[{{\"role\":\"user\",\"content\":\"{text}\"}}]}}").len() * 4000;
    {
        let store = fixture.open().await;
        let message = |n: i64| Draft {
            kind: "message.added".into(),
            time: Some(Timestamp::from_millis(1_700_000_000_000 + n).unwrap()),
            data: format!("{{\"thread\":\"main\",\"role\":\"user\",\"content\":\"{text}\"}}").into(),
            ..note("")
        };
        let mut journals: Vec<JournalWriter> = (0..16).map(|n| JournalWriter::new(&store, &format!("s{n}"))).collect();
        for n in 0..250 {
            for journal in &mut journals {
                journal.write([message(n)]).await;
            }
        }
    }
    let file = usize::try_from(fs::metadata(fixture.path()).unwrap().len()).unwrap();
    let ratio = file as f64 / request as f64;
    assert!(ratio < 1.6, "{file} bytes for {request} bytes of requests: {ratio:.2}");
}

#[tokio::test]
async fn a_damaged_row_is_said_to_be_damaged() {
    let fixture = Sqlite::fresh().await;
    let store = fixture.open().await;
    let journal = JournalWriter::with(&store, "s", "a b").await;
    let db = Connection::open(fixture.path()).unwrap();
    db.execute("UPDATE entry SET tag = x'00' WHERE seq = 2", []).unwrap();
    let error = store.read(&journal.session, everything()).await.unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    let sound = Query { limit: 1, ..everything() };
    assert_eq!(store.read(&journal.session, sound).await.unwrap().len(), 1);
}

const CHILD: &str = "CALLBOARD_STORE_CHILD";

/// What the child process of the next test does, when it is told which file.
#[tokio::test]
async fn child_that_appends() {
    let Some(path) = std::env::var_os(CHILD) else { return };
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path, Settings::default()).unwrap());
    let mut journal = JournalWriter::new(&store, "s");
    journal.head = store.row(&journal.session).await.unwrap().unwrap().head;
    journal.write([note("from the child")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_appends_is_read_and_named_here() {
    let fixture = Sqlite::fresh().await;
    let store = fixture.open().await;
    let mut journal = JournalWriter::with(&store, "s", "a").await;
    let mut watcher = store.watch();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "child_that_appends"]).env(CHILD, fixture.path());
    let ended = tokio::task::spawn_blocking(move || child.output().unwrap()).await.unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    let named = tokio::time::timeout(Duration::from_secs(60), watcher.recv()).await.unwrap();
    assert_eq!(named.unwrap(), session("s"));
    assert_eq!(journal.texts().await, ["a", "from the child"]);
    let Err(Error::Conflict { found: Some(row) }) = journal.try_write([note("late")]).await else { panic!() };
    journal.head = row.head;
    journal.write([note("in time")]).await;
}
