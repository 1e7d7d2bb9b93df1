//! Runs of teams that have steps.

use std::{collections::HashSet, sync::Arc};

use callboard_engine::{
    Session,
    core::{
        count::Usage,
        entry::Hash,
        id::RunId,
        run::{Due, ResumeRun, Status, ToolResults},
        session::SessionPatch,
        step::StepsChange,
    },
    store::Store,
};
use callboard_model::scripted::Reply;
use serde_json::{Value, json};

use crate::fixture::{
    Models, asked, before, board, done, journal, memory, of_type, prompt, reason, run_of, session, session_asking,
    session_on, start, texts, to, user,
};

/// The writer has three tools, and looks things up and notes them before it does anything else.
async fn in_steps(session: &Session) -> RunId {
    let tools = ["look_up", "note", "publish"].map(|name| json!({"name": name, "description": format!("Can {name}.")}));
    let model = session.state().await.unwrap().team.agent(&"writer".parse().unwrap()).unwrap().model.clone();
    let patch = json!({
        "agents": [
            {"name": "lead", "role": "manager"},
            {"name": "writer", "role": "worker", "model": model, "tools": tools},
            {"name": "editor", "role": "worker"},
        ],
        "steps": [
            {"name": "research", "description": "Gather first.", "is_default": true, "sequence": ["look_up", "note"]},
            {"name": "over", "available_tools": {"denied": ["*"]}, "conditions": [{"type": "tool_used", "value": "publish"}]},
        ],
    });
    let patch: SessionPatch = serde_json::from_value(patch).unwrap();
    user(session, patch).await;
    start(session).await
}

/// The names of the tools that a request offers, whichever API it is for. Anthropic's wants those that were called also
/// where none is to be called.
fn offered(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().into_iter().flatten().filter(|_| request["tool_choice"]["type"] != "none");
    tools.filter_map(|tool| tool["function"]["name"].as_str().or(tool["name"].as_str())).collect()
}

/// Brings the results of all calls that the run waits for; their names.
async fn bring(session: &Session, run: &RunId) -> Vec<String> {
    let Due::Tools { calls, .. } = run_of(session, run).await.due else { panic!("no tool is awaited") };
    let results = calls.iter().map(|call| (call.id.clone(), format!("result of {}", call.name))).collect();
    user(session, ToolResults::new(run.clone(), results)).await;
    calls.into_iter().map(|call| call.name).collect()
}

/// Drives a run to its end and brings what tools it asks for; their names.
async fn carry_through(models: &Models, session: &Session, run: &RunId) -> Vec<String> {
    let mut called = Vec::new();
    loop {
        match models.drive(session, run).await.unwrap() {
            Status::AwaitingTool => called.extend(bring(session, run).await),
            status => {
                assert_eq!(status, Status::Completed, "{:?}", run_of(session, run).await.halt);
                return called;
            }
        }
    }
}

/// Calls the first tool that is offered until the step is over.
fn whole_run(request: &Value) -> Reply {
    match (asked(request), offered(request).as_slice()) {
        ("directive", _) if prompt(request).contains("All is done") => done("Here it is."),
        ("directive", _) => to("writer", "Find out and publish."),
        (_, []) => Reply::text("All is done"),
        (_, [only]) => Reply::tool_calls([(*only, json!({}))]),
        _ => Reply::tool_calls([("publish", json!({}))]),
    }
}

async fn tools_used(store: &Arc<dyn Store>) -> Vec<Value> {
    of_type(&journal(store).await, "tool.used").into_iter().map(|mut used| used["tool"].take()).collect()
}

#[tokio::test]
async fn a_worker_is_offered_the_tool_that_is_due_turn_after_turn_and_all_that_are_allowed_then() {
    for model in ["openai:scripted", "anthropic:scripted"] {
        let session = session_asking(&memory(), None, Some(model)).await;
        let run = in_steps(&session).await;
        let models = Models::new(|request, _| whole_run(request));
        assert_eq!(carry_through(&models, &session, &run).await, ["look_up", "note", "publish"]);
        let requests = models.endpoint.requests();
        let work: Vec<_> = requests.iter().filter(|request| asked(request) == "work").collect();
        let tools: Vec<_> = work.iter().map(|request| offered(request)).collect();
        assert_eq!(tools, [vec!["look_up"], vec!["note"], vec!["look_up", "note", "publish"], vec![]], "{model}");
        let says = |nth: usize, words: &str| assert!(prompt(work[nth]).contains(words), "{}", prompt(work[nth]));
        says(0, "Gather first.");
        says(0, "Tools used so far: none.");
        says(1, "Tools used so far: look_up.");
        says(1, "before any other: note.");
        says(3, "<ACTIVE_STEP name=\\\"over\\\">");
    }
}

#[tokio::test]
async fn the_prompts_of_a_run_in_steps_are_those_on_record() {
    let store = memory();
    let session = session_on(&store).await;
    let run = in_steps(&session).await;
    let models = Models::new(|request, _| whole_run(request));
    carry_through(&models, &session, &run).await;
    let recorded = of_type(&journal(&store).await, "turn.requested");
    let recorded: Vec<_> = recorded.iter().map(|turn| turn["prompt"]["sha256"].as_str().unwrap().to_owned()).collect();
    let requests = models.endpoint.requests();
    let sent = requests.iter().map(|request| Hash::of(&serde_json::to_vec(&request["messages"]).unwrap()).to_string());
    assert_eq!(sent.collect::<Vec<_>>(), recorded);
}

