//! Which parts of a value are secrets, by their names, and taking them out of it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::display::{HIDDEN, is_placeholder};
use crate::{error::Error, id::is_control, json::pointer_token, text::first_chars};

/// What the name of a secret ends with.
const SECRETS: [&str; 13] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "credential",
    "credentials",
    "pin",
    "otp",
    "authorization",
    "bearer",
    "cookie",
];

/// Before `token`, these words make it a place in a list, which is no secret.
const CURSORS: [&str; 6] = ["page", "cursor", "continuation", "next", "pagination", "sync"];

/// Before these words, `key` is a secret.
const KEYS: [&str; 5] = ["api", "access", "private", "secret", "signing"];

/// How many characters of a path a placeholder has at most.
const PATH_CHARS: usize = 200;

/// How many secrets a value has at most, with those that were taken out of it before.
const MOST_SECRETS: usize = 10_000;

/// How many bytes their JSON pointers have together at most: each has all keys on its way, however long they are.
const MOST_POINTER_BYTES: usize = 1024 * 1024;

/// The secrets in a value, as JSON pointers to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSecrets {
    /// Where there are secrets.
    pub secrets: Vec<String>,
    /// Where a secret was, and its placeholder is now.
    pub placeholders: Vec<String>,
}

/// Finds the secrets in the value of the variable `name`, which was marked as secret, as not secret, or not at all.
///
/// A part of the value is a secret if the key that it stands under [is a name of a secret](is_secret_name), however deep
/// it is. The whole value is one if the name of the variable is such a name, or if the variable is marked as secret. One
/// that is marked as not secret has none.
///
/// # Errors
/// There are more than 10,000, or their JSON pointers have more than 1 MiB.
pub fn find_secrets(name: &str, value: &Value, marked: Option<bool>) -> Result<FoundSecrets, Error> {
    let mut search = Search::default();
    let searched = if marked.unwrap_or_else(|| is_secret_name(name)) {
        search.add(value, &Path::Whole)
    } else if marked.is_none() {
        search.search(value, &Path::Whole)
    } else {
        Some(())
    };
    let problem = || {
        format!(
            "{name} has more than {MOST_SECRETS} secrets, or the keys on the way to them have more than {MOST_POINTER_BYTES} bytes \
             together: split it, use shorter keys, or keep it in a variable that is marked as secret as a whole"
        )
    };
    searched.map(|()| search.found).ok_or_else(|| Error::invalid("", problem()))
}

/// Takes the secrets that [are found](find_secrets) out of a value, and says what they are, by their JSON pointers. In
/// the place of each it leaves [`HIDDEN`]. What was split once has no secrets.
///
/// # Errors
/// There are too many of them. The value is as it was then.
pub fn split(name: &str, value: &mut Value, marked: Option<bool>) -> Result<BTreeMap<String, Value>, Error> {
    let found = find_secrets(name, value, marked)?;
    let take = |pointer: String| {
        let place = value.pointer_mut(&pointer)?;
        let secret = std::mem::replace(place, Value::String(HIDDEN.to_owned()));
        Some((pointer, secret))
    };
    Ok(found.secrets.into_iter().filter_map(take).collect())
}

/// Whether what is called `name` is a secret: its last word is `password`, `token` or the like, or `key` after `api`,
/// `access`, `private`, `secret` or `signing`. The token of a page is none. Words end at capital letters, digits and all other characters that are no
/// letters.
pub fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    match words.as_slice() {
        [.., before, word] if word == "token" && CURSORS.contains(&before.as_str()) => false,
        [.., word] if SECRETS.contains(&word.as_str()) => true,
        [.., before, word] if word == "key" => KEYS.contains(&before.as_str()),
        // `apikey`, `APIKEY`
        [.., word] => word.strip_suffix("key").is_some_and(|before| KEYS.contains(&before)),
        [] => false,
    }
}

/// The words of a name in small letters: `APIKey_2` is `api`, `key`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = None;
    let mut characters = name.chars().peekable();
    while let Some(c) = characters.next() {
        let is_small = |c: &char| c.is_lowercase();
        // A capital letter begins a word after a small one, and before a small one.
        let begins =
            c.is_uppercase() && (before.as_ref().is_some_and(is_small) || characters.peek().is_some_and(is_small));
        if begins || !c.is_alphabetic() {
            words.push(String::new());
        }
        if c.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The way to a part of a value.
enum Path<'a> {
    Whole,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

/// A search for secrets. It ends with `None` where there are too many.
#[derive(Default)]
struct Search {
    found: FoundSecrets,
    /// How many bytes the pointers in it have.
    bytes: usize,
}

impl Search {
    fn search(&mut self, value: &Value, path: &Path<'_>) -> Option<()> {
        match value {
            Value::Array(all) => {
                all.iter().enumerate().try_for_each(|(at, inner)| self.search(inner, &Path::Index(path, at)))
            }
            Value::Object(fields) => fields.iter().try_for_each(|(key, inner)| {
                let path = Path::Key(path, key);
                if is_secret_name(key) { self.add(inner, &path) } else { self.search(inner, &path) }
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(()),
        }
    }

    fn add(&mut self, value: &Value, path: &Path<'_>) -> Option<()> {
        let FoundSecrets { secrets, placeholders } = &mut self.found;
        self.bytes += path.bytes();
        if secrets.len() + placeholders.len() == MOST_SECRETS || self.bytes > MOST_POINTER_BYTES {
            return None;
        }
        let is_hidden = value.as_str().is_some_and(is_placeholder);
        let places = if is_hidden { placeholders } else { secrets };
        places.push(path.pointer());
        Some(())
    }
}

impl Path<'_> {
    /// How many bytes its pointer has.
    fn bytes(&self) -> usize {
        match self {
            Self::Whole => 0,
            Self::Key(outer, key) => outer.bytes() + 1 + key.len() + key.matches(['~', '/']).count(),
            Self::Index(outer, at) => outer.bytes() + 1 + at.to_string().len(),
        }
    }

    fn pointer(&self) -> String {
        match self {
            Self::Whole => String::new(),
            Self::Key(outer, key) => format!("{}/{}", outer.pointer(), pointer_token(key)),
            Self::Index(outer, at) => format!("{}/{at}", outer.pointer()),
        }
    }
}

/// What the secret at `pointer` in the variable `name` is called.
pub fn shown_name(name: &str, pointer: &str) -> String {
    let path = pointer.replace('/', ".").replace("~1", "/").replace("~0", "~");
    let plain = |c: char| if is_control(c) { '_' } else { c };
    format!("{name}{}", first_chars(&path, PATH_CHARS)).chars().map(plain).collect()
}
