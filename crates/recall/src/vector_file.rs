//! The file of vectors: an SQLite file beside that of the indexes. Vectors cost money or time, so they are kept by the text
//! that they are of, whatever becomes of an index. The file can be deleted at any time.

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use callboard_core::{entry::Hash, id::Seq};
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};

use crate::{
    Error,
    database::{self, DatabaseForm, Identity, identity},
    vectors::Vector,
};

/// The form of the file.
const FORM: DatabaseForm = DatabaseForm { number: 1, page_bytes: 4096, tables: TABLES };

/// A text that several entries say has a row for each of them, so that erasing one leaves nothing of it.
const TABLES: &str = "
    CREATE TABLE model (name TEXT NOT NULL);
    CREATE TABLE vector (
        text BLOB NOT NULL, journal TEXT NOT NULL, seq INTEGER NOT NULL, numbers BLOB NOT NULL,
        PRIMARY KEY (text, journal, seq)
    ) WITHOUT ROWID;
    CREATE INDEX vector_of_entry ON vector (journal, seq);
";

/// The vectors of texts by one model.
#[derive(Debug)]
pub struct VectorFile {
    path: Option<PathBuf>,
    model: Option<String>,
    opened: Mutex<Opened>,
}

#[derive(Debug)]
struct Opened {
    connection: Connection,
    /// Which file was at its path when it was opened.
    identity: Option<Identity>,
}

impl VectorFile {
    /// Opens the file at `path`, or one in memory, for the vectors of `model`; those of another model are dropped. Without a
    /// model, it is only for taking away. A file that is damaged is made anew.
    pub fn open(path: Option<&Path>, model: Option<&str>) -> Result<Self, Error> {
        let connection = database::open(path, &FORM, |transaction| begin(transaction, model))?;
        let opened = Opened { connection, identity: path.and_then(identity) };
        Ok(Self { path: path.map(Path::to_owned), model: model.map(str::to_owned), opened: Mutex::new(opened) })
    }

    /// The vectors of texts, as far as they are known.
    pub fn find(&self, texts: &[Hash]) -> Result<Vec<Option<Vector>>, Error> {
        let opened = self.opened()?;
        let mut find = opened.connection.prepare_cached("SELECT numbers FROM vector WHERE text = ?1 LIMIT 1")?;
        let mut known = |text: &Hash| {
            let numbers: Option<Vec<u8>> = find.query_row([text.0], |row| row.get(0)).optional()?;
            Ok(numbers.and_then(|numbers| Vector::from_parts(numbers.into_iter().map(u8::cast_signed).collect())))
        };
        texts.iter().map(&mut known).collect()
    }

    /// Keeps the vectors of texts, each with the entry of `journal` that says it.
    pub fn keep<'a>(
        &self,
        journal: &str,
        vectors: impl IntoIterator<Item = (Seq, Hash, &'a Vector)>,
    ) -> Result<(), Error> {
        let mut opened = self.opened()?;
        let transaction = opened.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut insert = transaction.prepare_cached(
                "INSERT OR REPLACE INTO vector (text, journal, seq, numbers) VALUES (?1, ?2, ?3, ?4)",
            )?;
            for (seq, text, vector) in vectors {
                let numbers: Vec<u8> = vector.numbers().iter().map(|number| number.cast_unsigned()).collect();
                insert.execute(params![text.0, journal, number(seq), numbers])?;
            }
        }
        Ok(transaction.commit()?)
    }

    /// Takes away what is kept of entries that are read otherwise now: all of those of which the given text is not kept.
    pub fn renew(&self, journal: &str, texts: impl IntoIterator<Item = (Seq, Hash)>) -> Result<(), Error> {
        let mut old = Vec::new();
        {
            let opened = self.opened()?;
            let mut find = opened
                .connection
                .prepare_cached("SELECT 1 FROM vector WHERE text = ?1 AND journal = ?2 AND seq = ?3")?;
            for (seq, text) in texts {
                if !find.exists(params![text.0, journal, number(seq)])? {
                    old.push(seq);
                }
            }
        }
        self.erase(journal, old)
    }

    /// Takes away what is kept of entries whose words are gone.
    pub fn erase(&self, journal: &str, entries: impl IntoIterator<Item = Seq>) -> Result<(), Error> {
        let mut erased = 0;
        for seq in entries {
            let gone = params![journal, number(seq)];
            erased += self.opened()?.connection.execute("DELETE FROM vector WHERE journal = ?1 AND seq = ?2", gone)?;
        }
        self.forget_old_pages(erased)
    }

    /// The journals of which something is kept.
    pub fn journals(&self) -> Result<Vec<String>, Error> {
        let opened = self.opened()?;
        let mut names = opened.connection.prepare("SELECT DISTINCT journal FROM vector ORDER BY journal")?;
        let names = names.query_map([], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// Takes away all of a journal.
    pub fn remove(&self, journal: &str) -> Result<(), Error> {
        let removed = self.opened()?.connection.execute("DELETE FROM vector WHERE journal = ?1", [journal])?;
        self.forget_old_pages(removed)
    }

    /// Leaves nothing in the log of the file of so many rows that were taken away.
    fn forget_old_pages(&self, rows: usize) -> Result<(), Error> {
        let opened = self.opened()?;
        if rows > 0 { database::forget_old_pages(&opened.connection) } else { Ok(()) }
    }

    /// The connection to the file at its path. One that was deleted or replaced while it was in use is opened again.
    fn opened(&self) -> Result<MutexGuard<'_, Opened>, Error> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = self.path.as_deref().filter(|path| opened.identity != identity(path)) {
            let model = self.model.as_deref();
            opened.connection = database::open_again(path, &FORM, |transaction| begin(transaction, model))?;
            opened.identity = identity(path);
        }
        Ok(opened)
    }
}

