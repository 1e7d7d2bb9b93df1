//! Runs whose agents have models of different providers.

use callboard_engine::core::{
    conversation::{AddMessages, NewMessage, PutThread, Role, reading, settings::ThreadPatch},
    entry::{Actor, Hash},
    id::ThreadId,
    run::{Due, Status, ToolResults},
};
use callboard_engine::{NewBoardSession, PromptSpec, Session, sizes};
use callboard_model::scripted::{Reply, first_text};
use callboard_prompt::Provider;
use serde_json::{Value, json};

use crate::{
    fixture::{
        Models, asked, before, board, done, journal, memory, of_type, prompt, run_of, session_asking, start, texts, to,
        user, whole_run,
    },
    rules, rules_of_claude,
};

const CLAUDE: Option<&str> = Some("anthropic:claude");
const SMALL: Option<&str> = Some("openai:small");
const DEEPSEEK: Option<&str> = Some("openai:deepseek-chat");

/// The hash of the prompt in a request for Anthropic's messages.
fn hash(request: &Value) -> String {
    let sent = json!({"messages": request["messages"], "system": request["system"]});
    Hash::of(&serde_json::to_vec(&sent).unwrap()).to_string()
}

#[tokio::test]
async fn a_manager_on_anthropic_and_a_worker_on_openai_carry_a_task_through() {
    let store = memory();
    let session = session_asking(&store, CLAUDE, SMALL).await;
    let run = start(&session).await;
    let models = Models::new(|request, _| whole_run(request).with_usage(100, 10));
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(models.asked(), ["directive", "work", "verdict", "directive"]);
    assert_eq!(texts(&session, "main").await, ["Write a haiku on tides.", "Here it is."]);
    assert_eq!(texts(&session, "agent:writer").await, ["Write it.", "Waters come and go"]);
    assert_eq!(run_of(&session, &run).await.used_in_all.prompt_tokens, 400);

    let requests = models.endpoint.requests();
    let requested = of_type(&journal(&store).await, "turn.requested");
    for (request, requested) in requests.iter().zip(&requested) {
        let record = &requested["prompt"];
        if request.get("system").is_some() {
            assert!(first_text(request).contains("You are lead."), "{request}");
            assert_eq!((&record["format"], &record["sha256"]), (&json!("anthropic"), &json!(hash(request))));
            // Nothing is known of the model until its provider has reported.
            let counting = if requested["turn"] == 1 { "upper_bound" } else { "estimated" };
            assert_eq!(record["counting"], counting);
        } else {
            assert_eq!((&requested["agent"], &record["format"]), (&json!("writer"), &json!("openai")));
        }
    }
    assert_eq!(requests.iter().filter(|request| request.get("system").is_some()).count(), 3);
}

