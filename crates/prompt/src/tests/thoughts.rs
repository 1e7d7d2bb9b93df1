use std::collections::BTreeSet;

use serde_json::{Value, json};

use callboard_core::{
    conversation::{AddMessages, NewMessage, Role, ToolCall},
    count::Tokens,
    id::Seq,
    prompt::Format,
    run::own::{AnswerTurn, BeginTurn},
    testing::Board,
};

use crate::{Body, Prompt, Provider, ResolvedSpec, testing::Shows as _};

const CLAUDE: Option<&str> = Some("anthropic:claude-sonnet-4-5");

const OTHER: Option<&str> = Some("anthropic:glm-4.7");

fn signed(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": format!("sign of {text}")})
}

fn unsigned(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text})
}

/// A call of a tool, before which these blocks were thought.
fn call(id: &str, thoughts: &[Value]) -> NewMessage {
    let call = ToolCall { id: id.to_owned(), name: "look".to_owned(), arguments: json!({}) };
    let reasoning = thoughts.iter().map(|block| block.as_object().unwrap().clone()).collect();
    NewMessage { tool_calls: vec![call], reasoning, ..NewMessage::text(Role::Ai, "") }
}

/// The writer says something in `main` that is no answer to a turn.
fn add(board: &mut Board, message: NewMessage) {
    board.by("writer", AddMessages { thread: "main".parse().unwrap(), messages: vec![message] }).unwrap();
}

fn add_result(board: &mut Board, id: &str) {
    add(board, NewMessage { tool_call_id: Some(id.to_owned()), ..NewMessage::text(Role::Tool, "found") });
}

/// An agent's model is asked in `main`.
fn ask(board: &mut Board, agent: &str, model: Option<&str>) -> Seq {
    let begin = BeginTurn {
        agent: agent.parse().unwrap(),
        thread: "main".parse().unwrap(),
        model: model.map(str::to_owned),
        tools: BTreeSet::new(),
        prompt: board.no_prompt(),
        asker: None,
    };
    board.by(agent, begin).unwrap().0
}

/// A turn in which the writer's model calls a tool, and the result.
fn turn(board: &mut Board, model: Option<&str>, id: &str, thoughts: &[Value]) {
    let turn = ask(board, "writer", model);
    let answer = AnswerTurn { text: None, messages: vec![call(id, thoughts)], ..AnswerTurn::text(turn, "") };
    board.by("writer", answer).unwrap();
    add_result(board, id);
}

fn spec(board: &Board, model: Option<&str>) -> ResolvedSpec {
    ResolvedSpec {
        format: Format::Anthropic,
        provider: Provider::of(model),
        model: model.map(str::to_owned),
        ..ResolvedSpec::new("writer".parse().unwrap(), "main".parse().unwrap(), Tokens(100_000), board.count)
    }
}

/// What the writer's model gets back of what was thought.
fn thoughts(prompt: &Prompt) -> Vec<String> {
    let Body::Anthropic { messages, .. } = &prompt.body else { panic!("{:?}", prompt.body) };
    let blocks = messages.iter().flat_map(|message| message["content"].as_array().unwrap());
    let thought = |block: &Value| Some(block.get("thinking").or(block.get("data"))?.as_str().unwrap().to_owned());
    blocks.filter_map(thought).collect()
}

#[test]
fn a_call_that_gemini_did_not_make_says_so_in_the_place_of_its_signature() {
    let mut board = Board::team("lead writer");
    let say = |board: &mut Board, text: &str| {
        let messages = vec![NewMessage::text(Role::User, text)];
        board.user(AddMessages { thread: "main".parse().unwrap(), messages }).unwrap();
    };
    let prompt = |board: &Board, model: &str| {
        let spec = spec(board, Some(model));
        board.prompt_for("writer", &ResolvedSpec { format: Format::OpenAi, ..spec }, 3).unwrap()
    };
    let signatures = |prompt: &Prompt| -> Vec<Value> {
        let Body::Messages(messages) = &prompt.body else { panic!("{:?}", prompt.body) };
        let calls = messages.iter().filter_map(|message| message["tool_calls"].as_array()).flatten();
        calls.map(|call| call["extra_content"]["google"]["thought_signature"].clone()).collect()
    };
    let (new, old) = ("openai:gemini-3-pro", "openai:gemini-2.5-flash");
    say(&mut board, "Look it up.");
    turn(&mut board, OTHER, "c1", &[signed("one")]);
    let own = json!({"type": "extra_content", "call": 0, "extra_content": {"google": {"thought_signature": "own"}}});
    turn(&mut board, Some(new), "c2", &[own]);
    assert_eq!(signatures(&prompt(&board, new)), [json!("skip_thought_signature_validator"), json!("own")]);
    assert_eq!(signatures(&prompt(&board, "gemini-3-pro"))[1], "own", "it is the same model");
    assert_eq!(signatures(&prompt(&board, old)), [Value::Null, Value::Null]);
    assert!(prompt(&board, new).tokens > prompt(&board, old).tokens, "it is counted");
    // The loop ends with what the user says.
    say(&mut board, "And now?");
    assert_eq!(signatures(&prompt(&board, new)), [Value::Null, Value::Null]);
}

