//! Whatever a model answers, or does not: the outcome is clear, the journal is sound, and the run can go on.

use std::time::Duration;

use callboard_model::scripted::{Reply, last_text};
use serde_json::{Value, json};

use crate::play::{Played, ask, complete, go_on, model, play, stage};

/// Plays a team whose manager's first replies are these. However that ends, the run can go on to its completion.
fn plays(replies: Vec<Reply>, more: &str) -> (Played, Vec<Value>) {
    let endpoint = model(replies);
    let home = stage(&endpoint);
    let played = play(&home, &format!("--yes {more}"));
    home.assert_sound();
    if played.run() != "completed" {
        assert_eq!(played.run(), "paused", "{}", played.result);
        let after = go_on(&home);
        assert_eq!(after.run(), "completed", "{}", after.result);
        home.assert_sound();
    }
    (played, endpoint.requests())
}

/// What was wrong with the first directive, as the manager is told.
fn sent_back(reply: Reply) -> String {
    let (played, requests) = plays(vec![reply], "");
    assert_eq!(played.run(), "completed", "{}", played.result);
    assert_eq!(requests.len(), 2, "it was sent back once");
    let answered = played.data("turn.answered");
    assert_eq!(answered[0]["due"]["kind"], "repair", "{}", answered[0]);
    last_text(&requests[1]).to_owned()
}

#[test]
fn a_directive_with_faults_is_sent_back_once_with_the_reasons() {
    let told = sent_back(Reply::json(&json!({"messageTo": "nobody", "message": "Hello", "colour": "red"})));
    for reason in ["/messageTo", "writer, critic", "colour"] {
        assert!(told.contains(reason), "{reason} is missing: {told}");
    }
}

#[test]
fn what_is_good_in_a_directive_with_faults_is_applied_the_second_time() {
    let faulty = json!({
        "messageTo": "writer", "message": "Write.", "colour": "red",
        "contextSetUpdate": {"contextSets": [
            {"name": "Theme", "context": "spring", "visibleToAgents": ["writer"]},
            {"name": "Odd", "context": "x", "visibleToAgents": ["nobody"]},
        ]},
    });
    let (played, requests) = plays(vec![Reply::json(&faulty), Reply::json(&faulty)], "");
    let received = played.data("directive.received");
    let outcomes: Vec<_> = received[0]["outcomes"].as_array().unwrap().iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["created", "rejected"]);
    assert!(received[0]["faults"].to_string().contains("colour"), "{}", received[0]);
    assert_eq!(last_text(&requests[2]), "[from lead] Write.");
}

#[test]
fn nonsense_is_sent_back_and_then_goes_to_the_user() {
    let nonsense = || Reply::text("Lorem ipsum dolor sit amet.");
    let (played, requests) = plays(vec![nonsense(), nonsense()], "");
    assert_eq!((played.run(), requests.len()), ("completed", 3));
    assert_eq!(played.data("message.added")[1]["content"], "Lorem ipsum dolor sit amet.");
}

#[test]
fn json_in_a_code_fence_is_json() {
    let fenced = format!("Here you are:\n```json\n{}\n```\n", ask("writer", "Write."));
    let (played, requests) = plays(vec![Reply::text(fenced)], "");
    assert_eq!((played.run(), requests.len()), ("completed", 3));
    assert_eq!(last_text(&requests[1]), "[from lead] Write.");
}

#[test]
fn a_text_in_the_grammar_of_the_fallback_is_a_directive() {
    let text = "Context update: Theme (visible to: writer)\nspring\nMessage to writer: Write.\n";
    let (played, requests) = plays(vec![Reply::text(text)], "");
    assert_eq!(played.run(), "completed");
    assert!(requests[1].to_string().contains("spring"));
}

#[test]
fn a_directive_that_is_cut_off_at_its_length_is_sent_back() {
    let told = sent_back(Reply::text("{\"messageTo\": \"writer\", \"mess").finish("length"));
    assert!(told.contains("cut off"), "{told}");
}

#[test]
fn json_that_is_broken_or_too_deep_is_sent_back() {
    sent_back(Reply::text("{\"messageTo\": \"writer\" \"message\": 1}"));
    let (deep, end) = ("{\"form\":[".repeat(200), "]}".repeat(200));
    sent_back(Reply::text(deep + &end));
}

#[test]
fn an_answer_of_a_worker_that_is_cut_off_says_so() {
    let (played, requests) =
        plays(vec![Reply::json(&ask("writer", "Write.")), Reply::text("Roses are").finish("length")], "");
    assert_eq!(played.run(), "completed");
    assert!(requests[2].to_string().contains("cut off here"), "{}", requests[2]);
}

