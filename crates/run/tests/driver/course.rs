//! The course of a run where nothing goes wrong.

use callboard_engine::core::{
    context_set::form::SubmitForm,
    limits::Limits,
    run::{Due, ResumeRun, Status, ToolResults},
};
use callboard_model::scripted::{Reply, last_text};
use serde_json::json;

use crate::fixture::{
    Models, asked, done, journal, memory, of_type, prompt, reason, run_of, session, session_on, start, start_with,
    texts, to, user, whole_run,
};

#[tokio::test]
async fn a_team_carries_a_task_through() {
    let store = memory();
    let session = session_on(&store).await;
    let run = start(&session).await;
    let models = Models::new(|request, _| whole_run(request));
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(models.asked(), ["directive", "work", "verdict", "directive"]);
    assert_eq!(texts(&session, "main").await, ["Write a haiku on tides.", "Here it is."]);
    assert_eq!(texts(&session, "agent:writer").await, ["Write it.", "Waters come and go"]);
    let requests = models.endpoint.requests();
    assert!(prompt(&requests[1]).contains("Season: winter."), "the writer sees what is for it");
    assert!(!prompt(&requests[1]).contains("Write a haiku on tides."), "and not what is between the user and the lead");
    let entries = journal(&store).await;
    assert_eq!(of_type(&entries, "message.checked")[0]["valid"], true);
    assert_eq!(run_of(&session, &run).await.used_in_all.turns, 4);
    // Driving it again does nothing.
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(journal(&store).await, entries);
}

#[tokio::test]
async fn every_prompt_that_was_sent_is_on_record() {
    let store = memory();
    let session = session_on(&store).await;
    let run = start(&session).await;
    let models = Models::new(|request, _| whole_run(request));
    models.drive(&session, &run).await.unwrap();
    let recorded = of_type(&journal(&store).await, "turn.requested");
    for (request, recorded) in models.endpoint.requests().iter().zip(&recorded) {
        let sent = serde_json::to_vec(&request["messages"]).unwrap();
        let sha256 = callboard_engine::core::entry::Hash::of(&sent).to_string();
        assert_eq!(recorded["prompt"]["sha256"], sha256);
    }
    assert_eq!(recorded.len(), 4);
}

#[tokio::test]
async fn a_directive_with_faults_is_sent_back_once() {
    let session = session().await;
    let run = start(&session).await;
    let models = Models::new(|_, nth| match nth {
        0 => Reply::json(&json!({"messageTo": "nobody", "message": "Write it."})),
        _ => done("I did it myself."),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let requests = models.endpoint.requests();
    assert!(last_text(&requests[1]).contains("could not be used") && last_text(&requests[1]).contains("nobody"));
    assert_eq!(requests.len(), 2);
}

#[tokio::test]
async fn nonsense_without_end_pauses_the_run() {
    let session = session().await;
    let run = start(&session).await;
    let models = Models::new(|_, _| Reply::json(&json!({"messageTo": "nobody", "message": "Hm?"})));
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Paused);
    let reason = reason(&session, &run).await;
    assert!(reason.contains("nothing came of the last"), "{reason}");
    assert!(models.endpoint.requests().len() <= 8);
}

#[tokio::test]
async fn the_user_fills_in_a_form_and_the_run_goes_on() {
    let store = memory();
    let session = session_on(&store).await;
    let run = start(&session).await;
    let models = Models::new(|request, nth| match (asked(request), nth) {
        ("directive", 0) => {
            Reply::json(&json!({"message": "Which season?", "messageTo": "user", "isInfoRequest": true}))
        }
        ("form", _) => Reply::json(&json!({"name": "Season", "fields": [
            {"key": "season", "valueType": "STRING", "label": "Season", "required": true}]})),
        _ if prompt(request).contains("winter") => done("A winter haiku."),
        _ => Reply::error(400, "the answer is not in the prompt"),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingUser);
    let Due::User { form: Some(form) } = run_of(&session, &run).await.due else { panic!() };
    // It waits in the journal: another program may go on with it.
    drop(session);
    let session = crate::fixture::board(&store).session(&"s".parse().unwrap()).await.unwrap();
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingUser);
    let answers = json!({"season": "winter"}).as_object().cloned().unwrap();
    user(&session, SubmitForm { form, answers }).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(models.asked(), ["directive", "form", "directive"]);
}

#[tokio::test]
async fn the_caller_brings_the_results_of_tools() {
    let session = session().await;
    let run = start(&session).await;
    let models = Models::new(|request, nth| match (asked(request), nth) {
        ("directive", 0) => to("writer", "Look it up."),
        ("work", 1) => Reply::tool_calls([("look_up", json!({"word": "tide"})), ("look_up", json!({"word": "ebb"}))]),
        ("work", _) => Reply::text("A tide is a tide."),
        _ => done("Done."),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    assert_eq!(models.endpoint.requests()[1]["tools"][0]["function"]["name"], "look_up");
    let bring = |id: &str| ToolResults::new(run.clone(), vec![(id.to_owned(), format!("result of {id}"))]);
    user(&session, bring("call_2")).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    user(&session, bring("call_1")).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let after_tools = prompt(&models.endpoint.requests()[2]);
    assert!(after_tools.contains("result of call_1") && after_tools.contains("result of call_2"), "{after_tools}");
    assert_eq!(models.asked(), ["directive", "work", "work", "directive"]);
}

#[tokio::test]
async fn a_verdict_that_cannot_be_read_leaves_the_answer_as_it_is() {
    let store = memory();
    let session = session_on(&store).await;
    let run = start(&session).await;
    let models = Models::new(|request, _| match asked(request) {
        "verdict" => Reply::text("I like it!"),
        _ => whole_run(request),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let checked = of_type(&journal(&store).await, "message.checked");
    assert_eq!(checked[0]["valid"], json!(null));
}

#[tokio::test]
async fn at_a_limit_the_run_is_held_and_can_be_resumed() {
    let session = session().await;
    let run = start_with(&session, Some(Limits { turns: Some(2), ..Limits::default() })).await;
    let models = Models::new(|request, _| whole_run(request));
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Paused);
    assert!(reason(&session, &run).await.contains("limit of 2 turns"));
    assert_eq!(models.endpoint.requests().len(), 2);
    user(&session, ResumeRun(run.clone())).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
}

#[tokio::test]
async fn tokens_are_limited_too() {
    let session = session().await;
    let run = start_with(&session, Some(Limits { tokens: Some(1000), ..Limits::default() })).await;
    let models = Models::new(|request, _| whole_run(request).with_usage(900, 200));
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Paused);
    assert!(reason(&session, &run).await.contains("limit of 1000 tokens"));
    let used = run_of(&session, &run).await.used_in_all;
    assert_eq!((used.prompt_tokens, used.completion_tokens), (900, 200));
}
