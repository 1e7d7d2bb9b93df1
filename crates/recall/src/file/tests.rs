//! What stays in the file of indexes, byte by byte, and what is done where it cannot be read or written.

use std::{
    io::Write,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use callboard_core::{audience::Audience, entry::Head, id::Seq, time::Timestamp};
use proptest::prelude::*;
use rusqlite::{Connection, OptionalExtension as _};

use super::FORM;
use crate::{
    Class, Error, Index, Indexes, Item, Kind, Role, lock,
    postings::Posting,
    terms::{Key, Reader, Terms},
};

const MESSAGES: u64 = 2000;
const ERASED: u64 = 77;
const WORDS: &str = "the zanzibar affair of user_id_9";

fn item<'a>(seq: u64, subject: &str, text: &'a str) -> Item<'a> {
    let kind = if subject.starts_with("thread:") { Kind::Message } else { Kind::Text };
    let class = Class { source: "test".into(), subject: subject.into(), audience: Audience::All };
    let time = Timestamp::nearest(i64::try_from(seq).unwrap() * 1000);
    Item { seq: Seq(seq), kind, class, speaker: None, role: Role::Other, time, text, has_headings: false }
}

fn add(indexes: &Indexes, seq: u64, text: &str) {
    let index = indexes.of("s").unwrap();
    lock(&index).add(&item(seq, "thread:main", text));
    lock(&index).cursor = Head { seq: Seq(seq), ..Head::default() };
}

/// A file in which one entry has words that no other has.
fn written(path: &Path) -> Indexes {
    let indexes = Indexes::open(Some(path), 1 << 24).unwrap();
    for seq in 1..=MESSAGES {
        add(&indexes, seq, if seq == ERASED { WORDS } else { "an ordinary day at the zanzibar" });
    }
    indexes.save("s").unwrap();
    indexes
}

/// In which passages a term stands, as the file says.
fn postings(path: &Path, key: Key) -> Vec<u32> {
    let index = Indexes::open(Some(path), 1 << 24).unwrap().of("s").unwrap();
    let postings = lock(&index).postings.of(key);
    postings.iter().map(|posting| posting.passage).collect()
}

fn keys(words: &str) -> Vec<Key> {
    let mut terms = Terms::default();
    Reader::default().read(words, &mut terms);
    terms.words.iter().copied().chain(terms.pairs()).chain(terms.identifiers.iter().copied()).collect()
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
    assert!(keys.len() > 5 && keys.iter().all(|key| postings(&path, *key).contains(&passage)), "{keys:?}");
    lock(&indexes.of("s").unwrap()).erase(Seq(ERASED));
    indexes.save_erased("s").unwrap();
    assert!(keys.iter().all(|key| !postings(&path, *key).contains(&passage)));
    // The words that others say too are still theirs.
    let zanzibar = self::keys("zanzibar")[0];
    assert!(postings(&path, zanzibar).contains(&(passage + 1)));
    let alone = self::keys("user_id_9");
    assert!(alone.iter().all(|key| postings(&path, *key).is_empty()));
}