#[tokio::test]
async fn the_caller_brings_the_results_of_tools_that_a_worker_on_anthropic_calls() {
    let session = session_asking(&memory(), SMALL, CLAUDE).await;
    let run = start(&session).await;
    let models = Models::new(|request, nth| match (asked(request), nth) {
        ("directive", 0) => to("writer", "Look it up."),
        ("work", 1) => Reply::tool_calls([("look_up", json!({"word": "tide"})), ("look_up", json!({"word": "ebb"}))]),
        // Its ids begin anew in every answer.
        ("work", 2) => Reply::tool_calls([("look_up", json!({"word": "flood"}))]),
        ("work", _) => Reply::text("A tide is a tide."),
        _ => done("Done."),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    assert_eq!(models.endpoint.requests()[1]["tools"][0]["name"], "look_up");
    let bring = |id: &str, result: &str| ToolResults::new(run.clone(), vec![(id.to_owned(), result.to_owned())]);
    user(&session, bring("call_2", "going out")).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    user(&session, bring("call_1", "up and down")).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    user(&session, bring("call_1", "coming in")).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);

    let last = &models.endpoint.requests()[3]["messages"];
    let results = |message: &Value| -> Vec<(String, String)> {
        let field = |block: &Value, name: &str| block[name].as_str().unwrap().to_owned();
        let blocks = message["content"].as_array().unwrap().iter();
        blocks.map(|block| (field(block, "tool_use_id"), field(block, "content"))).collect()
    };
    let pair = |id: &str, result: &str| (id.to_owned(), result.to_owned());
    assert_eq!(results(&last[2]), [pair("call_1", "up and down"), pair("call_2", "going out")]);
    assert_eq!(results(&last[4]), [pair("call_1-2", "coming in")]);
    assert_eq!(last[3]["content"][0]["id"], "call_1-2");
}

#[tokio::test]
async fn a_turn_that_was_begun_is_asked_with_the_same_bytes_after_a_crash() {
    let store = memory();
    let session = session_asking(&store, CLAUDE, CLAUDE).await;
    let run = start(&session).await;
    let (models, reached) = Models::cut_off_at(2, whole_run, || Reply::stall(""));
    before(&reached, models.drive(&session, &run)).await;
    let hurry = NewMessage::text(Role::User, "Hurry up!");
    session.say(Actor::User, &ThreadId::main(), hurry).await.unwrap();
    drop(session);
    let session = board(&store).session(&"s".parse().unwrap()).await.unwrap();
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let requests = models.endpoint.requests();
    assert_eq!(requests[2], requests[3]);
    assert!(!prompt(&requests[3]).contains("Hurry up!") && prompt(&requests[4]).contains("Hurry up!"));
    let recorded = of_type(&journal(&store).await, "turn.requested");
    assert_eq!(recorded[2]["prompt"]["sha256"], hash(&requests[3]));
    let shown = session.why(&callboard_engine::core::viewer::Viewer::User, "Waters come and go").await.unwrap();
    assert!(shown.iter().any(|finding| !finding.shown.is_empty()), "{shown:?}");
}

#[tokio::test]
async fn i5_what_a_run_is_told_of_tokens_changes_its_session_alone_and_everywhere() {
    const SONNET: &str = "anthropic:claude-sonnet-4-5";
    let factor_of = async |session: &Session| {
        let spec = PromptSpec { agent: "lead".parse().ok(), model: Some(SONNET.to_owned()), ..PromptSpec::default() };
        f64::from(session.prompt(&spec).await.unwrap().factor.unwrap().as_thousandths()) / 1000.0
    };
    let store = memory();
    let (here, session) = (board(&store), session_asking(&store, Some(SONNET), Some(SONNET)).await);
    let session = here.session(session.id()).await.unwrap();
    let untold = factor_of(&session).await;
    let run = start(&session).await;
    // It counts twice as many tokens as the vocabulary that stands in for its own.
    let used = |request: &Value| 2 * sizes().count(&format!("{}{}", request["system"], request["messages"])).0;
    let models = Models::new(move |request, _| whole_run(request).with_usage(used(request), 10));
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let told = factor_of(&session).await;
    assert!((1.5..=2.5).contains(&told) && told != untold, "{told}, {untold}");
    assert_eq!(factor_of(&board(&store).session(session.id()).await.unwrap()).await, told);
    for (board, id) in [(here, "here"), (board(&store), "elsewhere")] {
        let agents = serde_json::from_value(json!([{"name": "lead", "role": "manager"}])).unwrap();
        let new = NewBoardSession { id: id.parse().ok(), agents, ..Default::default() };
        assert_eq!(factor_of(&board.create(new).await.unwrap()).await, untold, "{id}");
    }
}

/// What the assistant's messages of a request say that was thought.
fn thoughts(request: &Value) -> Vec<Value> {
    let messages = request["messages"].as_array().unwrap().iter().filter(|message| message["role"] == "assistant");
    let thoughts = |message: &Value| -> Vec<Value> {
        let of_openai = message.get("reasoning_content").cloned();
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        let is_thought = |block: &Value| block["type"].as_str().is_some_and(|kind| kind.ends_with("thinking"));
        of_openai.into_iter().chain(blocks.into_iter().filter(is_thought)).collect()
    };
    messages.flat_map(thoughts).collect()
}

#[tokio::test]
async fn what_a_model_thinks_goes_back_to_it_while_its_calls_last_and_to_nobody_else() {
    let [first, hidden, second] = [
        json!({"type": "thinking", "thinking": "A word to look up.", "signature": "c2lnbmVk"}),
        json!({"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"}),
        json!({"type": "thinking", "thinking": "One more.", "signature": "YWdhaW4="}),
    ];
    for model in [CLAUDE, DEEPSEEK] {
        let store = memory();
        let session = session_asking(&store, CLAUDE, model).await;
        let run = start(&session).await;
        let [one, two, three] = [first.clone(), hidden.clone(), second.clone()];
        let models = Models::new(move |request, nth| match (asked(request), nth) {
            ("directive", 0) | ("directive", 4) => to("writer", "Look it up."),
            ("work", 1) => {
                Reply::tool_calls([("look_up", json!({"word": "tide"}))]).thinking([one.clone(), two.clone()])
            }
            ("work", 2) => {
                Reply::tool_calls([("look_up", json!({"word": "ebb"}))]).thinking([three.clone()]).ignoring_stream()
            }
            ("work", _) => Reply::text("A tide is a tide.").thinking([three.clone()]),
            _ => done("Done."),
        });
        for _ in 0..2 {
            assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
            user(&session, ToolResults::new(run.clone(), vec![("call_1".to_owned(), "found".to_owned())])).await;
        }
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
        let requests = models.endpoint.requests();
        let expected = match model == CLAUDE {
            true => vec![first.clone(), hidden.clone(), second.clone()],
            false => vec![first["thinking"].clone(), second["thinking"].clone()],
        };
        let of_first = if model == CLAUDE { 2 } else { 1 };
        assert_eq!(thoughts(&requests[2]), expected[..of_first], "{}", requests[2]);
        assert_eq!(thoughts(&requests[3]), expected, "{}", requests[3]);
        // The manager gets none of it, and neither does the writer once it was asked something new. DeepSeek wants it for ever.
        for request in &requests[4..] {
            let is_kept = model == DEEPSEEK && asked(request) == "work";
            assert_eq!(request.to_string().contains("A word to look up."), is_kept, "{request}");
        }
        assert!(requests.len() > 5 && asked(&requests[5]) == "work", "{:?}", models.asked());
        // It is kept with the message, and counted where it is sent.
        let said = of_type(&journal(&store).await, "message.added");
        let kept = said.iter().filter(|message| message["reasoning"].is_array()).count();
        assert_eq!(kept, 4);
        let recorded = of_type(&journal(&store).await, "turn.requested");
        // What was learned of how the model counts does not matter here.
        let size = |at: usize| {
            let prompt = &recorded[at]["prompt"];
            prompt["tokens"].as_f64().unwrap() / prompt["factor"].as_f64().unwrap_or(1.0)
        };
        assert!(size(3) > size(2), "{} {}", size(3), size(2));
    }
}

#[tokio::test]
async fn what_a_model_thinks_goes_to_no_other_that_takes_its_place_in_the_middle_of_its_calls() {
    let session = session_asking(&memory(), SMALL, CLAUDE).await;
    let run = start(&session).await;
    let thought = json!({"type": "thinking", "thinking": "A word to look up.", "signature": "c2lnbmVk"});
    let models = Models::new(move |request, nth| match (asked(request), nth) {
        ("directive", 0) => to("writer", "Look it up."),
        ("work", 1 | 2) => Reply::tool_calls([("look_up", json!({"word": "tide"}))]).thinking([thought.clone()]),
        ("work", _) => Reply::text("A tide is a tide."),
        _ => done("Done."),
    });
    let found = || ToolResults::new(run.clone(), vec![("call_1".to_owned(), "found".to_owned())]);
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    let patch = ThreadPatch { model: Some(Some("anthropic:other".to_owned())), ..ThreadPatch::default() };
    user(&session, PutThread { thread: "agent:writer".parse().unwrap(), patch }).await;
    user(&session, found()).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    user(&session, found()).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let requests = models.endpoint.requests();
    assert_eq!(requests[2]["model"], "other", "{}", requests[2]);
    assert_eq!(thoughts(&requests[2]).len(), 0, "{}", requests[2]);
    assert_eq!(thoughts(&requests[3]).len(), 1, "what it thought itself: {}", requests[3]);
}

#[tokio::test]
async fn what_a_model_thinks_between_its_words_and_its_calls_goes_back_in_its_place() {
    let content = json!([
        {"type": "thinking", "thinking": "A word to look up.", "signature": "c2lnbmVk"},
        {"type": "text", "text": "I look it up."},
        {"type": "thinking", "thinking": "In the dictionary.", "signature": "YWdhaW4="},
        {"type": "tool_use", "id": "call_1", "name": "look_up", "input": {"word": "tide"}},
    ]);
    let session = session_asking(&memory(), SMALL, CLAUDE).await;
    let run = start(&session).await;
    let whole = json!({"type": "message", "content": content, "stop_reason": "tool_use"}).to_string();
    let models = Models::new(move |request, nth| match (asked(request), nth) {
        ("directive", 0) => to("writer", "Look it up."),
        ("work", 1) => Reply::raw(200, "application/json", whole.clone()),
        ("work", _) => Reply::text("A tide is a tide."),
        _ => done("Done."),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    user(&session, ToolResults::new(run.clone(), vec![("call_1".to_owned(), "found".to_owned())])).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let requests = models.endpoint.requests();
    let mut said = requests[2]["messages"].clone();
    let said = said.as_array_mut().unwrap().iter_mut().find(|message| message["role"] == "assistant").unwrap();
    for block in said["content"].as_array_mut().unwrap() {
        block.as_object_mut().unwrap().remove("cache_control");
    }
    assert_eq!(said["content"], content);
    assert_eq!(
        texts(&session, "agent:writer").await,
        ["Look it up.", "I look it up.", "", "found", "A tide is a tide."]
    );
}

/// The schema of the answer that a request asks for, and whether it is enforced.
fn schema(request: &Value) -> (&Value, bool) {
    let of_openai = &request["response_format"]["json_schema"];
    if of_openai.is_object() {
        return (&of_openai["schema"], of_openai["strict"] == true);
    }
    let mut tools = request["tools"].as_array().unwrap().iter();
    let form = tools.find(|tool| tool["name"] == "directive").unwrap();
    (&form["input_schema"], form["strict"] == true)
}

#[tokio::test]
async fn a_schema_is_enforced_where_a_provider_does_that_and_plain_where_it_refuses_it() {
    const GPT: Option<&str> = Some("openai:gpt-4o");
    for (model, refuses, enforced) in [
        (GPT, false, vec![true]),
        (GPT, true, vec![true, false]),
        (CLAUDE, false, vec![true]),
        (CLAUDE, true, vec![true, false]),
        (SMALL, true, vec![false]),
    ] {
        let store = memory();
        let session = session_asking(&store, model, SMALL).await;
        let run = start(&session).await;
        let models = Models::new(move |request, _| match refuses && schema(request).1 {
            true => Reply::error(400, "Invalid schema for 'directive': it is too complex"),
            false => Reply::json(&json!({
                "messageTo": "user", "message": "Done.", "workflowComplete": true, "form": null, "expectedOutput": null,
                "isInfoRequest": null, "contextSetUpdate": {"contextSets": [
                    {"name": "Tides", "context": "High.", "newOrUpdate": null, "visibleToAgents": null},
                ]},
            })),
        });
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed, "{model:?}");
        let requests = models.endpoint.requests();
        let asked: Vec<_> = requests.iter().map(schema).collect();
        assert_eq!(asked.iter().map(|(_, strict)| *strict).collect::<Vec<_>>(), enforced, "{model:?}");
        for (schema, strict) in asked {
            assert_eq!(schema["required"].is_array(), strict && model == GPT, "{schema}");
            assert_eq!(schema.to_string().contains("maxLength"), !strict, "{schema}");
        }
        assert_eq!(of_type(&journal(&store).await, "context_set.updated").len(), 1, "{model:?}");
    }
}

/// What is wrong with a request by the rules of the provider of a model that thinks before it calls.
fn fault(model: &str, request: &Value) -> Option<&'static str> {
    let messages = request["messages"].as_array().unwrap();
    let asked = messages.iter().rposition(|message| message["role"] == "user").unwrap();
    let calling = |message: &&Value| message.get("tool_calls").is_some();
    let is_signed = |message: &Value| message["tool_calls"][0]["extra_content"] == signature();
    let is_thought = |message: &Value| message["reasoning_content"] == "Hm.";
    let (is_deepseek, is_gemini) = (model.contains("deepseek"), model.contains("gemini"));
    if is_deepseek && !messages.iter().filter(calling).all(is_thought) {
        return Some("a call without its reasoning_content");
    }
    if is_gemini && !messages[asked..].iter().filter(calling).all(is_signed) {
        return Some("a call without its thought_signature");
    }
    let sent = json!(messages).to_string();
    let is_foreign =
        (!is_deepseek && sent.contains("reasoning_content")) || (!is_gemini && sent.contains("extra_content"));
    is_foreign.then_some("an unknown field")
}

/// What Gemini gives with a call.
fn signature() -> Value {
    json!({"google": {"thought_signature": "c2lnbmVk"}})
}

#[tokio::test]
async fn a_loop_of_calls_has_what_its_provider_asks_for_and_nothing_else() {
    for model in ["openai:deepseek-chat", "openai:gemini-3-pro", "openai:small", "openai:gpt-4o"] {
        let session = session_asking(&memory(), SMALL, Some(model)).await;
        let run = start(&session).await;
        let function = json!({"name": "look_up", "arguments": "{}"});
        let call = json!({"id": "call_1", "type": "function", "function": function, "extra_content": signature()});
        let message = json!({"role": "assistant", "content": null, "reasoning_content": "Hm.", "tool_calls": [call]});
        let calls = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).to_string();
        let models = Models::new(move |request, nth| match (asked(request), nth) {
            ("directive", 0) => to("writer", "Look it up."),
            ("work", _) if fault(model, request).is_some() => Reply::error(400, fault(model, request).unwrap()),
            ("work", 1..=2) => Reply::raw(200, "application/json", calls.clone()),
            ("work", _) => Reply::text("A tide is a tide."),
            _ => done("Done."),
        });
        for _ in 0..2 {
            assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool, "{model}");
            let Due::Tools { calls, .. } = run_of(&session, &run).await.due else { panic!("{model}") };
            let results = calls.into_iter().map(|call| (call.id, "found".to_owned())).collect();
            user(&session, ToolResults::new(run.clone(), results)).await;
        }
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed, "{model}");
        assert_eq!(models.asked(), ["directive", "work", "work", "work", "directive"], "{model}");
    }
}

