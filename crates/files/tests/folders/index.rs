//! The index of a manifest is the exact inverse of the keywords of its entries.

use std::collections::BTreeMap;

use callboard_files::Category;
use proptest::prelude::*;
use serde_json::Value;

use crate::fixture::{Place, now};

#[derive(Clone, Debug)]
enum Step {
    Add(usize, usize, Vec<usize>),
    Remove(usize),
    /// Somebody writes nonsense into the index.
    Spoil,
}

const KEYWORDS: [&str; 6] = ["auth", "user-auth", "Auth", "é", "a b", "tasks"];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..7_usize, 0..4_usize, prop::collection::vec(0..KEYWORDS.len(), 0..5))
            .prop_map(|(category, name, keywords)| Step::Add(category, name, keywords)),
        3 => (0..8_usize).prop_map(Step::Remove),
        1 => Just(Step::Spoil),
    ]
}

/// Every keyword of every entry, once, and the entries that have it.
fn inverse(manifest: &Value) -> BTreeMap<String, Vec<String>> {
    let mut inverse: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, entry) in manifest["context_files"].as_object().unwrap() {
        for keyword in entry["keywords"].as_array().unwrap() {
            let paths = inverse.entry(keyword.as_str().unwrap().to_owned()).or_default();
            assert!(!paths.contains(path), "a keyword is there twice");
            paths.push(path.clone());
        }
    }
    inverse
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_index_is_the_inverse_of_the_entries(steps in prop::collection::vec(step(), 1..12)) {
        let place = Place::with_session();
        for step in steps {
            match step {
                Step::Add(category, name, keywords) => {
                    let keywords: Vec<_> = keywords.into_iter().map(|at| KEYWORDS[at]).collect();
                    // Names that are taken are refused.
                    let _ = place.add(Category::ALL[category], &format!("n{name}"), &keywords.join(","));
                }
                Step::Remove(nth) => {
                    let path = place.manifest()["context_files"].as_object().unwrap().keys().nth(nth).cloned();
                    if let Some(path) = path {
                        place.session().remove(&path.parse().unwrap(), now()).unwrap();
                    }
                }
                Step::Spoil => {
                    let mut manifest = place.manifest();
                    manifest["context_index"] = serde_json::json!({"nonsense": ["nowhere"]});
                    place.set_manifest(&manifest);
                    place.session().touch(now()).unwrap();
                }
            }
            let manifest = place.manifest();
            let index: BTreeMap<String, Vec<String>> = serde_json::from_value(manifest["context_index"].clone()).unwrap();
            prop_assert_eq!(index, inverse(&manifest));
        }
    }
}
