//! Appending batches of many sessions in one call, and looking up claimed keys.

mod columns;

use std::{collections::HashMap, sync::Arc};

use callboard_core::{
    id::{Seq, SessionId},
    time::Timestamp,
};

use self::columns::Columns;
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
    let columns = Columns::of(batches);
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
        &columns.repeated.iter().map(Option::is_some).collect::<Vec<_>>(),
        &columns.claims.batch,
        &columns.claims.seq,
        &columns.claims.short,
        &columns.types.hashes,
        &columns.types.texts,
        &columns.subjects.batch,
        &columns.subjects.hashes,
        &columns.subjects.texts,
        &columns.batch,
        &columns.seq,
        &columns.at,
        &columns.time,
        &columns.kind,
        &columns.subject,
        &columns.v,
        &columns.tag,
        &columns.actor,
        &columns.audience,
        &columns.keys,
        &columns.nonce,
        &columns.data,
        &columns.value_batch,
        &columns.value_hashes,
        &columns.value_texts,
        &of(batches, |batch| batch.kind == JournalKind::Unlisted),
        &columns.rewrite_batch,
        &columns.rewrite_seq,
        &columns.rewrite_data,
        &columns.drop_batch,
        &columns.drop_hashes,
    ];
    let rows = database.try_query(APPEND, params).await?;
    if rows.len() != batches.len() {
        return Err(unknown());
    }
    rows.iter().zip(&columns.repeated).map(|(row, repeated)| outcome(row, &columns, repeated.as_ref())).collect()
}

fn of<'a, T>(batches: &[&'a Append], what: impl Fn(&'a Append) -> T) -> Vec<T> {
    batches.iter().map(|batch| what(batch)).collect()
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
    columns: &Columns<'_>,
    repeated: Option<&(Arc<str>, Seq)>,
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
            let key = columns.claims.keys.get(place).ok_or_else(unknown)?;
            Error::KeyTaken { key: Arc::clone(key), seq: column::seq(row, 3)? }
        }
        "repeated" => {
            let (key, seq) = repeated.ok_or_else(unknown)?;
            Error::KeyTaken { key: Arc::clone(key), seq: *seq }
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
