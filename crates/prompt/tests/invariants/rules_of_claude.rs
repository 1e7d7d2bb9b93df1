//! What Anthropic's Messages API refuses, as a function. What runs send is held against it, too.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::Value;

use crate::rules::{Checked, is_plain};

/// The rules for what the system says and for the messages.
pub(crate) fn check(system: &[Value], messages: &[Value]) -> Checked {
    let roles: Vec<_> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    let alternating: Vec<_> = ["user", "assistant"].into_iter().cycle().take(roles.len()).collect();
    prop_assert_eq!(&roles, &alternating);
    prop_assert_eq!(roles.last(), Some(&"user"), "the model is to answer");
    for (role, block, _) in blocks(system, messages) {
        let is_allowed = match block["type"].as_str().unwrap() {
            "text" => !block["text"].as_str().unwrap().trim().is_empty(),
            "tool_use" => role == "assistant" && block["input"].is_object() && is_name(&block["name"]),
            "tool_result" => role == "user" && block["content"].as_array().into_iter().flatten().all(is_said),
            "image" => role == "user" && is_picture(&block),
            "document" => role == "user" && is_pdf(&block),
            "thinking" => role == "assistant" && is_signed(&block),
            _ => false,
        };
        prop_assert!(is_allowed, "{role}: {block}");
    }
    for message in messages {
        let kinds: Vec<_> = message["content"].as_array().unwrap().iter().map(|block| block["type"].clone()).collect();
        let thinks = kinds.iter().rposition(|kind| kind == "thinking");
        let calls = kinds.iter().position(|kind| kind == "tool_use").unwrap_or(kinds.len());
        prop_assert!(thinks.is_none_or(|at| at < calls && at + 1 < kinds.len()), "{:?}", message);
    }
    let marked = blocks(system, messages).iter().filter(|(_, _, marked)| *marked).count();
    prop_assert!(marked <= 4, "{marked} marks");
    check_calls(messages)
}

/// All blocks with their roles, without their marks, and whether they had one.
pub(crate) fn blocks(system: &[Value], messages: &[Value]) -> Vec<(String, Value, bool)> {
    let said = messages.iter().flat_map(|message| {
        let role = message["role"].as_str().unwrap().to_owned();
        message["content"].as_array().unwrap().iter().map(move |block| (role.clone(), block.clone()))
    });
    let all = system.iter().map(|block| ("system".to_owned(), block.clone())).chain(said);
    let bare = |(role, mut block): (String, Value)| {
        let marked = block.as_object_mut().unwrap().remove("cache_control").is_some();
        (role, block, marked)
    };
    all.map(bare).collect()
}

/// The name of a tool.
fn is_name(name: &Value) -> bool {
    name.as_str().is_some_and(|name| (1..=128).contains(&name.len()) && name.chars().all(is_plain))
}

/// What was thought, with the signature that it came with and nothing else.
fn is_signed(block: &Value) -> bool {
    let of = block["signature"].as_str().and_then(|signature| signature.strip_prefix("sign of "));
    of == block["thinking"].as_str() && block.as_object().unwrap().len() == 3
}

/// A part of a result: a text that is not blank, a picture or a PDF.
fn is_said(part: &Value) -> bool {
    match part["type"].as_str() {
        Some("text") => !part["text"].as_str().unwrap().trim().is_empty(),
        Some("document") => is_pdf(part),
        _ => is_picture(part),
    }
}

/// A PDF that the Messages API takes, with nothing beside it that it does not know.
fn is_pdf(block: &Value) -> bool {
    let known = ["type", "source", "title"];
    block["source"]["media_type"] == "application/pdf"
        && block.as_object().unwrap().keys().all(|field| known.contains(&field.as_str()))
}

/// A picture that the Messages API takes.
fn is_picture(block: &Value) -> bool {
    let source = &block["source"];
    match source["type"].as_str() {
        Some("base64") => {
            source["media_type"] == "image/png" && source["data"].as_str().is_some_and(|data| !data.is_empty())
        }
        Some("url") => source["url"].as_str().is_some_and(|url| url.starts_with("https://")),
        Some("file") => source["file_id"] == "file_1",
        _ => false,
    }
}

/// Every message with calls is followed by one that begins with their results, and there are no other results.
fn check_calls(messages: &[Value]) -> Checked {
    let of_type = |message: &Value, kind: &str, id: &str| -> Vec<String> {
        let blocks = message["content"].as_array().unwrap().iter().filter(|block| block["type"] == kind);
        blocks.map(|block| block[id].as_str().unwrap().to_owned()).collect()
    };
    let (mut taken, mut open) = (BTreeSet::new(), Vec::new());
    for message in messages {
        let results = of_type(message, "tool_result", "tool_use_id");
        prop_assert_eq!(&results, &open, "{:?}", messages);
        let first = message["content"].as_array().unwrap().iter().take(results.len());
        prop_assert!(first.into_iter().all(|block| block["type"] == "tool_result"), "{:?}", message);
        open = of_type(message, "tool_use", "id");
        for id in &open {
            prop_assert!(!id.is_empty() && id.chars().all(is_plain), "{id}");
            prop_assert!(taken.insert(id.clone()), "{} stands for two calls: {:?}", id, messages);
        }
    }
    prop_assert!(open.is_empty(), "calls without results: {:?}", messages);
    Ok(())
}
