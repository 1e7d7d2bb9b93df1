//! Masks: they find known values in texts, and put `[hidden:NAME]` in their places.

use std::{collections::BTreeSet, fmt, ops::Range, sync::Arc};

use callboard_core::secret::HideSecrets;
use serde_json::{Map, Value};

use crate::seal::layer::{Found, Hidden, Layer, TooMany};

/// Values with fewer characters are not looked for: they would be found in every other text.
pub(crate) const MIN_CHARS: usize = 6;

/// What stands around the name of a secret.
pub(crate) const HIDDEN: &str = "[hidden:";

/// How many bytes the beginnings of all forms of the values of a mask have at most. To find them takes fifty times as many.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Finds known values in texts, in all the forms that they may have.
#[derive(Clone, Default)]
pub struct Mask {
    /// The values that were known first come first; each layer is at least twice as large as the next one, so that a new
    /// value costs little however many there are.
    layers: Vec<Arc<Layer>>,
}

impl HideSecrets for Mask {
    fn hide(&self, value: &mut Value) -> bool {
        self.mask_json(value)
    }
}

impl Mask {
    /// A mask that hides these values too. What it cannot look for is refused.
    pub(crate) fn with(&self, hidden: impl IntoIterator<Item = Arc<Hidden>>) -> Result<Self, TooMany> {
        self.within(MOST_BYTES, hidden)
    }

    fn within(&self, most: usize, hidden: impl IntoIterator<Item = Arc<Hidden>>) -> Result<Self, TooMany> {
        let mut newest: Vec<_> = hidden.into_iter().filter(|hidden| is_hidden(&hidden.value)).collect();
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

    /// Whether it hides nothing.
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Whether a known value stands in `text`.
    pub fn finds(&self, text: &str) -> bool {
        self.layers.iter().any(|layer| layer.finds(text))
    }

    /// `text` with known values hidden; `None` where there are none in it.
    pub fn mask(&self, text: &str) -> Option<String> {
        let found = self.found(text);
        if found.is_empty() {
            return None;
        }
        let mut masked = String::with_capacity(text.len());
        let mut end = 0;
        for (range, name) in found {
            masked.push_str(text.get(end..range.start).unwrap_or_default());
            masked.push_str(HIDDEN);
            masked.push_str(&name);
            masked.push(']');
            end = range.end;
        }
        masked.push_str(text.get(end..).unwrap_or_default());
        Some(masked)
    }

    /// Where known values stand in `text`, in order. Values that overlap are one place, under the name of the first.
    pub(crate) fn found(&self, text: &str) -> Vec<(Range<usize>, Arc<str>)> {
        let mut found: Vec<_> = self.layers.iter().flat_map(|layer| layer.found(text)).collect();
        found.sort_unstable();
        let mut places: Vec<(Range<usize>, Arc<str>)> = Vec::new();
        for Found { start, shortness, name } in found {
            let end = start + (usize::MAX - shortness);
            match places.last_mut() {
                Some((last, _)) if start < last.end => last.end = last.end.max(end),
                _ => places.push((start..end, name)),
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

    /// Hides known values in all texts of `value`, also in the keys of objects. Says whether there were any.
    pub fn mask_json(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.mask(text) {
                Some(masked) => {
                    *text = masked;
                    true
                }
                None => false,
            },
            // A number may be a secret as a whole.
            Value::Number(number) => match self.mask(&number.to_string()) {
                Some(masked) if masked.starts_with(HIDDEN) && masked.ends_with(']') => {
                    *value = masked.into();
                    true
                }
                _ => false,
            },
            Value::Array(all) => all.iter_mut().fold(false, |any, inner| self.mask_json(inner) | any),
            Value::Object(fields) => self.mask_fields(fields),
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn mask_fields(&self, fields: &mut Map<String, Value>) -> bool {
        let mut any = fields.values_mut().fold(false, |any, inner| self.mask_json(inner) | any);
        any |= rename_keys(fields, |key| self.mask(key));
        any
    }
}

/// Gives keys other names; `renamed` says which one, or `None`. Where a name is taken, a number is put behind it, so that
/// no field is lost. Says whether there were any.
pub(super) fn rename_keys(fields: &mut Map<String, Value>, renamed: impl Fn(&str) -> Option<String>) -> bool {
    let names: Vec<_> = fields.keys().map(|key| renamed(key)).collect();
    if names.iter().all(Option::is_none) {
        return false;
    }
    let stay = fields.keys().zip(&names).filter(|(_, name)| name.is_none());
    let mut taken: BTreeSet<String> = stay.map(|(key, _)| key.clone()).collect();
    let mut free = |name: String| {
        let numbered = (2..).map(|number: usize| format!("{name} {number}"));
        let name = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name))?;
        taken.insert(name.clone());
        Some(name)
    };
    let named = std::mem::take(fields).into_iter().zip(names);
    *fields = named.map(|((key, value), name)| (name.and_then(&mut free).unwrap_or(key), value)).collect();
    true
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({})", self.layers.iter().map(|layer| layer.hidden.len()).sum::<usize>())
    }
}

/// Whether a value is looked for. What stands in every placeholder cannot be.
fn is_hidden(value: &str) -> bool {
    value.chars().nth(MIN_CHARS - 1).is_some() && !HIDDEN.contains(value)
}

#[cfg(test)]
mod tests;
