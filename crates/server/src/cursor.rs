//! Page cursors: where a page ended, in an opaque form.

use std::fmt::Display;

use callboard_core::{
    id::{CollectionName, Seq, SessionId},
    time::Timestamp,
};
use callboard_engine::MessageCursor;

use crate::call_error::CallError;

/// The cursor for a text.
fn seal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

/// The text of a cursor.
fn open(cursor: &str) -> Result<Vec<u8>, CallError> {
    let digits: Option<Vec<_>> = cursor.chars().map(|digit| digit.to_digit(16)).collect();
    let bytes = digits.filter(|digits| digits.len() % 2 == 0 && !digits.is_empty()).map(|digits| {
        let byte = |pair: &[u32]| pair.iter().fold(0_u8, |byte, digit| (byte << 4) | u8::try_from(*digit).unwrap_or(0));
        digits.chunks(2).map(byte).collect()
    });
    bytes.ok_or_else(bad)
}

/// A page of a list that is sorted by name.
pub(crate) struct NamePage {
    /// The last name of the page before.
    after: Option<Vec<u8>>,
    limit: usize,
}

impl NamePage {
    /// The page behind `cursor`, or the first one; without a limit it has all that follows.
    pub(crate) fn new(limit: Option<usize>, cursor: Option<&str>) -> Result<Self, CallError> {
        Ok(Self { after: cursor.map(open).transpose()?, limit: limit.unwrap_or(usize::MAX) })
    }

    /// What is on it, and the cursor of the next page if there is more.
    pub(crate) fn of<T>(&self, all: impl Iterator<Item = T>, name: impl Fn(&T) -> &str) -> (Vec<T>, Option<String>) {
        let is_behind = |item: &T| self.after.as_ref().is_none_or(|after| name(item).as_bytes() > after.as_slice());
        let mut items: Vec<_> = all.filter(is_behind).take(self.limit.saturating_add(1)).collect();
        let next_cursor = cut(&mut items, self.limit, |item| name(item).to_owned());
        (items, next_cursor)
    }
}

/// Where a page of sessions begins.
pub(crate) enum SessionPlace {
    /// In the order of last use, behind one that was used at this time.
    Behind(Option<(Timestamp, SessionId)>),
    /// In the order of ids, after this.
    After(Option<SessionId>),
}

/// Where a page of sessions begins, as a cursor says.
pub(crate) fn session(cursor: &str) -> Result<SessionPlace, CallError> {
    let text = text(cursor)?;
    let id = |id: &str| id.parse::<SessionId>().map_err(|_| bad());
    Ok(match text.split_once('/') {
        Some((time, behind)) => SessionPlace::Behind(Some((read_time(time)?, id(behind)?))),
        None => SessionPlace::After(Some(id(&text)?)),
    })
}

/// The collection after which a page begins.
pub(crate) fn collection(cursor: &str) -> Result<CollectionName, CallError> {
    text(cursor)?.parse().map_err(|_| bad())
}

fn text(cursor: &str) -> Result<String, CallError> {
    String::from_utf8(open(cursor)?).map_err(|_| bad())
}

/// The number after which a page begins.
pub(crate) fn number(cursor: &str) -> Result<u64, CallError> {
    text(cursor)?.parse().map_err(|_| bad())
}

/// Shortens a list to a page of `limit`, and gives the cursor of the next page if there was more.
pub(crate) fn cut<T>(read: &mut Vec<T>, limit: usize, place: impl Fn(&T) -> String) -> Option<String> {
    let more = read.len() > limit;
    read.truncate(limit);
    read.last().filter(|_| more).map(|last| seal(&place(last)))
}

/// The place of what was done at this time, as a cursor says it.
pub(crate) fn timed(time: Timestamp, what: impl Display) -> String {
    format!("{}/{what}", time.as_millis())
}

/// The cursor for a place among messages.
pub(crate) fn of_place((time, seq): MessageCursor) -> String {
    seal(&timed(time, seq))
}

/// The place among messages that a cursor stands for.
pub(crate) fn place(cursor: &str) -> Result<MessageCursor, CallError> {
    let text = text(cursor)?;
    let (time, seq) = text.split_once('/').ok_or_else(bad)?;
    Ok((read_time(time)?, Seq(seq.parse().map_err(|_| bad())?)))
}

fn read_time(millis: &str) -> Result<Timestamp, CallError> {
    millis.parse().map(Timestamp::nearest).map_err(|_| bad())
}

/// The error for a text that is no cursor.
fn bad() -> CallError {
    CallError::invalid("/cursor", "this is not a cursor: use the `next_cursor` of the previous page, or leave it out")
}
