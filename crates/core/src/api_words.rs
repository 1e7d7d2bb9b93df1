//! Words of the API: keys and values to which Callboard itself gives a meaning, in JSON that people and models bring. They are
//! public, and never hidden: without them, what stands in JSON would mean something else.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use serde_json::Value;

use crate::{agent::Team, conversation, directive, tool::OWN_TOOLS, workflow};

/// The words of the API.
pub static API_WORDS: LazyLock<ApiWords> = LazyLock::new(ApiWords::collected);

/// Keys of JSON, and what may stand under them.
#[derive(Debug, Default)]
pub struct ApiWords(BTreeMap<String, Values>);

/// What stands under a key.
#[derive(Debug, Default)]
struct Values {
    words: BTreeSet<String>,
    has_numbers: bool,
}

impl ApiWords {
    /// Whether this is a key of the API.
    pub fn has_key(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Whether this is one of the words that may stand under the key.
    pub fn has_word(&self, key: &str, word: &str) -> bool {
        self.0.get(key).is_some_and(|values| values.words.contains(word))
    }

    /// Whether a number stands under the key.
    pub fn has_number(&self, key: &str) -> bool {
        self.0.get(key).is_some_and(|values| values.has_numbers)
    }

    /// All keys, and all words with their keys.
    pub fn all(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.0.iter().flat_map(|(key, values)| {
            let words = values.words.iter().map(move |word| (key.as_str(), Some(word.as_str())));
            words.chain([(key.as_str(), None)])
        })
    }

    fn collected() -> Self {
        let mut words = Self::default();
        for tool in OWN_TOOLS {
            let (properties, _) = (tool.arguments)();
            words.add_properties(&properties);
        }
        words.add_schema("", &directive::schema::schema(&Team::default()));
        for (key, values) in conversation::PART_WORDS.iter().chain(workflow::CONFIG_WORDS) {
            words.add(key, values);
        }
        words
    }

    fn add(&mut self, key: &str, words: &[&str]) {
        self.0.entry(key.to_owned()).or_default().words.extend(words.iter().map(|word| (*word).to_owned()));
    }

    /// Adds what a schema says of what stands under `key`.
    fn add_schema(&mut self, key: &str, schema: &Value) {
        let named = |name: &str| schema.get(name);
        let listed = |name: &str| named(name).and_then(Value::as_array).into_iter().flatten();
        let words: Vec<&str> = listed("enum").chain(named("const")).filter_map(Value::as_str).collect();
        let types = named("type").into_iter().chain(listed("type")).filter_map(Value::as_str);
        let has_numbers = types.into_iter().any(|kind| ["integer", "number"].contains(&kind));
        if !key.is_empty() {
            self.add(key, &words);
            self.0.entry(key.to_owned()).or_default().has_numbers |= has_numbers;
        }
        for inner in named("items").into_iter().chain(listed("anyOf")).chain(listed("oneOf")).chain(listed("allOf")) {
            self.add_schema(key, inner);
        }
        if let Some(properties) = named("properties") {
            self.add_properties(properties);
        }
    }

    fn add_properties(&mut self, properties: &Value) {
        for (key, schema) in properties.as_object().into_iter().flatten() {
            self.add_schema(key, schema);
        }
    }
}
