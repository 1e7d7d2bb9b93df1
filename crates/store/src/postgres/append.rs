//! Appending a batch, and the keys that entries claim.

use std::{collections::HashMap, sync::Arc};

use callboard_core::{
    entry::Entry,
    id::{Seq, SessionId},
    time::Timestamp,
};

use super::{
    column::{self, get, short_hash},
    database::Database,
    fault::Fault,
    sessions::HERE,
};
use crate::{Append, Error, Work};

/// Appends a batch.
pub(super) const APPEND: &str =
    "SELECT outcome, this, place, found_seq, found_tag, found_expires_at, found_last_activity
    FROM append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
        $23, $24, $25, $26, $27, $28)";

/// See [`Store::append`](crate::Store::append). Answers with the change that it was.
pub(super) async fn append(database: &Database, said: Option<i64>, batch: &Append) -> Result<i64, Error> {
    let doing = "appending";
    let head = batch.entries.last().map_or(batch.expected, Entry::head);
    let claims = Claims::of(&batch.entries);
    let columns = Columns::of(&batch.entries);
    let value_hashes: Vec<&[u8]> = batch.values.iter().map(|(hash, _)| &hash.0[..]).collect();
    let value_texts: Vec<&[u8]> = batch.values.iter().map(|(_, text)| text.as_bytes()).collect();
    let (holder, lasts) = match &batch.work {
        Work::AsBefore => (None, None),
        Work::Due(lease) => (Some(&*lease.holder), Some(lease.lasts_millis())),
        Work::Done => (Some(""), None),
    };
    let rows = database
        .once(
            doing,
            APPEND,
            &[
                &batch.session.as_str(),
                &said,
                &column::number(batch.expected.seq),
                &&batch.expected.tag.0[..],
                &&head.tag.0[..],
                &batch.expires_at.map(Timestamp::as_millis),
                &claims.keys,
                &claims.seqs,
                &claims.repeated.is_some(),
                &columns.types.hashes,
                &columns.types.texts,
                &columns.subjects.hashes,
                &columns.subjects.texts,
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
                &value_hashes,
                &value_texts,
                &holder,
                &lasts,
            ],
        )
        .await?;
    answer(&rows, &claims).map_err(|fault| fault.during(doing, database.place()))?
}

/// What the answer of the server means.
fn answer(rows: &[tokio_postgres::Row], claims: &Claims<'_>) -> Result<Result<i64, Error>, Fault> {
    let damaged = || Fault::Damaged("the function `append` gives no answer that is known".to_owned());
    let [row] = rows else { return Err(damaged()) };
    match get(row, 0)? {
        "done" => Ok(Ok(get(row, 1)?)),
        "conflict" => {
            let found = get::<Option<i64>>(row, 3)?.map(|_| column::row(row, 3)).transpose()?;
            Ok(Err(Error::Conflict { found }))
        }
        "taken" => {
            let place = usize::try_from(get::<i64>(row, 2)? - 1).unwrap_or(usize::MAX);
            let key = claims.texts.get(place).ok_or_else(damaged)?;
            Ok(Err(Error::KeyTaken { key: Arc::clone(key), seq: column::seq(row, 3)? }))
        }
        "repeated" => {
            let (key, seq) = claims.repeated.as_ref().ok_or_else(damaged)?;
            Ok(Err(Error::KeyTaken { key: Arc::clone(key), seq: *seq }))
        }
        _ => Err(damaged()),
    }
}

/// See [`Store::find`](crate::Store::find).
pub(super) async fn find(
    database: &Database,
    said: Option<i64>,
    session: &SessionId,
    key: &str,
) -> Result<Option<Seq>, Error> {
    let doing = "looking for a key";
    let sql = format!("SELECT c.seq FROM claim c WHERE c.session = {HERE} AND c.key = $3");
    let rows = database.ask(doing, &sql, &[&session.as_str(), &said, &&short_hash(key)[..]]).await?;
    let found = rows.first().map(|row| column::seq(row, 0)).transpose();
    found.map_err(|fault| fault.during(doing, database.place()))
}

/// The keys that a batch claims, up to the first that it repeats.
struct Claims<'a> {
    texts: Vec<&'a Arc<str>>,
    keys: Vec<Vec<u8>>,
    seqs: Vec<i64>,
    repeated: Option<(Arc<str>, Seq)>,
}

impl<'a> Claims<'a> {
    fn of(entries: &'a [Entry]) -> Self {
        let mut claims = Self { texts: Vec::new(), keys: Vec::new(), seqs: Vec::new(), repeated: None };
        let mut claimed: HashMap<&str, Seq> = HashMap::new();
        for header in entries.iter().map(|entry| &entry.header) {
            for key in &header.keys {
                if let Some(seq) = claimed.insert(key, header.seq) {
                    claims.repeated = Some((key.clone(), seq));
                    return claims;
                }
                claims.texts.push(key);
                claims.keys.push(short_hash(key).to_vec());
                claims.seqs.push(column::number(header.seq));
            }
        }
        claims
    }
}

/// The entries of a batch by columns.
#[derive(Default)]
struct Columns<'a> {
    types: Texts<'a>,
    subjects: Texts<'a>,
    at: Vec<i64>,
    time: Vec<Option<i64>>,
    kind: Vec<i32>,
    subject: Vec<i32>,
    v: Vec<i32>,
    tag: Vec<&'a [u8]>,
    actor: Vec<String>,
    audience: Vec<Option<String>>,
    keys: Vec<Option<String>>,
    nonce: Vec<Option<i64>>,
    data: Vec<&'a [u8]>,
}

impl<'a> Columns<'a> {
    fn of(entries: &'a [Entry]) -> Self {
        let mut columns = Self::default();
        for Entry { header, data, tag } in entries {
            columns.at.push(header.at.as_millis());
            columns.time.push(header.time.map(Timestamp::as_millis));
            columns.kind.push(columns.types.place(&header.kind));
            columns.subject.push(columns.subjects.place(&header.subject));
            columns.v.push(header.v.into());
            columns.tag.push(&tag.0);
            columns.actor.push(header.by.to_string());
            columns.audience.push(column::audience_text(&header.audience));
            columns.keys.push(column::keys_text(&header.keys));
            columns.nonce.push(header.nonce.map(Into::into));
            columns.data.push(data.as_bytes());
        }
        columns
    }
}

/// Texts, each once, and what they are found by.
#[derive(Default)]
struct Texts<'a> {
    places: HashMap<&'a str, i32>,
    hashes: Vec<Vec<u8>>,
    texts: Vec<&'a [u8]>,
}

impl<'a> Texts<'a> {
    /// The place of a text among them, from 1.
    fn place(&mut self, text: &'a str) -> i32 {
        let next = i32::try_from(self.texts.len() + 1).unwrap_or(i32::MAX);
        *self.places.entry(text).or_insert_with(|| {
            self.hashes.push(short_hash(text).to_vec());
            self.texts.push(text.as_bytes());
            next
        })
    }
}