#[tokio::test]
async fn calls_side_by_side_that_follow_the_sequence_are_all_done() {
    let store = memory();
    let session = session_on(&store).await;
    let run = in_steps(&session).await;
    let models = Models::new(|request, nth| match nth {
        1 => Reply::tool_calls([("look_up", json!({})), ("note", json!({})), ("publish", json!({}))]),
        _ => whole_run(request),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    assert_eq!(bring(&session, &run).await, ["look_up", "note", "publish"]);
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(tools_used(&store).await, ["look_up", "note", "publish"]);
}

#[tokio::test]
async fn a_call_out_of_turn_gets_its_refusal_as_result_and_the_worker_is_asked_again() {
    let store = memory();
    let session = session_on(&store).await;
    let run = in_steps(&session).await;
    let models = Models::new(|request, nth| match nth {
        1 => Reply::tool_calls([("publish", json!({}))]),
        2 => Reply::tool_calls([("look_up", json!({})), ("look_up", json!({"again": true}))]),
        _ => whole_run(request),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    let requests = models.endpoint.requests();
    let refusal = "[not done: the tool look_up is due in the step research]";
    assert!(prompt(&requests[2]).contains(refusal), "{}", prompt(&requests[2]));
    assert_eq!(offered(&requests[2]), ["look_up"]);
    assert_eq!(bring(&session, &run).await, ["look_up"], "the second of them is out of turn");
    assert_eq!(carry_through(&models, &session, &run).await, ["note", "publish"]);
    let requests = models.endpoint.requests();
    let both = prompt(&requests[3]);
    assert!(both.contains("result of look_up") && both.contains("[not done: the tool note is due"), "{both}");
    assert_eq!(tools_used(&store).await, ["look_up", "note", "publish"]);
}

#[tokio::test]
async fn calls_out_of_turn_without_end_pause_the_run() {
    let session = session_on(&memory()).await;
    let run = in_steps(&session).await;
    let models = Models::new(|request, nth| match nth {
        0 => whole_run(request),
        _ => Reply::tool_calls([("publish", json!({}))]),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Paused);
    assert!(reason(&session, &run).await.contains("nothing came of the last 3 turns"));
    assert_eq!(models.endpoint.requests().len(), 4);
}

#[tokio::test]
async fn a_worker_without_the_tool_that_is_due_is_not_asked_and_the_run_is_held_until_it_can_be() {
    let session = session_on(&memory()).await;
    let run = in_steps(&session).await;
    let models = Models::new(|request, _| match asked(request) {
        "directive" if prompt(request).contains("All is done") => done("Here it is."),
        "directive" => to("editor", "Edit it."),
        _ => Reply::text("All is done"),
    });
    for _ in 0..2 {
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Paused);
        let reason = reason(&session, &run).await;
        assert!(reason.contains("editor cannot be asked: the tool look_up is due and not among those"), "{reason}");
        assert!(reason.contains("advance the sequence"), "{reason}");
        assert_eq!(models.asked(), ["directive"]);
        user(&session, ResumeRun(run.clone())).await;
    }
    for _ in 0..2 {
        user(&session, StepsChange::Advance).await;
    }
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
}

#[tokio::test]
async fn what_models_used_is_added_up() {
    let session = session_on(&memory()).await;
    let run = in_steps(&session).await;
    user(&session, StepsChange::Report(Usage { prompt_tokens: 1, completion_tokens: 2 })).await;
    let models = Models::new(|request, _| whole_run(request).with_usage(100, 10));
    carry_through(&models, &session, &run).await;
    let turns = models.endpoint.requests().len() as u64;
    let used = session.state().await.unwrap().steps.usage;
    assert_eq!((used.prompt_tokens, used.completion_tokens), (100 * turns + 1, 10 * turns + 2));
}

#[tokio::test]
async fn a_run_in_steps_that_is_cut_off_at_any_call_of_the_model_does_nothing_twice() {
    for cut_off in 0..6 {
        let store = memory();
        let session = session_on(&store).await;
        let run = in_steps(&session).await;
        let (models, reached) = Models::cut_off_at(cut_off, whole_run, || Reply::stall("Wat"));
        before(&reached, carry_through(&models, &session, &run)).await;
        drop(session);
        let session = board(&store).session(&"s".parse().unwrap()).await.unwrap();
        carry_through(&models, &session, &run).await;
        assert_eq!(tools_used(&store).await, ["look_up", "note", "publish"], "cut off at {cut_off}");
        let said = texts(&session, "agent:writer").await;
        assert_eq!(said.iter().collect::<HashSet<_>>().len(), said.len() - 2, "three calls without words: {said:?}");
        let requests = models.endpoint.requests();
        assert_eq!(requests.len(), 7);
        assert_eq!(requests[cut_off], requests[cut_off + 1], "the same is asked again");
    }
}

#[tokio::test]
async fn a_turn_that_was_begun_offers_what_it_was_begun_with_and_is_judged_by_what_is_due_now() {
    let session = session().await;
    let run = in_steps(&session).await;
    let (models, reached) = Models::cut_off_at(1, whole_run, Reply::silence);
    before(&reached, models.drive(&session, &run)).await;
    user(&session, StepsChange::Advance).await;
    assert_eq!(carry_through(&models, &session, &run).await, ["note", "publish"]);
    let requests = models.endpoint.requests();
    assert_eq!(requests[1], requests[2]);
    assert!(prompt(&requests[3]).contains("[not done: the tool note is due"), "{}", prompt(&requests[3]));
}
