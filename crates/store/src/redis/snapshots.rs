//! Snapshots. Each is stored as text: the tag, and the state.

use std::fmt::Write as _;

use callboard_core::{
    entry::Head,
    id::{Seq, SessionId},
};

use super::{client::Client, command::Reply, entry::read_tag, error::RedisFailure, script};
use crate::{Snapshot, store::SNAPSHOTS_KEPT};

/// The prefix of a state that is text.
const TEXT: char = 't';

/// The prefix of a state that is not text, and is written in hexadecimal digits.
const DIGITS: char = 'x';

pub(super) async fn put(client: &Client, session: &SessionId, at: Head, state: &[u8]) -> Result<(), RedisFailure> {
    let arguments = vec![
        at.seq.to_string().into(),
        at.tag.to_string().into(),
        written(state).into(),
        SNAPSHOTS_KEPT.to_string().into(),
    ];
    client.run(&script::PUT_SNAPSHOT, session, arguments).await.map(drop)
}

pub(super) async fn newest(client: &Client, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, RedisFailure> {
    let found = client.run(&script::SNAPSHOT, session, vec![at.to_string().into()]).await?;
    if found == Reply::Nothing {
        return Ok(None);
    }
    let [seq, text] = found.exactly()?;
    let (seq, text) = (Seq(seq.number()?.unsigned_abs()), text.text()?);
    let parsed = text.split_at_checked(32).and_then(|(tag, state)| Some((read_tag(tag)?, read(state)?)));
    let damaged = || RedisFailure::Damaged { what: "a snapshot".to_owned(), detail: "it cannot be read".to_owned() };
    let (tag, state) = parsed.ok_or_else(damaged)?;
    Ok(Some((Head { seq, tag }, state.into())))
}

fn written(state: &[u8]) -> String {
    match std::str::from_utf8(state) {
        Ok(text) => format!("{TEXT}{text}"),
        Err(_) => state.iter().fold(String::from(DIGITS), |mut digits, byte| {
            // Writing into a string does not fail.
            let _ = write!(digits, "{byte:02x}");
            digits
        }),
    }
}

fn read(text: &str) -> Option<Vec<u8>> {
    if let Some(text) = text.strip_prefix(TEXT) {
        return Some(text.as_bytes().to_owned());
    }
    let digits = text.strip_prefix(DIGITS)?.as_bytes();
    digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_are_read_back() {
        for state in [&b""[..], b"{\"state\": 1}", &[0, 0xff, 7], "\u{1f3ad}".as_bytes()] {
            assert_eq!(read(&written(state)).unwrap(), state);
        }
    }
}
