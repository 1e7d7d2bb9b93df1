use insta::assert_snapshot;
use serde_json::{Value, json};

use super::NewMessage;
use crate::{
    conversation::{
        AddClientMessages, AddMessages, Message, MessageReceipt, MessageShape, MessageView, PutThread,
        facts::MessageAdded, settings::ThreadPatch, shape::in_shape,
    },
    count::Tokens,
    error::Error,
    fact,
    id::ThreadId,
    testing::Board,
};

fn post(thread: &str, messages: &Value) -> AddMessages {
    let messages: Vec<NewMessage> = serde_json::from_value(messages.clone()).unwrap();
    AddMessages { thread: thread.parse().unwrap(), messages }
}

/// Where messages went: `ID@SEQ`, or why they were refused.
fn told(answer: Result<Vec<MessageReceipt>, Error>) -> String {
    let one = |receipt: &MessageReceipt| format!("{}@{}", receipt.message_id, receipt.seq);
    match answer {
        Ok(receipts) => receipts.iter().map(one).collect::<Vec<_>>().join(" "),
        Err(error) => format!("{}: {error}", error.code()),
    }
}

/// Adds messages, written as texts or as `[ID, TEXT]`.
fn say(board: &mut Board, thread: &str, messages: &Value) -> String {
    let message = |said: &Value| match said {
        Value::Array(said) => json!({"message_id": said[0], "role": "user", "content": said[1]}),
        text => json!({"role": "user", "content": text}),
    };
    let messages = messages.as_array().unwrap().iter().map(message).collect();
    told(board.user(post(thread, &messages)))
}

fn visible(thread: &str, visible_to: &Value) -> PutThread {
    PutThread::seen_by(thread.parse().unwrap(), serde_json::from_value(visible_to.clone()).unwrap())
}

/// What a viewer sees of the threads: `NAME MESSAGES/TOKENS`, and what is said in them.
fn seen(board: &Board, viewer: &str) -> String {
    let view = board.view(viewer).unwrap();
    let threads = view.threads().map(|(name, thread)| {
        let size = view.size(thread);
        format!("{name} {}/{}", size.messages, size.tokens)
    });
    let entries = board.entries.iter().filter(|entry| &*entry.header.kind == "message.added");
    let texts = entries.filter_map(|entry| view.project(entry).unwrap()).map(|seen| {
        let message: Message = serde_json::from_str(&seen.data).unwrap();
        message.content.in_text(&board.values).unwrap().to_string()
    });
    format!("{}: {}", threads.collect::<Vec<_>>().join(" "), texts.collect::<Vec<_>>().join(" "))
}

#[test]
fn roles_are_read_in_every_form_that_people_write_and_come_back_in_one() {
    let role = |role: &str| serde_json::from_value::<super::Role>(json!(role));
    let read = ["user", "USER", "assistant", "ai", "AI", "ASSISTANT", "system", "SYSTEM", "tool", "TOOL"].map(|word| {
        let role = role(word).unwrap();
        json!(role).as_str().unwrap().to_owned()
    });
    assert_snapshot!(read.join(" "), @"USER USER AI AI AI AI SYSTEM SYSTEM TOOL TOOL");
    assert_snapshot!(role("wizard").unwrap_err(), @"unknown variant `wizard`, expected one of `USER`, `user`, `AI`, `ASSISTANT`, `ai`, `assistant`, `SYSTEM`, `system`, `TOOL`, `tool`");
    assert_snapshot!(serde_json::from_value::<NewMessage>(json!({"content": "x"})).unwrap_err(), @"missing field `role`");
    assert_snapshot!(serde_json::from_value::<NewMessage>(json!({"role": "user", "contents": "x"})).unwrap_err(), @"unknown field `contents`, expected one of `message_id`, `thread_id`, `role`, `content`, `timestamp`, `metadata`, `tool_calls`, `tool_call_id`, `reasoning`");
    assert_snapshot!(serde_json::from_value::<NewMessage>(json!({"role": "user", "content": 7})).unwrap_err(), @"content is a string or a list of parts, each an object with a type");
}

#[test]
fn an_empty_batch_changes_nothing() {
    let mut board = Board::team("lead writer");
    let before = board.state.clone();
    assert_snapshot!(say(&mut board, "main", &json!([])), @"");
    assert_eq!(board.state, before);
    assert!(" ".parse::<ThreadId>().is_err());
}

