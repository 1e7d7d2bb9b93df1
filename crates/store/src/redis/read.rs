//! Reading entries, by number and by their own time. They are read in pages, so that no script blocks the server for long.

use std::{borrow::Cow, slice, sync::Arc};

use callboard_core::{
    entry::Entry,
    id::{Seq, SessionId},
    time::Timestamp,
};

use super::{client::Client, command::Reply, entry, error::RedisFailure, script};
use crate::{Order, Query, TimeQuery};

/// How many entries are read at once.
const AT_ONCE: usize = 512;

/// How often a read starts again because the session was deleted and created again meanwhile.
const TRIES: u32 = 16;

/// The greatest number of 16 digits. No journal gets so long.
const BEHIND_ALL: u64 = 9_999_999_999_999_999;

/// Times are written as milliseconds since this time, which is before every timestamp, so that none is negative.
const LONG_AGO: i64 = -1_000_000_000_000_000;

/// A character that sorts after all digits.
const BEHIND_DIGITS: &str = ":";

/// The wanted entries: those between two positions in an index.
#[derive(Clone)]
struct IndexRange<'a> {
    which: &'static str,
    types: &'a [Arc<str>],
    subjects: &'a [Arc<str>],
    order: Order,
    lower: String,
    upper: String,
    limit: usize,
}

pub(super) async fn read(client: &Client, session: &SessionId, query: &Query) -> Result<Vec<Entry>, RedisFailure> {
    let which = match (query.types.is_empty(), query.subjects.is_empty()) {
        (true, true) => "all",
        (false, true) => "types",
        (true, false) => "subjects",
        (false, false) => "pairs",
    };
    let first = query.seqs.start.0.clamp(1, BEHIND_ALL);
    let behind = query.seqs.end.0.min(BEHIND_ALL);
    if first >= behind {
        return Ok(Vec::new());
    }
    let wanted = IndexRange {
        which,
        types: &query.types,
        subjects: &query.subjects,
        order: query.order,
        lower: digits(first),
        upper: digits(behind),
        limit: query.limit,
    };
    all_pages(client, session, wanted, |entry| digits(entry.header.seq.0)).await
}

pub(super) async fn read_by_time(
    client: &Client,
    session: &SessionId,
    query: &TimeQuery,
) -> Result<Vec<Entry>, RedisFailure> {
    let mut lower = query.after.map(|after| time_digits(after) + BEHIND_DIGITS).unwrap_or_default();
    let mut upper = query.before.map_or(BEHIND_DIGITS.to_owned(), time_digits);
    if let Some((time, seq)) = query.from {
        let place = place(time, seq);
        match query.order {
            Order::Forward => lower = lower.max(place + BEHIND_DIGITS),
            Order::Backward => upper = upper.min(place),
        }
    }
    let (types, subjects) = (slice::from_ref(&query.kind), slice::from_ref(&query.subject));
    let wanted = IndexRange { which: "times", types, subjects, order: query.order, lower, upper, limit: query.limit };
    let place = |entry: &Entry| place(entry.header.time.unwrap_or_default(), entry.header.seq);
    all_pages(client, session, wanted, place).await
}

/// A time in 16 digits, as positions contain it.
pub(super) fn time_digits(time: Timestamp) -> String {
    format!("{:016}", time.as_millis() - LONG_AGO)
}

fn place(time: Timestamp, seq: Seq) -> String {
    time_digits(time) + &digits(seq.0.min(BEHIND_ALL))
}

fn digits(number: u64) -> String {
    format!("{number:016}")
}

/// Reads page by page. `place` gives the position of an entry in the index.
async fn all_pages(
    client: &Client,
    session: &SessionId,
    wanted: IndexRange<'_>,
    place: impl Fn(&Entry) -> String,
) -> Result<Vec<Entry>, RedisFailure> {
    for _ in 0..TRIES {
        if let Some(found) = try_all_pages(client, session, wanted.clone(), &place).await? {
            return Ok(found);
        }
    }
    Err(RedisFailure::NoAnswer("the session was deleted and created again several times while it was read".to_owned()))
}

/// `None` if the session was deleted and created again meanwhile.
async fn try_all_pages(
    client: &Client,
    session: &SessionId,
    mut wanted: IndexRange<'_>,
    place: impl Fn(&Entry) -> String,
) -> Result<Option<Vec<Entry>>, RedisFailure> {
    let mut found: Vec<Entry> = Vec::new();
    let mut born = None;
    while found.len() < wanted.limit {
        let at_once = AT_ONCE.min(wanted.limit - found.len());
        let page = client.run(&script::READ, session, arguments(&wanted, at_once)).await?;
        let Some(page) = Page::read(page)? else { return Ok(Some(Vec::new())) };
        if *born.get_or_insert_with(|| page.born.clone()) != page.born {
            return Ok(None);
        }
        let Some(last) = page.entries.last() else { break };
        match wanted.order {
            Order::Forward => wanted.lower = next(&place(last), wanted.which),
            Order::Backward => wanted.upper = place(last),
        }
        found.extend(page.entries);
        if !page.more {
            break;
        }
    }
    Ok(Some(found))
}

/// The position after `place`.
fn next(place: &str, which: &str) -> String {
    match place.parse::<u64>() {
        Ok(seq) if which != "times" => digits(seq.saturating_add(1)),
        _ => format!("{place}{BEHIND_DIGITS}"),
    }
}

fn arguments<'a>(wanted: &'a IndexRange<'_>, limit: usize) -> Vec<Cow<'a, str>> {
    let order = match wanted.order {
        Order::Forward => "forward",
        Order::Backward => "backward",
    };
    let mut words: Vec<Cow<'a, str>> = vec![order.into(), (&*wanted.lower).into(), (&*wanted.upper).into()];
    words.extend([limit.to_string().into(), wanted.which.into(), wanted.types.len().to_string().into()]);
    words.extend(wanted.types.iter().chain(wanted.subjects).map(|word| Cow::from(&**word)));
    words
}

/// The reply of the script.
struct Page {
    /// The first tag of the journal. It differs if the session was deleted and created again.
    born: String,
    more: bool,
    entries: Vec<Entry>,
}

impl Page {
    fn read(reply: Reply) -> Result<Option<Self>, RedisFailure> {
        if reply == Reply::Nothing {
            return Ok(None);
        }
        let mut list = reply.list()?.into_iter();
        let mut next = || list.next().unwrap_or(Reply::Nothing);
        let (born, more) = (next().text()?, next().number()? == 1);
        let entries = list.map(read_entry).collect::<Result<_, _>>()?;
        Ok(Some(Self { born, more, entries }))
    }
}

pub(super) fn read_entry(reply: Reply) -> Result<Entry, RedisFailure> {
    match reply {
        Reply::Number(seq) => {
            Err(RedisFailure::Damaged { what: format!("entry {seq}"), detail: "it is not in the journal".to_owned() })
        }
        other => entry::read(&other.text()?),
    }
}
