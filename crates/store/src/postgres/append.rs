//! Appending batches of many sessions in one call, and looking up claimed keys.

use std::{collections::HashMap, sync::Arc};

use callboard_core::{
    id::{Seq, SessionId},
    time::Timestamp,
};

use super::{
    column::{self, get, short_hash},
    database::{Database, Params},
    error::PostgresError,
    sessions::LIVE_SESSION_ID,
};
use crate::{Append, Error, JournalKind, LeaseChange};

/// Appends batches.
const APPEND: &str = "SELECT outcome, this, place, found_seq, found_tag, found_expires_at, found_last_activity
    FROM append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
        $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41)";

/// The outcome of a batch.
pub(super) enum Outcome {
    /// It is appended; this is the number of the change.
    Done(i64),
    /// It is refused.
    Refused(Error),
    /// Another server has locked its session, or is creating it.
    Locked,
}

/// What the server does if the row of a session is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockedRows {
    /// It waits.
    Wait,
    /// It leaves out the batch.
    Skip,
}

/// Appends `batches` in one transaction, each completely or not at all. Each is of another session, and they are in the
/// order of the sessions' names. If this fails, it is unknown whether they were appended.
pub(super) async fn append(
    database: &Database,
    locked_rows: LockedRows,
    batches: &[&Append],
) -> Result<Vec<Outcome>, PostgresError> {
    let mut claims = Vec::new();
    let repeated: Vec<_> = batches.iter().zip(1..).map(|(batch, number)| claim(&mut claims, number, batch)).collect();
    let entries = numbered(batches, |batch| &batch.entries);
    let values = numbered(batches, |batch| &batch.values);
    let rewrites = numbered(batches, |batch| &batch.rewrites);
    let drops = numbered(batches, |batch| batch.dropped_values());
    let (mut types, mut subjects) = (Words::default(), Words::default());
    let kind = of(&entries, |(_, entry)| types.place(ALL_BATCHES, &entry.header.kind));
    let subject = of(&entries, |(batch, entry)| subjects.place(*batch, &entry.header.subject));
    let params: Params<'_> = &[
        &(locked_rows == LockedRows::Wait),
        &database.test_time(),
        &of(batches, |batch| batch.session.as_str()),
        &of(batches, |batch| column::number(batch.expected.seq)),
        &of(batches, |batch| &batch.expected.tag.0[..]),
        &of(batches, |batch| batch.entries.last().map(|last| column::number(last.header.seq))),
        &of(batches, |batch| batch.entries.last().map(|last| &last.tag.0[..])),
        &of(batches, |batch| batch.expires_at.map(Timestamp::as_millis)),
        &of(batches, |batch| lease(&batch.lease).0),
        &of(batches, |batch| lease(&batch.lease).1),
        &of(&repeated, |repeated| repeated.is_some()),
        &of(&claims, |(batch, _, _)| *batch),
        &of(&claims, |(_, seq, _)| column::number(*seq)),
        &of(&claims, |(_, _, key)| short_hash(key).to_vec()),
        &of(&types.texts, |(_, text)| short_hash(text).to_vec()),
        &of(&types.texts, |(_, text)| text.as_bytes()),
        &of(&subjects.texts, |(batch, _)| *batch),
        &of(&subjects.texts, |(_, text)| short_hash(text).to_vec()),
        &of(&subjects.texts, |(_, text)| text.as_bytes()),
        &of(&entries, |(batch, _)| *batch),
        &of(&entries, |(_, entry)| column::number(entry.header.seq)),
        &of(&entries, |(_, entry)| entry.header.at.as_millis()),
        &of(&entries, |(_, entry)| entry.header.time.map(Timestamp::as_millis)),
        &kind,
        &subject,
        &of(&entries, |(_, entry)| i32::from(entry.header.v)),
        &of(&entries, |(_, entry)| &entry.tag.0[..]),
        &of(&entries, |(_, entry)| entry.header.by.to_string()),
        &of(&entries, |(_, entry)| column::audience_text(&entry.header.audience)),
        &of(&entries, |(_, entry)| column::keys_text(&entry.header.keys)),
        &of(&entries, |(_, entry)| entry.header.nonce.map(i64::from)),
        &of(&entries, |(_, entry)| entry.data.as_bytes()),
        &of(&values, |(batch, _)| *batch),
        &of(&values, |(_, (hash, _))| &hash.0[..]),
        &of(&values, |(_, (_, text))| text.as_bytes()),
        &of(batches, |batch| batch.kind == JournalKind::Unlisted),
        &of(&rewrites, |(batch, _)| *batch),
        &of(&rewrites, |(_, rewrite)| column::number(rewrite.seq)),
        &of(&rewrites, |(_, rewrite)| rewrite.data.as_bytes()),
        &of(&drops, |(batch, _)| *batch),
        &of(&drops, |(_, hash)| &hash.0[..]),
    ];
    let rows = database.try_query(APPEND, params).await?;
    if rows.len() != batches.len() {
        return Err(unknown());
    }
    rows.iter().zip(&repeated).map(|(row, repeated)| outcome(row, &claims, *repeated)).collect()
}

