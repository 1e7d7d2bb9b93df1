//! Hiding secrets in what is said again.

use std::collections::BTreeSet;

use serde_json::json;

use super::*;
use crate::{
    command::{DecisionContext, Lookups, Undecided, decide},
    entry::{Actor, line},
    event::{self, EventType},
    sealed::SealedInput,
    session::SessionPatch,
    testing::Board,
};

fn samples() -> Vec<Entry> {
    include_str!("../../tests/samples/v1.jsonl").lines().map(|text| line::read(text).unwrap()).collect()
}

/// Hides all there is: every text, number and key.
struct All;

impl HideSecrets for All {
    fn hide(&self, _: &str, value: &mut Value) -> bool {
        hide_all(value)
    }
}

fn hide_all(value: &mut Value) -> bool {
    match value {
        Value::Array(all) => all.iter_mut().fold(false, |any, inner| hide_all(inner) | any),
        Value::Object(fields) => {
            let named = std::mem::take(fields).into_iter().enumerate();
            fields.extend(named.map(|(at, (_, inner))| (format!("[hidden] {at}"), inner)));
            fields.values_mut().fold(true, |any, inner| hide_all(inner) | any)
        }
        Value::String(_) | Value::Number(_) => {
            *value = "[hidden]".into();
            true
        }
        Value::Null | Value::Bool(_) => false,
    }
}

/// Puts in what no text can be.
struct Garbage;

impl HideSecrets for Garbage {
    fn hide(&self, _: &str, value: &mut Value) -> bool {
        *value = json!(7);
        true
    }
}

#[test]
fn what_says_words_again_can_be_read_whatever_is_hidden_in_it() {
    let mut kinds = BTreeSet::new();
    for entry in samples() {
        let kind = EventType::named(&entry.header.kind).unwrap();
        let mut data: Value = serde_json::from_str(&entry.json()).unwrap();
        if !matches!(kind.description.repeats, Repeats::Unchanged | Repeats::Answer)
            || !hide_words(&kind.description, &mut data, &All)
        {
            continue;
        }
        let masked = Entry { data: data.to_string().into(), ..entry.clone() };
        assert!(event::check_readable(&masked).is_ok(), "{}: {data}", kind.kind);
        for word in kind.words(&data) {
            let is_hidden = |text: &str| text.starts_with("[hidden]");
            let of_key = |fields: &serde_json::Map<String, Value>| fields.keys().all(|key| is_hidden(key));
            let is_whole = word.as_str().is_some_and(is_hidden) || word.as_object().is_some_and(of_key);
            assert!(is_whole || word["beginning"] == "[hidden]" || *word == json!([]), "{}: {word}", kind.kind);
        }
        kinds.insert(kind.kind);
    }
    let repeating =
        event::ALL.iter().filter(|one| matches!(one.description.repeats, Repeats::Unchanged | Repeats::Answer));
    let missing: Vec<_> = repeating.map(|one| one.kind).filter(|kind| !kinds.contains(kind)).collect();
    assert!(missing.is_empty(), "no sample of these has words: {missing:?}");
}

#[test]
fn what_cannot_be_read_with_its_secrets_hidden_is_refused_and_not_said() {
    let board = Board::team("lead writer");
    let title = SessionPatch { title: Some("Keeper of 4711-4711".to_owned()), ..SessionPatch::default() };
    let decided = |hide: &dyn HideSecrets| {
        let (by, lookups, sealed) = (&Actor::User, &Lookups::default(), SealedInput::NOTHING);
        let (at, nonce, salt, count) = (board.now, None, None, board.count);
        decide(&board.state, &title, DecisionContext { by, at, nonce, salt, count, lookups, sealed, hide: Some(hide) })
    };
    let refused = decided(&Garbage).unwrap_err();
    assert!(matches!(&refused, Undecided::Refused(Error::Sealed { .. })), "{refused}");
    assert!(!refused.to_string().contains("4711"), "{refused}");
    let said = &decided(&All).unwrap().entries[0].data;
    assert!(said.contains("[hidden]") && !said.contains("4711"), "{said}");
}
