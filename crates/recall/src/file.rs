//! The file of indexes: an SQLite file beside the data of a node. All of it is derived from the journals and can be deleted;
//! what is damaged, or was written by another version, is made anew.

use std::{
    borrow::Cow,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use callboard_core::{
    entry::{Head, Tag},
    id::Seq,
};
use rusqlite::{Connection, OptionalExtension as _, params};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Error,
    database::{self, DatabaseForm, Identity, identity},
    index::Index,
    postings::Packed,
    texts::{Class, Indexed, Text, Texts},
};

/// The form of the file, and of how texts become terms.
const FORM: DatabaseForm = DatabaseForm { number: 5, page_bytes: 8192, tables: TABLES };

const TABLES: &str = "
    CREATE TABLE journal (
        name TEXT PRIMARY KEY, revision INTEGER NOT NULL, texts BLOB NOT NULL, postings BLOB NOT NULL
    );
";

/// The file of indexes.
#[derive(Debug)]
pub(crate) struct IndexFile {
    connection: Mutex<Connection>,
    /// Which file was at its path when it was opened.
    identity: Option<Identity>,
}

/// What is written of an index beside its postings.
#[derive(Serialize, Deserialize)]
struct Known<'a> {
    /// How far the journal was read: the number and the tag of an entry.
    cursor: (u64, [u8; 16]),
    /// As JSON, since an audience has many forms.
    classes: String,
    speakers: Cow<'a, [Box<str>]>,
    texts: Cow<'a, [Text]>,
    passages: Cow<'a, [Indexed]>,
    /// Where the ranges of the postings begin.
    starts: Cow<'a, [u32]>,
}

impl IndexFile {
    /// Opens the file at `path`, or one in memory. A file that is damaged or of another form is replaced.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Error> {
        let connection = Mutex::new(database::open(path, &FORM, |_| Ok(()))?);
        Ok(Self { connection, identity: path.and_then(identity) })
    }

    /// Opens the file at `path` again, since it [is another one](Self::is_at) now.
    pub(crate) fn again(path: &Path) -> Result<Self, Error> {
        let connection = Mutex::new(database::open_again(path, &FORM, |_| Ok(()))?);
        Ok(Self { connection, identity: identity(path) })
    }

    /// Whether this is what is at `path`.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.identity == identity(path)
    }

    /// Makes the file at `path` anew.
    pub(crate) fn anew(path: Option<&Path>) -> Result<Self, Error> {
        if let Some(path) = path {
            database::remove(path)?;
        }
        Self::open(path)
    }

    /// The index of a journal as it was last saved; an empty one where it never was.
    pub(crate) fn load(&self, name: &str) -> Result<Index, Error> {
        let row: Option<(i64, Vec<u8>, Vec<u8>)> = {
            let connection = self.connection();
            let mut select =
                connection.prepare_cached("SELECT revision, texts, postings FROM journal WHERE name = ?1")?;
            select.query_row([name], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?
        };
        let Some((saved, known, bytes)) = row else { return Ok(Index::default()) };
        let Known { cursor, classes, speakers, texts, passages, starts } = unpack::<Known<'_>>(&known)?;
        let classes: Vec<Class> = serde_json::from_str(&classes).map_err(|error| Error::damaged(error.to_string()))?;
        check(&classes, &speakers, &texts, &passages)?;
        let packed = Packed { starts: starts.into_owned(), bytes: opened(&bytes)?.to_vec() };
        let texts = Texts::read(classes, speakers.into_owned(), texts.into_owned(), passages.into_owned());
        Ok(Index::read(Head { seq: Seq(cursor.0), tag: Tag(cursor.1) }, texts, packed, saved))
    }

    /// Writes an index. It is refused if another process has saved it since it was loaded.
    pub(crate) fn save(&self, name: &str, index: &mut Index) -> Result<(), Error> {
        index.pack();
        let (texts, packed) = (&index.texts, &index.postings.packed);
        let known = pack(&Known {
            cursor: (index.cursor.seq.0, index.cursor.tag.0),
            classes: serde_json::to_string(&texts.classes).map_err(|error| Error::damaged(error.to_string()))?,
            speakers: (&texts.speakers).into(),
            texts: (&texts.texts).into(),
            passages: (&texts.passages).into(),
            starts: (&packed.starts).into(),
        })?;
        let postings = sealed(&packed.bytes);
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let saved: Option<i64> = transaction
            .query_row("SELECT revision FROM journal WHERE name = ?1", [name], |row| row.get(0))
            .optional()?;
        if saved.unwrap_or(0) != index.saved {
            return Err(Error::Stale);
        }
        transaction.execute(
            "INSERT OR REPLACE INTO journal (name, revision, texts, postings) VALUES (?1, ?2, ?3, ?4)",
            params![name, index.saved + 1, known, postings],
        )?;
        transaction.commit()?;
        (index.saved, index.unsaved, index.has_erased) = (index.saved + 1, 0, false);
        Ok(())
    }

    /// Takes away all of a journal.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        let removed = self.connection().execute("DELETE FROM journal WHERE name = ?1", [name])?;
        if removed > 0 { self.forget() } else { Ok(()) }
    }

    /// The names of all journals of which something is written.
    pub(crate) fn journals(&self) -> Result<Vec<String>, Error> {
        let connection = self.connection();
        let mut names = connection.prepare("SELECT name FROM journal ORDER BY name")?;
        let names = names.query_map([], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// Leaves nothing in the log of the file of what was taken away.
    pub(crate) fn forget(&self) -> Result<(), Error> {
        database::forget_old_pages(&self.connection())
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Checks that the parts of an index fit together.
fn check(classes: &[Class], speakers: &[Box<str>], texts: &[Text], passages: &[Indexed]) -> Result<(), Error> {
    let fits = |number: u32, length: usize| (number as usize) < length;
    let text_fits = |text: &Text| {
        fits(text.class, classes.len())
            && text.speaker.is_none_or(|speaker| fits(speaker, speakers.len()))
            && text.passages.start < text.passages.end
            && text.passages.end as usize <= passages.len()
    };
    let all_fit = texts.iter().all(text_fits)
        && passages.iter().all(|passage| fits(passage.text, texts.len()) && passage.start <= passage.end);
    if all_fit { Ok(()) } else { Err(Error::damaged("its parts do not fit together")) }
}

fn pack<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let bytes = postcard::to_stdvec(value).map_err(|error| Error::damaged(error.to_string()))?;
    Ok(sealed(&bytes))
}

fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Error> {
    postcard::from_bytes(opened(bytes)?).map_err(|error| Error::damaged(error.to_string()))
}

/// Bytes with a sum over them, so that noise is noticed.
fn sealed(bytes: &[u8]) -> Vec<u8> {
    [bytes, &sum(bytes)].concat()
}

fn opened(bytes: &[u8]) -> Result<&[u8], Error> {
    let (bytes, written) = bytes.split_last_chunk().ok_or_else(|| Error::damaged("something is cut short"))?;
    if *written == sum(bytes) { Ok(bytes) } else { Err(Error::damaged("a sum over bytes is wrong")) }
}

fn sum(bytes: &[u8]) -> [u8; 4] {
    let [a, b, c, d, ..] = xxh3_64(bytes).to_le_bytes();
    [a, b, c, d]
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "these are tests")]
mod tests;
