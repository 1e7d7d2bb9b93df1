//! Hiding secrets in what is read: a value may have been said before it was known to be secret, and who may not see
//! variables learns no names of secrets.

use std::{borrow::Cow, sync::Arc};

use callboard_core::{
    count::Tokens,
    error::Error as Refusal,
    prompt::{Body, Prompt},
    session::Share,
    state::State,
    view::View,
    viewer::Viewer,
};
use serde_json::{Map, Value};

use crate::{
    error::Error,
    live::session::Live,
    seal::mask::{HIDDEN, Mask},
    session::Session,
    sizes::Measure,
    sizes::sizes,
};

/// Hides secrets in what one viewer reads.
#[derive(Clone, Debug)]
pub struct ReadingMask {
    mask: Arc<Mask>,
    /// Whether the viewer may see variables, and so the names of secrets.
    shows_names: bool,
}

impl Session {
    /// What hides secrets in what `viewer` reads; `None` where the session never had any. What cannot be opened is not
    /// searched for.
    pub async fn reading_mask(&self, viewer: &Viewer) -> Result<Option<ReadingMask>, Error> {
        let state = self.live.known()?;
        self.live.reading_mask(&state, viewer).await
    }

    /// Hides secrets in a prompt of `viewer`. It may be larger then: by how much more than its budget, if it is.
    pub(crate) async fn hide_in_prompt(
        &self,
        prompt: &mut Prompt,
        viewer: &Viewer,
        measure: Measure,
    ) -> Result<Tokens, Error> {
        let Some(mask) = self.reading_mask(viewer).await? else { return Ok(Tokens(0)) };
        let (mut more, mut less) = (0, 0);
        mask.each_text(&mut prompt.body, &mut |text, hidden| {
            less += measure.count(text).0;
            more += measure.count(hidden).0;
        });
        prompt.tokens = Tokens((prompt.tokens.0 + more).saturating_sub(less));
        Ok(Tokens(prompt.tokens.0.saturating_sub(prompt.budget.0)))
    }
}

impl Live {
    /// What hides secrets in what `viewer` reads, as of a state.
    pub(crate) async fn reading_mask(&self, state: &State, viewer: &Viewer) -> Result<Option<ReadingMask>, Error> {
        if state.secrets.key.is_none() {
            return Ok(None);
        }
        let mask = match self.known_secrets(state).await {
            Ok(known) => known.mask.clone(),
            Err(error) if error.is_sealed() => Arc::default(),
            Err(error) => return Err(error),
        };
        // Who has left the team sees no names.
        let shows_names = View::new(state, viewer, sizes()).is_ok_and(|view| view.may_see(Share::Variables));
        Ok(Some(ReadingMask { mask, shows_names }))
    }
}

impl ReadingMask {
    /// Whether it is known to hide the same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.mask, &other.mask) && self.shows_names == other.shows_names
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
        if fields.keys().all(|key| matches!(self.hide(key), Cow::Borrowed(_))) {
            return any;
        }
        let renamed = std::mem::take(fields).into_iter();
        *fields = renamed.map(|(key, value)| (self.hide(&key).into_owned(), value)).collect();
        true
    }

    /// Hides secrets in JSON that is a text; `None` where there are none in it.
    pub fn hide_in_json(&self, json: &str) -> Option<String> {
        let may_have = self.mask.finds(json) || (!self.shows_names && json.contains(HIDDEN));
        let mut value = may_have.then(|| serde_json::from_str::<Value>(json).ok()).flatten()?;
        self.hide_in(&mut value).then(|| value.to_string())
    }

    fn each_text(&self, body: &mut Body, changed: &mut dyn FnMut(&str, &str)) {
        match body {
            Body::Text(text) => {
                if let Cow::Owned(hidden) = self.hide(text) {
                    changed(text, &hidden);
                    *text = hidden;
                }
            }
            Body::Messages(messages) => messages.iter_mut().for_each(|message| self.each(message, changed)),
            Body::Anthropic { system, messages } => {
                system.iter_mut().chain(messages).for_each(|message| self.each(message, changed));
            }
        }
    }

    fn each(&self, value: &mut Value, changed: &mut dyn FnMut(&str, &str)) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(hidden) = self.hide(text) {
                    changed(text, &hidden);
                    *text = hidden;
                }
            }
            Value::Array(all) => all.iter_mut().for_each(|inner| self.each(inner, changed)),
            Value::Object(fields) => {
                fields.values_mut().for_each(|inner| self.each(inner, changed));
                // Keys are those of arguments of tools.
                if fields.keys().any(|key| matches!(self.hide(key), Cow::Owned(_))) {
                    let renamed = std::mem::take(fields).into_iter();
                    *fields = renamed.map(|(key, value)| (self.hide(&key).into_owned(), value)).collect();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
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