/// A column: one value for each row.
fn of<'a, R, T>(rows: &'a [R], value: impl FnMut(&'a R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

/// What batches have, each with the number of its batch, from 1.
fn numbered<'a, I: IntoIterator>(batches: &[&'a Append], what: impl Fn(&'a Append) -> I) -> Vec<(i32, I::Item)> {
    let batches = batches.iter().zip(1..);
    batches.flat_map(|(batch, number)| what(batch).into_iter().map(move |one| (number, one))).collect()
}

/// A key that a batch claims: the number of the batch, the entry, and the key.
type Claim<'a> = (i32, Seq, &'a Arc<str>);

/// Adds the keys that a batch claims, up to the first that it claims twice. Returns that key, and the entry that claims it
/// first.
fn claim<'a>(claims: &mut Vec<Claim<'a>>, number: i32, batch: &'a Append) -> Option<(&'a Arc<str>, Seq)> {
    let mut claimed: HashMap<&str, Seq> = HashMap::new();
    for header in batch.entries.iter().map(|entry| &entry.header) {
        for key in &header.keys {
            if let Some(seq) = claimed.insert(key, header.seq) {
                return Some((key, seq));
            }
            claims.push((number, header.seq, key));
        }
    }
    None
}

/// In the place of the number of a batch, for what belongs to no single one: types are stored once for all sessions.
const ALL_BATCHES: i32 = 0;

/// Words, each once for each batch.
#[derive(Default)]
struct Words<'a> {
    places: HashMap<(i32, &'a str), i32>,
    texts: Vec<(i32, &'a str)>,
}

impl<'a> Words<'a> {
    /// The position of a word of a batch, from 1.
    fn place(&mut self, batch: i32, text: &'a str) -> i32 {
        *self.places.entry((batch, text)).or_insert_with(|| {
            self.texts.push((batch, text));
            i32::try_from(self.texts.len()).unwrap_or(i32::MAX)
        })
    }
}

/// The new holder of the lease, and how long it lasts. Without a holder the lease stays as it is.
fn lease(change: &LeaseChange) -> (Option<&str>, Option<i64>) {
    match change {
        LeaseChange::Keep => (None, None),
        LeaseChange::Set(lease) => (Some(&*lease.holder), Some(lease.lasts_millis())),
        LeaseChange::Remove => (Some(""), None),
    }
}

/// The outcome of one batch, as the server reports it.
fn outcome(
    row: &tokio_postgres::Row,
    claims: &[Claim<'_>],
    repeated: Option<(&Arc<str>, Seq)>,
) -> Result<Outcome, PostgresError> {
    let refused = match get(row, 0)? {
        "done" => return Ok(Outcome::Done(get(row, 1)?)),
        "held" => return Ok(Outcome::Locked),
        "conflict" => {
            let found = get::<Option<i64>>(row, 3)?.map(|_| column::row(row, 3)).transpose()?;
            Error::Conflict { found }
        }
        "taken" => {
            let place = usize::try_from(get::<i64>(row, 2)? - 1).unwrap_or(usize::MAX);
            let (_, _, key) = claims.get(place).ok_or_else(unknown)?;
            Error::KeyTaken { key: Arc::clone(key), seq: column::seq(row, 3)? }
        }
        "repeated" => {
            let (key, seq) = repeated.ok_or_else(unknown)?;
            Error::KeyTaken { key: Arc::clone(key), seq }
        }
        _ => return Err(unknown()),
    };
    Ok(Outcome::Refused(refused))
}

fn unknown() -> PostgresError {
    PostgresError::Damaged("the function `append` gives an unknown answer".to_owned())
}

/// See [`Store::find_each`](crate::Store::find_each).
pub(super) async fn find_each(
    database: &Database,
    session: &SessionId,
    keys: &[Arc<str>],
) -> Result<Vec<Option<Seq>>, Error> {
    let hashes: Vec<_> = keys.iter().map(|key| short_hash(key)).collect();
    let wanted: Vec<&[u8]> = hashes.iter().map(|hash| &hash[..]).collect();
    let sql = format!("SELECT c.key, c.seq FROM claim c WHERE c.session = {LIVE_SESSION_ID} AND c.key = ANY ($3)");
    let claim = |row: &_| Ok((get::<Vec<u8>>(row, 0)?, column::seq(row, 1)?));
    let params: Params<'_> = &[&session.as_str(), &database.test_time(), &wanted];
    let found = database.rows("looking for keys", &sql, params, claim).await?;
    let found: HashMap<_, _> = found.into_iter().collect();
    Ok(wanted.iter().map(|hash| found.get(*hash).copied()).collect())
}