#[test]
fn of_a_journal_that_is_gone_no_row_and_no_byte_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let indexes = written(&path);
    let row = || -> Option<[Vec<u8>; 2]> {
        let connection = Connection::open(&path).unwrap();
        let select = "SELECT texts, postings FROM journal";
        connection.query_row(select, [], |row| Ok([row.get(0)?, row.get(1)?])).optional().unwrap()
    };
    let [texts, postings] = row().unwrap();
    // A row is longer than a page, so parts of it are looked for.
    let parts: Vec<&[u8]> = texts.chunks_exact(64).chain(postings.chunks_exact(64)).step_by(20).collect();
    let found = |bytes: &[u8]| parts.iter().filter(|part| has(bytes, part)).count();
    assert!(parts.len() > 30 && found(&bytes(&path)) > parts.len() / 2, "{}", parts.len());
    indexes.remove("s").unwrap();
    assert_eq!((found(&bytes(&path)), row()), (0, None));
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
                let other = FORM.number - 1;
                Connection::open(path).unwrap().pragma_update(None, "user_version", other).unwrap();
            },
            "it has form",
        ),
        (
            |path| {
                let shorten = "UPDATE journal SET postings = substr(postings, 1, length(postings) - 9)";
                Connection::open(path).unwrap().execute_batch(shorten).unwrap();
            },
            "a sum over bytes is wrong",
        ),
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
            lock(&index).cursor
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
    indexes.file().connection().execute_batch("PRAGMA max_page_count = 8").unwrap();
    for seq in 1..=3000 {
        add(&indexes, seq, &format!("word{seq} and word{} on a day of plenty", seq * 7));
    }
    let full = indexes.save("s").unwrap_err();
    assert!(
        matches!(&full, Error::File { source } if source.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull))
    );
    let index = indexes.of("s").unwrap();
    assert_eq!(lock(&index).cursor.seq, Seq(3000));
    let key = keys("word2999")[0];
    assert_eq!(lock(&index).postings.of(key).len(), 1);
    // Room again: it is written as if nothing had been.
    indexes.file().connection().execute_batch("PRAGMA max_page_count = 1000000").unwrap();
    indexes.save("s").unwrap();
    drop((index, indexes));
    let again = Indexes::open(Some(&path), 1 << 24).unwrap();
    assert_eq!(lock(&again.of("s").unwrap()).postings.of(key).len(), 1);
}

/// What becomes of an index.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Some texts are added.
    Add(u64),
    /// An entry is erased.
    Erase(u64),
    /// What a text is about is said otherwise.
    End,
    Save,
    /// All that is in memory is dropped, and what was written is read.
    Reopen,
}

/// All that a search reads of an index.
fn all_of(index: &Index) -> (Head, String, Vec<Vec<Posting>>) {
    let is_there = |passage: u32| index.texts.passages[passage as usize].end > 0;
    let words = (0..30).flat_map(|word| keys(&format!("word{word} stands by name_{word}")));
    let postings = words.map(|key| {
        let mut postings = index.postings.of(key);
        postings.retain(|posting| is_there(posting.passage));
        postings
    });
    let texts = &index.texts;
    let known = format!("{:?}", (&texts.classes, &texts.speakers, &texts.texts, &texts.passages));
    (index.cursor, known, postings.collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn an_index_is_that_which_was_never_written(steps in prop::collection::vec(
        prop_oneof![
            4 => (1..120_u64).prop_map(Step::Add),
            1 => (0..1000_u64).prop_map(Step::Erase),
            1 => Just(Step::End),
            2 => Just(Step::Save),
            2 => Just(Step::Reopen),
        ],
        1..14,
    )) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("recall.db");
        let open = || Indexes::open(Some(&path), 1 << 24).unwrap();
        let (mut indexes, mut naive, mut last) = (open(), Index::default(), 0);
        for step in steps {
            let index = indexes.of("s").unwrap();
            let mut both = |change: &dyn Fn(&mut Index)| {
                change(&mut lock(&index));
                change(&mut naive);
            };
            match step {
                Step::Add(count) => {
                    for seq in last + 1..=last + count {
                        let text = format!("word{} stands by name_{} as word{}", seq % 30, seq % 7, seq % 11);
                        let subject = if seq % 5 == 0 { "set:x" } else { "thread:main" };
                        both(&|index: &mut Index| {
                            index.add(&item(seq, subject, &text));
                            index.cursor = Head { seq: Seq(seq), ..Head::default() };
                        });
                    }
                    last += count;
                }
                Step::Erase(seq) => both(&|index: &mut Index| index.erase(Seq(seq % (last + 1)))),
                Step::End => both(&|index: &mut Index| index.end("set:x", Seq(last))),
                Step::Save => indexes.file().save("s", &mut lock(&index)).unwrap(),
                Step::Reopen => {
                    indexes.file().save("s", &mut lock(&index)).unwrap();
                    indexes = open();
                }
            }
            let index = indexes.of("s").unwrap();
            prop_assert_eq!(all_of(&lock(&index)), all_of(&naive));
        }
    }
}
