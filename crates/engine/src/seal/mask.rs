//! Masks: they find known values in texts, and put `[hidden]` in their places.

mod written;

use std::{collections::BTreeSet, fmt, ops::Range, sync::Arc};

use callboard_core::{
    api_words::API_WORDS, exact::quote_inexact, input::HideSecrets, text::replaced, variable::HIDDEN,
};
use serde_json::{Map, Value};

use crate::seal::layer::{Hidden, Layer, TooMany, bytes_of};

/// Values with fewer characters are not looked for: they would be found in every other text.
pub(crate) const MIN_CHARS: usize = 6;

/// How many bytes the beginnings of all forms of the values of a mask have at most. To find them takes fifty times as many.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// The key under which the arguments of a call stand. Models give them as the text of JSON, which has to stay JSON.
const ARGUMENTS: &str = "arguments";

/// Finds known values in texts, in all the forms that they may have.
#[derive(Clone, Default)]
pub struct Mask {
    /// The values that were known first come first; each layer is at least twice as large as the next one, so that a new
    /// value costs little however many there are.
    layers: Vec<Arc<Layer>>,
}

impl HideSecrets for Mask {
    fn hide(&self, key: &str, value: &mut Value) -> bool {
        self.mask_under(&BTreeSet::new(), key, value)
    }
}

impl Mask {
    /// A mask that hides these values too. What it cannot look for is refused.
    pub(crate) fn with(&self, hidden: impl IntoIterator<Item = Arc<Hidden>>) -> Result<Self, TooMany> {
        self.within(MOST_BYTES, hidden)
    }

    fn within(&self, most: usize, hidden: impl IntoIterator<Item = Arc<Hidden>>) -> Result<Self, TooMany> {
        let is_new = |hidden: &Arc<Hidden>| is_looked_for(hidden) && !self.has(hidden);
        let mut newest: Vec<_> = hidden.into_iter().filter(is_new).collect();
        if newest.is_empty() {
            return Ok(self.clone());
        }
        let mut layers = self.layers.clone();
        while let Some(last) = layers.pop_if(|last| last.hidden.len() < newest.len() * 2) {
            newest.extend(last.hidden.iter().cloned());
        }
        let others: usize = layers.iter().map(|layer| layer.bytes).sum();
        layers.push(Arc::new(Layer::new(newest, most.saturating_sub(others))?));
        Ok(Self { layers })
    }

    /// A mask that hides as many of these values too as there is room for, where all have `most` bytes.
    pub(crate) fn with_some(&self, most: usize, hidden: impl IntoIterator<Item = Arc<Hidden>>) -> Self {
        let mut room = most.saturating_sub(self.layers.iter().map(|layer| layer.bytes).sum());
        let fits = |hidden: &Arc<Hidden>| {
            let rest = room.checked_sub(bytes_of(hidden));
            room = rest.unwrap_or(room);
            rest.is_some()
        };
        let new = hidden.into_iter().filter(|hidden| !self.has(hidden)).filter(fits);
        self.within(most, new).unwrap_or_else(|_| self.clone())
    }

    /// Whether it looks for this very value.
    pub(crate) fn has(&self, value: &str) -> bool {
        self.layers.iter().any(|layer| layer.has(value))
    }