#[test]
fn a_connection_that_breaks_holds_the_run() {
    let (played, _) = plays(vec![Reply::cut_off("{\"messageTo\": ")], "");
    assert!(played.reason().contains("broke off"), "{}", played.reason());
    assert_eq!(played.status, Some(1));
}

#[test]
fn a_model_that_says_nothing_holds_the_run() {
    let (played, _) = plays(vec![Reply::text("")], "");
    assert!(played.reason().contains("said nothing"), "{}", played.reason());
}

#[test]
fn an_endpoint_that_fails_thrice_is_asked_again() {
    let fails = || Reply::error(500, "out of order").retry_after(0);
    let (played, requests) = plays(vec![fails(), fails(), fails()], "");
    assert_eq!((played.run(), requests.len()), ("completed", 4));
    assert_eq!(played.data("turn.requested").len(), 1);
}

#[test]
fn an_endpoint_that_fails_for_good_holds_the_run() {
    let fails = || Reply::error(503, "out of order").retry_after(0);
    let (played, requests) = plays(vec![fails(), fails(), fails(), fails()], "");
    assert!(played.reason().contains("503") && played.reason().contains("out of order"), "{}", played.reason());
    assert_eq!(requests.len(), 5);
}

#[test]
fn a_key_that_is_refused_holds_the_run_at_once() {
    let (played, requests) = plays(vec![Reply::error(401, "who are you?")], "");
    assert!(played.reason().contains("check the API key"), "{}", played.reason());
    assert_eq!(requests.len(), 2);
}

#[test]
fn a_page_that_is_no_answer_holds_the_run() {
    let (played, _) = plays(vec![Reply::garbage("<html>Welcome!</html>")], "");
    assert!(played.reason().contains("not understood"), "{}", played.reason());
}

#[test]
fn an_answer_that_comes_too_late_is_not_waited_for() {
    let late = Reply::json(&complete()).after(Duration::from_secs(60));
    let (played, _) = plays(vec![late], "--limit-seconds 1");
    assert!(played.reason().contains("more than 1 second"), "{}", played.reason());
}

#[test]
fn an_answer_that_never_comes_is_not_waited_for() {
    for never in [Reply::silence(), Reply::stall("{\"messageTo\":")] {
        let (played, _) = plays(vec![never], "--limit-seconds 1");
        assert!(played.reason().contains("more than 1 second"), "{}", played.reason());
    }
}

#[test]
fn a_message_to_an_unknown_worker_is_sent_back_and_then_left_out() {
    let unknown = || Reply::json(&ask("painter", "Paint."));
    let (played, requests) = plays(vec![unknown(), unknown()], "");
    assert_eq!((played.run(), requests.len()), ("completed", 3));
    assert!(last_text(&requests[1]).contains("writer, critic"));
    assert!(played.data("directive.received")[0]["faults"].to_string().contains("painter"));
    assert!(!home_messages(&played).contains("Paint."));
}

fn home_messages(played: &Played) -> String {
    played.data("message.added").iter().map(ToString::to_string).collect()
}

#[test]
fn completion_and_a_message_at_once_are_sent_back_and_then_the_message_counts() {
    let both = || Reply::json(&json!({"messageTo": "writer", "message": "Write.", "workflowComplete": true}));
    let (played, requests) = plays(vec![both(), both()], "");
    assert_eq!(played.run(), "completed");
    assert!(last_text(&requests[1]).contains("say one or the other"));
    assert_eq!(last_text(&requests[2]), "[from lead] Write.");
}

#[test]
fn a_directive_that_says_nothing_is_sent_back() {
    assert!(sent_back(Reply::json(&json!({}))).contains("say what is next"));
}

#[test]
fn a_team_that_gets_nowhere_is_held() {
    let (played, _) = plays((0..6).map(|_| Reply::json(&json!({}))).collect(), "");
    assert_eq!(played.run(), "paused");
    assert!(played.reason().contains("nothing came of"), "{}", played.reason());
}

#[test]
fn a_verdict_that_cannot_be_read_leaves_the_answer_unchecked() {
    let work = json!({"messageTo": "writer", "message": "Write.", "expectedOutput": "a poem"});
    let (played, _) = plays(vec![Reply::json(&work), Reply::text("Roses."), Reply::text("maybe")], "");
    let checked = played.data("message.checked");
    assert_eq!((checked.len(), &checked[0]["valid"]), (1, &Value::Null));
    assert_eq!(played.run(), "completed");
}