/// What the provider of a model would refuse a request for.
fn refusal(request: &Value) -> Option<String> {
    let messages = request["messages"].as_array().unwrap();
    let checked = match request["system"].as_array() {
        Some(system) => rules_of_claude::check(system, messages),
        None => rules::chat_completions(Provider::of(request["model"].as_str()), messages),
    };
    checked.err().map(|error| error.to_string())
}

/// What no provider takes as it is: calls with names, ids and arguments of another one's, without results or with two, what is
/// blank, and an agent that speaks first, last and twice in a row.
async fn say_what_is_odd(session: &Session, by: Actor, thread: &str) {
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let given = json!([
        {"role": "assistant", "content": "", "tool_calls": [call("a b", "fs.read", "{broken"), call("a b", "fs/read", "[1]")]},
        {"role": "tool", "tool_call_id": "a b", "content": ""},
        {"role": "tool", "tool_call_id": "of nobody", "content": "late"},
        {"role": "assistant", "content": " \n"},
        {"role": "assistant", "content": "I wait."},
        {"role": "assistant", "content": null, "tool_calls": [call("", "look_up", "")]},
    ]);
    let messages = reading::read(serde_json::from_value(given).unwrap()).unwrap();
    session.execute(by, AddMessages { thread: thread.parse().unwrap(), messages }).await.unwrap();
}

