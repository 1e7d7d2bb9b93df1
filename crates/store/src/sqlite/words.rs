//! Types, subjects, actors and audiences are stored as small ids. This module converts between both.

use std::{collections::HashMap, sync::Arc};

use callboard_core::{audience::Audience, entry::Actor};
use rusqlite::{Connection, OptionalExtension, Result};

use super::column;

/// The id of a word, if the session has used it.
pub(super) fn known(db: &Connection, session: i64, text: &str) -> Result<Option<i64>> {
    db.prepare_cached("SELECT id FROM word WHERE session = ?1 AND text = ?2")?
        .query_row((session, text), |row| row.get(0))
        .optional()
}

/// The id of a type, if it was ever used.
pub(super) fn known_type(db: &Connection, name: &str) -> Result<Option<i64>> {
    db.prepare_cached("SELECT id FROM type WHERE name = ?1")?.query_row([name], |row| row.get(0)).optional()
}

/// How many ids the write connection caches.
const CACHED: usize = 1 << 14;

/// In the place of the id of a session, for the ids of types, which all sessions share.
const ALL_SESSIONS: i64 = 0;

/// A cache of the ids of words and types for writes. An id never changes, so a cached id is wrong only if the transaction
/// that created it was not committed.
#[derive(Default)]
pub(super) struct IdCache {
    ids: HashMap<i64, HashMap<Box<str>, i64>>,
    cached: usize,
}

impl IdCache {
    /// Empties the cache, since the transaction was not committed.
    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The id of a word of a session. A new word gets an id.
    pub(super) fn word(&mut self, db: &Connection, session: i64, text: &str) -> Result<i64> {
        let add = "INSERT INTO word (session, id, text)
            VALUES (?1, (SELECT coalesce(max(id), 0) + 1 FROM word WHERE session = ?1), ?2) RETURNING id";
        self.id(session, text, || match known(db, session, text)? {
            Some(id) => Ok(id),
            None => db.prepare_cached(add)?.query_row((session, text), |row| row.get(0)),
        })
    }

    /// The id of a type. A new type gets an id.
    pub(super) fn kind(&mut self, db: &Connection, name: &str) -> Result<i64> {
        let add = "INSERT INTO type (name) VALUES (?1) RETURNING id";
        self.id(ALL_SESSIONS, name, || match known_type(db, name)? {
            Some(id) => Ok(id),
            None => db.prepare_cached(add)?.query_row([name], |row| row.get(0)),
        })
    }

    /// The id of an audience; `None` for `all`, which is by far the most frequent.
    pub(super) fn audience(&mut self, db: &Connection, session: i64, audience: &Audience) -> Result<Option<i64>> {
        column::audience_text(audience).map(|text| self.word(db, session, &text)).transpose()
    }

    /// The cached id of a text, else the one that `look` finds.
    fn id(&mut self, session: i64, text: &str, look: impl FnOnce() -> Result<i64>) -> Result<i64> {
        if let Some(id) = self.ids.get(&session).and_then(|ids| ids.get(text)) {
            return Ok(*id);
        }
        let id = look()?;
        if self.cached == CACHED {
            self.clear();
        }
        self.cached += 1;
        self.ids.entry(session).or_default().insert(text.into(), id);
        Ok(id)
    }
}

/// The words of one session, for reading: each is looked up once and shared by all entries that have it.
pub(super) struct Words<'a> {
    pub(super) db: &'a Connection,
    pub(super) session: i64,
    types: HashMap<i64, Arc<str>>,
    subjects: HashMap<i64, Arc<str>>,
    actors: HashMap<i64, Actor>,
    audiences: HashMap<i64, Audience>,
}

impl<'a> Words<'a> {
    /// The words of the session with this id.
    pub(super) fn new(db: &'a Connection, session: i64) -> Self {
        let (types, subjects, actors, audiences) = Default::default();
        Self { db, session, types, subjects, actors, audiences }
    }

    pub(super) fn type_name(&mut self, id: i64) -> Result<Arc<str>> {
        remembered(&mut self.types, id, || {
            let mut name = self.db.prepare_cached("SELECT name FROM type WHERE id = ?1")?;
            name.query_row([id], |row| Ok(row.get_ref(0)?.as_str()?.into()))
        })
    }

    pub(super) fn subject(&mut self, id: i64) -> Result<Arc<str>> {
        remembered(&mut self.subjects, id, || text(self.db, self.session, id))
    }

    pub(super) fn actor(&mut self, id: i64) -> Result<Actor> {
        remembered(&mut self.actors, id, || column::parsed(&text(self.db, self.session, id)?, 0))
    }

    pub(super) fn audience(&mut self, id: Option<i64>) -> Result<Audience> {
        let Some(id) = id else { return Ok(Audience::All) };
        remembered(&mut self.audiences, id, || {
            column::audience(&text(self.db, self.session, id)?).map_err(|error| column::unreadable(0, error))
        })
    }
}

fn text(db: &Connection, session: i64, id: i64) -> Result<Arc<str>> {
    db.prepare_cached("SELECT text FROM word WHERE session = ?1 AND id = ?2")?
        .query_row((session, id), |row| Ok(row.get_ref(0)?.as_str()?.into()))
}

fn remembered<T: Clone>(known: &mut HashMap<i64, T>, id: i64, look: impl FnOnce() -> Result<T>) -> Result<T> {
    if let Some(found) = known.get(&id) {
        return Ok(found.clone());
    }
    let found = look()?;
    known.insert(id, found.clone());
    Ok(found)
}
