//! Input: all that somebody brought with a command.
//!
//! Each command shows its input to a visitor, part by part. So known secrets are masked in free texts, names that hold
//! one are refused, and the values of variables are sealed, all before the command is decided. This crate has no keys:
//! it only says where the input is.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde_json::{Map, Value, value::RawValue};

use crate::entry::Hash;

/// Visits the input of a command. It may change what it is given as mutable.
pub trait InputVisitor {
    /// A free text.
    fn text(&mut self, text: &mut dyn FreeText);

    /// JSON of any shape. All texts in it are free, also the keys of objects, but for [words of the API](crate::api_words).
    fn json(&mut self, value: &mut Value);

    /// The answer of a model: a text that may be JSON, or hold some.
    fn answer(&mut self, text: &mut dyn FreeText) {
        self.text(text);
    }

    /// JSON that a person or a program brings, before it is visited otherwise: the keys of its objects are
    /// [names](Self::name). `pointer` is the place of the JSON. A model may bring any keys.
    fn keys(&mut self, _pointer: fmt::Arguments<'_>, _value: &Value) {}

    /// A name, an id or a key. It cannot be changed, since other things refer to it. `pointer` says where it was given.
    fn name(&mut self, pointer: fmt::Arguments<'_>, name: &str);

    /// A name or an id that a model gave. It is not refused, but changed.
    fn given_name(&mut self, name: &mut dyn FreeText) {
        self.text(name);
    }

    /// The value of the variable `name`. It may hold secrets, or be one: `secret` is what its author says, and nothing
    /// where the names decide. What is secret in it is replaced and sealed; see
    /// [`DecisionBuilder::sealed`](crate::command::DecisionBuilder::sealed).
    fn variable(&mut self, name: &str, secret: Option<bool>, value: &mut Value);

    /// What a tool of the caller's own was called with, or gave, before it is visited otherwise: the keys of its JSON say what is
    /// secret in it. That is taken out and sealed, if it can be; the answer is what it is called then.
    fn call(&mut self, _part: &mut dyn CallPart) -> Option<Arc<str>> {
        None
    }

    /// A request with an idempotency key, after the input of its command: the hash of its body must not tell a short
    /// secret.
    fn fingerprint(&mut self, _fingerprint: &mut Fingerprint) {}
}

/// The JSON of the arguments of a call, or of its result.
pub trait CallPart {
    /// What secrets in it are called, in the place of the name of a variable.
    fn name(&self) -> String;

    /// Whether keys in it say that something is a secret.
    fn has_secrets(&self) -> bool;

    /// Takes these secrets out, as they are written and by their JSON pointers, and leaves a placeholder in the place of each.
    fn take_secrets(&mut self) -> BTreeMap<String, Box<RawValue>>;
}

/// A text that can be replaced.
pub trait FreeText {
    /// The text.
    fn as_str(&self) -> &str;

    /// Puts `text` in its place.
    fn replace(&mut self, text: String);
}

impl FreeText for Arc<str> {
    fn as_str(&self) -> &str {
        self
    }

    fn replace(&mut self, text: String) {
        *self = text.into();
    }
}

impl FreeText for String {
    fn as_str(&self) -> &str {
        self
    }

    fn replace(&mut self, text: String) {
        *self = text;
    }
}

/// The parts of an input that hold other parts, or may be absent.
impl dyn InputVisitor + '_ {
    /// A text that may be absent.
    pub fn text_if_any<T: FreeText>(&mut self, text: &mut Option<T>) {
        if let Some(text) = text {
            self.text(text);
        }
    }

    /// The fields of an object.
    pub fn fields(&mut self, fields: &mut Map<String, Value>) {
        self.visit(fields, &mut |visitor, value| visitor.json(value));
    }

    /// The same of an object that a person or a program brings; see [`InputVisitor::keys`].
    pub fn named_fields(&mut self, pointer: fmt::Arguments<'_>, fields: &mut Map<String, Value>) {
        self.visit(fields, &mut |visitor, value| {
            visitor.keys(pointer, value);
            visitor.json(value);
        });
    }

    fn visit(&mut self, fields: &mut Map<String, Value>, visit: &mut dyn FnMut(&mut Self, &mut Value)) {
        let mut value = Value::Object(std::mem::take(fields));
        visit(self, &mut value);
        if let Value::Object(visited) = value {
            *fields = visited;
        }
    }
}

/// Hides known secrets. Whoever has the keys implements it.
pub trait HideSecrets: Sync {
    /// Puts `[hidden]` in the place of each known secret in all texts of `value`, which stands under `key`. [Words of the
    /// API](crate::api_words) stay. Says whether there were any.
    fn hide(&self, key: &str, value: &mut Value) -> bool;
}

/// A hash of all that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The hash. It is never stored if there is a keyed one.
    pub plain: Hash,
    /// The same hash under the key of the session's secrets, where the session has one: from a plain hash, a short
    /// secret in the request could be guessed.
    pub keyed: Option<Hash>,
}

impl Fingerprint {
    /// The hash that is stored.
    pub fn stored(&self) -> Hash {
        self.keyed.unwrap_or(self.plain)
    }

    /// Whether `stored` is of the same request. It may have been stored before the session had a key.
    pub fn is(&self, stored: Hash) -> bool {
        stored == self.plain || self.keyed == Some(stored)
    }
}

impl From<Hash> for Fingerprint {
    fn from(plain: Hash) -> Self {
        Self { plain, keyed: None }
    }
}