#[tokio::test]
async fn what_runs_send_is_taken_by_the_provider_of_each_model() {
    for model in [
        "openai:gpt-4o",
        "openai:mistral-small-latest",
        "openai:deepseek-chat",
        "openai:gemini-3-pro",
        "openai:qwen2.5",
        "anthropic:claude-sonnet-4-5",
    ] {
        let session = session_asking(&memory(), Some(model), Some(model)).await;
        say_what_is_odd(&session, Actor::User, "main").await;
        let named = json!([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello.", "name": "Ada L."}]);
        let messages = reading::read(serde_json::from_value(named).unwrap()).unwrap();
        user(&session, AddMessages { thread: ThreadId::main(), messages }).await;
        say_what_is_odd(&session, Actor::Agent("writer".parse().unwrap()), "agent:writer").await;
        let run = start(&session).await;
        let thought = json!({"type": "thinking", "thinking": "Which word?", "signature": "sign of Which word?"});
        let looks_up = move |more: &str, arguments: Value| {
            let calls = [("look_up", json!({"word": "tide"})), (more, arguments)];
            Reply::tool_calls(calls).thinking([thought.clone()])
        };
        let models = Models::new(move |request, nth| match (refusal(request), asked(request), nth) {
            (Some(why), ..) => Reply::error(400, why),
            (None, "directive", 0 | 5) => Reply::json(&json!({
                "messageTo": "writer", "message": "Write it.", "expectedOutput": "three lines",
            })),
            // Its ids begin anew in every answer.
            (None, "work", 1) => looks_up("look_up", json!({"word": "ebb"})),
            (None, "work", 2) => looks_up("fly", json!({})),
            (None, "work", _) => Reply::text("Waters come and go"),
            (None, "verdict", 4) => Reply::json(&json!({"valid": false, "reason": "It has one line."})),
            (None, "verdict", _) => Reply::json(&json!({"valid": true, "reason": "It has three lines."})),
            (None, ..) => done("Here it is."),
        });
        for _ in 0..2 {
            let status = models.drive(&session, &run).await.unwrap();
            let due = run_of(&session, &run).await.due;
            let Due::Tools { calls, .. } = due else {
                panic!("{model}: {status:?}, {:?}", models.endpoint.requests().iter().find_map(refusal))
            };
            let results = calls.into_iter().map(|call| (call.id, "found".to_owned())).collect();
            user(&session, ToolResults::new(run.clone(), results)).await;
        }
        let status = models.drive(&session, &run).await.unwrap();
        let requests = models.endpoint.requests();
        assert_eq!(requests.iter().find_map(refusal), None, "{model}");
        assert_eq!(status, Status::Completed, "{model}");
        let asked = ["directive", "work", "work", "work", "verdict", "directive", "work", "verdict", "directive"];
        assert_eq!(models.asked(), asked, "{model}");
    }
}
