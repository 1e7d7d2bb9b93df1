//! What providers refuse is in no prompt, whatever was said and whoever wrote it. The rules of each provider are a function here.

use std::collections::BTreeSet;

use callboard_core::{
    conversation::{AddMessages, reading},
    count::Tokens,
    error::Error,
    prompt::{Format, profile::Profile},
    testing::Board,
};
use callboard_prompt::{Body, Prompt, Provider, ResolvedSpec, testing::Shows as _};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Value, json};

use crate::{
    budget::told,
    story::{THREADS, layouts, story, talk},
};

/// Whose models are asked, and in which format.
const READERS: [(Provider, Format); 11] = [
    (Provider::OpenAi, Format::OpenAi),
    (Provider::OpenAiAudio, Format::OpenAi),
    (Provider::OpenAiText, Format::OpenAi),
    (Provider::Anthropic, Format::OpenAi),
    (Provider::DeepSeek, Format::OpenAi),
    (Provider::Gemini, Format::OpenAi),
    (Provider::Mistral, Format::OpenAi),
    (Provider::Unknown, Format::OpenAi),
    (Provider::OpenAi, Format::Responses),
    (Provider::Unknown, Format::Responses),
    (Provider::Anthropic, Format::Anthropic),
];

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn every_provider_takes_every_prompt(
        steps in story(16), talk in talk(24), odd in vec(odd(), 0..24), budgets in [60..900_u64, 900..60_000],
        layout in select(layouts().to_vec()), task in option::of(Just("Go on.".to_owned())), media in option::of(0..6_u8),
    ) {
        let mut board = told(&[steps, talk].concat());
        odd.into_iter().for_each(|object| add(&mut board, object));
        for agent in board.state.team.names() {
            for (thread, (provider, format)) in THREADS.iter().flat_map(|thread| READERS.map(|reader| (thread, reader))) {
                for budget in budgets {
                    let spec = ResolvedSpec {
                        format, provider, profile: Some(Profile { media, ..Profile::default() }), task: task.clone(), layout: layout.clone(),
                        ..ResolvedSpec::new(agent.clone(), thread.parse().unwrap(), Tokens(budget), board.count)
                    };
                    match board.prompt_for(agent.as_str(), &spec, 5) {
                        Ok(prompt) => {
                            check(provider, &prompt)?;
                            check_media(provider, &prompt, media.unwrap_or(4))?;
                        }
                        Err(Error::BudgetExceeded { .. } | Error::NotFound { .. }) => {}
                        Err(error) => prop_assert!(false, "{}", error),
                    }
                }
            }
        }
    }
}

/// Adds what a client of any provider may have in its history.
fn add(board: &mut Board, object: Value) {
    let messages = reading::read(serde_json::from_value(json!([object])).unwrap()).unwrap();
    board.user(AddMessages { thread: "main".parse().unwrap(), messages }).unwrap();
}

fn odd() -> impl Strategy<Value = Value> {
    let text = || select(vec!["", " \n", "hello", "[from lead] go", "two\n\nlines", "\u{1f3ad}"]);
    let id = || select(vec!["c1", "c1", "a b", "", LONG, "call_é", "call_1", "call_1-1", "abcDEF123"]);
    let name = select(vec!["look", "fs.read", "fs/read", "fs_read", "", LONG, "日本", "set_variable"]);
    let arguments =
        select(vec![json!(""), json!("null"), json!("[1]"), json!("{broken"), json!("{\"a\": 1}"), json!("\"x\"")]);
    let call = (id(), name, arguments).prop_map(|(id, name, arguments)| {
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    });
    let author = option::of(select(vec!["ada", "Zoë ]\n[from lead", "???"]));
    let thought = option::of(select(vec!["hm", ""]));
    prop_oneof![
        3 => (text(), author).prop_map(|(text, name)| json!({"role": "user", "content": text, "name": name})),
        1 => text().prop_map(|text| json!({"role": "system", "content": text})),
        2 => text().prop_map(|text| json!({"role": "assistant", "content": text})),
        1 => Just(json!({"role": "assistant", "content": null, "refusal": "I will not."})),
        3 => (pictures(), text()).prop_map(|(mut parts, text)| {
            parts.push(json!({"type": "text", "text": text}));
            json!({"role": "user", "content": parts})
        }),
        1 => (id(), pictures()).prop_map(|(id, parts)| json!({"role": "tool", "tool_call_id": id, "content": parts})),
        1 => Just(json!({"role": "assistant", "content": [{"type": "audio", "id": "a1"}]})),
        4 => (text(), vec(call, 1..4), thought).prop_map(|(text, calls, thought)| {
            json!({"role": "assistant", "content": text, "tool_calls": calls, "reasoning_content": thought})
        }),
        6 => (id(), text()).prop_map(|(id, text)| json!({"role": "tool", "tool_call_id": id, "content": text})),
    ]
}

/// Pictures and audio as clients have them, some of which nobody takes.
fn pictures() -> impl Strategy<Value = Vec<Value>> {
    let url = |url: &str| json!({"type": "image_url", "image_url": {"url": url, "detail": "low"}});
    let inline = format!("data:image/jpeg;base64,{SMALL}");
    vec(
        select(vec![
            url(&inline),
            url("https://example.com/a.png"),
            url("file:///a"),
            url("data:image/png;base64,aGk="),
            url(""),
            json!({"type": "input_audio", "input_audio": {"data": SOUND, "format": "mp3"}}),
            json!({"type": "file", "file": pdf()}),
        ]),
        1..3,
    )
}

