//! Entries as text: the tag in 32 hexadecimal digits, the canonical header, a line end, and the data.
//!
//! A canonical header is JSON in one line, so it ends at the first line end.

use callboard_core::{
    audience::Audience,
    entry::{Actor, Entry, Header, Tag},
    id::Seq,
    time::Timestamp,
};
use serde::Deserialize;
use serde_json::Value;

use super::error::RedisFailure;

/// The length of a tag in text.
const TAG: usize = 32;

pub(super) fn write(entry: &Entry) -> String {
    let header = String::from_utf8_lossy(&entry.header.canonical()).into_owned();
    format!("{}{header}\n{}", entry.tag, entry.data)
}

pub(super) fn read(text: &str) -> Result<Entry, RedisFailure> {
    let entry = || {
        let (tag, rest) = text.split_at_checked(TAG)?;
        let (header, data) = rest.split_once('\n')?;
        Some(Entry { header: read_header(header)?, data: data.into(), tag: read_tag(tag)? })
    };
    let damaged = || RedisFailure::Damaged { what: "an entry".to_owned(), detail: "it cannot be read".to_owned() };
    entry().ok_or_else(damaged)
}

/// Parses a tag of 32 hexadecimal digits.
pub(super) fn read_tag(text: &str) -> Option<Tag> {
    serde_json::from_value(Value::from(text)).ok()
}

/// The fields of a canonical header. The nonce may be missing.
#[derive(Deserialize)]
struct Fields(Seq, u16, i64, Actor, String, String, Audience, Option<i64>, Vec<String>, #[serde(default)] Option<u32>);

fn read_header(text: &str) -> Option<Header> {
    let Fields(seq, v, at, by, kind, subject, audience, time, keys, nonce) = serde_json::from_str(text).ok()?;
    Some(Header {
        seq,
        v,
        at: Timestamp::from_millis(at).ok()?,
        by,
        kind: kind.into(),
        subject: subject.into(),
        audience,
        time: time.map(Timestamp::from_millis).transpose().ok()?,
        keys: keys.into_iter().map(Into::into).collect(),
        nonce,
    })
}

#[cfg(test)]
mod tests {
    use callboard_core::entry::{Draft, Head};

    use super::*;

    #[test]
    fn an_entry_is_read_back_as_it_was_written() {
        let draft = Draft {
            v: 7,
            kind: "note\nmade".into(),
            subject: "thread:\0\u{2028}".into(),
            audience: Audience::of(["b c".parse().unwrap()]),
            time: Some(Timestamp::from_millis(-1).unwrap()),
            keys: vec!["k\r\n".into()],
            data: "{\"a\": 1.0,\n \"b\": 2}\n".into(),
        };
        for nonce in [None, Some(0), Some(u32::MAX)] {
            let entry = Entry::seal(Head::default(), Timestamp::default(), Actor::System, nonce, draft.clone());
            assert_eq!(read(&write(&entry)).unwrap(), entry);
        }
    }

    #[test]
    fn what_is_no_entry_is_damaged() {
        for text in ["", "0123", &"0".repeat(40), &format!("{}[1]\n{{}}", "0".repeat(32))] {
            assert!(matches!(read(text), Err(RedisFailure::Damaged { .. })), "{text}");
        }
    }
}