#[test]
fn a_batch_is_added_whole_or_not_at_all() {
    let mut board = Board::team("lead writer");
    let before = board.state.clone();
    let messages = json!([
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b", "thread_id": "other"},
        {"role": "user", "tool_call_id": "c1"},
        {"role": "tool", "tool_calls": [{"id": "c1", "name": "look"}]},
        {"role": "user", "content": [{"text": "no type"}]},
    ]);
    assert_snapshot!(told(board.user(post("main", &messages))), @r#"invalid: /messages/2/tool_call_id: only a message in the role TOOL is the result of a call; /messages/3/tool_calls: only a message in the role AI calls tools; /messages/4/content: give each part a type, for instance {"type": "text", "text": "…"}; /messages/1/thread_id: the message is added to main and names other: leave it out"#);
    assert_eq!(board.state, before);
    assert_snapshot!(say(&mut board, "main", &json!([["x", "1"], ["x", "2"]])), @"message_exists: /messages/1/message_id: entry 4 has the id x and says something else: give the message another id, or leave it out");
    assert_eq!(board.state, before);
}

#[test]
fn the_same_message_is_added_once() {
    let mut board = Board::team("lead writer");
    assert_snapshot!(say(&mut board, "main", &json!([["x", "1"], ["y", "2"]])), @"x@4 y@5");
    assert_snapshot!(say(&mut board, "main", &json!([["x", "1"], ["z", "3"], ["z", "3"]])), @"x@4 z@6 z@6");
    assert_snapshot!(say(&mut board, "main", &json!([["x", "other"]])), @"message_exists: /messages/0/message_id: entry 4 has the id x and says something else: give the message another id, or leave it out");
    assert_snapshot!(say(&mut board, "other", &json!([["x", "other"]])), @"x@7");
    let late = json!([{"message_id": "x", "role": "user", "content": "1", "timestamp": "2024-01-01T00:00:00Z"}]);
    assert_snapshot!(told(board.user(post("main", &late))), @"message_exists: /messages/0/message_id: entry 4 has the id x and says something else: give the message another id, or leave it out");
    let by_writer = json!([{"message_id": "x", "role": "user", "content": "1"}]);
    assert_snapshot!(told(board.by("writer", post("main", &by_writer))), @"message_exists: /messages/0/message_id: entry 4 has the id x and says something else: give the message another id, or leave it out");
}

#[test]
fn ids_that_look_derived_may_be_given_before_at_and_after_their_entry() {
    let mut before = Board::team("lead writer");
    assert_snapshot!(say(&mut before, "main", &json!([["m6", "given"], "a", "b", "c", "d"])), @"m6@4 m5@5 m6-2@6 m7@7 m8@8");
    assert_snapshot!(say(&mut before, "main", &json!([["m6", "given"], ["m5", "a"], ["m6-2", "b"]])), @"m6@4 m5@5 m6-2@6");
    assert_snapshot!(say(&mut before, "main", &json!([["m6", "b"]])), @"message_exists: /messages/0/message_id: entry 4 has the id m6 and says something else: give the message another id, or leave it out");
    let mut at = Board::team("lead writer");
    assert_snapshot!(say(&mut at, "main", &json!([["m4", "given"], "a"])), @"m4@4 m5@5");
    assert_snapshot!(say(&mut at, "main", &json!([["m4", "given"], ["m5", "a"]])), @"m4@4 m5@5");
    let mut after = Board::team("lead writer");
    assert_snapshot!(say(&mut after, "main", &json!(["a", "b"])), @"m4@4 m5@5");
    assert_snapshot!(say(&mut after, "main", &json!([["m1", "c"], ["m4", "a"], ["m5", "x"]])), @"message_exists: /messages/2/message_id: entry 5 has the id m5 and says something else: give the message another id, or leave it out");
    assert_snapshot!(say(&mut after, "main", &json!([["m1", "c"], ["m4", "a"]])), @"m1@6 m4@4");
    assert_snapshot!(say(&mut after, "other", &json!([["m4", "a"], ["m9", "x"], "y", "z"])), @"m4@7 m9@8 m9-2@9 m10@10");
}

#[test]
fn a_hidden_thread_answers_like_one_that_is_not_there() {
    let mut board = Board::team("lead writer critic");
    board.user(visible("plans", &json!(["lead", "critic"]))).unwrap();
    say(&mut board, "plans", &json!(["secret"]));
    let hello = json!([{"role": "assistant", "content": "hello"}]);
    for thread in ["plans", "absent", "agent:critic", "agent:ghost"] {
        let error = board.by("writer", post(thread, &hello)).unwrap_err();
        assert_eq!(error.to_string(), format!("there is no thread {thread:?}"));
    }
    assert!(board.view("writer").unwrap().thread(&"plans".parse().unwrap()).is_err());
    assert_snapshot!(told(board.by("writer", post("main", &hello))), @"m7@7");
    assert_snapshot!(told(board.by("writer", post("agent:writer", &hello))), @"m8@8");
    assert_snapshot!(told(board.by("writer", visible("plans", &json!("all"))).map(|()| Vec::new())), @"forbidden: writer may not change threads: ask the manager or the user");
}

#[test]
fn an_agent_that_there_is_not_gets_no_thread() {
    let mut board = Board::team("lead writer");
    assert_snapshot!(say(&mut board, "agent:wirter", &json!(["hello"])), @r#"not_found: there is no agent "wirter""#);
    for by in ["user", "lead"] {
        let put = visible("agent:wirter", &json!("all"));
        let put = if by == "user" { board.user(put) } else { board.by(by, put) };
        assert_eq!(put.unwrap_err().to_string(), r#"there is no agent "wirter""#, "{by}");
    }
    say(&mut board, "agent:writer", &json!(["hello"]));
    board.team_becomes("lead");
    assert!(say(&mut board, "agent:writer", &json!(["again"])).starts_with('m'), "what was said to it stays");
}

#[test]
fn who_gains_sight_of_a_thread_sees_and_counts_only_what_comes_after() {
    let mut board = Board::team("lead writer critic");
    board.user(visible("plans", &json!(["lead", "critic"]))).unwrap();
    say(&mut board, "plans", &json!(["one", "two"]));
    board.user(visible("plans", &json!(["lead", "critic", "writer"]))).unwrap();
    say(&mut board, "plans", &json!(["three"]));
    board.user(visible("plans", &json!(["lead", "writer"]))).unwrap();
    say(&mut board, "plans", &json!(["four"]));
    board.user(visible("plans", &json!("all"))).unwrap();
    say(&mut board, "plans", &json!(["five", "six"]));
    assert_snapshot!(seen(&board, "user"), @"plans 6/6: one two three four five six");
    assert_snapshot!(seen(&board, "lead"), @"plans 6/6: one two three four five six");
    assert_snapshot!(seen(&board, "writer"), @"plans 4/4: three four five six");
    assert_snapshot!(seen(&board, "critic"), @"plans 2/2: five six");
    board.team_becomes("lead writer critic editor");
    assert_snapshot!(seen(&board, "editor"), @"plans 2/2: five six");
    board.user(visible("plans", &json!("none"))).unwrap();
    assert_snapshot!(seen(&board, "lead"), @":");
    assert_snapshot!(board.seen("lead").last().unwrap().data, @r#"{"name":"plans"}"#);
}

#[test]
fn tool_calls_and_results_are_kept_as_data() {
    let mut board = Board::team("lead writer");
    let messages = json!([
        {"role": "assistant", "tool_calls": [{"id": "c1", "name": "look", "arguments": {"at": [1, 2.5]}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "a tree"},
    ]);
    assert_snapshot!(told(board.by("writer", post("agent:writer", &messages))), @"m4@4 m5@5");
    let call: super::facts::MessageAdded = fact::read(&board.entries[3]).unwrap();
    assert_snapshot!(json!(call.0), @r#"{"message_id":"m4","thread_id":"agent:writer","role":"AI","agent":"writer","content":"","timestamp":"2025-01-18T09:00:01.000Z","tool_calls":[{"id":"c1","name":"look","arguments":{"at":[1,2.5]}}],"tokens":14}"#);
}

#[test]
fn what_is_nested_too_deep_to_be_read_back_is_refused() {
    let mut board = Board::team("lead writer");
    let deep = (0..100).fold(json!(1), |value, _| json!([value]));
    let with = |field: &str, value: Value| json!([{"role": "assistant", field: value}]);
    assert_snapshot!(told(board.user(post("main", &with("metadata", json!({"a": deep}))))), @"invalid: /messages/0/metadata: nest at most 64 levels");
    assert_snapshot!(told(board.user(post("main", &with("content", json!([{"type": "x", "a": deep}]))))), @"invalid: /messages/0/content: nest at most 64 levels");
    let calls = json!([{"id": "c1", "name": "look", "arguments": deep}]);
    assert_snapshot!(told(board.user(post("main", &with("tool_calls", calls)))), @"invalid: /messages/0/tool_calls: nest at most 64 levels, or give the arguments as a text");
}

#[test]
fn messages_of_any_length_are_taken_up_to_the_most_that_a_journal_takes() {
    let mut board = Board::team("lead writer");
    let long = "word ".repeat(200_000);
    assert_snapshot!(say(&mut board, "main", &json!([long])), @"m4@4");
    assert!(board.entries.last().unwrap().data.len() < 1000);
    assert!(seen(&board, "writer").ends_with(&long));
    assert_snapshot!(say(&mut board, "main", &json!(["x".repeat((16 << 20) + 1)])), @"too_large: the message has 16777217 bytes, and 16777216 is the most: split it");
    assert_snapshot!(say(&mut board, "main", &json!(["\u{0}\u{7f}\u{fffd}"])), @"m5@5");
}

#[test]
fn one_call_adds_many_messages_with_ids_of_their_own() {
    for count in [2_000, 20_000] {
        let message = |n: usize| json!({"message_id": format!("id {n}"), "role": "user", "content": "x"});
        let mut board = Board::team("lead writer");
        let receipts = board.user(post("main", &(0..count).map(message).collect())).unwrap();
        assert_eq!(receipts.len(), count);
    }
}

#[test]
fn one_call_adds_so_many_messages_and_no_more() {
    let mut board = Board::team("lead writer");
    let messages = |count| Value::Array(vec![json!({"role": "user", "content": "x"}); count]);
    let refused = board.user(post("main", &messages(super::MAX_MESSAGES + 1))).unwrap_err();
    assert_snapshot!(refused, @"/messages: add at most 25000 messages in one call, not 25001");
    assert_eq!(board.entries.len(), 3);
}

#[test]
fn an_agent_brings_no_result_of_a_call_that_another_one_made() {
    let mut board = Board::team("lead writer critic");
    let call = |id: &str| json!({"role": "assistant", "content": "", "tool_calls": [{"id": id, "name": "look"}]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "found"});
    board.by("writer", post("main", &json!([call("c1")]))).unwrap();
    assert_snapshot!(told(board.by("critic", post("main", &json!([result("c1")])))), @"forbidden: critic may not add the result of a call that another agent made: leave it to that agent, the manager or the user");
    for who in ["lead", "writer"] {
        board.by(who, post("main", &json!([result("c1")]))).unwrap();
    }
    board.user(post("main", &json!([result("c1")]))).unwrap();
    // It is refused also where it comes once more.
    assert!(board.by("critic", post("main", &json!([result("c1")]))).is_err());
    // A call in another thread is another one, and so is one of its own with the same id.
    board.by("critic", post("agent:critic", &json!([result("c1")]))).unwrap();
    board.by("critic", post("main", &json!([call("c1"), result("c1")]))).unwrap();
    board.by("critic", post("main", &json!([result("c1")]))).unwrap();
    // Of a call that is not there, nobody made it.
    board.by("critic", post("main", &json!([result("c9")]))).unwrap();
    // Some models give all calls one id.
    board.by("critic", post("main", &json!([call("")]))).unwrap();
    for _ in 0..=super::KNOWN_CALLS {
        board.by("writer", post("main", &json!([call("")]))).unwrap();
    }
    board.by("critic", post("main", &json!([result("")]))).unwrap();
    // Only the newest calls are known, so that the state stays small.
    for nth in 0..super::KNOWN_CALLS {
        board.by("writer", post("main", &json!([call(&format!("d{nth}"))]))).unwrap();
    }
    let last = format!("d{}", super::KNOWN_CALLS - 1);
    assert!(board.by("lead", post("main", &json!([result(&last)]))).is_ok());
    assert!(board.by("critic", post("main", &json!([result(&last)]))).is_err());
    assert_eq!(board.state.threads.get(&ThreadId::main()).unwrap().calls.len(), super::KNOWN_CALLS);
}

/// Changes the settings of the thread `notes`, and says what came of it.
fn settle(board: &mut Board, by: &str, patch: ThreadPatch) -> String {
    let put = PutThread { thread: "notes".parse().unwrap(), patch };
    let done = match by {
        "user" => board.user(put),
        agent => board.by(agent, put),
    };
    match done {
        Ok(()) => format!("{} entries", board.entries.len()),
        Err(error) => format!("{}: {error}", error.code()),
    }
}

fn notes(board: &Board) -> String {
    let settings = board.state.threads.settings(&"notes".parse().unwrap());
    serde_json::to_string(&settings).unwrap()
}

#[test]
fn a_change_of_a_threads_settings_leaves_what_it_does_not_name_and_none_takes_away() {
    let mut board = Board::team("lead writer critic");
    let (text, most) = (Some(Some("Be brief.".into())), Some(Some(crate::count::Tokens(900))));
    let both = ThreadPatch { instructions: text, history_tokens: most, ..ThreadPatch::default() };
    let before = board.entries.len();
    settle(&mut board, "user", both.clone());
    settle(&mut board, "user", both);
    assert_eq!(board.entries.len(), before + 1, "the same again is no change");
    assert_snapshot!(notes(&board), @r#"{"instructions":"Be brief.","history_tokens":900}"#);
    settle(&mut board, "user", ThreadPatch { model: Some(Some("openai:x".to_owned())), ..ThreadPatch::default() });
    board.user(visible("notes", &json!(["lead", "writer"]))).unwrap();
    assert_snapshot!(notes(&board), @r#"{"instructions":"Be brief.","model":"openai:x","history_tokens":900}"#);
    let none = ThreadPatch { instructions: Some(None), history_tokens: Some(None), ..ThreadPatch::default() };
    settle(&mut board, "user", none);
    assert_snapshot!(notes(&board), @r#"{"model":"openai:x"}"#);
    let audience = &board.state.threads.get(&"notes".parse().unwrap()).unwrap().sight.audience;
    assert_eq!(audience.to_string(), "lead, writer");
}

#[test]
fn the_user_and_the_manager_set_up_threads_that_they_see() {
    let mut board = Board::team("lead writer critic");
    let brief = || ThreadPatch { instructions: Some(Some("Be brief.".into())), ..ThreadPatch::default() };
    assert!(settle(&mut board, "lead", brief()).ends_with("entries"));
    assert_snapshot!(settle(&mut board, "writer", brief()), @"forbidden: writer may not change threads: ask the manager or the user");
    board.user(visible("notes", &json!("writer"))).unwrap();
    assert_snapshot!(settle(&mut board, "lead", brief()), @r#"not_found: there is no thread "notes""#);
}

#[test]
fn settings_that_no_agent_could_have_are_refused_by_name() {
    let mut board = Board::team("lead writer critic");
    let tool = |name: &str| crate::agent::Tool { name: name.to_owned(), ..crate::agent::Tool::default() };
    let tools = |tools| ThreadPatch { tools: Some(Some(tools)), ..ThreadPatch::default() };
    let model = ThreadPatch { model: Some(Some("a\nb".to_owned())), ..ThreadPatch::default() };
    assert_snapshot!(settle(&mut board, "user", model), @"invalid: /model: use one line of at most 200 characters");
    assert_snapshot!(settle(&mut board, "user", tools(vec![tool("x"), tool("x")])), @"contradiction: /tools/1/name: the thread has another tool x");
    let none = ThreadPatch { history_tokens: Some(Some(Tokens(0))), ..ThreadPatch::default() };
    assert_snapshot!(settle(&mut board, "user", none), @"invalid: /history_tokens: give 1 or more, or `null` for no limit");
    assert!(settle(&mut board, "user", tools(vec![tool("callboard:fly")])).starts_with("invalid: /tools/0/name"));
    let refused = settle(&mut board, "user", tools(vec![tool("x"), tool("look up")]));
    assert_eq!(
        refused,
        "invalid: /tools/1/name: use 1 to 64 letters, digits, `_` and `-`: providers take no other names"
    );
    let described = |chars: usize| crate::agent::Tool { description: "x".repeat(chars), ..tool("x") };
    let refused = settle(&mut board, "user", tools(vec![described(1025)]));
    assert_eq!(refused, "invalid: /tools/0/description: it has 1025 characters: describe a tool in at most 1024");
    let of_list = [("type".to_owned(), json!("array"))].into_iter().collect();
    let refused = settle(&mut board, "user", tools(vec![crate::agent::Tool { parameters: of_list, ..tool("x") }]));
    assert!(refused.starts_with("invalid: /tools/0/parameters: providers take the schema of an object"), "{refused}");
    assert!(board.state.threads.settings(&"notes".parse().unwrap()).is_none(), "nothing was made");
    assert!(settle(&mut board, "user", tools(vec![described(1024)])).ends_with("entries"));
}

#[test]
fn the_tools_of_a_client_are_as_its_provider_takes_them() {
    let mut board = Board::team("lead writer critic");
    let described = |chars: usize| crate::agent::Tool {
        name: "mcp__".to_owned() + &"x".repeat(70),
        description: "x".repeat(chars),
        ..crate::agent::Tool::default()
    };
    let put = |patch| {
        let (agent, add) = ("writer".parse().unwrap(), post("notes", &json!([])));
        AddClientMessages { agent, patch, add }
    };
    let tools = |chars| ThreadPatch { tools: Some(Some(vec![described(chars)])), ..ThreadPatch::default() };
    board.user(put(tools(100_000))).unwrap();
    assert!(settle(&mut board, "user", tools(100_000)).starts_with("invalid: /tools"));
    let refused = board.user(put(tools(1 << 20))).unwrap_err();
    assert_snapshot!(refused, @"/tools: describe them in at most 1048576 bytes altogether");
    // What else holds in the thread can be changed all the same.
    let short = ThreadPatch { history_tokens: Some(Some(Tokens(4000))), ..ThreadPatch::default() };
    assert!(settle(&mut board, "user", short).ends_with("entries"));
}

#[test]
fn what_a_client_sends_is_said_by_the_user_and_the_agent_in_one_decision() {
    let said = |by: &str| {
        let mut board = Board::team("lead writer critic");
        let visible_to = Some(serde_json::from_value(json!(["lead", "writer"])).unwrap());
        let history = json!([
            {"role": "user", "content": "One?"}, {"role": "assistant", "content": "Yes."},
            {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Two?"},
        ]);
        let patch = ThreadPatch { visible_to, ..ThreadPatch::default() };
        let (agent, add) = ("writer".parse().unwrap(), post("chat:writer", &history));
        let (before, sends) = (board.entries.len(), AddClientMessages { agent, patch, add });
        match by {
            "user" => board.user(sends).unwrap(),
            agent => board.by(agent, sends).unwrap(),
        }
        // Each decision is a second later than the one before.
        let entries = &board.entries[before..];
        assert!(entries.iter().all(|entry| entry.header.at == entries[0].header.at));
        entries.iter().map(|entry| entry.header.by.called().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_snapshot!(said("user"), @"user user writer user user");
    assert_snapshot!(said("writer"), @"system writer writer writer writer");
}

#[test]
fn whoever_sees_a_thread_sees_its_settings_and_nobody_else_does() {
    let mut board = Board::team("lead writer critic");
    board.user(visible("notes", &json!(["lead", "writer"]))).unwrap();
    settle(&mut board, "user", ThreadPatch { instructions: Some(Some("Whisper.".into())), ..ThreadPatch::default() });
    let sees = |board: &Board, viewer: &str| {
        let view = board.view(viewer).unwrap();
        board.entries.iter().any(|entry| view.project(entry).unwrap().is_some_and(|seen| seen.data.contains("Whisper")))
    };
    assert_eq!(["user", "lead", "writer", "critic"].map(|viewer| sees(&board, viewer)), [true, true, true, false]);
    // Who is let in later is told with the entry that lets it in; who is left out learns no more than that.
    board.user(visible("notes", &json!(["lead", "critic"]))).unwrap();
    assert_eq!(["writer", "critic"].map(|viewer| sees(&board, viewer)), [false, true]);
}

/// What becomes of messages as SDKs give them: `ROLE TEXT (calls NAME ID ARGUMENTS) (thinks TYPES)`, or why they are refused.
fn taken(given: &Value) -> String {
    let given = match serde_json::from_value(given.clone()) {
        Ok(given) => given,
        Err(error) => return error.to_string(),
    };
    match super::reading::read(given) {
        Ok(messages) => messages.iter().map(in_short).collect::<Vec<_>>().join("\n"),
        Err(error) => error.to_string(),
    }
}

fn in_short(message: &NewMessage) -> String {
    let mut short = format!("{:?} {}", message.role, json!(message.content));
    for call in &message.tool_calls {
        short += &format!(" (calls {} {} {})", call.name, call.id, call.arguments);
    }
    let thoughts: Vec<_> = message.reasoning.iter().map(super::reasoning::kind).collect();
    if !thoughts.is_empty() {
        short += &format!(" (thinks {})", thoughts.join(", "));
    }
    let result = message.tool_call_id.as_ref().map(|id| format!(" (of {id})"));
    short + &result.unwrap_or_default()
}

#[test]
fn messages_are_taken_as_sdks_give_them() {
    let openai = json!({
        "role": "assistant", "content": null, "refusal": null, "annotations": [], "audio": null, "function_call": null,
        "parsed": null, "provider_specific_fields": {"a": 1}, "reasoning_content": "hm", "thinking_blocks": null,
        "tool_calls": [
            {"id": "c1", "type": "function", "index": 0, "function": {"name": "look", "arguments": "{}"}, "extra_content": {"google": {"thought_signature": "s"}}},
            {"id": "c2", "type": "custom", "custom": {"name": "write", "input": "text"}},
        ],
    });
    assert_snapshot!(taken(&json!([openai])), @r#"Ai null (calls look c1 "{}") (calls write c2 {"input":"text"}) (thinks reasoning_content, extra_content)"#);
    assert_snapshot!(taken(&json!([{"role": "assistant", "content": "hi", "tool_calls": null, "reasoning_details": null}])), @r#"Ai "hi""#);
    let custom = json!({"id": "c1", "type": "custom", "function": null, "custom": {"name": "write", "input": null}});
    assert_snapshot!(taken(&json!([{"role": "assistant", "tool_calls": [custom]}])), @r#"Ai null (calls write c1 {"input":""})"#);
    let blocks =
        json!([{"type": "text", "text": "hi"}, {"type": "tool_use", "id": "c1", "name": "look", "input": null}]);
    assert_snapshot!(taken(&json!([{"role": "assistant", "content": blocks}])), @r#"Ai [{"type":"text","text":"hi"}] (calls look c1 {})"#);
    let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": null, "is_error": null});
    assert_snapshot!(taken(&json!([{"role": "user", "content": [result]}])), @r#"Tool "" (of c1)"#);
    let of_others = json!({
        "role": "assistant", "content": "hi", "executed_tools": [{"index": 0, "type": "search"}], "prefix": true,
        "reasoning_details": [{"type": "reasoning.text", "text": "hm"}],
        "thinking_blocks": [{"type": "thinking", "thinking": "hm", "signature": "s"}],
    });
    assert_snapshot!(taken(&json!([of_others])), @r#"Ai "hi" (thinks reasoning_details, thinking)"#);
    let compacted = json!({"type": "compaction", "id": "cmp_1", "encrypted_content": "abc"});
    assert_snapshot!(taken(&json!([compacted])), @"Ai null (thinks compaction)");
    let anthropic = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "stop_reason": "end_turn", "stop_sequence": null,
        "usage": {"input_tokens": 1}, "content": [{"type": "text", "text": "hi"}],
    });
    assert_snapshot!(taken(&json!([anthropic])), @r#"Ai [{"type":"text","text":"hi"}]"#);
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc", "status": null},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "So:"}]},
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}", "status": "completed"},
        {"type": "function_call", "call_id": "c2", "namespace": "notes", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "1"},
        {"role": "user", "content": "and?"},
    ]);
    assert_snapshot!(taken(&items), @r#"
    Ai [{"type":"output_text","text":"So:"}] (calls look c1 "{}") (calls notes__look c2 "{}") (thinks reasoning)
    Tool "1" (of c1)
    User "and?"
    "#);
}

#[test]
fn what_a_provider_searched_is_kept_in_its_place() {
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"},
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "tide"}},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "High."}]},
        {"type": "web_search_call", "id": "ws_2", "status": "completed"},
    ]);
    assert_snapshot!(taken(&items), @r#"Ai [{"type":"output_text","text":"High."}] (thinks reasoning, web_search_call, web_search_call)"#);
    let searched =
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "tide"}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    let blocks = json!([{"type": "text", "text": "I look."}, searched, found, {"type": "text", "text": "High."}]);
    assert_snapshot!(taken(&json!([{"role": "assistant", "content": blocks}])), @r#"
    Ai [{"type":"text","text":"I look."}]
    Ai [{"type":"text","text":"High."}] (thinks server_tool_use, web_search_tool_result)
    "#);
}

#[test]
fn a_model_gets_back_no_thoughts_that_another_one_signed() {
    use super::reasoning::{Thinker, for_reader};
    let blocks = [
        json!({"type": "thinking", "thinking": "Hm.", "signature": "s"}),
        json!({"type": "thinking", "thinking": "And."}),
        json!({"type": "thinking", "thinking": "Or.", "signature": ""}),
        json!({"type": "redacted_thinking", "data": "abc"}),
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
        json!({"type": "reasoning_content", "reasoning_content": "Hm."}),
        json!({"type": "reasoning_details", "reasoning_details": [{"type": "reasoning.encrypted", "data": "abc"}]}),
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "abc"}),
        json!({"type": "web_search_call", "id": "ws_1", "status": "completed"}),
        json!({"type": "extra_content", "call": 0, "extra_content": {"google": {"thought_signature": "abc"}}}),
        json!({"type": "server_tool_use", "id": "call_1", "name": "web_search", "input": {}}),
        json!({"type": "web_search_tool_result", "tool_use_id": "call_1", "content": []}),
    ];
    let blocks: Vec<_> = blocks.iter().map(|block| block.as_object().unwrap().clone()).collect();
    let of = |thinker| -> Vec<usize> {
        let got = for_reader(&blocks, thinker);
        (0..blocks.len()).filter(|at| got.contains(&blocks[*at])).collect()
    };
    assert_eq!(of(Thinker::Reader), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(of(Thinker::Unknown), [0, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(of(Thinker::Other), [4, 5]);
}

#[test]
fn a_provider_gets_no_search_back_without_what_came_of_it() {
    let block = |block: Value| block.as_object().unwrap().clone();
    let kinds = |blocks: &[Value]| -> Vec<String> {
        blocks.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    let thought = block(json!({"type": "thinking", "thinking": "Hm.", "signature": "s"}));
    let used = block(json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}));
    let found = block(json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}));
    let hidden =
        block(json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [], "masked": true}));
    let of = |blocks: &[serde_json::Map<String, Value>]| {
        kinds(&super::reasoning::for_anthropic(blocks).collect::<Vec<_>>()).join(" ")
    };
    assert_eq!(of(&[thought.clone(), used.clone(), found]), "thinking server_tool_use web_search_tool_result");
    assert_eq!(of(&[thought, used, hidden]), "thinking");
    let thought = block(json!({"type": "reasoning", "id": "rs_1", "summary": []}));
    let searched = block(json!({"type": "web_search_call", "id": "ws_1", "status": "completed"}));
    let hidden = block(json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "masked": true}));
    let of = |blocks: &[serde_json::Map<String, Value>]| {
        kinds(&super::reasoning::for_responses(blocks).collect::<Vec<_>>()).join(" ")
    };
    assert_eq!(of(&[thought.clone(), searched]), "reasoning web_search_call");
    assert_eq!(of(&[thought, hidden]), "");
}

#[test]
fn what_is_no_message_is_refused_with_what_to_do() {
    assert_snapshot!(taken(&json!([{"role": "user"}])), @"/messages/0/content: it says nothing: give it `content`, `tool_calls` or parts");
    assert_snapshot!(taken(&json!([{"content": "x"}])), @"/messages/0/role: missing field `role`: say who said it, `user`, `assistant`, `system` or `tool`");
    assert_snapshot!(taken(&json!([{"type": "file_search_call"}])), @r#"/messages/0/type: items of the type "file_search_call" cannot be kept: leave it out"#);
    assert_snapshot!(taken(&json!([{"role": "user", "content": "x", "output": "y"}])), @"/messages/0/output: `output` is a field of items of the Responses API: say their `type`");
    assert!(taken(&json!([{"role": "user", "content": "x", "colour": "red"}])).starts_with("unknown field `colour`"));
}

#[test]
fn a_pdf_that_is_damaged_or_too_large_is_refused_with_its_field() {
    let mut board = Board::team("lead writer");
    let mut say = |part: &Value| {
        let content = json!([{"type": "text", "text": "Read:"}, part]);
        told(board.user(post("main", &json!([{"role": "user", "content": content}]))))
    };
    let file = |data: &str| json!({"type": "file", "file": {"filename": "a.pdf", "file_data": data}});
    let source = json!({"type": "base64", "media_type": "application/pdf", "data": "aGVsbG8h"});
    for (part, expected) in [
        (file("data:application/pdf;base64,JVBERi0"), "file/file_data: this is no base64"),
        (file("aGVsbG8h"), "file/file_data: this is no PDF"),
        (file(&"A".repeat(17 << 20)), "file/file_data: the PDF has 17825792 bytes in base64"),
        (
            json!({"type": "input_file", "file_data": "data:application/pdf;base64,aGVsbG8h"}),
            "file_data: this is no PDF",
        ),
        (json!({"type": "document", "source": source}), "source/data: this is no PDF"),
    ] {
        let refused = say(&part);
        assert!(refused.starts_with(&format!("invalid: /messages/0/content/1/{expected}")), "{refused}");
    }
    let other = json!({"filename": "a.docx", "file_data": "data:application/msword;base64,aGVsbG8h"});
    for part in [
        file("JVBERi0x"),
        file("JVBERi0x[hidden]"),
        json!({"type": "file", "file": other}),
        json!({"type": "file", "file": {"file_id": "file-1"}}),
        json!({"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hello"}}),
    ] {
        let taken = say(&part);
        assert!(taken.starts_with('m'), "{taken}");
    }
}

#[test]
fn what_is_named_by_the_id_of_a_file_comes_back_as_it_came() {
    let source = json!({"type": "file", "file_id": "file_1"});
    for part in [
        json!({"type": "input_image", "file_id": "file-1", "detail": "auto"}),
        json!({"type": "input_file", "file_id": "file-1"}),
        json!({"type": "file", "file": {"file_id": "file-1", "filename": "a.docx"}}),
        json!({"type": "image", "source": source}),
        json!({"type": "document", "source": source, "title": "a", "citations": {"enabled": true}}),
    ] {
        let said = json!({"role": "user", "content": [{"type": "text", "text": "Look:"}, part]});
        let mut board = Board::team("lead writer");
        board.user(post("main", &json!([said]))).unwrap();
        let entry = board.entries.iter().rfind(|entry| &*entry.header.kind == "message.added").unwrap();
        let mut message = json!(fact::read::<MessageAdded>(entry).unwrap());
        message["seq"] = json!(entry.header.seq);
        let message: MessageView = serde_json::from_value(message).unwrap();
        for shape in [MessageShape::OpenAi, MessageShape::Anthropic] {
            assert_eq!(in_shape(shape, std::slice::from_ref(&message)), std::slice::from_ref(&said), "{shape:?}");
        }
    }
}
