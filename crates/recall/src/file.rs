//! The file of indexes: an SQLite file beside the data of a node. All of it is derived from the journals and can be deleted;
//! what is damaged, or was written by another version, is made anew.

use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::{
    entry::{Head, Tag},
    id::Seq,
};
use quick_cache::{Weighter, sync::Cache};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use xxhash_rust::xxh3::xxh3_64;

use crate::{
    Error,
    database::{self, DatabaseForm, Identity, identity},
    index::Index,
    postings::{BUCKETS, Buckets, Postings, SEGMENT},
    texts::{Class, Indexed, Text, Texts, to_u32},
};

/// So many buckets, of the usual size, are expected to be in memory.
const USUAL_BUCKETS: usize = 16 << 10;

/// The form of the file, and of how texts become terms.
const FORM: DatabaseForm = DatabaseForm { number: 4, page_bytes: 8192, tables: TABLES };

const TABLES: &str = "
    CREATE TABLE journal (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, data BLOB NOT NULL);
    CREATE TABLE segment (id INTEGER PRIMARY KEY AUTOINCREMENT, journal INTEGER NOT NULL, texts BLOB NOT NULL);
    CREATE INDEX segment_of_journal ON segment (journal);
    CREATE TABLE bucket (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
";

/// The file of indexes.
#[derive(Debug)]
pub(crate) struct IndexFile {
    shared: Arc<Shared>,
    /// Why it was made anew, if it was.
    replaced: Option<String>,
    /// Which file was at its path when it was opened.
    identity: Option<Identity>,
}

/// What all indexes of the file read from.
#[derive(Debug)]
struct Shared {
    connection: Mutex<Connection>,
    buckets: Cache<i64, Arc<[u8]>, Bytes>,
}

/// Where the segments of one index are.
#[derive(Clone, Debug)]
struct Written {
    shared: Arc<Shared>,
    segments: Vec<i64>,
}

#[derive(Clone, Debug)]
struct Bytes;

impl Weighter<i64, Arc<[u8]>> for Bytes {
    fn weight(&self, _: &i64, bucket: &Arc<[u8]>) -> u64 {
        64 + bucket.len() as u64
    }
}

/// What is written of a journal beside its segments.
#[derive(Serialize, Deserialize)]
struct Journal {
    /// How far the journal was read: the number and the tag of an entry.
    cursor: (u64, [u8; 16]),
    /// As JSON, since an audience has many forms.
    classes: String,
    speakers: Vec<Box<str>>,
    segments: Vec<i64>,
}

/// What is known of the texts of a segment.
#[derive(Serialize, Deserialize)]
struct Known {
    /// The texts whose first passage is in it, and all passages that are.
    texts: Vec<Text>,
    passages: Vec<Indexed>,
}

/// What is written of a journal, but for where terms stand, and how often it was saved.
struct Read {
    saved: i64,
    journal: Journal,
    known: Known,
}

impl IndexFile {
    /// Opens the file at `path`, or one in memory, of which about `memory_bytes` are kept in memory. A file that is damaged
    /// or of another form is replaced.
    pub(crate) fn open(path: Option<&Path>, memory_bytes: u64) -> Result<Self, Error> {
        let (connection, replaced) = database::open(path, &FORM, |_| Ok(()))?;
        Ok(Self { replaced, ..Self::of(connection, path, memory_bytes) })
    }

    fn of(connection: Connection, path: Option<&Path>, memory_bytes: u64) -> Self {
        let buckets = Cache::with_weighter(USUAL_BUCKETS, memory_bytes, Bytes);
        let shared = Arc::new(Shared { connection: Mutex::new(connection), buckets });
        Self { shared, replaced: None, identity: path.and_then(identity) }
    }

    /// Opens the file at `path` again, since it [is another one](Self::is_at) now.
    pub(crate) fn again(path: &Path, memory_bytes: u64) -> Result<Self, Error> {
        Ok(Self::of(database::open_again(path, &FORM, |_| Ok(()))?, Some(path), memory_bytes))
    }

    /// Whether this is what is at `path`.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.identity == identity(path)
    }

    /// Makes the file at `path` anew.
    pub(crate) fn anew(path: Option<&Path>, memory_bytes: u64) -> Result<Self, Error> {
        if let Some(path) = path {
            database::remove(path)?;
        }
        Self::open(path, memory_bytes)
    }

    /// Why the file was made anew when it was opened, if it was.
    pub(crate) fn replaced(&self) -> Option<&str> {
        self.replaced.as_deref()
    }

    /// The index of a journal as it was last saved; an empty one where it never was.
    pub(crate) fn load(&self, name: &str) -> Result<Index, Error> {
        let Some(Read { saved, journal, known: Known { texts, passages } }) = self.read(name)? else {
            return Ok(Index::default());
        };
        let Journal { cursor, classes, speakers, segments } = journal;
        let classes: Vec<Class> = serde_json::from_str(&classes).map_err(|error| Error::damaged(error.to_string()))?;
        check(&classes, &speakers, &texts, &passages, segments.len())?;
        let written = Written { shared: self.shared.clone(), segments };
        let newest = to_u32(written.segments.len()).saturating_sub(1);
        let open =
            (0..if written.segments.is_empty() { 0 } else { BUCKETS }).map(|bucket| written.bucket(newest, bucket));
        let open: Vec<_> = open.collect::<Result<_, _>>()?;
        let postings = Postings::read(newest, Arc::new(written), open)?;
        let cursor = Head { seq: Seq(cursor.0), tag: Tag(cursor.1) };
        Ok(Index::read(cursor, Texts::read(classes, speakers, texts, passages), postings, saved))
    }

    fn read(&self, name: &str) -> Result<Option<Read>, Error> {
        let connection = self.shared.connection();
        let mut journal = connection.prepare_cached("SELECT revision, data FROM journal WHERE name = ?1")?;
        let row = journal.query_row([name], |row| Ok((row.get(0)?, row.get::<_, Vec<u8>>(1)?))).optional()?;
        let Some((saved, data)) = row else { return Ok(None) };
        let journal: Journal = unpack(&data)?;
        let mut all = Known { texts: Vec::new(), passages: Vec::new() };
        let mut segment = connection.prepare_cached("SELECT texts FROM segment WHERE id = ?1")?;
        for id in &journal.segments {
            let data: Vec<u8> = segment.query_row([id], |row| row.get(0)).optional()?.ok_or_else(gone)?;
            let mut known: Known = unpack(&data)?;
            all.texts.append(&mut known.texts);
            all.passages.append(&mut known.passages);
        }
        Ok(Some(Read { saved, journal, known: all }))
    }

    /// Writes what is new of an index. It is refused if another process has saved it since it was loaded.
    pub(crate) fn save(&self, name: &str, index: &mut Index) -> Result<(), Error> {
        let before = self.written(index);
        let mut connection = self.shared.connection();
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let row = transaction
            .query_row("SELECT id, revision FROM journal WHERE name = ?1", [name], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let (journal, saved): (i64, i64) = match row {
            Some(row) => row,
            None => {
                transaction.execute("INSERT INTO journal (name, revision, data) VALUES (?1, 0, x'')", [name])?;
                (transaction.last_insert_rowid(), 0)
            }
        };
        if saved != index.saved {
            return Err(Error::Stale);
        }
        let mut segments = before;
        for number in 0..=index.postings.newest {
            write_segment(&transaction, journal, index, number, &mut segments)?;
        }
        let texts = &index.texts;
        let data = pack(&Journal {
            cursor: (index.cursor.seq.0, index.cursor.tag.0),
            classes: serde_json::to_string(&texts.classes).map_err(|error| Error::damaged(error.to_string()))?,
            speakers: texts.speakers.clone(),
            segments: segments.clone(),
        })?;
        transaction
            .execute("UPDATE journal SET revision = ?2, data = ?3 WHERE id = ?1", params![journal, saved + 1, data])?;
        transaction.commit()?;
        (index.saved, index.unsaved, index.has_erased) = (saved + 1, 0, false);
        index.postings.note_written(Arc::new(Written { shared: self.shared.clone(), segments }));
        Ok(())
    }

    /// Takes away all of a journal.
    pub(crate) fn remove(&self, name: &str) -> Result<(), Error> {
        let mut connection = self.shared.connection();
        let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let found =
            transaction.query_row("SELECT id FROM journal WHERE name = ?1", [name], |row| row.get(0)).optional()?;
        let Some(journal): Option<i64> = found else { return Ok(()) };
        let segments: Vec<i64> = {
            let mut of_journal = transaction.prepare("SELECT id FROM segment WHERE journal = ?1")?;
            of_journal.query_map([journal], |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        for segment in segments {
            delete_segment(&transaction, segment)?;
        }
        transaction.execute("DELETE FROM journal WHERE id = ?1", [journal])?;
        transaction.commit()?;
        database::forget_old_pages(&connection)
    }

    /// The names of all journals of which something is written.
    pub(crate) fn journals(&self) -> Result<Vec<String>, Error> {
        let connection = self.shared.connection();
        let mut names = connection.prepare("SELECT name FROM journal ORDER BY name")?;
        let names = names.query_map([], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// Leaves nothing in the log of the file of what was taken away.
    pub(crate) fn forget(&self) -> Result<(), Error> {
        database::forget_old_pages(&self.shared.connection())
    }

    /// The segments of an index that were written to this file.
    fn written(&self, index: &Index) -> Vec<i64> {
        index.postings.written.as_ref().map(|written| written.segments().to_vec()).unwrap_or_default()
    }
}

/// Writes what changed of a segment. One whose terms changed becomes a new one: whoever still reads the old one notices.
fn write_segment(
    transaction: &Transaction<'_>,
    journal: i64,
    index: &Index,
    number: u32,
    segments: &mut Vec<i64>,
) -> Result<(), Error> {
    let postings = &index.postings;
    let is_open = number == postings.newest;
    if !postings.touched.contains(&number) || index.texts.passages.is_empty() {
        return Ok(());
    }
    let texts = pack(&index.known_of(number))?;
    let old = segments.get(number as usize).copied();
    let buckets = if is_open { Some(postings.encode_open()) } else { postings.unwritten.get(&number).cloned() };
    let Some(buckets) = buckets else {
        transaction.execute("UPDATE segment SET texts = ?2 WHERE id = ?1", params![old, texts])?;
        return Ok(());
    };
    transaction.execute("INSERT INTO segment (journal, texts) VALUES (?1, ?2)", params![journal, texts])?;
    let new = transaction.last_insert_rowid();
    let mut insert = transaction.prepare_cached("INSERT INTO bucket (id, data) VALUES (?1, ?2)")?;
    for (bucket, bytes) in (0..).zip(buckets) {
        if !bytes.is_empty() {
            insert.execute(params![bucket_id(new, bucket), sealed(&bytes)])?;
        }
    }
    match old {
        Some(old) => {
            delete_segment(transaction, old)?;
            if let Some(segment) = segments.get_mut(number as usize) {
                *segment = new;
            }
        }
        None => segments.push(new),
    }
    Ok(())
}

fn delete_segment(transaction: &Transaction<'_>, segment: i64) -> Result<(), Error> {
    let buckets = params![bucket_id(segment, 0), bucket_id(segment + 1, 0)];
    transaction.execute("DELETE FROM bucket WHERE id >= ?1 AND id < ?2", buckets)?;
    transaction.execute("DELETE FROM segment WHERE id = ?1", [segment])?;
    Ok(())
}

fn bucket_id(segment: i64, bucket: u32) -> i64 {
    segment * i64::from(BUCKETS) + i64::from(bucket)
}

impl Index {
    /// What is known of the texts of a segment.
    fn known_of(&self, segment: u32) -> Known {
        let range = segment * SEGMENT..(segment + 1) * SEGMENT;
        let texts = &self.texts.texts;
        let before = |passage: u32| texts.partition_point(|text| text.passages.start < passage);
        let texts = texts.get(before(range.start)..before(range.end)).unwrap_or_default().to_vec();
        let passages = self.texts.passages.iter().skip(range.start as usize).take(SEGMENT as usize);
        Known { texts, passages: passages.cloned().collect() }
    }
}

impl Shared {
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buckets for Written {
    fn bucket(&self, segment: u32, bucket: u32) -> Result<Arc<[u8]>, Error> {
        let segment = self.segments.get(segment as usize).copied().ok_or(Error::Stale)?;
        let id = bucket_id(segment, bucket);
        if let Some(known) = self.shared.buckets.get(&id) {
            return Ok(known);
        }
        let connection = self.shared.connection();
        let mut select = connection.prepare_cached("SELECT data FROM bucket WHERE id = ?1")?;
        let bytes: Option<Vec<u8>> = select.query_row([id], |row| row.get(0)).optional()?;
        let bytes: Arc<[u8]> = match bytes {
            Some(bytes) => opened(&bytes)?.into(),
            None => {
                let mut exists = connection.prepare_cached("SELECT 1 FROM segment WHERE id = ?1")?;
                exists.exists([segment])?.then(|| Arc::from([])).ok_or(Error::Stale)?
            }
        };
        self.shared.buckets.insert(id, bytes.clone());
        Ok(bytes)
    }

    fn segments(&self) -> &[i64] {
        &self.segments
    }
}

/// Checks that the parts of an index fit together.
fn check(
    classes: &[Class],
    speakers: &[Box<str>],
    texts: &[Text],
    passages: &[Indexed],
    segments: usize,
) -> Result<(), Error> {
    let fits = |number: u32, length: usize| (number as usize) < length;
    let text_fits = |text: &Text| {
        fits(text.class, classes.len())
            && text.speaker.is_none_or(|speaker| fits(speaker, speakers.len()))
            && text.passages.start < text.passages.end
            && text.passages.end as usize <= passages.len()
    };
    let all_fit = texts.iter().all(text_fits)
        && passages.iter().all(|passage| fits(passage.text, texts.len()) && passage.start <= passage.end)
        && passages.len().div_ceil(SEGMENT as usize) == segments;
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

fn gone() -> Error {
    Error::damaged("a segment is missing")
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "these are tests")]
mod tests;
