//! Reading the configuration of a node as its work: every fault is told, each with its place.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::Work;
use crate::{
    error::Error,
    reader::{Object, Reader},
    workflow::template,
};

/// Whether templates may still stand in the place of what they stand for.
#[derive(Default)]
pub(super) struct Open(pub(super) bool);

/// The work of a node with this type and configuration, which stands at `at`. Where it is `open`, its templates are not
/// resolved yet, and what they stand for is not looked at.
pub(super) fn work(kind: &str, config: &Map<String, Value>, at: &str, open: bool) -> Result<Work, Error> {
    Reader::<Open>::read(|reader| {
        reader.seen.0 = open;
        let config = Value::Object(config.clone());
        match kind {
            "browser_action" => reader.browser_action(&config, at).map(Work::BrowserAction),
            "browser_query" => reader.browser_query(&config, at).map(Work::BrowserQuery),
            "transform" => reader.transform(&config, at).map(Work::Transform),
            "model" => reader.ask_model(&config, at).map(Work::Model),
            "route" => reader.route(&config, at).map(Work::Route),
            "iterate" => reader.iterate(&config, at).map(Work::Iterate),
            kind => {
                reader.fault("", format!("a node of the type {kind:?} cannot be executed"));
                None
            }
        }
    })
}

impl Reader<Open> {
    /// Whether a template stands here whose value is not known yet.
    pub(super) fn is_open(&self, value: &Value) -> bool {
        self.seen.0 && value.as_str().is_some_and(template::is_in)
    }

    /// Notes what an action lacks. Whoever writes it may add that later.
    pub(super) fn lacks(&mut self, at: String, problem: &str) {
        if !self.seen.0 {
            self.fault(at, problem.to_owned());
        }
    }

    /// A text. A number and a truth value are taken as they are written: templates may stand for them.
    pub(super) fn said(&mut self, value: &Value, at: &str) -> Option<Arc<str>> {
        match value {
            Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
            value => self.words(value, at),
        }
    }

    /// The same, which may be blank.
    pub(super) fn typed(&mut self, value: &Value, at: &str) -> Option<Arc<str>> {
        match value {
            Value::Number(_) | Value::Bool(_) => Some(value.to_string().into()),
            value => self.text(value, at),
        }
    }

    /// A whole number.
    pub(super) fn count(&mut self, value: &Value, at: &str) -> Option<u64> {
        if self.is_open(value) { Some(0) } else { self.number(value, at) }
    }

    /// A truth value.
    pub(super) fn truth(&mut self, value: &Value, at: &str) -> Option<bool> {
        self.found(value.as_bool(), at, "use true or false")
    }

    /// The fields of an object that has names of its author's, each read by `read`. There must be one at least.
    pub(super) fn named<T>(
        &mut self,
        value: &Value,
        at: &str,
        mut read: impl FnMut(&mut Self, &Value, &str) -> Option<T>,
    ) -> Option<Vec<(Arc<str>, T)>> {
        let Some(fields) = value.as_object().filter(|fields| !fields.is_empty()) else {
            self.fault(at, "use an object with a field at least".to_owned());
            return None;
        };
        let each = |(name, value): (&String, &Value)| {
            let at = format!("{at}/{}", crate::json::pointer_token(name));
            Some((Arc::from(name.as_str()), read(self, value, &at)?))
        };
        let read: Vec<_> = fields.iter().map(each).collect();
        read.into_iter().collect()
    }

    /// The tab in which something is done, by either of its names.
    pub(super) fn tab(&mut self, object: &Object<'_>) -> Option<Arc<str>> {
        let tab = self.optional(object, "tab_name", Self::said);
        tab.or_else(|| self.optional(object, "tabName", Self::said))
    }

    fn transform(&mut self, config: &Value, at: &str) -> Option<Vec<(Arc<str>, Arc<str>)>> {
        let config = self.object(config, at, "the configuration of `transform`", &["set"], &[])?;
        self.required(&config, "set", |reader, value, at| reader.named(value, at, Self::text))
    }
}
