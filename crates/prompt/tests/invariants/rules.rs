//! What providers refuse, as functions: of chat completions, and of OpenAI's Responses API. What runs send is held against them, too.

use std::collections::BTreeSet;

use callboard_prompt::Provider;
use proptest::prelude::*;
use serde_json::{Value, json};

pub(crate) type Checked = Result<(), TestCaseError>;

/// The rules of a provider for chat completions.
pub(crate) fn chat_completions(provider: Provider, messages: &[Value]) -> Checked {
    match provider {
        Provider::OpenAi | Provider::OpenAiAudio | Provider::OpenAiText => openai(messages),
        Provider::Mistral => mistral(messages),
        Provider::DeepSeek => deepseek(messages),
        Provider::Gemini => gemini(messages),
        Provider::Anthropic | Provider::Unknown => strict(messages),
    }
}

/// OpenAI's chat completions.
fn openai(messages: &[Value]) -> Checked {
    let allowed = ["role", "content", "name", "tool_calls", "tool_call_id"];
    chat(messages, &allowed, |id| id.len() <= 40)
}

/// What every server with chat completions takes, whatever template its model has. Routers give and take `reasoning_details`.
fn strict(messages: &[Value]) -> Checked {
    let allowed = ["role", "content", "tool_calls", "tool_call_id", "reasoning_details"];
    chat(messages, &allowed, |id| id.len() <= 40)?;
    in_turn(messages)
}

/// Gemini wants back the signature that came with a call, and none that came with another. It takes one for calls of others.
fn gemini(messages: &[Value]) -> Checked {
    let allowed = ["role", "content", "tool_calls", "tool_call_id", "reasoning_details", "extra_content"];
    chat(messages, &allowed, |id| id.len() <= 40)?;
    in_turn(messages)?;
    for call in messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten() {
        let Some(signature) = call["extra_content"]["google"]["thought_signature"].as_str() else { continue };
        let arguments: Value = serde_json::from_str(call["function"]["arguments"].as_str().unwrap()).unwrap();
        let is_of_other = signature == "skip_thought_signature_validator";
        let of = signature.strip_prefix("thought by ");
        prop_assert!(is_of_other || of == arguments["at"].as_str(), "{}", call);
    }
    Ok(())
}

/// DeepSeek wants back what its model thought before each call.
fn deepseek(messages: &[Value]) -> Checked {
    let allowed = ["role", "content", "tool_calls", "tool_call_id", "reasoning_content", "reasoning_details"];
    chat(messages, &allowed, |id| id.len() <= 40)?;
    in_turn(messages)?;
    for message in messages {
        let (calls, thoughts) = (message.get("tool_calls"), message.get("reasoning_content"));
        prop_assert_eq!(calls.is_some(), thoughts.is_some_and(Value::is_string), "{}", message);
    }
    Ok(())
}

/// Mistral's ids have nine letters and digits, and no user speaks behind a result.
fn mistral(messages: &[Value]) -> Checked {
    let allowed = ["role", "content", "tool_calls", "tool_call_id"];
    chat(messages, &allowed, |id| id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()))?;
    in_turn(messages)?;
    for (one, next) in messages.iter().zip(messages.iter().skip(1)) {
        prop_assert!(one["role"] != "tool" || next["role"] != "user", "{one}, then {next}");
    }
    Ok(())
}

/// One message of the system first, then the user and the assistant in turn with results between them; the user begins, and the
/// user or a result ends.
fn in_turn(messages: &[Value]) -> Checked {
    let system = messages.iter().filter(|message| message["role"] == "system").count();
    prop_assert!(system == 0 || (system == 1 && messages[0]["role"] == "system"), "{messages:?}");
    let said = &messages[system..];
    prop_assert!(said.first().is_some_and(|first| first["role"] == "user"), "{messages:?}");
    prop_assert!(said.last().is_some_and(|last| last["role"] == "user" || last["role"] == "tool"), "{messages:?}");
    for (one, next) in said.iter().zip(said.iter().skip(1)) {
        prop_assert!(one["role"] != next["role"] || one["role"] == "tool", "{one}, then {next}");
    }
    Ok(())
}

/// What all chat completions have in common.
fn chat(messages: &[Value], allowed: &[&str], id: impl Fn(&str) -> bool) -> Checked {
    prop_assert!(!messages.is_empty());
    let (mut ids, mut open) = (BTreeSet::new(), Vec::new());
    for message in messages {
        let unknown = message.as_object().unwrap().keys().find(|field| !allowed.contains(&field.as_str()));
        prop_assert!(unknown.is_none(), "{unknown:?} in {message}");
        let role = message["role"].as_str().unwrap();
        prop_assert!(["system", "user", "assistant", "tool"].contains(&role));
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        prop_assert!(calls.is_empty() || role == "assistant");
        prop_assert!(message.get("tool_calls").is_none() || !calls.is_empty(), "{message}");
        if message["content"].is_array() {
            prop_assert_eq!(role, "user");
            check_parts(&message["content"], "text", |part| part["image_url"]["url"].as_str())?;
        } else {
            let is_blank = message["content"].as_str().is_none_or(|text| text.trim().is_empty());
            prop_assert!(!is_blank || (message["content"].is_null() && !calls.is_empty()), "{message}");
        }
        if let Some(name) = message.get("name") {
            let name = name.as_str().unwrap();
            prop_assert!(role == "user" && (1..=64).contains(&name.len()) && name.chars().all(is_plain), "{name}");
        }
        if role == "tool" {
            let call = message["tool_call_id"].as_str().unwrap().to_owned();
            prop_assert!(open.first() == Some(&call), "{call} is no result of {open:?}: {messages:?}");
            open.remove(0);
            continue;
        }
        prop_assert!(open.is_empty(), "no results of {open:?}: {messages:?}");
        for call in &calls {
            let of_call = call["id"].as_str().unwrap().to_owned();
            let is_allowed = !of_call.is_empty() && of_call.chars().all(is_plain) && id(&of_call);
            prop_assert!(is_allowed && ids.insert(of_call.clone()), "{of_call}: {messages:?}");
            let is_known = |field: &str| {
                ["id", "type", "function"].contains(&field) || (field == "extra_content" && allowed.contains(&field))
            };
            prop_assert!(call.as_object().unwrap().keys().all(|field| is_known(field)), "{call}");
            check_function(call["type"] == "function", &call["function"])?;
            open.push(of_call);
        }
    }
    prop_assert!(open.is_empty(), "no results of {open:?}: {messages:?}");
    for (one, next) in messages.iter().zip(messages.iter().skip(1)) {
        let shows = next["content"][0]["text"] == "[what the results above show]";
        prop_assert!(!shows || one["role"] == "tool", "{one}, then {next}");
    }
    Ok(())
}

