//! Hiding secrets in what is read: a value may have been said before it was known to be secret, and who may not see
//! variables learns no names of secrets.

use std::{borrow::Cow, ops::Range, sync::Arc};

use callboard_core::{entry::Entry, error::Error as Refusal, event, secret::HideSecrets, text::Values};
use serde_json::{Map, Value};

use crate::seal::mask::{HIDDEN, Mask, rename_keys};

/// Hides secrets in what one viewer reads.
#[derive(Clone, Debug)]
pub struct ReadingMask {
    mask: Arc<Mask>,
    /// Whether the viewer may see variables, and so the names of secrets.
    shows_names: bool,
}

impl HideSecrets for ReadingMask {
    fn hide(&self, value: &mut Value) -> bool {
        self.hide_in(value)
    }
}

impl ReadingMask {
    /// Hides what `mask` knows, with the names of secrets or without.
    pub(super) fn new(mask: Arc<Mask>, shows_names: bool) -> Self {
        Self { mask, shows_names }
    }

    /// Whether it is known to hide the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.mask, &other.mask) && self.shows_names == other.shows_names
    }

    /// An entry with secrets hidden in its words.
    pub(crate) fn hide_in_entry<'a>(&self, entry: &'a Entry) -> Cow<'a, Entry> {
        let hidden = self.may_have(&entry.data).then(|| event::without_secrets(entry, self)).flatten();
        hidden.map_or(Cow::Borrowed(entry), Cow::Owned)
    }

    /// Hides secrets in the words of entries.
    pub(crate) fn hide_in_entries(&self, entries: &mut [Entry]) {
        for entry in entries {
            if let Cow::Owned(hidden) = self.hide_in_entry(entry) {
                *entry = hidden;
            }
        }
    }

    /// Hides secrets in long texts.
    pub(crate) fn hide_in_texts(&self, texts: &mut Values) {
        for text in texts.values_mut() {
            if let Cow::Owned(hidden) = self.hide(text) {
                *text = hidden.into();
            }
        }
    }

    /// `text` without secrets.
    pub fn hide<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let masked = self.mask.mask(text).map_or(Cow::Borrowed(text), Cow::Owned);
        if self.shows_names || !masked.contains(HIDDEN) { masked } else { Cow::Owned(unnamed(&masked)) }
    }

    /// Hides secrets in all texts of a value. Says whether there were any.
    pub fn hide_in(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => match self.hide(text) {
                Cow::Owned(hidden) => {
                    *text = hidden;
                    true
                }
                Cow::Borrowed(_) => false,
            },
            Value::Array(all) => all.iter_mut().fold(false, |any, inner| self.hide_in(inner) | any),
            Value::Object(fields) => self.hide_in_fields(fields),
            Value::Number(_) => self.mask.mask_json(value),
            Value::Null | Value::Bool(_) => false,
        }
    }

    fn hide_in_fields(&self, fields: &mut Map<String, Value>) -> bool {
        let any = fields.values_mut().fold(false, |any, inner| self.hide_in(inner) | any);
        self.hide_keys(fields) | any
    }

    /// Hides secrets in the keys of an object. Says whether there were any.
    pub(super) fn hide_keys(&self, fields: &mut Map<String, Value>) -> bool {
        rename_keys(fields, |key| match self.hide(key) {
            Cow::Owned(hidden) => Some(hidden),
            Cow::Borrowed(_) => None,
        })
    }

    /// Hides secrets in JSON that is a text; `None` where there are none in it.
    pub fn hide_in_json(&self, json: &str) -> Option<String> {
        let mut value = self.may_have(json).then(|| serde_json::from_str::<Value>(json).ok()).flatten()?;
        self.hide_in(&mut value).then(|| value.to_string())
    }

    /// Whether there may be something to hide in JSON that is a text.
    fn may_have(&self, json: &str) -> bool {
        self.mask.finds(json) || (!self.shows_names && json.contains(HIDDEN))
    }

    /// Where values of secrets stand in a text, in bytes.
    pub(super) fn values_in(&self, text: &str) -> Vec<Range<usize>> {
        self.mask.found(text).into_iter().map(|(range, _)| range).collect()
    }
}

/// `text` with `[hidden]` in the place of each `[hidden:NAME]`.
fn unnamed(text: &str) -> String {
    let mut pieces = text.split(HIDDEN);
    let mut unnamed = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.split_once(']').filter(|(name, _)| !name.contains('\n')) {
            Some((_, rest)) => {
                unnamed.push_str("[hidden]");
                unnamed.push_str(rest);
            }
            None => {
                unnamed.push_str(HIDDEN);
                unnamed.push_str(piece);
            }
        }
    }
    unnamed
}

/// That a name which is given for a file or a request holds a secret.
pub(crate) fn check_name(mask: &Mask, pointer: &str, name: &str) -> Result<(), Refusal> {
    match mask.found(name).first() {
        Some((_, secret)) => {
            Err(Refusal::invalid(pointer, format!("it holds the value of the secret {secret}: use another name")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_left_out_and_nothing_else() {
        assert_eq!(unnamed("a [hidden:pw] b [hidden:creds.password]c"), "a [hidden] b [hidden]c");
        assert_eq!(unnamed("[hidden:no end\n] [hidden]"), "[hidden:no end\n] [hidden]");
    }
}
