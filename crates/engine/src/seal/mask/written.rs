//! JSON as it is written: known values are hidden in it, and all else stays, as digits of numbers and fields with the same key.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use callboard_core::exact::{quote_inexact, text_bytes};
use serde_json::Value;

use super::Mask;

/// An object or a list that is open.
struct Open {
    is_object: bool,
    /// Whether the next text is a key.
    awaits_key: bool,
    /// The key that values in it stand under; in a list it is that of the list.
    key: Arc<str>,
    /// The keys that stay as they are.
    kept: BTreeSet<String>,
    /// The keys in which something was hidden, as they are now.
    made: BTreeSet<String>,
    /// The last number behind such a key.
    numbers: BTreeMap<String, usize>,
}

impl Mask {
    /// JSON with known values hidden in texts, numbers and keys, but for words of the API.
    pub(super) fn mask_written(&self, json: &str) -> String {
        let bytes = json.as_bytes();
        let mut whole = String::with_capacity(json.len());
        let mut open: Vec<Open> = Vec::new();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let begin = at;
            let rest = bytes.get(begin..).unwrap_or_default();
            at += match byte {
                b'"' => text_bytes(rest),
                b'-' | b'0'..=b'9' => rest.iter().take_while(|byte| !b",]} \n\r\t".contains(byte)).count(),
                _ => 1,
            };
            let written = json.get(begin..at).unwrap_or_default();
            let masked = match (byte, open.last_mut()) {
                (b'"', Some(within)) if within.awaits_key => within.begin_field(self, written),
                (b'"' | b'-' | b'0'..=b'9', within) => {
                    self.mask_leaf(within.map_or("", |within| &*within.key), written)
                }
                (b'{' | b'[', within) => {
                    let key = within.map(|within| within.key.clone()).unwrap_or_default();
                    open.push(Open::new(*byte == b'{', key));
                    None
                }
                (b'}' | b']', _) => {
                    open.pop();
                    None
                }
                (b',', Some(within)) => {
                    within.awaits_key = within.is_object;
                    None
                }
                _ => None,
            };
            whole.push_str(masked.as_deref().unwrap_or(written));
        }
        whole
    }

    /// A text or a number under `key`, as it is written; `None` where nothing is hidden in it.
    fn mask_leaf(&self, key: &str, written: &str) -> Option<String> {
        let mut leaf: Value = serde_json::from_str(&quote_inexact(written)).ok()?;
        self.mask_under(&BTreeSet::new(), key, &mut leaf).then(|| leaf.to_string())
    }
}

impl Open {
    fn new(is_object: bool, key: Arc<str>) -> Self {
        let (kept, made, numbers) = Default::default();
        Self { is_object, awaits_key: is_object, key, kept, made, numbers }
    }

    /// Begins a field. The answer is its key, if that becomes another: a number is put behind it where its name is taken, so that
    /// no field is lost.
    fn begin_field(&mut self, mask: &Mask, written: &str) -> Option<String> {
        self.awaits_key = false;
        let key: String = serde_json::from_str(written).ok()?;
        self.key = key.as_str().into();
        let hidden = if mask.finds_in_key(&key) { mask.mask(&key) } else { None };
        if hidden.is_none() && !self.made.contains(&key) {
            self.kept.insert(key);
            return None;
        }
        let base = hidden.unwrap_or(key);
        let mut name = base.clone();
        while self.kept.contains(&name) || self.made.contains(&name) {
            let number = self.numbers.entry(base.clone()).or_insert(1);
            *number += 1;
            name = format!("{base} {number}");
        }
        let now = Value::from(name.as_str()).to_string();
        self.made.insert(name);
        Some(now)
    }
}