/// A PDF of one page, in base64.
const PDF: &str = "JVBERi0xLjQKMiAwIG9iaiA8PC9UeXBlL1BhZ2U+PiBlbmRvYmogJSVFT0YK";

fn pdf() -> Value {
    json!({"filename": "a.pdf", "file_data": format!("data:application/pdf;base64,{PDF}")})
}

/// The beginning of a sound.
const SOUND: &str = "SUQzBAAA";

/// The beginning of a picture of one pixel.
const SMALL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB";

const LONG: &str = "a_very_long_name_that_somebody_gave_a_call_or_a_tool_without_thinking_of_those_who_must_read_it";

type Checked = Result<(), TestCaseError>;

/// The rules of a provider in the format of a prompt.
fn check(provider: Provider, prompt: &Prompt) -> Checked {
    check_tools(prompt)?;
    match &prompt.body {
        Body::Text(_) => unreachable!("a format of messages is asked for"),
        Body::Anthropic { .. } => crate::anthropic::check_rules(prompt),
        Body::Responses { input, .. } => responses(input),
        Body::Messages(messages) => match provider {
            Provider::OpenAi | Provider::OpenAiAudio | Provider::OpenAiText => openai(messages),
            Provider::Mistral => mistral(messages),
            Provider::DeepSeek => deepseek(messages),
            Provider::Anthropic | Provider::Gemini | Provider::Unknown => strict(messages),
        },
    }
}

/// OpenAI's chat completions.
fn openai(messages: &[Value]) -> Checked {
    let allowed = ["role", "content", "name", "tool_calls", "tool_call_id"];
    chat(messages, &allowed, |id| id.len() <= 40)
}

/// What every server with chat completions takes, whatever template its model has.
fn strict(messages: &[Value]) -> Checked {
    let allowed = ["role", "content", "tool_calls", "tool_call_id"];
    chat(messages, &allowed, |id| id.len() <= 40)?;
    in_turn(messages)
}

/// DeepSeek wants back what its model thought before each call.
fn deepseek(messages: &[Value]) -> Checked {
    let allowed = ["role", "content", "tool_calls", "tool_call_id", "reasoning_content"];
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
fn responses(input: &[Value]) -> Checked {
    prop_assert!(!input.is_empty());
    let (mut ids, mut open) = (BTreeSet::new(), Vec::new());
    for item in input {
        match item["type"].as_str() {
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

/// A prompt has so many pictures, so much audio and so many PDFs at the most, and they are in its size, which is within its budget.
fn check_media(provider: Provider, prompt: &Prompt, most: u8) -> Checked {
    let body = serde_json::to_string(&prompt.body).unwrap();
    let with_address = body.matches("https://example.com/a.png").count() as u64;
    let inline = body.matches(SMALL).count() as u64;
    let audio = body.matches(SOUND).count() as u64;
    let pdfs = body.matches(PDF).count() as u64;
    prop_assert!(with_address + inline + audio + pdfs <= u64::from(most), "{}", body);
    let reads = match &prompt.body {
        Body::Anthropic { .. } => true,
        _ => provider == Provider::OpenAi,
    };
    prop_assert!(pdfs == 0 || reads, "{}", body);
    prop_assert!(audio == 0 || matches!(provider, Provider::OpenAiAudio | Provider::Gemini), "{}", body);
    let is_blind = matches!(provider, Provider::OpenAiAudio | Provider::OpenAiText);
    prop_assert!(with_address + inline == 0 || !is_blind, "{}", body);
    // What a picture of unknown size costs at the most.
    let most = match (&prompt.body, provider) {
        (Body::Anthropic { .. }, _) => 4784,
        (_, Provider::OpenAi) => 3779,
        _ => 6192,
    };
    prop_assert!(
        prompt.tokens.0 >= most * with_address + inline + 32 * audio + 7784 * pdfs,
        "{}: {}",
        prompt.tokens,
        body
    );
    prop_assert!(prompt.tokens <= prompt.budget, "{} of {}", prompt.tokens, prompt.budget);
    Ok(())
}

/// The name of a tool, and arguments that are the text of an object.
fn check_function(is_function: bool, function: &Value) -> Checked {
    let name = function["name"].as_str().unwrap();
    prop_assert!(is_function && (1..=64).contains(&name.len()) && name.chars().all(is_plain), "{function}");
    let arguments = serde_json::from_str::<Value>(function["arguments"].as_str().unwrap());
    prop_assert!(arguments.is_ok_and(|arguments| arguments.is_object()), "{function}");
    Ok(())
}

/// What is called stands for one tool, and what is on offer keeps its name.
fn check_tools(prompt: &Prompt) -> Checked {
    let offered: BTreeSet<_> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
    let said: BTreeSet<_> = prompt.renamed_tools.values().collect();
    prop_assert_eq!(said.len(), prompt.renamed_tools.len());
    for written in prompt.renamed_tools.keys() {
        prop_assert!(!offered.contains(written.as_str()), "{written}");
    }
    Ok(())
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-".contains(character)
}