/// OpenAI's Responses API.
pub(crate) fn responses(input: &[Value]) -> Checked {
    prop_assert!(!input.is_empty());
    let (mut ids, mut open) = (BTreeSet::new(), Vec::new());
    for (item, next) in input.iter().zip(input.iter().skip(1).map(Some).chain([None])) {
        match item["type"].as_str() {
            Some("reasoning") => {
                let goes_on = next.is_some_and(|next| next["type"] == "function_call" || next["role"] == "assistant");
                prop_assert!(goes_on && open.is_empty(), "{item}, then {next:?}");
            }
            None => {
                let role = item["role"].as_str().unwrap();
                prop_assert!(
                    ["system", "user", "assistant"].contains(&role) && item.as_object().unwrap().len() == 2,
                    "{item}"
                );
                if item["content"].is_array() {
                    prop_assert_eq!(role, "user");
                    check_parts(&item["content"], "input_text", |part| part["image_url"].as_str())?;
                } else {
                    prop_assert!(item["content"].as_str().is_some_and(|text| !text.trim().is_empty()), "{item}");
                }
                prop_assert!(open.is_empty(), "no results of {open:?}: {input:?}");
            }
            Some("function_call") => {
                let id = item["call_id"].as_str().unwrap().to_owned();
                prop_assert!((1..=64).contains(&id.len()) && ids.insert(id.clone()), "{id}: {input:?}");
                check_function(true, item)?;
                open.push(id);
            }
            Some("function_call_output") => {
                let id = item["call_id"].as_str().unwrap().to_owned();
                prop_assert!(open.first() == Some(&id), "{id} is no result of {open:?}: {input:?}");
                open.remove(0);
                match item["output"].is_array() {
                    true => check_parts(&item["output"], "input_text", |part| part["image_url"].as_str())?,
                    false => {
                        prop_assert!(item["output"].as_str().is_some_and(|text| !text.trim().is_empty()), "{item}");
                    }
                }
            }
            Some(_) => prop_assert!(false, "{item}"),
        }
    }
    prop_assert!(open.is_empty(), "no results of {open:?}: {input:?}");
    Ok(())
}

/// Parts of what the user says: texts that are not blank, and pictures that all providers take.
fn check_parts(parts: &Value, text: &str, url: impl Fn(&Value) -> Option<&str>) -> Checked {
    for part in parts.as_array().unwrap() {
        let is_allowed = match part["type"].as_str() == Some(text) {
            true => part["text"].as_str().is_some_and(|text| !text.trim().is_empty()),
            false => {
                url(part).is_some_and(|url| {
                    url.starts_with("https://") || url.strip_prefix("data:image/png;base64,") == Some(SMALL)
                }) || part["input_audio"] == json!({"data": SOUND, "format": "mp3"})
                    || is_pdf(part)
                    // Chat completions have no pictures by their ids.
                    || text == "input_text" && part["file_id"] == "file-1"
            }
        };
        prop_assert!(is_allowed, "{}", part);
    }
    Ok(())
}

/// A PDF as chat completions or the Responses API take it.
fn is_pdf(part: &Value) -> bool {
    let mut item = pdf();
    item["type"] = json!("input_file");
    *part == item || *part == json!({"type": "file", "file": pdf()})
}

/// The name of a tool, and arguments that are the text of an object.
fn check_function(is_function: bool, function: &Value) -> Checked {
    let name = function["name"].as_str().unwrap();
    prop_assert!(is_function && (1..=64).contains(&name.len()) && name.chars().all(is_plain), "{function}");
    let arguments = serde_json::from_str::<Value>(function["arguments"].as_str().unwrap());
    prop_assert!(arguments.is_ok_and(|arguments| arguments.is_object()), "{function}");
    Ok(())
}

pub(crate) fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-".contains(character)
}

/// A PDF of one page, in base64.
pub(crate) const PDF: &str = "JVBERi0xLjQKMiAwIG9iaiA8PC9UeXBlL1BhZ2U+PiBlbmRvYmogJSVFT0YK";

pub(crate) fn pdf() -> Value {
    json!({"filename": "a.pdf", "file_data": format!("data:application/pdf;base64,{PDF}")})
}

/// The beginning of a sound.
pub(crate) const SOUND: &str = "SUQzBAAA";

/// The beginning of a picture of one pixel.
pub(crate) const SMALL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB";
