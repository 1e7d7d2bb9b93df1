//! What stays in the file of indexes, byte by byte, and what is done where it cannot be read or written.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use callboard_core::{audience::Audience, entry::Head, id::Seq, time::Timestamp};
use rusqlite::Connection;

use super::FORM;
use crate::{
    Class, Error, Indexes, Item, Kind, Role, lock,
    postings::{BUCKETS, SEGMENT, decode},
    terms::{Reader, Terms},
};

const ERASED: u64 = 77;
const WORDS: &str = "the zanzibar affair of user_id_9";

fn add(indexes: &Indexes, seq: u64, text: &str) {
    let class = Class { source: "test".into(), subject: "thread:main".into(), audience: Audience::All };
    let time = Timestamp::nearest(i64::try_from(seq).unwrap() * 1000);
    let (kind, role) = (Kind::Message, Role::Other);
    let item = Item { seq: Seq(seq), kind, class, speaker: None, role, time, text, has_headings: false };
    let index = indexes.of("s").unwrap();
    lock(&index).add(&item);
    lock(&index).advance(Head { seq: Seq(seq), ..Head::default() });
}

/// A file with more than one segment, in which one entry has words that no other has.
fn written(path: &Path) -> Indexes {
    let indexes = Indexes::open(Some(path), 1 << 24).unwrap();
    for seq in 1..=u64::from(SEGMENT) + 100 {
        add(&indexes, seq, if seq == ERASED { WORDS } else { "an ordinary day at the zanzibar" });
    }
    indexes.save("s").unwrap();
    indexes
}

/// The terms that stand in the file, each with the passages in which it stands.
fn postings(indexes: &Indexes, path: &Path) -> Vec<(u64, u32)> {
    let segments = indexes.file().read("s").unwrap().unwrap().journal.segments;
    let connection = Connection::open(path).unwrap();
    let mut select = connection.prepare("SELECT id, data FROM bucket").unwrap();
    let rows = select.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?))).unwrap();
    let mut found = Vec::new();
    for (id, data) in rows.map(Result::unwrap) {
        let (segment, bucket) = (id / i64::from(BUCKETS), u32::try_from(id % i64::from(BUCKETS)).unwrap());
        let number = segments.iter().position(|it| *it == segment).unwrap();
        let read = decode(super::opened(&data).unwrap(), number.try_into().unwrap(), bucket, |key, posting| {
            found.push((key.0, posting.passage));
            true
        });
        read.unwrap();
    }
    found
}

fn keys(words: &str) -> Vec<u64> {
    let mut terms = Terms::default();
    Reader::default().read(words, &mut terms);
    terms.words.iter().copied().chain(terms.pairs()).chain(terms.identifiers.iter().copied()).map(|key| key.0).collect()
}

/// All bytes of the file, and of what SQLite keeps beside it.
fn bytes(path: &Path) -> Vec<u8> {
    let all = ["", "-wal", "-journal"].map(|ending| PathBuf::from(format!("{}{ending}", path.display())));
    all.iter().filter_map(|path| std::fs::read(path).ok()).flatten().collect()
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn an_erased_word_is_no_more_in_the_file_with_its_entry() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let indexes = written(&path);
    let passage = u32::try_from(ERASED).unwrap() - 1;
    let keys = keys(WORDS);
    let all = postings(&indexes, &path);
    assert!(keys.len() > 5 && keys.iter().all(|key| all.contains(&(*key, passage))), "{keys:?}");
    lock(&indexes.of("s").unwrap()).erase(Seq(ERASED)).unwrap();
    indexes.save_erased("s").unwrap();
    let left = postings(&indexes, &path);
    assert!(left.iter().all(|(key, of)| !(keys.contains(key) && *of == passage)));
    // The words that others say too are still theirs.
    let zanzibar = self::keys("zanzibar")[0];
    assert!(left.contains(&(zanzibar, passage + 1)));
    let alone = self::keys("user_id_9");
    assert!(alone.iter().all(|key| left.iter().all(|(other, _)| other != key)));
}

#[test]
fn of_a_journal_that_is_gone_no_row_and_no_byte_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let indexes = written(&path);
    let rows = |table: &str| -> Vec<Vec<u8>> {
        let connection = Connection::open(&path).unwrap();
        let mut select = connection.prepare(&format!("SELECT data FROM {table}")).unwrap();
        let rows = select.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let written: Vec<Vec<u8>> = rows("bucket").into_iter().chain(rows("journal")).collect();
    let long: Vec<&Vec<u8>> = written.iter().filter(|data| (12..4000).contains(&data.len())).collect();
    assert!(long.len() > 3 && long.iter().all(|data| has(&bytes(&path), data)), "{}", long.len());
    indexes.remove("s").unwrap();
    let left = bytes(&path);
    assert!(long.iter().all(|data| !has(&left, data)));
    let connection = Connection::open(&path).unwrap();
    for table in ["journal", "segment", "bucket"] {
        let rows: i64 = connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 0, "{table}");
    }
}

/// What is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn logged<T>(work: impl FnOnce() -> T) -> (T, String) {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).finish();
    let done = tracing::subscriber::with_default(subscriber, work);
    let lines = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    (done, lines)
}

#[test]
fn a_file_of_another_form_or_that_is_damaged_is_made_anew_and_the_log_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    type Damage = fn(&Path);
    let damages: [(Damage, &str); 4] = [
        (
            |path| {
                let other = FORM.number + 1;
                Connection::open(path).unwrap().pragma_update(None, "user_version", other).unwrap();
            },
            "it has form",
        ),
        (|path| Connection::open(path).unwrap().execute_batch("DELETE FROM segment").unwrap(), "a segment is missing"),
        (|path| std::fs::write(path, "noise ".repeat(9000)).unwrap(), "not a database"),
        (
            |path| {
                let whole = std::fs::read(path).unwrap();
                std::fs::write(path, whole.get(..whole.len() / 3).unwrap()).unwrap();
            },
            "made anew",
        ),
    ];
    for (damage, reason) in damages {
        drop(written(&path));
        damage(&path);
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", path.display()));
        }
        let (cursor, log) = logged(|| {
            let indexes = Indexes::open(Some(&path), 1 << 24).unwrap();
            let index = indexes.of("s").unwrap();
            lock(&index).cursor()
        });
        assert_eq!(cursor, Head::default(), "{reason}");
        assert!(log.contains("made anew") && log.contains(reason), "{reason}: {log}");
        let _ = std::fs::remove_file(&path);
    }
}

#[test]
fn where_the_disk_is_full_what_is_in_memory_still_answers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let indexes = Indexes::open(Some(&path), 1 << 24).unwrap();
    indexes.file().shared.connection().execute_batch("PRAGMA max_page_count = 8").unwrap();
    for seq in 1..=3000 {
        add(&indexes, seq, &format!("word{seq} and word{} on a day of plenty", seq * 7));
    }
    let full = indexes.save("s").unwrap_err();
    assert!(
        matches!(&full, Error::File { source } if source.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull))
    );
    let index = indexes.of("s").unwrap();
    assert_eq!(lock(&index).cursor().seq, Seq(3000));
    let key = crate::terms::Key(keys("word2999")[0]);
    assert_eq!(lock(&index).postings(key).unwrap().len(), 1);
    // Room again: it is written as if nothing had been.
    indexes.file().shared.connection().execute_batch("PRAGMA max_page_count = 1000000").unwrap();
    indexes.save("s").unwrap();
    drop((index, indexes));
    let again = Indexes::open(Some(&path), 1 << 24).unwrap();
    assert_eq!(lock(&again.of("s").unwrap()).postings(key).unwrap().len(), 1);
}
