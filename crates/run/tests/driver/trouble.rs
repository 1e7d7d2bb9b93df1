//! Models, teams and stores that fail.

use callboard_engine::{
    Board, MessageQuery,
    core::{
        conversation::{MessageShape, shape::in_shape},
        run::{CancelRun, ResumeRun, Status},
        viewer::Viewer,
    },
};
use callboard_model::scripted::Reply;
use callboard_run::Error;
use serde_json::{Value, json};

use crate::{
    faulty::{Act, Call, Faulty},
    fixture::{
        Models, PATIENCE, asked, done, journal, memory, of_type, patch, prompt, reason, run_of, session, session_on,
        soon, start, texts, to, user, whole_run,
    },
};

/// Answers badly once, and then well.
async fn fails_once(bad: impl Fn() -> Reply + Send + 'static) -> String {
    let session = session().await;
    let run = start(&session).await;
    let models = Models::new(move |request, nth| if nth == 1 { bad() } else { whole_run(request) });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Paused);
    let reason = reason(&session, &run).await;
    // Held is held.
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Paused);
    user(&session, ResumeRun(run.clone())).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(models.endpoint.requests().len(), 5);
    reason
}

#[tokio::test]
async fn a_model_that_gives_no_answer_pauses_the_run_with_the_reason() {
    for (reply, expected) in [
        (Reply::error(500, "out of order"), "out of order"),
        (Reply::error(401, "who are you?"), "check the API key"),
        (Reply::garbage("<html>"), "not understood"),
        (Reply::cut_off("Waters"), "broke off"),
        (Reply::text("  "), "the model said nothing"),
    ] {
        let reason = fails_once(move || reply.clone()).await;
        assert!(reason.starts_with("writer got no answer: ") && reason.contains(expected), "{reason}");
    }
}

#[tokio::test]
async fn a_model_that_takes_too_long_pauses_the_run() {
    let session = session().await;
    let run = start(&session).await;
    let models = Models::new(|_, _| Reply::stall("Hm"));
    let driver = models.driver(&session, "test");
    let limits = callboard_engine::core::limits::Limits { seconds: Some(1), ..Default::default() };
    user(&session, CancelRun(run)).await;
    let run = crate::fixture::start_with(&session, Some(limits)).await;
    assert_eq!(soon("the run", driver.drive(&run)).await.unwrap(), Status::Paused);
    assert!(reason(&session, &run).await.contains("more than 1 seconds"));
}

#[tokio::test]
async fn without_a_model_the_run_says_what_to_do() {
    let session = session().await;
    let run = start(&session).await;
    let models = Models::new(|_, _| done("Done."));
    let settings = callboard_run::Settings { model: None, ..models.settings("test") };
    let driver = callboard_run::Driver::new(session.clone(), models.model(), settings);
    assert_eq!(soon("the run", driver.drive(&run)).await.unwrap(), Status::Paused);
    let reason = reason(&session, &run).await;
    assert!(reason.contains("CALLBOARD_MODEL"), "{reason}");
}

#[tokio::test]
async fn a_model_that_is_none_pauses_the_run() {
    let session = session().await;
    let team = json!({"agents": [{"name": "lead", "role": "manager", "model": "openai:"}]});
    user(&session, patch(team)).await;
    let run = start(&session).await;
    let models = Models::new(|_, _| done("Done."));
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Paused);
    let reason = reason(&session, &run).await;
    assert!(reason.contains("openai:NAME"), "{reason}");
}

#[tokio::test]
async fn a_worker_that_left_the_team_hands_its_turn_back_to_the_manager() {
    let session = session().await;
    let run = start(&session).await;
    let models = Models::new(|request, nth| match (asked(request), nth) {
        ("directive", 0) => to("writer", "Look it up."),
        ("work", _) => Reply::tool_calls([("look_up", json!({}))]),
        _ => done("Done."),
    });
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::AwaitingTool);
    let team = json!({"agents": [{"name": "lead", "role": "manager"}]});
    user(&session, patch(team)).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
}

