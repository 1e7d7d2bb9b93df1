//! What stands before the data of an entry: a salt, or what became of data that was erased; and what the data repeats.
//!
//! ```text
//! {"hash_salt":"5b1f…",…}                         data with somebody's own words, as it is decided
//! {"hash_salt":"5b1f…","copied_from":[3,5],…}     data that repeats words of the entries 3 and 5
//! {"erased_sha256":"83d0…","erased_by":12,…}      what stands in its place once it is erased
//! ```
//!
//! The hash of data is that of all its bytes, so nobody can guess short words from it without the salt, which goes with the
//! words. Erased data keeps the hash of what was there: so the tags of its entry and of all later ones can still be computed.
//! Data without such words has no salt. `copied_from` is there where Callboard itself put words of other entries into the
//! data, and stays when it is erased.

use std::{borrow::Cow, fmt::Write as _};

use super::{Draft, Entry, Hash};
use crate::id::Seq;

const SALTED: &str = "{\"hash_salt\":\"";
const ERASED: &str = "{\"erased_sha256\":\"";
const BY: &str = "\",\"erased_by\":";
const COPIED: &str = "\"copied_from\":[";

/// How long a salt is.
const SALT_DIGITS: usize = 32;

/// Random bits that nobody keeps: the salts of the entries of a decision are made of them.
#[derive(Clone, Copy)]
pub struct SaltSeed(pub [u64; 2]);

impl SaltSeed {
    /// The salt of the entry `seq`: 128 bits in hexadecimal, which are hashed together with data that holds somebody's own words. One
    /// salt tells nothing of another.
    pub fn salt(self, seq: Seq) -> String {
        let Self([one, two]) = self;
        let hash = Hash::of([one, two, seq.0].map(u64::to_be_bytes).as_flattened());
        hash.to_string().chars().take(SALT_DIGITS).collect()
    }
}

/// What became of the data of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erasure {
    /// The hash of the data that was there.
    pub sha256: Hash,
    /// The entry that says who erased it and why. In a fork that was made before, it can be another one.
    pub by: Seq,
}

impl Draft {
    /// Puts a salt before its data.
    pub(crate) fn salt(&mut self, salt: &str) {
        if let Some(fields) = self.data.strip_prefix('{').filter(|fields| *fields != "}") {
            self.data = format!("{SALTED}{salt}\",{fields}").into();
        }
    }

    /// Notes before its data whose words it repeats. It comes before the salt.
    pub(crate) fn copied_from(&mut self, from: &[Seq]) {
        if !from.is_empty() {
            self.data = copied(from, &self.data).into();
        }
    }
}

impl Entry {
    /// The hash that its tag is computed over: that of its data, as it was decided.
    pub fn data_hash(&self) -> Hash {
        self.erasure().map_or_else(|| Hash::of(self.data.as_bytes()), |erased| erased.sha256)
    }

    /// What became of its data, if that was erased.
    pub fn erasure(&self) -> Option<Erasure> {
        Some(split_erased(&self.data)?.0)
    }

    /// The entries whose words it repeats, because Callboard itself put them there.
    pub fn copied_from(&self) -> Vec<Seq> {
        split_copied(split_marks(&self.data)).0
    }

    /// Its data alone, without what stands before it.
    pub fn json(&self) -> Cow<'_, str> {
        whole(&self.data, split_copied(split_marks(&self.data)).1)
    }

    /// The hash of some of its words, with its salt: once that is erased, nobody can guess the words from the hash.
    pub fn hash_of_words(&self, words: &str) -> Hash {
        let salt = split_salted(&self.data).and_then(|_| self.data.get(SALTED.len()..SALTED.len() + SALT_DIGITS));
        match salt {
            Some(salt) => Hash::of(format!("{salt}{words}").as_bytes()),
            None => Hash::of(words.as_bytes()),
        }
    }

    /// Its data as a reader gets it: without a salt, and with what became of it.
    pub fn shown(&self) -> Cow<'_, str> {
        match split_erased(&self.data) {
            Some((erasure, fields)) if !split_copied(fields).0.is_empty() => erased(erasure, &self.json()).into(),
            Some(_) => Cow::Borrowed(&self.data),
            None => self.json(),
        }
    }
}

/// Data with a note before it whose words it repeats.
pub(crate) fn copied(from: &[Seq], data: &str) -> String {
    match data.strip_prefix('{') {
        Some(fields) if !from.is_empty() && fields != "}" => {
            let from: Vec<_> = from.iter().map(Seq::to_string).collect();
            format!("{{{COPIED}{}],{fields}", from.join(","))
        }
        _ => data.to_owned(),
    }
}

/// The data that stands in the place of erased data: `fields`, a JSON object.
pub(crate) fn erased(erasure: Erasure, fields: &str) -> String {
    let Erasure { sha256, by } = erasure;
    let mut data = format!("{ERASED}{sha256}{BY}{by}");
    match fields.strip_prefix('{') {
        Some("}") | None => data.push('}'),
        // Writing to a string never fails.
        Some(fields) => drop(write!(data, ",{fields}")),
    }
    data
}

/// The object of which `fields` are the end, which is all of `data` where nothing stands before them.
fn whole<'a>(data: &'a str, fields: &str) -> Cow<'a, str> {
    if fields.len() + 1 >= data.len() { Cow::Borrowed(data) } else { format!("{{{fields}").into() }
}

