//! Halves of characters in JSON: JavaScript cuts texts in the middle of a character, and writes `"\ud83d"`, which is no text.

use std::collections::BTreeSet;

/// What stands in the place of half a character. It is as long as that.
const REPLACEMENT: &[u8; 6] = b"\\ufffd";

/// JSON in which halves of characters were replaced, and in which members of the list in it.
pub(crate) struct Repaired {
    pub(crate) json: Vec<u8>,
    /// The members, from 0; 0 where it has no list.
    pub(crate) members: BTreeSet<usize>,
}

/// Replaces halves of characters with U+FFFD; none where there are none.
pub(crate) fn repair(json: &[u8]) -> Option<Repaired> {
    if !json.windows(3).any(|three| three.eq_ignore_ascii_case(b"\\ud")) {
        return None;
    }
    let repaired = Repaired { json: json.to_vec(), members: BTreeSet::new() };
    let mut reading = Reading { json, at: 0, open: Vec::new(), member: 0, repaired };
    while let Some(byte) = json.get(reading.at) {
        reading.at += 1;
        match byte {
            b'"' => reading.text(),
            b'{' | b'[' => reading.open.push(*byte),
            b'}' | b']' => drop(reading.open.pop()),
            b',' if reading.open.len() == 2 && reading.is_in_list() => reading.member += 1,
            _ => {}
        }
    }
    Some(reading.repaired).filter(|repaired| !repaired.members.is_empty())
}

/// JSON that is being read.
struct Reading<'a> {
    json: &'a [u8],
    at: usize,
    /// The objects and lists that are open here.
    open: Vec<u8>,
    /// Which member of the list in the outermost object this is.
    member: usize,
    repaired: Repaired,
}

impl Reading<'_> {
    /// Whether this is in the list in the outermost object.
    fn is_in_list(&self) -> bool {
        self.open.get(1) == Some(&b'[')
    }

    /// Reads a text up to its end.
    fn text(&mut self) {
        while let Some(byte) = self.json.get(self.at) {
            match byte {
                b'"' => {
                    self.at += 1;
                    return;
                }
                b'\\' => self.escape(),
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self) {
        let begin = self.at;
        match (self.unit(begin), self.unit(begin + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => self.at += 12,
            (Some(0xd800..=0xdfff), _) => {
                if let Some(half) = self.repaired.json.get_mut(begin..begin + REPLACEMENT.len()) {
                    half.copy_from_slice(REPLACEMENT);
                }
                self.at += 6;
                self.repaired.members.insert(if self.is_in_list() { self.member } else { 0 });
            }
            (Some(_), _) => self.at += 6,
            (None, _) => self.at += 2,
        }
    }

    /// The unit of UTF-16 that is escaped at this place.
    fn unit(&self, at: usize) -> Option<u16> {
        let digits = self.json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::repair;

    fn repaired(json: &str) -> Option<(String, Vec<usize>)> {
        let repaired = repair(json.as_bytes())?;
        Some((String::from_utf8(repaired.json).unwrap(), repaired.members.into_iter().collect()))
    }

    #[test]
    fn halves_of_characters_are_replaced_and_their_messages_named() {
        let json =
            r#"{"messages": [{"a": "x, \ud83d\ude00"}, {"a": ["\ud83d"]}, {"b": 1}, {"c": "\uDE00 \ud83d\u0041"}]}"#;
        let expected =
            r#"{"messages": [{"a": "x, \ud83d\ude00"}, {"a": ["\ufffd"]}, {"b": 1}, {"c": "\ufffd \ufffd\u0041"}]}"#;
        assert_eq!(repaired(json), Some((expected.to_owned(), vec![1, 3])));
        assert_eq!(repaired(r#"{"text": "\udc00"}"#), Some((r#"{"text": "\ufffd"}"#.to_owned(), vec![0])));
    }

    #[test]
    fn what_is_whole_stays_as_it_is() {
        for json in [
            r#"{"a": "\ud83d\ude00"}"#,
            r#"{"a": "\\ud83d"}"#,
            r#"{"a": "ud83d"}"#,
            r#"{"a": "\u00e9"}"#,
            r#"{"a": "\ud8"#,
        ] {
            assert_eq!(repaired(json), None, "{json}");
        }
    }
}