/// Drops the vectors of other models than `model`, if there is one.
fn begin(transaction: &Transaction<'_>, model: Option<&str>) -> Result<(), Error> {
    let known: Option<String> = transaction.query_row("SELECT name FROM model", [], |row| row.get(0)).optional()?;
    if let Some(model) = model.filter(|model| known.as_deref() != Some(*model)) {
        transaction.execute_batch("DELETE FROM vector; DELETE FROM model;")?;
        transaction.execute("INSERT INTO model (name) VALUES (?1)", [model])?;
    }
    Ok(())
}

fn number(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(x: f32) -> Vector {
        Vector::new(&[x, 1.0]).unwrap()
    }

    fn hash(text: &str) -> Hash {
        Hash::of(text.as_bytes())
    }

    #[test]
    fn vectors_are_kept_by_their_text_until_all_entries_that_say_it_are_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.db");
        let file = VectorFile::open(Some(&path), Some("small")).unwrap();
        let (a, b) = (vector(0.3), vector(-2.0));
        file.keep("one", [(Seq(1), hash("a"), &a), (Seq(2), hash("b"), &b)]).unwrap();
        file.keep("two", [(Seq(7), hash("a"), &a)]).unwrap();
        drop(file);
        let file = VectorFile::open(Some(&path), Some("small")).unwrap();
        let all = || file.find(&[hash("b"), hash("a"), hash("c")]).unwrap();
        assert_eq!(all(), [Some(b.clone()), Some(a.clone()), None]);
        file.erase("one", [Seq(1), Seq(5)]).unwrap();
        assert_eq!(all(), [Some(b), Some(a), None]);
        assert_eq!(file.journals().unwrap(), ["one", "two"]);
        file.remove("one").unwrap();
        file.erase("two", [Seq(7)]).unwrap();
        assert_eq!(all(), [None, None, None]);
    }

    #[test]
    fn another_model_begins_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.db");
        let find = |model: Option<&str>| VectorFile::open(Some(&path), model).unwrap().find(&[hash("a")]).unwrap();
        VectorFile::open(Some(&path), Some("small")).unwrap().keep("one", [(Seq(1), hash("a"), &vector(1.0))]).unwrap();
        assert_eq!(find(Some("small")), [Some(vector(1.0))]);
        assert_eq!(find(Some("large")), [None]);
        assert_eq!(find(Some("small")), [None]);
    }

    #[test]
    fn a_file_that_is_deleted_while_it_is_in_use_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.db");
        let file = VectorFile::open(Some(&path), Some("small")).unwrap();
        let keep = |text: &str| file.keep("one", [(Seq(1), hash(text), &vector(1.0))]).unwrap();
        keep("a");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(file.find(&[hash("a")]).unwrap(), [None]);
        keep("b");
        drop(file);
        let again = VectorFile::open(Some(&path), Some("small")).unwrap();
        assert_eq!(again.find(&[hash("b"), hash("a")]).unwrap(), [Some(vector(1.0)), None]);
    }

    #[test]
    fn noise_in_the_place_of_the_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors.db");
        std::fs::write(&path, "noise ".repeat(5000)).unwrap();
        let file = VectorFile::open(Some(&path), Some("small")).unwrap();
        assert_eq!(file.find(&[hash("a")]).unwrap(), [None]);
    }
}