/// The fields behind a salt, or behind what became of the data.
fn split_marks(data: &str) -> &str {
    let erased = || split_erased(data).map(|(_, fields)| fields);
    split_salted(data).or_else(erased).or_else(|| data.strip_prefix('{')).unwrap_or(data)
}

/// Whose words the data repeats, and the fields behind that.
fn split_copied(fields: &str) -> (Vec<Seq>, &str) {
    let split = || {
        let (from, rest) = fields.strip_prefix(COPIED)?.split_once("],")?;
        let from = from.split(',').map(|seq| seq.parse().map(Seq)).collect::<Result<Vec<_>, _>>().ok()?;
        Some((from, rest))
    };
    split().unwrap_or_else(|| (Vec::new(), fields))
}

/// The fields behind a salt.
fn split_salted(data: &str) -> Option<&str> {
    data.strip_prefix(SALTED)?.get(SALT_DIGITS..)?.strip_prefix("\",")
}

/// What became of the data, and the fields behind that.
fn split_erased(data: &str) -> Option<(Erasure, &str)> {
    let rest = data.strip_prefix(ERASED)?;
    let (hash, rest) = (rest.get(..64)?, rest.get(64..)?.strip_prefix(BY)?);
    let sha256 = serde_json::from_value(hash.into()).ok()?;
    let end = rest.find([',', '}'])?;
    let by = Seq(rest.get(..end)?.parse().ok()?);
    Some((Erasure { sha256, by }, rest.get(end..)?.trim_start_matches(',')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{entry::Head, testing::Board};

    fn entry(data: &str) -> Entry {
        let mut entry = Board::team("lead").entries.remove(0);
        entry.data = data.into();
        entry
    }

    fn draft() -> Draft {
        Draft {
            v: 1,
            kind: "message.added".into(),
            subject: "thread:main".into(),
            audience: crate::audience::Audience::All,
            time: None,
            keys: Vec::new(),
            data: r#"{"content":"hello"}"#.into(),
        }
    }

    #[test]
    fn data_is_read_without_what_stands_before_it() {
        let mut draft = draft();
        draft.salt(&SaltSeed([1, 2]).salt(Seq(4)));
        insta::assert_snapshot!(draft.data, @r#"{"hash_salt":"2a14a59b89f899509eba54d0b2880c02","content":"hello"}"#);
        let salted = entry(&draft.data);
        assert_eq!(salted.json(), r#"{"content":"hello"}"#);
        assert_eq!(salted.shown(), salted.json());
        assert_eq!(salted.data_hash(), Hash::of(draft.data.as_bytes()));
        let erasure = Erasure { sha256: salted.data_hash(), by: Seq(12) };
        let gone = entry(&erased(erasure, r#"{"content":"[erased]"}"#));
        assert_eq!((gone.erasure(), gone.data_hash()), (Some(erasure), salted.data_hash()));
        assert_eq!(gone.json(), r#"{"content":"[erased]"}"#);
        assert_eq!(gone.shown(), &*gone.data);
        assert_eq!(entry(&erased(erasure, "{}")).json(), "{}");
    }

    #[test]
    fn data_says_whose_words_it_repeats_also_once_it_is_erased() {
        let mut draft = draft();
        draft.copied_from(&[]);
        assert_eq!(&*draft.data, r#"{"content":"hello"}"#);
        draft.copied_from(&[Seq(3), Seq(15)]);
        let unsalted = entry(&draft.data);
        draft.salt(&SaltSeed([1, 2]).salt(Seq(4)));
        let salted = entry(&draft.data);
        let erasure = Erasure { sha256: salted.data_hash(), by: Seq(12) };
        let gone = entry(&erased(erasure, &copied(&salted.copied_from(), r#"{"content":"[erased]"}"#)));
        assert_eq!((gone.erasure(), gone.data_hash()), (Some(erasure), salted.data_hash()));
        for (entry, json) in [
            (&unsalted, r#"{"content":"hello"}"#),
            (&salted, r#"{"content":"hello"}"#),
            (&gone, r#"{"content":"[erased]"}"#),
        ] {
            assert_eq!((entry.copied_from(), &*entry.json()), (vec![Seq(3), Seq(15)], json));
            assert!(!entry.shown().contains("copied_from"), "{}", entry.shown());
        }
        assert_eq!(unsalted.shown(), r#"{"content":"hello"}"#);
        assert_eq!(gone.shown(), erased(erasure, r#"{"content":"[erased]"}"#));
    }

    #[test]
    fn other_data_stays_as_it_is() {
        for data in [
            "{}",
            r#"{"hash_salt":"5b"}"#,
            r#"{"erased_sha256":"83","erased_by":1}"#,
            r#"{"a":{"hash_salt":1}}"#,
            r#"{"copied_from":["x"],"a":1}"#,
            r#"{"copied_from":[1]}"#,
        ] {
            let entry = entry(data);
            assert_eq!((entry.json(), entry.shown(), entry.erasure()), (data.into(), data.into(), None));
            assert_eq!(entry.data_hash(), Hash::of(data.as_bytes()));
        }
    }

    #[test]
    fn salts_differ_by_entry_and_by_seed() {
        let salts = [([1, 2], 1), ([1, 2], 2), ([2, 1], 1)].map(|(seed, seq)| SaltSeed(seed).salt(Seq(seq)));
        assert!(salts[0] != salts[1] && salts[0] != salts[2] && salts[1] != salts[2], "{salts:?}");
        assert_eq!(Head::default().seq, Seq::ZERO);
    }
}
