//! Where secrets stand in the text of JSON. What stands around them is not read as values: numbers would be written otherwise.

use std::{collections::BTreeSet, ops::Range};

use serde::de::IgnoredAny;

use crate::{exact::text_bytes, json::pointer_token, variable::is_secret_name};

/// How many bytes the JSON pointers of all places in a text have at most.
const MOST_POINTERS: usize = 1024 * 1024;

/// Where a value stands under a key that says that it is a secret.
pub(super) struct Place {
    /// Its JSON pointer. Where that is taken, since a key is there twice, or where pointers are long, `~~` and the number of
    /// the place, which is no JSON pointer.
    pub(super) name: String,
    /// The bytes of the value.
    pub(super) range: Range<usize>,
}

/// An object or a list that is open.
struct Open {
    /// How long the pointer was before it.
    before: usize,
    /// The number of the value in a list.
    index: Option<usize>,
}

/// What some programs begin a text with: the mark of the order of its bytes.
const MARK: char = '\u{feff}';

/// The places in a text that is an object or a list, in order.
pub(super) fn places(text: &str) -> Vec<Place> {
    let json = text.strip_prefix(MARK).unwrap_or(text);
    let is_json = json.trim_start().starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(json).is_ok();
    if !is_json {
        return Vec::new();
    }
    let bytes = text.as_bytes();
    let (mut places, mut taken) = (Vec::new(), BTreeSet::new());
    let (mut open, mut pointer, mut pointers): (Vec<Open>, _, usize) = (Vec::new(), String::new(), 0);
    // The key of a field, until the field ends.
    let mut key: Option<String> = None;
    let mut at = 0_usize;
    while let Some(byte) = bytes.get(at) {
        let begin = at;
        at += 1;
        match byte {
            b'{' | b'[' => {
                let before = pointer.len();
                if let Some(outer) = open.last() {
                    pointer.push('/');
                    pointer.push_str(&outer.index.map_or_else(|| key.take().unwrap_or_default(), |at| at.to_string()));
                }
                open.push(Open { before, index: (*byte == b'[').then_some(0) });
            }
            b'}' | b']' => {
                if let Some(closed) = open.pop() {
                    pointer.truncate(closed.before);
                }
                // No key follows before the next comma.
                key = Some(String::new());
            }
            b',' => {
                key = None;
                if let Some(Open { index: Some(index), .. }) = open.last_mut() {
                    *index += 1;
                }
            }
            b'"' => {
                at = begin + text_bytes(bytes.get(begin..).unwrap_or_default());
                if key.is_some() || open.last().is_none_or(|open| open.index.is_some()) {
                    continue;
                }
                let written = text.get(begin..at).unwrap_or_default();
                let name: String = serde_json::from_str(written).unwrap_or_else(|_| written.to_owned());
                let token = pointer_token(&name);
                if is_secret_name(&name) {
                    let is_between = |byte: &&u8| byte.is_ascii_whitespace() || **byte == b':';
                    let start = at + bytes.iter().skip(at).take_while(is_between).count();
                    at = start + value_bytes(text.get(start..).unwrap_or_default());
                    pointers += pointer.len() + token.len();
                    let number = format!("~~{}", places.len());
                    let own = if pointers > MOST_POINTERS { number.clone() } else { format!("{pointer}/{token}") };
                    let name = if taken.insert(own.clone()) { own } else { number };
                    places.push(Place { name, range: start..at });
                }
                key = Some(token);
            }
            _ => {}
        }
    }
    places
}

/// How many bytes the value has that the rest of a text of JSON begins with.
fn value_bytes(json: &str) -> usize {
    let mut values = serde_json::Deserializer::from_str(json).into_iter::<IgnoredAny>();
    values.next();
    values.byte_offset()
}
