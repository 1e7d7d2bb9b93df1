//! What came in as messages of providers, in prompts: documents, names, refusals, and what a model gave that is no text.

use callboard_core::conversation::reading;

use crate::tests::*;

#[test]
fn openai_is_sent_no_more_calls_in_a_message_than_it_takes() {
    let mut board = Board::team("lead writer");
    let call = |at: usize| json!({"id": format!("c{at}"), "name": "look", "arguments": {"at": at}});
    let calls: Vec<_> = (0..300).map(call).collect();
    let said = json!([{"role": "assistant", "content": "I look.", "tool_calls": calls}]);
    let messages: Vec<NewMessage> = serde_json::from_value(said).unwrap();
    board.by("writer", AddMessages { thread: "agent:writer".parse().unwrap(), messages }).unwrap();
    let prompt = board.prompt_as("writer", "agent:writer", 100_000, Format::OpenAi).unwrap();
    let Body::Messages(messages) = prompt.body else { panic!() };
    let said: Vec<_> = messages.iter().filter(|message| message["role"] == "assistant").collect();
    let calls: Vec<_> = said.iter().map(|message| message["tool_calls"].as_array().unwrap().len()).collect();
    assert_eq!(calls, [128, 128, 44]);
    assert_eq!((&said[0]["content"], &said[1]["content"]), (&json!("I look."), &Value::Null));
    // The results of each stand behind it.
    let second = messages.iter().position(|message| message == said[1]).unwrap();
    let ids = [second - 1, second + 1].map(|at| messages[at]["tool_call_id"].as_str().unwrap());
    assert_eq!(ids, ["c127", "c128"]);
}

const FORMATS: [Format; 3] = [Format::OpenAi, Format::Responses, Format::Anthropic];

/// The team after these message objects in `main`, each by the user or an agent.
fn board_with(said: &[(&str, Value)]) -> Board {
    let mut board = Board::team("lead writer");
    for (by, object) in said {
        let messages = reading::read(serde_json::from_value(json!([object])).unwrap()).unwrap();
        let said = AddMessages { thread: "main".parse().unwrap(), messages };
        match *by {
            "user" => board.user(said).map(|_| ()).unwrap(),
            agent => board.by(agent, said).map(|_| ()).unwrap(),
        }
    }
    board
}

fn user(content: Value) -> (&'static str, Value) {
    ("user", json!({"role": "user", "content": content}))
}

fn lead(content: Value) -> (&'static str, Value) {
    ("lead", json!({"role": "assistant", "content": content}))
}

/// Who says what in the messages of a prompt, but for the system. Parts that are no text stand as they are.
fn said(board: &Board, agent: &str, format: Format) -> Vec<(String, String)> {
    let messages = match board.prompt_as(agent, "main", 20_000, format).unwrap().body {
        Body::Messages(messages) | Body::Anthropic { messages, .. } => messages,
        Body::Responses { input, .. } => input,
        Body::Text(text) => panic!("{text}"),
    };
    let text_of = |content: &Value| match content {
        Value::Array(parts) => {
            let texts = parts.iter().map(|part| part["text"].as_str().map_or_else(|| part.to_string(), str::to_owned));
            texts.collect::<Vec<_>>().join("\n")
        }
        content => content.as_str().unwrap_or_default().to_owned(),
    };
    let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
    let said = messages.iter().filter(|message| message["role"] != "system");
    said.map(|message| (role(message), text_of(&message["content"]))).collect()
}

/// What `role` says, one line a text.
fn of_role(said: &[(String, String)], role: &str) -> String {
    said.iter().filter(|(by, _)| by == role).map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n")
}

#[test]
fn documents_with_text_and_results_of_a_search_are_text() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let plain = json!({"type": "text", "media_type": "text/plain", "data": "The tide turns at noon."});
    let in_parts = json!({"type": "content", "content": [text("High at one."), text("And at two.")]});
    let content = json!([
        text("Read:"),
        {"type": "document", "source": plain, "title": "Tides"},
        {"type": "document", "source": in_parts},
        {"type": "search_result", "source": "https://tides.example", "title": "Tides", "content": [text("Low at seven.")]},
    ]);
    let board = board_with(&[user(content)]);
    let read = "Read:\nThe tide turns at noon.\nHigh at one.\nAnd at two.\nLow at seven.";
    for format in FORMATS {
        assert_eq!(said(&board, "lead", format), [("user".to_owned(), read.to_owned())], "{format:?}");
    }
    assert!(as_text(&board, "lead", "main", 20_000).text().contains(read));
}

#[test]
fn what_stands_for_a_picture_or_a_sound_is_never_an_assistants_words() {
    let picture = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
    let sound = json!({"type": "audio", "id": "audio_1"});
    let board = board_with(&[
        user(json!("Draw.")),
        lead(json!([{"type": "text", "text": "There."}, picture, sound])),
        lead(json!([picture])),
        user(json!("More.")),
    ]);
    for format in FORMATS {
        let own = said(&board, "lead", format);
        assert_eq!(of_role(&own, "assistant"), "There.", "{format:?}: {own:?}");
        let others = of_role(&said(&board, "writer", format), "user");
        assert!(others.contains("[from lead] There.") && !others.contains("not shown"), "{format:?}: {others}");
    }
    // What the user shows is named where it is not shown.
    let board = board_with(&[user(json!([picture]))]);
    let blind = ResolvedSpec {
        format: Format::OpenAi,
        profile: Some(Profile { media: Some(0), ..Profile::default() }),
        ..ResolvedSpec::new("lead".parse().unwrap(), "main".parse().unwrap(), Tokens(20_000), board.count)
    };
    let Body::Messages(messages) = board.prompt_for("lead", &blind, 3).unwrap().body else { panic!() };
    let last = messages.last().unwrap();
    assert_eq!(last["role"], "user");
    assert!(last["content"].as_str().unwrap().starts_with("[image_url not shown; "), "{last}");
}

#[test]
fn a_refusal_is_the_models_own_words_for_it_and_told_as_one_to_others() {
    let refused = json!({"role": "assistant", "content": null, "refusal": "I will not."});
    let board = board_with(&[
        user(json!("Break in.")),
        ("lead", refused),
        user(json!("Please.")),
        lead(json!([{"type": "refusal", "refusal": "No."}])),
        user(json!("Why?")),
    ]);
    for format in FORMATS {
        let own = said(&board, "lead", format);
        assert_eq!(of_role(&own, "assistant"), "I will not.\nNo.", "{format:?}: {own:?}");
        let others = of_role(&said(&board, "writer", format), "user");
        assert!(others.contains("[from lead] [the model refused]\nI will not."), "{format:?}: {others}");
    }
}

#[test]
fn the_users_name_stands_where_each_format_has_a_place_for_it() {
    let named = json!({"role": "user", "content": "And?", "name": "ada"});
    let board = board_with(&[user(json!("Well.")), ("user", named)]);
    for format in [Format::Responses, Format::Anthropic] {
        let said = of_role(&said(&board, "lead", format), "user");
        assert!(said.ends_with("Well.\n[from user: ada] And?"), "{format:?}: {said}");
    }
    let Body::Messages(messages) = as_messages(&board, "lead", "main", 20_000).body else { panic!() };
    assert_eq!(*messages.last().unwrap(), json!({"role": "user", "name": "ada", "content": "And?"}));
}