#[tokio::test]
async fn an_answer_is_stored_once_although_the_store_fails_while_it_is_brought() {
    for act in [Act::FailBefore, Act::FailAfter, Act::Full] {
        let inner = memory();
        let faulty = Faulty::new(inner.clone());
        let session = session_on(&(faulty.clone() as _)).await;
        let run = start(&session).await;
        let models = Models::new(|request, _| whole_run(request));
        // Claim, request, answer: the third append and the fourth fail, and what would settle it too.
        let (mut appends, mut reads) = (0, 0);
        faulty.play(move |call| {
            appends += usize::from(call == Call::Append);
            reads += usize::from(call == Call::Read && appends == 3);
            match call {
                Call::Append if (3..5).contains(&appends) => act.clone(),
                Call::Read if appends == 3 && reads < 9 => Act::FailBefore,
                _ => Act::Pass,
            }
        });
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
        assert_eq!(models.asked(), ["directive", "work", "verdict", "directive"]);
        let entries = journal(&inner).await;
        assert_eq!(of_type(&entries, "turn.answered").len(), 4);
        assert_eq!(texts(&session, "agent:writer").await.len(), 2);
    }
}

#[tokio::test]
async fn a_store_that_fails_for_long_ends_the_drive_and_not_the_run() {
    let inner = memory();
    let faulty = Faulty::new(inner.clone());
    let session = session_on(&(faulty.clone() as _)).await;
    let run = start(&session).await;
    let models = Models::new(|request, _| whole_run(request));
    faulty.play(|call| if call == Call::Append { Act::FailBefore } else { Act::Pass });
    assert!(matches!(models.drive(&session, &run).await, Err(Error::Engine(_))));
    faulty.mend();
    assert_eq!(run_of(&session, &run).await.status(), Status::Running);
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_goes_during_a_call_ends_the_drive_at_once() {
    let store = memory();
    let session = session_on(&store).await;
    let run = start(&session).await;
    let models = Models::new(|_, _| Reply::silence());
    let driver = models.driver(&session, "test");
    let driving = tokio::spawn(async move { driver.drive(&run).await.map_err(|error| error.to_string()) });
    tokio::task::block_in_place(|| models.endpoint.wait_for(1, PATIENCE));
    let other: Board = crate::fixture::board(&store);
    other.delete(session.id()).await.unwrap();
    assert_eq!(soon("the end", driving).await.unwrap().unwrap_err(), "there is no session s");
}

#[tokio::test]
async fn a_refusal_is_kept_as_one_and_the_manager_is_told_of_it() {
    const WHY: &str = "I will not write that.";
    let message = json!({"role": "assistant", "content": null, "refusal": WHY});
    let of_model = json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string();
    for (reply, why) in [
        (Reply::raw(200, "application/json", of_model), WHY),
        (Reply::text(WHY).finish("content_filter"), WHY),
        (Reply::text("").finish("content_filter"), ""),
    ] {
        let store = memory();
        let session = session_on(&store).await;
        let run = start(&session).await;
        let models = Models::new(move |_, nth| match nth {
            0 => to("writer", "Write it."),
            1 => reply.clone(),
            _ => done("It was refused."),
        });
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
        let told = prompt(&models.endpoint.requests()[2]);
        assert!(told.contains("[the model refused]") && told.contains(why), "{told}");
        let said = of_type(&journal(&store).await, "message.added");
        let is_refusal = |message: &&Value| message["as_given"]["fields"]["refusal"] == true;
        let refusals: Vec<_> = said.iter().filter(is_refusal).map(|message| &message["content"]).collect();
        assert_eq!(refusals, [why]);
        // It is given back as its provider gives one.
        let thread = "agent:writer".parse().unwrap();
        let messages = session.messages(&Viewer::User, &thread, MessageQuery::default()).await.unwrap().messages;
        let given = in_shape(MessageShape::OpenAi, &messages);
        let given = given.iter().find(|message| message.get("refusal").is_some()).unwrap();
        assert_eq!((&given["content"], &given["refusal"]), (&Value::Null, &json!(why)));
    }
}
