//! Reading JSON that somebody wrote: every fault is told, each with its place.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    error::{Error, Fault},
    id::NodeId,
    json::pointer_token,
    number::Whole,
};

/// How many faults are told at most.
const MAX_FAULTS: usize = 1000;

/// Notes what is wrong while it reads. What cannot be read is `None`, and its fault is noted.
#[derive(Default)]
pub(crate) struct Reader<S> {
    /// What was read so far, for what must be unique.
    pub(crate) seen: S,
    faults: Vec<Fault>,
}

/// An object and its place.
pub(crate) struct Object<'a> {
    fields: &'a Map<String, Value>,
    at: &'a str,
}

impl Object<'_> {
    /// The place of a field.
    pub(crate) fn at(&self, name: &str) -> String {
        format!("{}/{name}", self.at)
    }

    /// A field that is there and not null.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }
}

impl<S: Default> Reader<S> {
    /// What `read` reads, or all its faults.
    pub(crate) fn read<T>(read: impl FnOnce(&mut Self) -> Option<T>) -> Result<T, Error> {
        let mut reader = Self::default();
        match read(&mut reader) {
            Some(found) if reader.faults.is_empty() => Ok(found),
            _ => Err(Error::Invalid(reader.finish())),
        }
    }

    /// An object that has `known` fields; those in `ignored` are passed over.
    pub(crate) fn object<'a>(
        &mut self,
        value: &'a Value,
        at: &'a str,
        what: &str,
        known: &[&str],
        ignored: &[&str],
    ) -> Option<Object<'a>> {
        let Some(fields) = value.as_object() else {
            self.fault(at, format!("{what} is an object with {}", known.join(", ")));
            return None;
        };
        for name in fields.keys().filter(|name| !known.contains(&name.as_str()) && !ignored.contains(&name.as_str())) {
            self.fault(
                format!("{at}/{}", pointer_token(name)),
                format!("unknown field; {what} has {}", known.join(", ")),
            );
        }
        Some(Object { fields, at })
    }

    /// A field that must be there.
    pub(crate) fn required<T>(
        &mut self,
        object: &Object<'_>,
        name: &str,
        read: impl FnOnce(&mut Self, &Value, &str) -> Option<T>,
    ) -> Option<T> {
        match object.fields.get(name) {
            Some(value) => read(self, value, &object.at(name)),
            None => {
                self.fault(object.at(name), "missing field".to_owned());
                None
            }
        }
    }

    /// A field that may be absent or null.
    pub(crate) fn optional<T>(
        &mut self,
        object: &Object<'_>,
        name: &str,
        read: impl FnOnce(&mut Self, &Value, &str) -> Option<T>,
    ) -> Option<T> {
        read(self, object.get(name)?, &object.at(name))
    }

    /// A list.
    pub(crate) fn list<T>(
        &mut self,
        value: &Value,
        at: &str,
        mut read: impl FnMut(&mut Self, &Value, &str) -> Option<T>,
    ) -> Option<Vec<T>> {
        let Some(items) = value.as_array() else {
            self.fault(at, "use a list; it may be empty".to_owned());
            return None;
        };
        // All are read before any is missed, so that every fault is told.
        let read: Vec<_> = items.iter().enumerate().map(|(n, item)| read(self, item, &format!("{at}/{n}"))).collect();
        read.into_iter().collect()
    }

    /// A text.
    pub(crate) fn text(&mut self, value: &Value, at: &str) -> Option<Arc<str>> {
        self.found(value.as_str().map(Into::into), at, "use a text")
    }

    /// A text that is not blank.
    pub(crate) fn words(&mut self, value: &Value, at: &str) -> Option<Arc<str>> {
        let words = value.as_str().filter(|text| !text.trim().is_empty());
        self.found(words.map(Into::into), at, "use a text that is not blank")
    }

    /// A whole number.
    pub(crate) fn number(&mut self, value: &Value, at: &str) -> Option<u64> {
        let number = serde_json::from_value::<Whole>(value.clone()).ok();
        let number = number.and_then(|whole| whole.read::<u64, serde_json::Error>().ok());
        self.found(number, at, "use a whole number, 0 or more")
    }

    /// The id of a node.
    pub(crate) fn node(&mut self, value: &Value, at: &str) -> Option<NodeId> {
        let id = value.as_str().and_then(|text| text.parse().ok());
        self.found(id, at, "use the id of a node, for instance node_4")
    }

    /// What was found here. Where it is nothing, notes what is wrong.
    pub(crate) fn found<T>(&mut self, found: Option<T>, at: &str, problem: &str) -> Option<T> {
        if found.is_none() {
            self.fault(at, problem.to_owned());
        }
        found
    }

    /// Notes a fault.
    pub(crate) fn fault(&mut self, at: impl Into<String>, problem: String) {
        self.faults.push(Fault { pointer: at.into(), problem });
    }

    /// All faults, or the first ones and how many more there are.
    fn finish(mut self) -> Vec<Fault> {
        let more = self.faults.len().saturating_sub(MAX_FAULTS);
        if more > 0 {
            self.faults.truncate(MAX_FAULTS);
            self.fault("", format!("and {more} more faults: mend these first"));
        }
        self.faults
    }
}
