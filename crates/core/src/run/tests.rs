use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{
    Due, FinishTool, Run, StartTool, Status, TurnFailure, Used,
    next::{Call, Next},
};
use crate::limits::Limits;
use crate::{
    audience::Audience,
    context_set::PutSet,
    context_set::form::SubmitForm,
    conversation::{AddMessages, NewMessage, PutThread, Role, ToolCall},
    error::Error,
    id::{Seq, ThreadId},
    run::{CancelRun, ClaimRun, PauseRun, ResumeRun, ToolResults},
    testing::Board,
};

/// A run that was just started, of a team of a manager and two workers.
fn started() -> Board {
    let mut board = Board::team("lead writer critic");
    board.start("Write a poem.").unwrap();
    board
}

/// The same where the writer has the tool `look`.
fn started_with_tool() -> Board {
    let mut board = started();
    let agents = json!([
        {"name": "lead", "role": "manager"},
        {"name": "writer", "role": "worker", "tools": [{"name": "look"}]},
        {"name": "critic", "role": "worker"},
    ]);
    let patch: crate::session::SessionPatch = serde_json::from_value(json!({ "agents": agents })).unwrap();
    board.user(patch).unwrap();
    board
}

/// Gives answers in turn, as texts or as JSON, and tells where the run is after each.
fn replies(board: &mut Board, replies: &[Value]) -> String {
    let one = |reply: &Value| {
        let text = reply.as_str().map_or_else(|| reply.to_string(), str::to_owned);
        board.reply(&text).unwrap();
        stands(board)
    };
    replies.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// What comes next in the run.
fn stands(board: &Board) -> String {
    match board.next() {
        Next::Ask(ask) => format!("{} in {}: {}", ask.agent, ask.turn.thread, due(&ask.due)),
        Next::AwaitTool | Next::AwaitUser => due(&board.run().due),
        Next::Call(calls) => {
            let again = |call: &Call| if call.started.is_some() { " again" } else { "" };
            let call = |call: &Call| format!("{} calls {}{}", call.agent, call.call.name, again(call));
            calls.iter().map(call).collect::<Vec<_>>().join(", ")
        }
        Next::Pause(reason) => format!("pause: {reason}"),
        Next::Done => {
            let halt = board.run().halt.clone().unwrap();
            let reason = halt.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{}{reason}", json!(halt.status).as_str().unwrap())
        }
    }
}

fn due(due: &Due) -> String {
    match due {
        Due::Directive => "directive".to_owned(),
        Due::Answered { form } => format!("answered {form}"),
        Due::Repair { faults, .. } => format!("repair {}", json!(faults)),
        Due::Form { request } => format!("form for {request:?}"),
        Due::Work { agent } => format!("work of {agent}"),
        Due::Check { agent, criteria, message_id, .. } => {
            format!("check {message_id} of {agent} for {criteria:?}")
        }
        Due::Build => "build".to_owned(),
        Due::User { form } => format!("the user, form {form:?}"),
        Due::Tools { calls, .. } => format!("tools {}", json!(calls)),
    }
}

/// The entries from `seq` on: who, what, about what.
fn entries(board: &Board, seq: u64) -> String {
    let entries = board.entries.iter().filter(|entry| entry.header.seq >= Seq(seq));
    let one = |entry: &crate::entry::Entry| {
        let header = &entry.header;
        format!("{} {} {} {}", header.by, header.kind, header.subject, entry.json())
    };
    entries.map(one).collect::<Vec<_>>().join("\n")
}

fn said(board: &mut Board, text: &str) {
    let message = NewMessage::text(Role::User, text);
    board.user(AddMessages { thread: "main".parse().unwrap(), messages: vec![message] }).unwrap();
}

fn error<T>(answer: Result<T, Error>) -> String {
    let error = answer.err().unwrap();
    format!("{}: {error}", error.code())
}

fn id(board: &Board) -> crate::id::RunId {
    board.run().id.clone()
}

fn to(agent: &str, message: &str) -> Value {
    json!({"messageTo": agent, "message": message})
}

fn set(name: &str, content: &str) -> Value {
    json!({"contextSets": [{"name": name, "context": content}]})
}

#[test]
fn a_manager_directs_a_worker_and_completes() {
    let mut board = started();
    assert_snapshot!(stands(&board), @"lead in main: directive");
    let directive =
        json!({"messageTo": "writer", "message": "Four lines.", "contextSetUpdate": set("Theme", "spring")});
    let done = json!({"messageTo": "user", "message": "Here it is.", "workflowComplete": true});
    assert_snapshot!(replies(&mut board, &[directive, json!("Roses are red"), done]), @"
    writer in agent:writer: work of writer
    lead in main: directive
    completed
    ");
    assert_snapshot!(entries(&board, 5), @r#"
    user thread.updated thread:main {"name":"main","visible_to":["lead"]}
    user run.started run:r6 {"run":"r6","kind":"team"}
    user message.added thread:main {"message_id":"m7","thread_id":"main","role":"USER","content":"Write a poem.","timestamp":"2025-01-18T09:00:01.000Z","tokens":4}
    system turn.requested run:r6 {"run":"r6","turn":1,"agent":"lead","due":{"kind":"directive"},"model":"openai:test","prompt":{"at":7,"layout":"team","layout_version":1,"format":"openai","vocabulary":"words","counting":"exact","budget":1000,"tokens":100,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","shows":[]}}
    agent:lead context_set.updated set:Theme {"name":"Theme","content":"spring","visible_to":"all","enabled":true,"tokens":1}
    agent:lead message.added thread:agent:writer {"message_id":"m10","thread_id":"agent:writer","role":"AI","agent":"lead","content":"Four lines.","timestamp":"2025-01-18T09:00:03.000Z","tokens":3}
    agent:lead directive.received directives {"run":"r6","outcomes":[{"name":"Theme","outcome":"created"}],"message_to":"writer"}
    system turn.answered run:r6 {"run":"r6","turn":1,"agent":"lead","said":"{\"messageTo\":\"writer\",\"message\":\"Four lines.\",\"contextSetUpdate\":{\"contextSets\":[{\"name\":\"Theme\",\"context\":\"spring\"}]}}","usage":{"prompt_tokens":100,"completion_tokens":10},"due":{"kind":"work","agent":"writer"}}
    system turn.requested run:r6 {"run":"r6","turn":2,"agent":"writer","due":{"kind":"work","agent":"writer"},"model":"openai:test","prompt":{"at":12,"layout":"team","layout_version":1,"format":"openai","vocabulary":"words","counting":"exact","budget":1000,"tokens":100,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","shows":[]}}
    agent:writer message.added thread:agent:writer {"message_id":"m14","thread_id":"agent:writer","role":"AI","agent":"writer","content":"Roses are red","timestamp":"2025-01-18T09:00:05.000Z","tokens":3}
    system turn.answered run:r6 {"run":"r6","turn":2,"agent":"writer","usage":{"prompt_tokens":100,"completion_tokens":10},"due":{"kind":"directive"}}
    system turn.requested run:r6 {"run":"r6","turn":3,"agent":"lead","due":{"kind":"directive"},"model":"openai:test","prompt":{"at":15,"layout":"team","layout_version":1,"format":"openai","vocabulary":"words","counting":"exact","budget":1000,"tokens":100,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","shows":[]}}
    agent:lead message.added thread:main {"message_id":"m17","thread_id":"main","role":"AI","agent":"lead","content":"Here it is.","timestamp":"2025-01-18T09:00:07.000Z","tokens":4}
    agent:lead directive.received directives {"run":"r6","message_to":"user","workflow_complete":true}
    system turn.answered run:r6 {"run":"r6","turn":3,"agent":"lead","said":"{\"messageTo\":\"user\",\"message\":\"Here it is.\",\"workflowComplete\":true}","usage":{"prompt_tokens":100,"completion_tokens":10},"due":{"kind":"directive"}}
    system run.ended run:r6 {"run":"r6","status":"completed"}
    "#);
}

#[test]
fn a_directive_with_faults_is_sent_back_once_and_then_what_is_good_in_it_is_applied() {
    let mut board = started();
    let faulty = json!({"messageTo": "ghost", "message": "Boo.", "contextSetUpdate": set("A", "1")});
    assert_snapshot!(replies(&mut board, std::slice::from_ref(&faulty)), @r#"lead in main: repair [{"pointer":"/messageTo","problem":"\"ghost\" gets no messages: name one of writer, critic, or \"user\""}]"#);
    assert_eq!(board.state.sets.iter().count(), 0);
    assert_snapshot!(board.run().due.turn().unwrap().task.unwrap(), @r#"
    Your last directive could not be used as it was:
    {"messageTo":"ghost","message":"Boo.","contextSetUpdate":{"contextSets":[{"name":"A","context":"1"}]}}

    What was wrong with it:
    - /messageTo: "ghost" gets no messages: name one of writer, critic, or "user"

    Give the directive again, whole, with these faults mended.
    "#);
    assert_snapshot!(replies(&mut board, &[faulty]), @"lead in main: directive");
    assert_snapshot!(entries(&board, 11), @r#"
    agent:lead context_set.updated set:A {"name":"A","content":"1","visible_to":"all","enabled":true,"tokens":1}
    agent:lead directive.received directives {"run":"r6","outcomes":[{"name":"A","outcome":"created"}],"faults":[{"pointer":"/messageTo","problem":"\"ghost\" gets no messages: name one of writer, critic, or \"user\""}]}
    system turn.answered run:r6 {"run":"r6","turn":2,"agent":"lead","said":"{\"messageTo\":\"ghost\",\"message\":\"Boo.\",\"contextSetUpdate\":{\"contextSets\":[{\"name\":\"A\",\"context\":\"1\"}]}}","usage":{"prompt_tokens":100,"completion_tokens":10},"due":{"kind":"directive"}}
    "#);
    assert_snapshot!(replies(&mut board, &[json!({"surprise": 1}), to("writer", "Write.")]), @r#"
    lead in main: repair [{"pointer":"","problem":"unknown field `surprise`"}]
    writer in agent:writer: work of writer
    "#);
}

#[test]
fn a_manager_that_calls_a_tool_before_it_mends_its_directive_is_told_again_what_was_wrong() {
    let mut board = started();
    let agents =
        json!([{"name": "lead", "role": "manager", "tools": [{"name": "look"}]}, {"name": "writer", "role": "worker"}]);
    let patch: crate::session::SessionPatch = serde_json::from_value(json!({ "agents": agents })).unwrap();
    board.user(patch).unwrap();
    let repair = replies(&mut board, &[json!({"messageTo": "writer"})]);
    let task = board.run().due.turn().unwrap().task;
    assert!(repair.starts_with("lead in main: repair "), "{repair}");
    for at in ["c1", "c2"] {
        let call = ToolCall { id: at.to_owned(), name: "look".to_owned(), arguments: json!({}) };
        board.reply_with(|reply| reply.tool_calls = vec![call]).unwrap();
        assert!(stands(&board).starts_with("tools "));
        let results = vec![(at.to_owned(), "a tree".to_owned())];
        board.user(ToolResults::new(id(&board), results)).unwrap();
        assert_eq!((stands(&board), board.run().due.turn().unwrap().task), (repair.clone(), task.clone()));
    }
    // Another call of a tool that is refused changes nothing either.
    let call = ToolCall { id: "c3".to_owned(), name: "none".to_owned(), arguments: json!({}) };
    board.reply_with(|reply| reply.tool_calls = vec![call]).unwrap();
    assert_eq!(stands(&board), repair);
    assert_snapshot!(replies(&mut board, &[to("writer", "Write.")]), @"writer in agent:writer: work of writer");
    // Whoever comes later is not told of it, also while the tool is awaited.
    replies(&mut board, &[json!("Roses"), json!({"messageTo": "a secret"})]);
    let call = ToolCall { id: "c4".to_owned(), name: "look".to_owned(), arguments: json!({}) };
    board.reply_with(|reply| reply.tool_calls = vec![call]).unwrap();
    assert!(json!(board.view("lead").unwrap().due(board.run())).to_string().contains("pointer"));
    board.team_becomes("boss writer");
    assert!(!json!(board.seen("boss")).to_string().contains("secret"));
    assert!(!json!(board.view("boss").unwrap().due(board.run())).to_string().contains("secret"));
}

#[test]
fn an_answer_is_checked_and_keeps_its_place_beside_the_verdict() {
    let mut board = started();
    let asks = json!({"messageTo": "writer", "message": "A poem.", "expectedOutput": "four lines"});
    assert_snapshot!(replies(&mut board, &[asks, json!("Roses")]), @r#"
    writer in agent:writer: work of writer
    lead in main: check m13 of writer for "four lines"
    "#);
    assert_snapshot!(board.run().due.turn().unwrap().task.unwrap(), @"
    Check whether the last answer of writer is what was expected: four lines

    Answer with a JSON object: `valid`, true or false, and `reason`, one sentence.
    ");
    let verdict = json!({"valid": false, "reason": "It has one line."});
    assert_snapshot!(replies(&mut board, &[verdict]), @"lead in main: directive");
    assert_snapshot!(entries(&board, 13), @r#"
    agent:writer message.added thread:agent:writer {"message_id":"m13","thread_id":"agent:writer","role":"AI","agent":"writer","content":"Roses","timestamp":"2025-01-18T09:00:05.000Z","tokens":1}
    system turn.answered run:r6 {"run":"r6","turn":2,"agent":"writer","usage":{"prompt_tokens":100,"completion_tokens":10},"due":{"kind":"check","thread":"agent:writer","criteria_of":"m9","criteria":"four lines","message_id":"m13","agent":"writer"}}
    system turn.requested run:r6 {"run":"r6","turn":3,"agent":"lead","due":{"kind":"check","thread":"agent:writer","criteria_of":"m9","criteria":"four lines","message_id":"m13","agent":"writer"},"model":"openai:test","prompt":{"at":14,"layout":"team","layout_version":1,"format":"openai","vocabulary":"words","counting":"exact","budget":1000,"tokens":100,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","shows":[]}}
    agent:lead message.checked thread:agent:writer {"thread_id":"agent:writer","message_id":"m13","criteria_of":"m9","valid":false,"reason":"It has one line."}
    system turn.answered run:r6 {"run":"r6","turn":3,"agent":"lead","said":"{\"valid\":false,\"reason\":\"It has one line.\"}","usage":{"prompt_tokens":100,"completion_tokens":10},"due":{"kind":"directive"}}
    "#);
    assert_snapshot!(replies(&mut board, &[to("writer", "Anything."), json!("Violets")]), @"
    writer in agent:writer: work of writer
    lead in main: directive
    ");
}

#[test]
fn a_verdict_that_cannot_be_read_is_none() {
    let asks = json!({"messageTo": "writer", "message": "A poem.", "expectedOutput": "four lines"});
    for verdict in ["It is fine.", "{\"valid\": \"yes\"}", "{\"valid\": tr"] {
        let mut board = started();
        replies(&mut board, &[asks.clone(), json!("Roses")]);
        assert_eq!(replies(&mut board, &[json!(verdict)]), "lead in main: directive");
        let checked = board.entries.iter().find(|entry| &*entry.header.kind == "message.checked").unwrap();
        assert!(checked.data.contains("\"valid\":null"), "{}", checked.data);
    }
    let mut board = started();
    replies(&mut board, &[asks, json!("Roses"), json!("```json\n{\"valid\": true, \"reason\": null}\n```")]);
    let checked = board.entries.iter().find(|entry| &*entry.header.kind == "message.checked").unwrap();
    assert!(checked.data.contains("\"valid\":true"), "{}", checked.data);
}

#[test]
fn a_request_for_information_without_a_form_has_its_model_make_one() {
    let mut board = started();
    let asks = json!({"isInfoRequest": true, "message": "Which season?", "contextSetUpdate": set("A", "1")});
    assert_snapshot!(replies(&mut board, std::slice::from_ref(&asks)), @r#"lead in main: form for "Which season?""#);
    let form = json!({"name": "Season", "fields": [
        {"key": "s", "valueType": "ENUM", "label": "Season", "required": true, "enumValues": ["spring", "fall"]},
    ]});
    assert_snapshot!(replies(&mut board, &[form]), @r#"the user, form Some("Season")"#);
    board
        .user(SubmitForm {
            form: "Season".parse().unwrap(),
            answers: [("s".to_owned(), json!("fall"))].into_iter().collect(),
        })
        .unwrap();
    assert_snapshot!(stands(&board), @"lead in main: answered Season");
    assert_snapshot!(replies(&mut board, &[asks, json!("I do not know.")]), @r#"
    lead in main: form for "Which season?"
    the user, form Some("Information Request")
    "#);
    said(&mut board, "Winter.");
    assert_snapshot!(stands(&board), @"lead in main: directive");
}

#[test]
fn a_form_that_a_directive_brings_is_put_before_the_user_at_once() {
    let mut board = started();
    let fields = json!([{"key": "s", "valueType": "STRING", "label": "Season", "required": true}]);
    let asks = json!({"isInfoRequest": true, "messageTo": "user", "message": "Which?", "form": {"fields": fields}});
    assert_snapshot!(replies(&mut board, &[asks]), @r#"the user, form Some("Information Request")"#);
    let none = json!([]);
    let mut other = started();
    let faulty = json!({"isInfoRequest": true, "message": "Which?", "form": {"fields": none}});
    assert_snapshot!(replies(&mut other, &[faulty.clone(), faulty]), @r#"
    lead in main: repair [{"pointer":"/form/fields","problem":"[] has less than 1 item"}]
    lead in main: form for "Which?"
    "#);
}

#[test]
fn a_message_to_the_user_waits_for_the_user() {
    let mut board = started();
    assert_snapshot!(replies(&mut board, &[to("user", "Spring or fall?")]), @"the user, form None");
    board
        .by(
            "writer",
            AddMessages { thread: "agent:writer".parse().unwrap(), messages: vec![NewMessage::text(Role::Ai, "Psst")] },
        )
        .unwrap();
    assert_snapshot!(stands(&board), @"the user, form None");
    said(&mut board, "Fall.");
    assert_snapshot!(stands(&board), @"lead in main: directive");
}

#[test]
fn what_cannot_all_be_meant_is_sent_back_and_then_a_message_to_a_worker_comes_first() {
    let mut board = started();
    let both = json!({"messageTo": "writer", "message": "More.", "workflowComplete": true});
    assert_snapshot!(replies(&mut board, &[both.clone(), both]), @r#"
    lead in main: repair [{"pointer":"/workflowComplete","problem":"the work is not complete while an agent is asked for more: say one or the other"}]
    writer in agent:writer: work of writer
    "#);
    let mut other = started();
    assert_snapshot!(replies(&mut other, &[json!({"workflowComplete": true})]), @"completed");
}

#[test]
fn a_model_that_says_nothing_holds_the_run() {
    let mut board = started();
    assert_snapshot!(replies(&mut board, &[json!(" \n")]), @"paused: lead got no answer: the model said nothing");
    board.user(ResumeRun(id(&board))).unwrap();
    assert_snapshot!(stands(&board), @"lead in main: directive");
}

#[test]
fn a_model_that_fails_holds_the_run() {
    let mut board = started();
    board.request().unwrap();
    let Run { id, epoch, turns, .. } = board.run().clone();
    let failure = TurnFailure { run: id.clone(), epoch, turn: turns, error: "connection refused".to_owned() };
    board.system(failure.clone()).unwrap();
    assert_snapshot!(stands(&board), @"paused: lead got no answer: connection refused");
    assert_snapshot!(error(board.system(failure)), @"turn_not_pending: turn 1 of the run r6 waits for no answer: it was answered before, or never requested");
    board.user(ResumeRun(id)).unwrap();
    assert_snapshot!(replies(&mut board, &[to("writer", "Write.")]), @"writer in agent:writer: work of writer");
}

#[test]
fn a_model_that_answers_nonsense_pauses_the_run_after_a_few_turns() {
    let mut board = started();
    let nonsense =
        ["{\"mess", "{}", "[[[", "{\"a\": 1}", "```json\n{\n```", "{\"message\": 7}", "x", "x"].map(Value::from);
    assert_snapshot!(replies(&mut board, &nonsense[..6]), @r#"
    lead in main: repair [{"pointer":"","problem":"the JSON cannot be read: it ends in the middle of a string at line 1 column 6"}]
    lead in main: directive
    lead in main: repair [{"pointer":"/messageTo","problem":"say whom the message is for"}]
    lead in main: directive
    lead in main: repair [{"pointer":"","problem":"the JSON cannot be read: key must be a string at line 2 column 1"}]
    pause: nothing came of the last 3 turns; say something in main and resume the run
    "#);
    said(&mut board, "Please go on.");
    board.user(ResumeRun(id(&board))).unwrap();
    assert_snapshot!(replies(&mut board, &[to("writer", "Write.")]), @"writer in agent:writer: work of writer");
}

#[test]
fn an_answer_that_was_cut_off_is_sent_back_to_the_manager_and_marked_for_a_worker() {
    let mut board = started();
    let reply = to("writer", "Write.").to_string();
    let cut = |board: &mut Board, text: &str| {
        board.reply_with(|reply| (reply.text, reply.cut_off) = (text.into(), true)).unwrap();
        stands(board)
    };
    assert_snapshot!(cut(&mut board, &reply), @r#"lead in main: repair [{"pointer":"","problem":"the answer was cut off at the length it may have: say it in fewer words"}]"#);
    assert_snapshot!(cut(&mut board, &reply), @"writer in agent:writer: work of writer");
    assert_snapshot!(cut(&mut board, "Roses are"), @"lead in main: directive");
    assert_snapshot!(entries(&board, 15), @r#"
    agent:writer message.added thread:agent:writer {"message_id":"m15","thread_id":"agent:writer","role":"AI","agent":"writer","content":"Roses are\n[cut off here: the answer reached the length it may have]","timestamp":"2025-01-18T09:00:07.000Z","tokens":17}
    system turn.answered run:r6 {"run":"r6","turn":3,"agent":"writer","usage":{"prompt_tokens":100,"completion_tokens":10},"cut_off":true,"due":{"kind":"directive"}}
    "#);
}

#[test]
fn a_worker_calls_tools_and_goes_on_with_their_results() {
    let mut board = started_with_tool();
    replies(&mut board, &[to("writer", "Look it up.")]);
    let call = |id: &str| ToolCall { id: id.to_owned(), name: "look".to_owned(), arguments: json!({"at": id}) };
    board.reply_with(|reply| reply.tool_calls = vec![call("c1"), call("c2")]).unwrap();
    assert_snapshot!(stands(&board), @r#"tools [{"id":"c1","name":"look","arguments":{"at":"c1"}},{"id":"c2","name":"look","arguments":{"at":"c2"}}]"#);
    let results = |results: &[(&str, &str)]| {
        ToolResults::new(
            id(&started()),
            results.iter().map(|(id, text)| ((*id).to_owned(), (*text).to_owned())).collect(),
        )
    };
    assert_snapshot!(error(board.user(results(&[("c1", "a tree"), ("c9", "?")]))), @r#"no_tool_call: /results/1/tool_call_id: no call "c9" waits for a result"#);
    board.user(results(&[("c2", "a bush")])).unwrap();
    assert_snapshot!(stands(&board), @r#"tools [{"id":"c1","name":"look","arguments":{"at":"c1"}}]"#);
    board.user(results(&[("c1", "a tree")])).unwrap();
    assert_snapshot!(stands(&board), @"writer in agent:writer: work of writer");
    assert_snapshot!(error(board.user(results(&[("c1", "a tree")]))), @"no_tool_awaited: the run r6 waits for no tool: look at the run's status");
    let deep = (0..100).fold(json!(1), |value, _| json!([value]));
    board.reply_with(|reply| reply.tool_calls = vec![ToolCall { arguments: deep, ..call("c3") }]).unwrap();
    assert!(matches!(&board.run().due, Due::Tools { calls, .. } if calls[0].arguments.is_string()));
}

#[test]
fn no_agent_gives_the_result_of_a_call_that_another_one_made() {
    let mut board = started_with_tool();
    replies(&mut board, &[to("writer", "Look it up.")]);
    let thread: ThreadId = "agent:writer".parse().unwrap();
    board.user(PutThread::seen_by(thread.clone(), Audience::All)).unwrap();
    let call = |id: &str| ToolCall { id: id.to_owned(), name: "look".to_owned(), arguments: json!({}) };
    board.reply_with(|reply| reply.tool_calls = ["c1", "c2", "c3"].map(call).to_vec()).unwrap();
    let add = |id: &str| AddMessages {
        thread: thread.clone(),
        messages: vec![NewMessage { tool_call_id: Some(id.to_owned()), ..NewMessage::text(Role::Tool, "found") }],
    };
    let waiting = stands(&board);
    assert_snapshot!(error(board.by("critic", add("c1"))), @"forbidden: critic may not add the result of a call that another agent made: leave it to that agent, the manager or the user");
    // There is no such call of another agent.
    board.by("critic", add("c9")).unwrap();
    assert_eq!(stands(&board), waiting);
    board.by("writer", add("c1")).unwrap();
    board.by("lead", add("c2")).unwrap();
    board.user(add("c3")).unwrap();
    assert_snapshot!(stands(&board), @"writer in agent:writer: work of writer");
}

#[test]
fn limits_pause_the_run_and_resuming_it_starts_them_anew() {
    let limits = |limits: Value| serde_json::from_value::<Limits>(limits).unwrap();
    for (limit, expected) in [
        (json!({"turns": 2}), "pause: the limit of 2 turns is reached; resume the run to go on"),
        (json!({"tokens": 220}), "pause: the limit of 220 tokens is reached; resume the run to go on"),
        (json!({"seconds": 2}), "pause: the limit of 2 seconds is reached; resume the run to go on"),
    ] {
        let mut board = Board::team("lead writer");
        board.start_within("Write.", Some(limits(limit.clone()))).unwrap();
        assert_eq!(replies(&mut board, &[to("writer", "Write.")]), "writer in agent:writer: work of writer");
        assert_eq!(replies(&mut board, &[json!("Roses")]), expected, "{limit}");
        board.system(PauseRun { run: id(&board), reason: "limit".to_owned() }).unwrap();
        assert_eq!(stands(&board), "paused: limit");
        board.user(ResumeRun(id(&board))).unwrap();
        assert_eq!(stands(&board), "lead in main: directive");
        assert_eq!(board.run().used_in_all.turns, 2);
        assert_eq!(replies(&mut board, &[to("writer", "More.")]), "writer in agent:writer: work of writer");
    }
}

#[test]
fn the_time_in_which_nobody_drove_a_run_does_not_count() {
    let mut board = Board::team("lead writer");
    board.start_within("Write.", Some(Limits { seconds: Some(60), ..Limits::default() })).unwrap();
    board.request().unwrap();
    board.now = board.now.plus_seconds(86_400);
    board.system(ClaimRun { run: id(&board), node: "b".into() }).unwrap();
    assert_snapshot!(replies(&mut board, &[to("writer", "Write.")]), @"writer in agent:writer: work of writer");
    assert_snapshot!(board.run().used.milliseconds, @"1000");
}

#[test]
fn what_comes_under_an_older_epoch_or_twice_is_refused() {
    let mut board = started();
    board.system(ClaimRun { run: id(&board), node: "a".into() }).unwrap();
    board.request().unwrap();
    let mut late = board.empty_reply();
    late.text = "late".into();
    board.system(ClaimRun { run: id(&board), node: "b".into() }).unwrap();
    assert_snapshot!(error(board.system(late)), @"run_taken_over: the run r6 was taken over by b: leave it to that one");
    let mut reply = board.empty_reply();
    reply.text = to("writer", "Write.").to_string().into();
    board.system(reply.clone()).unwrap();
    assert_snapshot!(error(board.system(reply)), @"turn_not_pending: turn 1 of the run r6 waits for no answer: it was answered before, or never requested");
    assert_snapshot!(error(board.user(board.empty_reply())), @"forbidden: user may not bring an answer: only Callboard itself does");
}

#[test]
fn a_run_is_paused_and_cancelled_while_a_turn_is_pending() {
    let mut board = started();
    board.request().unwrap();
    board.user(PauseRun { run: id(&board), reason: "lunch".to_owned() }).unwrap();
    assert_snapshot!(stands(&board), @"paused: lunch");
    assert_snapshot!(replies(&mut board, &[to("writer", "Write.")]), @"paused: lunch");
    assert_snapshot!(error(board.request()), @"turn_not_due: no turn of the run r6 is due: look at the run's status");
    board.user(ResumeRun(id(&board))).unwrap();
    assert_snapshot!(stands(&board), @"writer in agent:writer: work of writer");
    board.request().unwrap();
    let reply = board.empty_reply();
    board.user(CancelRun(id(&board))).unwrap();
    assert_snapshot!(error(board.system(reply)), @"run_ended: the run r6 has ended: start another one");
    assert_snapshot!(error(board.user(ResumeRun(id(&board)))), @"run_ended: the run r6 has ended: start another one");
}

#[test]
fn a_second_unfinished_run_is_refused() {
    let mut board = started();
    assert_snapshot!(error(board.start("Another.")), @"run_unfinished: the run r6 has not ended: wait for it, or cancel it");
    board.user(PauseRun { run: id(&board), reason: "x".to_owned() }).unwrap();
    assert_snapshot!(error(board.start("Another.")), @"run_unfinished: the run r6 has not ended: wait for it, or cancel it");
    board.user(CancelRun(id(&board))).unwrap();
    let ended = id(&board);
    board.start("Another.").unwrap();
    assert_snapshot!(stands(&board), @"lead in main: directive");
    assert_snapshot!(error(board.user(ResumeRun(ended))), @"run_ended: the run r6 has ended: start another one");
    for unknown in ["r7", "r06", "r999", "r", "none"] {
        assert_eq!(board.user(CancelRun(unknown.parse().unwrap())).unwrap_err().code(), "not_found", "{unknown}");
    }
}

#[test]
fn a_run_needs_a_manager_that_sees_main_and_something_to_do() {
    assert_snapshot!(error(Board::empty().start("x")), @r#"not_found: there is no session "here""#);
    assert_snapshot!(error(Board::with(Vec::new(), crate::session::Settings::default()).start("x")), @"no_manager: the team has no manager: give one agent the role manager");
    assert_snapshot!(error(Board::team("lead").start(" \n")), @"invalid: /input: say what is to be done");
    let mut board = Board::team("lead writer");
    board.user(PutThread::seen_by("main".parse().unwrap(), Audience::of(["writer".parse().unwrap()]))).unwrap();
    assert_snapshot!(error(board.start("x")), @"main_hidden: the thread main is visible to writer, and the manager is not among them: make it visible to the manager first");
}

#[test]
fn a_run_goes_on_when_its_threads_are_hidden_or_its_agents_leave() {
    let mut board = started();
    board.user(PutThread::seen_by("agent:writer".parse().unwrap(), Audience::None)).unwrap();
    board.user(PutThread::seen_by("main".parse().unwrap(), Audience::None)).unwrap();
    let expects = json!({"messageTo": "writer", "message": "Write.", "expectedOutput": "x"});
    assert_snapshot!(replies(&mut board, &[expects.clone(), json!("Roses"), json!({"valid": true, "reason": "x"})]), @r#"
    writer in agent:writer: work of writer
    lead in main: check m15 of writer for ""
    lead in main: directive
    "#);
    assert_snapshot!(replies(&mut board, &[to("user", "Which?")]), @"the user, form None");
    said(&mut board, "Any.");
    replies(&mut board, &[expects]);
    board.request().unwrap();
    board.team_becomes("lead critic");
    assert_snapshot!(stands(&board), @"lead in main: directive");
    board.team_becomes("");
    assert_snapshot!(stands(&board), @"pause: the team has no manager: give one agent the role manager, and resume the run");
    board.team_becomes("boss critic");
    assert_snapshot!(stands(&board), @"boss in main: directive");
}

#[test]
fn a_new_manager_goes_on_with_the_run() {
    let mut board = started();
    board.team_becomes("boss writer critic lead");
    assert_snapshot!(replies(&mut board, &[to("writer", "Write."), json!("Roses")]), @"
    writer in agent:writer: work of writer
    boss in main: directive
    ");
}

#[test]
fn only_the_user_and_the_manager_see_a_run() {
    let mut board = started();
    replies(
        &mut board,
        &[json!({"messageTo": "ghost"}), json!({"contextSetUpdate": set("A", "1")}), to("writer", "Write.")],
    );
    let kinds = |viewer: &str| {
        let seen = board.seen(viewer).into_iter().skip(4);
        seen.map(|entry| entry.kind.to_string()).collect::<Vec<_>>().join(" ")
    };
    assert_snapshot!(kinds("lead"), @"thread.updated run.started message.added turn.requested turn.answered turn.requested context_set.updated directive.received turn.answered turn.requested message.added directive.received turn.answered");
    assert_snapshot!(kinds("writer"), @"context_set.updated message.added");
    assert_snapshot!(kinds("critic"), @"context_set.updated");
}

/// The words of a thread are in what is due, in why a run is held and in why a model gave no answer, too.
#[test]
fn the_words_of_a_thread_in_a_run_are_for_whoever_sees_the_thread() {
    let only = |names: &[&str]| Audience::of(names.iter().map(|name| name.parse().unwrap()));
    let calls = |board: &mut Board| {
        let call = ToolCall { id: "c1".to_owned(), name: "look".to_owned(), arguments: json!({"at": "a secret"}) };
        board.reply_with(|reply| reply.tool_calls = vec![call]).unwrap();
    };
    let told = |board: &Board, viewer: &str| {
        let view = board.view(viewer).unwrap();
        let entries = board.seen(viewer).into_iter().filter(|entry| entry.subject.starts_with("run:"));
        let entries = json!(entries.collect::<Vec<_>>()).to_string();
        assert_eq!(entries.contains("secret"), viewer == "user", "{entries}");
        let said = json!([view.due(board.run()), view.reason(board.run())]).to_string();
        if said.contains("secret") { "told" } else { "not told" }
    };
    let share = |board: &mut Board| {
        let share: crate::session::SessionPatch = serde_json::from_value(json!({"share": ["runs"]})).unwrap();
        board.user(share).unwrap();
    };
    let asks = json!({"messageTo": "writer", "message": "Write.", "expectedOutput": "a secret"});

    let mut board = started_with_tool();
    share(&mut board);
    replies(&mut board, &[to("writer", "Write.")]);
    calls(&mut board);
    assert_eq!((told(&board, "user"), told(&board, "lead"), told(&board, "critic")), ("told", "told", "not told"));
    board.team_becomes("critic writer");
    assert_eq!((told(&board, "critic"), told(&board, "user")), ("not told", "told"), "a manager who came later");

    let mut board = started_with_tool();
    replies(&mut board, &[to("writer", "Write.")]);
    board.user(PutThread::seen_by("agent:writer".parse().unwrap(), only(&["writer"]))).unwrap();
    calls(&mut board);
    assert_eq!(told(&board, "lead"), "not told", "calls in a thread that is hidden from the manager");
    board.user(PutThread::seen_by("agent:writer".parse().unwrap(), Audience::All)).unwrap();
    assert_eq!(told(&board, "lead"), "not told", "and shown to it later");

    let mut board = started_with_tool();
    replies(&mut board, &[asks]);
    board.user(PutThread::seen_by("agent:writer".parse().unwrap(), only(&["writer"]))).unwrap();
    replies(&mut board, &[json!("Roses")]);
    assert_eq!((told(&board, "lead"), told(&board, "user")), ("not told", "told"), "what was expected");
    assert_snapshot!(stands(&board), @r#"lead in main: check m15 of writer for """#);

    let mut board = started_with_tool();
    share(&mut board);
    replies(&mut board, &[to("writer", "Write.")]);
    board.user(PutThread::seen_by("agent:writer".parse().unwrap(), only(&["writer"]))).unwrap();
    board.request().unwrap();
    let Run { id, epoch, turns, .. } = board.run().clone();
    board.system(TurnFailure { run: id, epoch, turn: turns, error: "a secret".to_owned() }).unwrap();
    assert_eq!((told(&board, "lead"), told(&board, "critic"), told(&board, "user")), ("not told", "not told", "told"));
    assert_eq!(board.view("lead").unwrap().reason(board.run()).unwrap(), "writer got no answer");

    let mut board = started_with_tool();
    replies(&mut board, &[json!({"messageTo": "user", "message": "a secret?", "isInfoRequest": true})]);
    assert_eq!(told(&board, "lead"), "told");
    board.user(PutThread::seen_by("main".parse().unwrap(), only(&["writer"]))).unwrap();
    assert_eq!(told(&board, "lead"), "not told", "what the user was asked");
    assert_snapshot!(stands(&board), @r#"lead in main: form for """#);
}

#[test]
fn a_directive_with_faults_is_shown_to_its_author_alone() {
    let mut board = started();
    assert_snapshot!(replies(&mut board, &[json!({"messageTo": "a secret"})]), @r#"lead in main: repair [{"pointer":"/messageTo","problem":"\"a secret\" gets no messages: name one of writer, critic, or \"user\""},{"pointer":"/message","problem":"say what the message is"}]"#);
    board.team_becomes("boss writer");
    assert_snapshot!(stands(&board), @"boss in main: directive");
    assert!(!json!(board.seen("boss")).to_string().contains("secret"));
}

#[test]
fn the_answer_of_a_manager_that_has_left_is_not_waited_for() {
    let mut board = started();
    board.request().unwrap();
    let reply = board.empty_reply();
    board.team_becomes("boss writer lead");
    assert_snapshot!(error(board.system(reply)), @"turn_not_pending: turn 1 of the run r6 waits for no answer: it was answered before, or never requested");
    assert_snapshot!(replies(&mut board, &[to("writer", "Write.")]), @"writer in agent:writer: work of writer");
}

/// A run in which the writer has Callboard's own tools and one of the caller's, and is asked to work.
fn with_tools(settings: Value) -> Board {
    let tools = ["callboard:write_context_set", "callboard:read_messages", "callboard:read_context_set", "look"];
    let tools = tools.map(|name| json!({"name": name}));
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker", "tools": tools}]);
    let agents = serde_json::from_value(agents).unwrap();
    let mut board = Board::with(agents, serde_json::from_value(settings).unwrap());
    board.start("Write a poem.").unwrap();
    replies(&mut board, &[to("writer", "Write.")]);
    board
}

fn calls(board: &mut Board, calls: &[(&str, Value)]) -> u64 {
    let call = |(at, (name, arguments)): (usize, &(&str, Value))| ToolCall {
        id: format!("c{at}"),
        name: (*name).to_owned(),
        arguments: arguments.clone(),
    };
    let calls: Vec<_> = calls.iter().enumerate().map(call).collect();
    board.request().unwrap();
    let since = board.state.head.seq.0 + 1;
    board.reply_with(|reply| reply.tool_calls = calls).unwrap();
    since
}

fn results(board: &Board, since: u64) -> String {
    let entries = board.entries.iter().filter(|entry| entry.header.seq >= Seq(since));
    let said = entries.filter_map(|entry| {
        let data: Value = serde_json::from_str(&entry.data).unwrap();
        (data["role"] == "TOOL")
            .then(|| format!("{} by {}: {}", data["tool_call_id"], entry.header.by, data["content"]))
    });
    said.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_tool_that_is_a_command_is_done_in_the_append_of_the_answer_that_calls_it() {
    let mut board = with_tools(json!({"grant": ["context_sets"], "default_visibility": "all"}));
    board
        .user(PutSet { name: "Notes".parse().unwrap(), content: "x".into(), visible_to: None, enabled: None })
        .unwrap();
    let write = |name: &str| ("write_context_set", json!({"name": name, "content": "Roses"}));
    let since = calls(&mut board, &[write("Notes"), write("New"), ("write_context_set", json!({"name": "Notes"}))]);
    assert_snapshot!(results(&board, since), @r#"
    "c0" by agent:writer: "The context set Notes is changed."
    "c1" by agent:writer: "[not done: there is no context set \"New\"]"
    "c2" by agent:writer: "[not done: /arguments: missing field `content`]"
    "#);
    assert_snapshot!(stands(&board), @"writer in agent:writer: work of writer");
    assert_eq!(board.run().idle, 0);
    let mut board = with_tools(json!({}));
    let since = calls(&mut board, &[write("Notes"), ("look", json!({}))]);
    assert_snapshot!(results(&board, since), @r#""c0" by agent:writer: "[not done: writer may not write context sets: ask the manager or the user]""#);
    assert_snapshot!(stands(&board), @r#"tools [{"id":"c1","name":"look","arguments":{}}]"#);
}

#[test]
fn a_tool_that_reads_is_begun_done_and_finished_by_the_driver() {
    let mut board = with_tools(json!({}));
    let id = |board: &Board| (board.run().id.clone(), board.run().epoch);
    let start = |board: &mut Board, call: &str| {
        let (run, epoch) = id(board);
        board.system(StartTool { run, epoch, tool_call_id: call.to_owned() })
    };
    let finish = |board: &mut Board, call: &str| {
        let (run, epoch) = id(board);
        board.system(FinishTool {
            run,
            epoch,
            tool_call_id: call.to_owned(),
            result: "so it is".into(),
            used: Used::default(),
        })
    };
    let since = calls(&mut board, &[("read_messages", json!({})), ("look", json!({}))]);
    assert_snapshot!(stands(&board), @"writer calls read_messages");
    assert_eq!(board.run().status(), Status::Running);
    assert!(board.user(StartTool { run: id(&board).0, epoch: 0, tool_call_id: "c0".to_owned() }).is_err());
    assert_snapshot!(error(start(&mut board, "c1")), @"no_tool_awaited: the run r5 waits for no tool: look at the run's status");
    start(&mut board, "c0").unwrap();
    assert_snapshot!(stands(&board), @"writer calls read_messages again");
    board.user(PauseRun { run: id(&board).0, reason: "lunch".to_owned() }).unwrap();
    assert_eq!(start(&mut board, "c0").unwrap(), Status::Paused);
    assert_eq!(finish(&mut board, "c0").unwrap(), Status::Paused);
    board.user(ResumeRun(id(&board).0)).unwrap();
    assert_snapshot!(error(finish(&mut board, "c0")), @"no_tool_awaited: the run r5 waits for no tool: look at the run's status");
    assert_eq!(board.run().status(), Status::AwaitingTool);
    board.user(ToolResults::new(id(&board).0, vec![("c1".to_owned(), "a tree".to_owned())])).unwrap();
    assert_snapshot!(stands(&board), @"writer in agent:writer: work of writer");
    assert_snapshot!(results(&board, since), @r#"
    "c0" by system: "so it is"
    "c1" by user: "a tree"
    "#);
    let kinds = |viewer: &str| board.seen(viewer).into_iter().filter(|entry| entry.kind.starts_with("tool.")).count();
    assert_eq!((kinds("user"), kinds("lead"), kinds("writer")), (2, 2, 0));
}

#[test]
fn steps_hold_for_callboards_own_tools_by_the_names_that_models_call() {
    let steps = json!({"steps": [{"name": "first", "is_default": true, "sequence": ["read_messages"]}],
        "grant": ["context_sets"]});
    let mut board = with_tools(steps);
    let since = calls(&mut board, &[("write_context_set", json!({"name": "Notes", "content": "x"}))]);
    assert_snapshot!(results(&board, since), @r#""c0" by agent:writer: "[not done: the tool read_messages is due in the step first]""#);
    assert_eq!(board.run().idle, 1);
    calls(&mut board, &[("read_messages", json!({}))]);
    assert_snapshot!(stands(&board), @"writer calls read_messages");
}

#[test]
fn i11_a_thousand_ended_runs_leave_a_state_as_small_as_one_does() {
    let mut board = Board::team("lead writer");
    let mut size_after = |runs: usize| {
        for _ in 0..runs {
            board.start("go").unwrap();
            board.request().unwrap();
            board.user(CancelRun(id(&board))).unwrap();
        }
        serde_json::to_string(&board.state).unwrap().len()
    };
    let (one, thousand) = (size_after(1), size_after(999));
    // Only numbers grow.
    assert!(thousand <= one + 64, "{one} bytes after one run, {thousand} after a thousand");
}

#[test]
fn a_prompt_of_an_export_that_names_no_format_is_one_for_openai() {
    let record = json!({
        "at": 7, "layout": "team", "layout_version": 1, "vocabulary": "words", "counting": "exact", "budget": 1000,
        "tokens": 100, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "shows": [],
    });
    assert_eq!(serde_json::from_value::<super::PromptRecord>(record).unwrap().format, "openai");
}
