//! Entries as lines of JSON: the form in which a journal is exported, and in which samples of it are kept.
//!
//! ```text
//! {"seq":4,"v":1,"at":"2025-01-18T09:00:01.000Z","by":"user","type":"message.added","subject":"thread:main",
//!  "audience":"all","time":"2025-01-18T09:00:01.000Z","keys":["message:4:main/hello"],"nonce":7,"data":{…},"tag":"5f0c…"}
//! ```
//!
//! all in one line. `time`, `keys` and `nonce` are left out where there are none. `data` stands there byte for byte as it was
//! decided, so that the tag can be computed again.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{Actor, Entry, Header, Tag};
use crate::{audience::Audience, id::Seq, time::Timestamp};

/// The fields of a line, in order.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    seq: Seq,
    v: u16,
    at: Timestamp,
    by: Actor,
    #[serde(rename = "type")]
    kind: Arc<str>,
    subject: Arc<str>,
    audience: Audience,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    time: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    keys: Vec<Arc<str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nonce: Option<u32>,
    data: Box<RawValue>,
    tag: Tag,
}

/// The line of an entry, without a line end. An error where its data is not JSON, which no entry that was decided has.
pub fn write(entry: &Entry) -> Result<String, serde_json::Error> {
    let Entry { header, data, tag } = entry.clone();
    let Header { seq, v, at, by, kind, subject, audience, time, keys, nonce } = header;
    let data = RawValue::from_string(data.to_string())?;
    serde_json::to_string(&Line { seq, v, at, by, kind, subject, audience, time, keys, nonce, data, tag })
}

/// The entry of a line. Whether its tag is right, and whether this program knows its type, is not looked at.
pub fn read(line: &str) -> Result<Entry, serde_json::Error> {
    let Line { seq, v, at, by, kind, subject, audience, time, keys, nonce, data, tag } = serde_json::from_str(line)?;
    let header = Header { seq, v, at, by, kind, subject, audience, time, keys, nonce };
    Ok(Entry { header, data: data.get().into(), tag })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        entry::{Draft, Head},
        testing::Board,
    };

    #[test]
    fn an_entry_is_read_back_as_it_was_written() {
        for entry in Board::team("lead writer").entries {
            assert_eq!(read(&write(&entry).unwrap()).unwrap(), entry);
        }
    }

    #[test]
    fn entries_of_two_who_decide_the_same_differ_by_their_nonces() {
        let sealed = |nonce| {
            let Entry { header, data, .. } = Board::team("lead").entries.remove(0);
            let Header { v, at, by, kind, subject, audience, time, keys, .. } = header;
            Entry::seal(Head::default(), at, by, nonce, Draft { v, kind, subject, audience, time, keys, data })
        };
        let tags = [None, Some(0), Some(7)].map(|nonce| {
            let entry = sealed(nonce);
            assert_eq!(read(&write(&entry).unwrap()).unwrap(), entry);
            entry.tag.to_string()
        });
        // They are fixed for ever.
        insta::assert_snapshot!(tags.join(" "), @"5bd247e2d6a9ea3863922906c2ca1172 c8c6058f964bed8302fe8c13b48c5ee2 e4e59a1e6ea942064de4a31e95c76e22");
    }

    #[test]
    fn data_keeps_its_bytes() {
        let mut entry = Board::team("lead").entries.remove(0);
        entry.data = r#"{ "b":1.0e0,"a" :"\u00e9","a":null }"#.into();
        assert_eq!(read(&write(&entry).unwrap()).unwrap(), entry);
    }

    #[test]
    fn what_is_not_a_line_of_an_entry_is_refused() {
        let line = write(&Board::team("lead").entries[0]).unwrap();
        for wrong in ["", "{}", &line.replace("\"tag\"", "\"tug\""), &line.replace("\"v\":1", "\"v\":-1"), &line[..40]]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
