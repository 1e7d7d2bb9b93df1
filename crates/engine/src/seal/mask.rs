//! Masks: they find known values in texts, and put `[hidden:NAME]` in their places.

use std::{fmt, ops::Range, sync::Arc};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use crate::seal::variants::variants;

/// Values with fewer characters are not looked for: they would be found in every other text.
pub(crate) const MIN_CHARS: usize = 6;

/// What stands around the name of a secret.
pub(crate) const HIDDEN: &str = "[hidden:";

/// A value to be hidden, and the name that is shown in its place.
pub(crate) struct Hidden {
    pub(crate) name: Arc<str>,
    pub(crate) value: Zeroizing<String>,
}

/// Finds known values in texts, in all the forms that they may have.
#[derive(Clone, Default)]
pub struct Mask {
    /// The values that were known first come first; each layer is at least twice as large as the next one, so that a new
    /// value costs little however many there are.
    layers: Vec<Arc<Layer>>,
}

struct Layer {
    hidden: Vec<Arc<Hidden>>,
    /// All forms of the values in the order of their bytes, with the name of each.
    forms: Vec<(Zeroizing<String>, Arc<str>)>,
    automaton: Option<AhoCorasick>,
}

/// A place in a text where a value stands.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    start: usize,
    /// Of two that begin at the same place, the longer one comes first.
    shortness: usize,
    name: Arc<str>,
}

impl Mask {
    /// A mask that hides these values too.
    pub(crate) fn with(&self, hidden: impl IntoIterator<Item = Arc<Hidden>>) -> Self {
        let mut newest: Vec<_> = hidden.into_iter().filter(|hidden| is_hidden(&hidden.value)).collect();
        if newest.is_empty() {
            return self.clone();
        }
        let mut layers = self.layers.clone();
        while let Some(last) = layers.pop_if(|last| last.hidden.len() < newest.len() * 2) {
            newest.extend(last.hidden.iter().cloned());
        }
        layers.push(Arc::new(Layer::new(newest)));
        Self { layers }
    }

    /// Whether it hides nothing.
    pub fn is_empty(&self) -> bool {
        self.layers.is_empty()
    }

    /// Whether a known value stands in `text`.
    pub fn finds(&self, text: &str) -> bool {
        self.layers.iter().any(|layer| layer.automaton.as_ref().is_some_and(|known| known.is_match(text)))
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
        if fields.keys().any(|key| self.finds(key)) {
            any = true;
            let renamed = std::mem::take(fields).into_iter();
            *fields = renamed.map(|(key, value)| (self.mask(&key).unwrap_or(key), value)).collect();
        }
        any
    }
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

impl Layer {
    fn new(hidden: Vec<Arc<Hidden>>) -> Self {
        let of = |hidden: &Arc<Hidden>| {
            let name = hidden.name.clone();
            variants(&hidden.value).into_iter().map(move |form| (Zeroizing::new(form), name.clone()))
        };
        let mut forms: Vec<_> = hidden.iter().flat_map(of).collect();
        forms.sort_by(|a, b| a.0.cmp(&b.0));
        forms.dedup_by(|a, b| a.0 == b.0);
        // All matches are asked for, so that of two values that overlap nothing is left. A value that is larger than the
        // automaton takes cannot be: the values of a session are bounded.
        let known = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(forms.iter().map(|(form, _)| form.as_bytes()));
        let automaton = known.inspect_err(|error| tracing::error!(%error, "secrets cannot be masked")).ok();
        Self { hidden, forms, automaton }
    }

    fn found(&self, text: &str) -> Vec<Found> {
        let matches = self.automaton.iter().flat_map(|known| known.find_overlapping_iter(text));
        let found = matches.filter_map(|found| {
            let (_, name) = self.forms.get(found.pattern().as_usize())?;
            Some(Found { start: found.start(), shortness: usize::MAX - found.len(), name: name.clone() })
        });
        found.collect()
    }

    fn begins(&self, text: &str) -> usize {
        let longest = self.forms.iter().map(|(form, _)| form.len()).max().unwrap_or(0);
        let from = text.len().saturating_sub(longest.saturating_sub(1));
        let starts = (from..text.len()).filter(|at| text.is_char_boundary(*at));
        let mut begins = starts.filter(|at| text.get(*at..).is_some_and(|end| self.goes_on(end)));
        begins.next().unwrap_or(text.len())
    }

    /// Whether some form begins with `beginning` and is longer.
    fn goes_on(&self, beginning: &str) -> bool {
        let at = self.forms.partition_point(|(form, _)| form.as_str() <= beginning);
        self.forms.get(at).is_some_and(|(form, _)| form.starts_with(beginning))
    }
}

#[cfg(test)]
mod tests;