    /// A mask that hides what either of the two does.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self { layers: self.layers.iter().chain(&other.layers).cloned().collect() }
    }

    /// Whether it hides nothing.
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Whether a known value stands in `text`.
    pub fn finds(&self, text: &str) -> bool {
        self.layers.iter().any(|layer| layer.places(text).next().is_some())
    }

    /// `text` with known values hidden; `None` where there are none in it.
    pub fn mask(&self, text: &str) -> Option<String> {
        let found = self.found(text);
        (!found.is_empty()).then(|| replaced(text, found.into_iter().map(|range| (range, HIDDEN))))
    }

    /// Where known values stand in `text`, in order, as ranges of its bytes. Values that overlap are one place.
    pub fn found(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<_> = self.layers.iter().flat_map(|layer| layer.places(text)).collect();
        found.sort_unstable_by_key(|range| range.start);
        let mut places: Vec<Range<usize>> = Vec::new();
        for range in found {
            match places.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => places.push(range),
            }
        }
        places
    }

    /// From where on `text` may be the beginning of a known value that goes on behind it. The end of `text` where it
    /// is not.
    pub(crate) fn begins(&self, text: &str) -> usize {
        let starts = self.layers.iter().map(|layer| layer.begins(text));
        starts.min().unwrap_or(text.len())
    }

    /// Hides known values in all texts of `value`, also in the keys of objects, but for words of the API. Says whether there
    /// were any.
    pub fn mask_json(&self, value: &mut Value) -> bool {
        self.mask_under(&BTreeSet::new(), "", value)
    }

    /// The same of a value that stands under `key`, but `kept` keys in it stay as they are.
    pub(crate) fn mask_under(&self, kept: &BTreeSet<String>, key: &str, value: &mut Value) -> bool {
        match value {
            Value::String(text) if API_WORDS.has_word(key, text) => false,
            Value::String(text) => {
                let masked = if key == ARGUMENTS { self.mask_answer(text) } else { self.mask(text) };
                match masked.filter(|masked| *masked != *text) {
                    Some(masked) => {
                        *text = masked;
                        true
                    }
                    None => false,
                }
            }
            Value::Number(_) if API_WORDS.has_number(key) => false,
            // A number may be a secret as a whole.
            Value::Number(number) => match self.mask(&number.to_string()) {
                Some(masked) if masked == HIDDEN => {
                    *value = masked.into();
                    true
                }
                _ => false,
            },
            Value::Array(all) => all.iter_mut().fold(false, |any, inner| self.mask_under(kept, key, inner) | any),
            Value::Object(fields) => self.mask_fields(kept, fields),
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn mask_fields(&self, kept: &BTreeSet<String>, fields: &mut Map<String, Value>) -> bool {
        let any = fields.iter_mut().fold(false, |any, (key, inner)| self.mask_under(kept, key, inner) | any);
        self.rename_keys(kept, fields) | any
    }

    /// Whether a key holds a known value, and is no word of the API.
    pub(crate) fn finds_in_key(&self, key: &str) -> bool {
        !API_WORDS.has_key(key) && self.finds(key)
    }

    /// Hides known values in the keys of an object. Where a name is taken, a number is put behind it, so that no field is lost.
    /// Says whether there were any.
    fn rename_keys(&self, kept: &BTreeSet<String>, fields: &mut Map<String, Value>) -> bool {
        let is_hidden = |key: &String| self.finds_in_key(key) && !kept.contains(key);
        if !fields.keys().any(is_hidden) {
            return false;
        }
        let mut taken: BTreeSet<String> = fields.keys().filter(|key| !is_hidden(key)).cloned().collect();
        let mut free = |name: String| {
            let numbered = (2..).map(|number: usize| format!("{name} {number}"));
            let name = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name))?;
            taken.insert(name.clone());
            Some(name)
        };
        let renamed = |(key, value): (String, Value)| {
            let name = if is_hidden(&key) { self.mask(&key).and_then(&mut free) } else { None };
            (name.unwrap_or(key), value)
        };
        *fields = std::mem::take(fields).into_iter().map(renamed).collect();
        true
    }

    /// What a model answered with known values hidden; `None` where there are none. JSON in it is JSON, and stays as it is written.
    pub fn mask_answer(&self, text: &str) -> Option<String> {
        if !self.finds(text) {
            return None;
        }
        let Some(json) = json_in(text) else { return self.mask(text) };
        let (before, after) = text.split_once(json)?;
        let masked = |text: &str| self.mask(text).unwrap_or_else(|| text.to_owned());
        Some(masked(before) + &self.mask_written(json) + &masked(after))
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({})", self.layers.iter().map(|layer| layer.hidden.len()).sum::<usize>())
    }
}

/// The JSON that a text is or holds: an object, or a list that is the whole text.
fn json_in(text: &str) -> Option<&str> {
    let object = text.find('{').zip(text.rfind('}')).and_then(|(start, end)| text.get(start..=end));
    let is_json = |json: &&str| {
        let value = serde_json::from_str::<Value>(&quote_inexact(json));
        value.is_ok_and(|value| value.is_object() || value.is_array())
    };
    [Some(text.trim()), object].into_iter().flatten().find(is_json)
}

/// Whether a value is looked for. What stands in every placeholder cannot be.
pub(crate) fn is_looked_for(value: &str) -> bool {
    value.chars().nth(MIN_CHARS - 1).is_some() && !HIDDEN.contains(value)
}

#[cfg(test)]
mod tests;
