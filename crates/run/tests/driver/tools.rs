//! Runs whose agents have tools of Callboard's own.

use std::sync::Arc;

use callboard_engine::{
    MasterKey, Session,
    core::{
        conversation::{AddMessages, NewMessage, Role, ToolCall},
        entry::Actor,
        id::{RunId, ThreadId},
        run::{ClaimRun, Due, StartTool, Status, ToolResults},
    },
};
use callboard_model::scripted::Reply;
use serde_json::{Value, json};

use crate::fixture::{
    Models, asked, done, journal, memory, of_type, patch, prompt, run_of, session_asking, session_on,
    session_with_keys, start, texts, to, user,
};

/// The writer may read messages and sets, and write sets.
async fn with_own_tools(session: &Session) -> RunId {
    let tools = ["read_messages", "read_context_set", "write_context_set"];
    let tools = tools.map(|name| json!({"name": format!("callboard:{name}")}));
    let team = patch(json!({
        "agents": [{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker", "tools": tools}],
        "grant": ["context_sets"],
        "default_visibility": "all",
    }));
    user(session, team).await;
    start(session).await
}

/// The writer reads what it was asked, notes it, reads the note, and answers.
fn whole_run(_: &Value, nth: usize) -> Reply {
    match nth {
        0 => Reply::json(&json!({
            "messageTo": "writer", "message": "Note the season.",
            "contextSetUpdate": {"contextSets": [{"name": "Notes", "context": "none"}]},
        })),
        1 => Reply::tool_calls([("read_messages", json!({"limit": 5}))]),
        2 => Reply::tool_calls([("write_context_set", json!({"name": "Notes", "content": "winter"}))]),
        3 => Reply::tool_calls([("read_context_set", json!({"name": "Notes"}))]),
        4 => Reply::text("All is done"),
        _ => done("Here it is."),
    }
}

#[tokio::test]
async fn an_agent_reads_and_writes_through_tools_that_nobody_else_brings() {
    let store = memory();
    let session = session_on(&store).await;
    let run = with_own_tools(&session).await;
    let models = Models::new(whole_run);
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let said = texts(&session, "agent:writer").await;
    assert!(
        said.iter().any(|text| text.contains("Note the season.") && text.contains("\"from\":\"lead\"")),
        "{said:?}"
    );
    assert!(said.contains(&"winter".to_owned()), "{said:?}");
    let entries = journal(&store).await;
    let tools =
        |kind: &str| -> Vec<_> { of_type(&entries, kind).into_iter().map(|mut entry| entry["tool"].take()).collect() };
    assert_eq!(tools("tool.started"), ["read_messages", "read_context_set"]);
    assert_eq!(tools("tool.finished"), ["read_messages", "read_context_set"]);
    let offered = &models.endpoint.requests()[1]["tools"];
    let names: Vec<_> = offered.as_array().unwrap().iter().map(|tool| tool["function"]["name"].clone()).collect();
    assert_eq!(names, ["read_messages", "read_context_set", "write_context_set"]);
}

#[tokio::test]
async fn what_an_agent_may_not_see_or_do_is_the_result_of_its_call() {
    let session = session_on(&memory()).await;
    let run = with_own_tools(&session).await;
    user(&session, patch(json!({"grant": []}))).await;
    let models = Models::new(|request, _| match asked(request) {
        "directive" if prompt(request).contains("All is done") => done("Here it is."),
        "directive" => to("writer", "Look around."),
        _ if prompt(request).contains("not done") => Reply::text("All is done"),
        _ => Reply::tool_calls([
            ("read_messages", json!({"thread": "secrets"})),
            ("read_context_set", json!({"name": "Secrets"})),
            ("write_context_set", json!({"name": "Notes", "content": "x"})),
        ]),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let said = texts(&session, "agent:writer").await;
    for refusal in ["there is no thread", "there is no context set", "writer may not write context sets"] {
        let told = said.iter().any(|text| text.starts_with("[not done: ") && text.contains(refusal));
        assert!(told, "{refusal}: {said:?}");
    }
}

#[tokio::test]
async fn an_unknown_tool_a_doubled_id_and_what_a_worker_thinks_aloud_stop_no_run() {
    let session = session_on(&memory()).await;
    let run = start(&session).await;
    let call = |name: &str| json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": "{}"}});
    let calls = ["fly", "look_up", "look_up"].map(call);
    let message = json!({"role": "assistant", "content": "<think>Which word?</think>", "tool_calls": calls});
    let answer = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).to_string();
    let models = Models::new(move |request, nth| match (asked(request), nth) {
        ("directive", 0) => to("writer", "Look it up."),
        ("work", 1) => Reply::raw(200, "application/json", answer.clone()),
        ("work", _) => Reply::text("<think>So be it.</think>A tide is a tide."),
        _ => done("Done."),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    let Due::Tools { calls, .. } = run_of(&session, &run).await.due else { panic!("it waits for none") };
    let ids: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
    assert_eq!(ids, ["c1-2", "c1-3"], "each call has an id of its own, and nobody has the unknown tool");
    let results = ids.into_iter().map(|id| (id, "found".to_owned())).collect();
    user(&session, ToolResults::new(run.clone(), results)).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(models.asked(), ["directive", "work", "work", "directive"]);
    let said = texts(&session, "agent:writer").await;
    assert!(said.iter().any(|text| text.contains("there is no tool \"fly\"; there are: look_up")), "{said:?}");
    assert_eq!(said.last().unwrap(), "A tide is a tide.");
    for request in models.endpoint.requests() {
        let shown = prompt(&request);
        assert!(!shown.contains("Which word?") && !shown.contains("So be it."), "{shown}");
    }
}

#[tokio::test]
async fn a_call_by_the_name_that_a_prompt_has_for_a_tool_is_one_of_the_tool() {
    for model in ["openai:small", "anthropic:claude"] {
        let store = memory();
        let session = session_asking(&store, None, Some(model)).await;
        let call = ToolCall { id: "c0".to_owned(), name: "fs.read".to_owned(), arguments: json!({}) };
        let messages = vec![
            NewMessage { tool_calls: vec![call], ..NewMessage::text(Role::Ai, "") },
            NewMessage { tool_call_id: Some("c0".to_owned()), ..NewMessage::text(Role::Tool, "wet") },
        ];
        let before = AddMessages { thread: "agent:writer".parse().unwrap(), messages };
        session.execute(Actor::Agent("writer".parse().unwrap()), before).await.unwrap();
        let run = start(&session).await;
        let models = Models::new(|request, nth| match (asked(request), nth) {
            ("directive", 0) => to("writer", "Look it up."),
            ("work", 1) => Reply::tool_calls([("fs_read_4074bc", json!({}))]),
            ("work", _) => Reply::text("A tide is a tide."),
            _ => done("Done."),
        });
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed, "{model}");
        let shown = prompt(&models.endpoint.requests()[1]);
        assert!(shown.contains("\"fs_read_4074bc\"") && !shown.contains("fs.read"), "{shown}");
        let added = of_type(&journal(&store).await, "message.added");
        let called: Vec<_> = added.iter().filter_map(|message| message["tool_calls"][0]["name"].as_str()).collect();
        assert_eq!(called, ["fs.read", "fs.read"], "{model}");
        let said = texts(&session, "agent:writer").await;
        let told = said.iter().any(|text| text.contains("there is no tool \"fs.read\"; there are: look_up"));
        assert!(told, "{model}: {said:?}");
    }
}

#[tokio::test]
async fn a_tool_that_was_cut_off_is_done_again_where_that_does_no_harm() {
    let store = memory();
    let session = session_on(&store).await;
    let run = with_own_tools(&session).await;
    let models = Models::new(whole_run);
    // The driver dies when it has begun the first call: its last sign of life is in the journal.
    let driver = models.driver(&session, "first");
    let begun = async {
        loop {
            let seen = of_type(&journal(&store).await, "turn.answered").len();
            if seen == 2 {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::select! { biased; () = begun => {}, status = driver.drive(&run) => panic!("{status:?}") }
    let claim = ClaimRun { run: run.clone(), node: "second".into() };
    let epoch = session.execute(Actor::System, claim).await.unwrap().answer;
    let before = of_type(&journal(&store).await, "tool.started").len();
    if before == 0 {
        let start = StartTool { run: run.clone(), epoch, tool_call_id: first_call(&store).await };
        session.execute(Actor::System, start).await.unwrap();
    }
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let entries = journal(&store).await;
    assert_eq!(of_type(&entries, "tool.started").len(), 2, "it is not begun anew");
    assert_eq!(of_type(&entries, "tool.finished").len(), 2);
}

async fn first_call(store: &std::sync::Arc<dyn callboard_engine::store::Store>) -> String {
    let answered = of_type(&journal(store).await, "turn.answered");
    answered[1]["due"]["own"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_manager_of_a_team_calls_its_tools_in_main_before_it_directs() {
    for model in ["openai:small", "anthropic:claude"] {
        let session = session_on(&memory()).await;
        let tools = json!([{"name": "callboard:read_context_set"}, {"name": "look_up", "description": "Looks it up."}]);
        let team = patch(json!({"agents": [
            {"name": "lead", "role": "manager", "model": model, "tools": tools}, {"name": "writer", "role": "worker"},
        ]}));
        user(&session, team).await;
        let run = start(&session).await;
        let models = Models::new(|_, nth| match nth {
            0 => Reply::tool_calls([("read_context_set", json!({"name": "Brief"})), ("fly", json!({}))]),
            1 => Reply::tool_calls([("look_up", json!({"word": "tide"}))]),
            2 => to("writer", "Write it."),
            3 => Reply::text("Waters come and go"),
            _ => done("Here it is."),
        });
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool, "{model}");
        let results = vec![("call_1".to_owned(), "a table of tides".to_owned())];
        user(&session, ToolResults::new(run.clone(), results)).await;
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed, "{model}");

        let requests = models.endpoint.requests();
        assert_eq!(requests.len(), 5, "{model}");
        for request in [&requests[0], &requests[1], &requests[2], &requests[4]] {
            assert!(request["tools"].to_string().contains("look_up"), "{request}");
        }
        let told = prompt(&requests[2]);
        for result in ["there is no context set", "there is no tool", "a table of tides"] {
            assert!(told.contains(result), "{result}: {told}");
        }
        assert!(!prompt(&requests[3]).contains("a table of tides"), "what the manager looks up is for the manager");
        let said = texts(&session, "main").await;
        assert!(
            said.contains(&"a table of tides".to_owned()) && said.ends_with(&["Here it is.".to_owned()]),
            "{said:?}"
        );
        assert_eq!(texts(&session, "agent:writer").await, ["Write it.", "Waters come and go"]);
    }
}

#[tokio::test]
async fn a_manager_of_a_team_looks_nothing_up_where_workers_would_read_it() {
    let session = session_on(&memory()).await;
    let team = patch(json!({"agents": [
        {"name": "lead", "role": "manager", "tools": [{"name": "callboard:read_context_set"}]},
        {"name": "writer", "role": "worker"},
    ]}));
    user(&session, team).await;
    // A thread that is begun before the run is for all.
    let messages = vec![NewMessage::text(Role::User, "Hello.")];
    user(&session, AddMessages { thread: ThreadId::main(), messages }).await;
    let run = start(&session).await;
    let models = Models::new(|_, nth| match nth {
        0 => Reply::tool_calls([("read_context_set", json!({"name": "Process Steps"}))]),
        _ => done("Here it is."),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let requests = models.endpoint.requests();
    assert!(requests.iter().all(|request| request["tools"].is_null()), "{requests:?}");
    assert_eq!(texts(&session, "main").await, ["Hello.", "Write a haiku on tides.", "Here it is."]);
}

#[tokio::test]
async fn i6_results_of_calls_whose_ids_begin_alike_have_each_its_own_secrets() {
    let session = session_with_keys(&memory(), Arc::new(vec![MasterKey::new([7; 32])])).await;
    let writer =
        json!({"name": "writer", "role": "worker", "tools": [{"name": "look_up", "description": "Looks up."}]});
    let team = json!({"agents": [{"name": "lead", "role": "manager"}, writer], "default_visibility": "all"});
    user(&session, patch(team)).await;
    let run = start(&session).await;
    let long = "x".repeat(160);
    let call = |id: String| json!({"id": id, "type": "function", "function": {"name": "look_up", "arguments": "{}"}});
    let calls = [call(format!("{long}1")), call(format!("{long}2"))];
    let message = json!({"role": "assistant", "content": "I look.", "tool_calls": calls});
    let answer = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).to_string();
    let models = Models::new(move |request, _| match asked(request) {
        "directive" => to("writer", "Look it up."),
        _ => Reply::raw(200, "application/json", answer.clone()),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    let Due::Tools { calls, .. } = run_of(&session, &run).await.due else { panic!("it waits for none") };
    let given = ["canary-one", "canary-two"].map(|token| json!({ "token": token }).to_string());
    let results = calls.iter().map(|call| call.id.clone()).zip(given.clone()).collect();
    user(&session, ToolResults::new(run.clone(), results)).await;
    let said = texts(&session, "agent:writer").await;
    assert!(said.iter().all(|text| !text.contains("canary")), "{said:?}");
    let name = format!("call:{}….result", long.get(..150).unwrap());
    for name in [name.clone(), format!("{name} 2")] {
        let restored = session.restore(Actor::User, &name.parse().unwrap(), "it is none").await.unwrap();
        assert_eq!(restored.answer.entries.len(), 1);
    }
    let said = texts(&session, "agent:writer").await;
    assert!(given.iter().all(|result| said.contains(result)), "{said:?}");
}