#[test]
fn openai_is_sent_no_thought_that_is_not_in_its_item() {
    let items = |thoughts: &[Value], provider: Provider| -> Vec<Value> {
        let mut board = Board::team("lead writer");
        let question = vec![NewMessage::text(Role::User, "Look it up.")];
        board.user(AddMessages { thread: "main".parse().unwrap(), messages: question }).unwrap();
        turn(&mut board, None, "c1", thoughts);
        let spec = ResolvedSpec { format: Format::Responses, provider, ..spec(&board, None) };
        let Body::Responses { input, .. } = board.prompt_for("writer", &spec, 3).unwrap().body else { panic!() };
        let is_thought = |item: &Value| ["reasoning", "web_search_call"].iter().any(|kind| item["type"] == *kind);
        input.into_iter().filter(is_thought).collect()
    };
    let whole = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"});
    let named = json!({"type": "reasoning", "id": "rs_2", "summary": []});
    let search = json!({"type": "web_search_call", "status": "completed"});
    let thoughts = [whole.clone(), named.clone()];
    assert_eq!(items(&thoughts, Provider::OpenAi), std::slice::from_ref(&whole));
    assert_eq!(items(&thoughts, Provider::Unknown), thoughts, "others may keep them, or have the thought in it");
    assert_eq!(items(&[whole.clone(), search.clone()], Provider::OpenAi), [whole, search.clone()]);
    assert_eq!(items(&[named, search], Provider::OpenAi), Vec::<Value>::new());
}

#[test]
fn what_was_thought_goes_back_to_the_model_that_thought_it_alone() {
    let mut board = Board::team("lead writer");
    let question = vec![NewMessage::text(Role::User, "Look it up.")];
    board.user(AddMessages { thread: "main".parse().unwrap(), messages: question }).unwrap();
    let got = |board: &Board, model| thoughts(&board.prompt_for("writer", &spec(board, model), 3).unwrap());
    turn(&mut board, OTHER, "c1", &[signed("one"), json!({"type": "redacted_thinking", "data": "hidden"})]);
    assert_eq!(got(&board, OTHER), ["one", "hidden"]);
    assert_eq!(got(&board, CLAUDE), [""; 0]);
    assert_eq!(got(&board, None), ["one", "hidden"], "nobody says who reads it");
    // What has no signature goes back to whoever is known to have thought it.
    turn(&mut board, CLAUDE, "c2", &[signed("two"), unsigned("three")]);
    assert_eq!(got(&board, CLAUDE), ["two", "three"]);
    assert_eq!(got(&board, OTHER), ["one", "hidden"]);
    assert_eq!(got(&board, None), ["one", "hidden", "two"]);
    // Nobody says whose model answered.
    turn(&mut board, None, "c3", &[signed("four"), unsigned("five")]);
    assert_eq!(got(&board, CLAUDE), ["two", "three", "four"]);
    // Nor is it known of what is no answer to a turn.
    turn(&mut board, CLAUDE, "c4", &[signed("six")]);
    add(&mut board, call("c5", &[signed("seven")]));
    add_result(&mut board, "c5");
    assert_eq!(got(&board, OTHER), ["one", "hidden", "four", "seven"]);
    assert_eq!(got(&board, CLAUDE), ["two", "three", "four", "six", "seven"]);
    let mut kept = None;
    for model in [CLAUDE, OTHER, CLAUDE] {
        let spec = spec(&board, model);
        let prompt = board.prompt_for("writer", &spec, 3).unwrap();
        assert_eq!(board.prompt_from(&mut kept, "writer", &spec).unwrap(), prompt, "{model:?}");
    }
}

#[test]
fn of_many_changes_of_a_model_the_newest_are_known() {
    let mut board = Board::team("lead writer");
    let question = vec![NewMessage::text(Role::User, "Look it up.")];
    board.user(AddMessages { thread: "main".parse().unwrap(), messages: question }).unwrap();
    let mut kept = None;
    for number in 0..40 {
        let model = if number % 2 == 0 { CLAUDE } else { OTHER };
        turn(&mut board, model, &format!("c{number}"), &[signed(&format!("thought {number}"))]);
        let spec = spec(&board, CLAUDE);
        let prompt = board.prompt_for("writer", &spec, 3).unwrap();
        assert_eq!(board.prompt_from(&mut kept, "writer", &spec).unwrap(), prompt, "{number}");
        let has = |number: usize| thoughts(&prompt).contains(&format!("thought {number}"));
        assert!(has(number / 2 * 2), "its own");
        assert!(number == 0 || !has((number - 1) / 2 * 2 + 1), "the newest of the other one");
    }
    assert_eq!(serde_json::to_value(&board.state.runs).unwrap()["models"]["main"].as_array().unwrap().len(), 16);
}

#[test]
fn what_others_are_asked_with_makes_nobodys_own_model_forgotten() {
    let others: Vec<_> = (0..40).map(|number| format!("w{number}")).collect();
    let mut board = Board::team(&format!("lead writer {}", others.join(" ")));
    let question = vec![NewMessage::text(Role::User, "Look it up.")];
    board.user(AddMessages { thread: "main".parse().unwrap(), messages: question }).unwrap();
    turn(&mut board, CLAUDE, "c1", &[signed("one")]);
    for other in &others {
        ask(&mut board, other, OTHER);
    }
    let got = |model| thoughts(&board.prompt_for("writer", &spec(&board, model), 3).unwrap());
    assert_eq!([got(CLAUDE), got(OTHER)], [vec!["one".to_owned()], vec![]]);
    let forgotten =
        |agent: &str| board.state.runs.models_forgotten_before(&agent.parse().unwrap(), &"main".parse().unwrap());
    assert_eq!(["writer", "w39"].map(forgotten), [None, None]);
}
