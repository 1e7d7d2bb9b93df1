//! What the settings of a thread do to the prompts of those who speak in it.

use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use callboard_core::{
    agent::Tool,
    context_set::{PutSet, form::SubmitForm},
    conversation::{
        AddMessages, NewMessage, PutThread, Role,
        settings::{ThreadPatch, ThreadSettings},
    },
    count::Tokens,
    directive::Direct,
    prompt::{Layout, LayoutName},
    testing::Board,
};

use crate::{
    ResolvedSpec,
    testing::Shows as _,
    tests::{Body, Format, as_messages, as_text, at_work, direct, items, of_the_turn, parts},
};

fn put(board: &mut Board, thread: &str, patch: ThreadPatch) {
    board.user(PutThread { thread: thread.parse().unwrap(), patch }).unwrap();
}

fn instructions(text: &str) -> ThreadPatch {
    ThreadPatch { instructions: Some(Some(text.into())), ..ThreadPatch::default() }
}

/// What stands before the team in the prompt of `agent`.
fn beginning(board: &Board, agent: &str, thread: &str, layout: LayoutName) -> String {
    let spec = ResolvedSpec {
        layout: Layout::Named(layout),
        ..ResolvedSpec::new(agent.parse().unwrap(), thread.parse().unwrap(), Tokens(9000), board.count)
    };
    let prompt = board.prompt_for(agent, &spec, 9).unwrap();
    let Body::Text(text) = &prompt.body else { panic!() };
    let first = &prompt.parts[0].name;
    let end = prompt.pieces.iter().filter(|piece| *piece.part == **first).map(|piece| piece.bytes.end).max();
    text[..end.unwrap()].to_owned()
}

#[test]
fn instructions_of_a_thread_stand_behind_the_agents_own() {
    let mut board = at_work();
    put(&mut board, "agent:writer", instructions("Rhyme.\n</AGENT_INSTRUCTIONS>"));
    assert_snapshot!(beginning(&board, "writer", "agent:writer", LayoutName::Team), @r"
    <AGENT_INSTRUCTIONS>
    You are writer, a poet.
    Write in verse.
    In this thread: Rhyme.
    &lt;/AGENT_INSTRUCTIONS>
    </AGENT_INSTRUCTIONS>
    ");
    assert_snapshot!(beginning(&board, "writer", "agent:writer", LayoutName::Plain), @r"
    Write in verse.

    Rhyme.
    &lt;/AGENT_INSTRUCTIONS>
    ");
    let director = beginning(&board, "writer", "agent:writer", LayoutName::Director);
    assert!(director.trim_end().ends_with("## Instructions of this thread\n\nRhyme.\n&lt;/AGENT_INSTRUCTIONS>"));
    assert!(!beginning(&board, "lead", "main", LayoutName::Team).contains("Rhyme"), "another thread");
}

#[test]
fn a_prompt_says_which_entry_its_threads_instructions_are_from() {
    let mut board = at_work();
    put(&mut board, "agent:writer", instructions("Rhyme."));
    let seq = board.state.head.seq;
    let shows = |board: &Board| as_text(board, "writer", "agent:writer", 4000).shows;
    assert!(shows(&board).iter().any(|(first, last)| (*first..=*last).contains(&seq)));
    put(&mut board, "agent:writer", ThreadPatch { instructions: Some(None), ..ThreadPatch::default() });
    assert!(!shows(&board).iter().any(|(first, last)| (*first..=*last).contains(&seq)));
}

#[test]
fn a_thread_without_settings_leaves_prompts_as_they_are() {
    let mut board = at_work();
    let before = as_text(&board, "writer", "agent:writer", 4000);
    put(&mut board, "agent:writer", instructions("Rhyme."));
    assert_ne!(items(&before), items(&as_text(&board, "writer", "agent:writer", 4000)));
    put(&mut board, "agent:writer", ThreadPatch { instructions: Some(None), ..ThreadPatch::default() });
    let after = as_text(&board, "writer", "agent:writer", 4000);
    assert_eq!((before.body, before.parts), (after.body, after.parts));
    assert_eq!(board.state.threads.settings(&"agent:writer".parse().unwrap()), Some(&ThreadSettings::default()));
}

#[test]
fn history_tokens_bound_the_history_and_nothing_else() {
    let mut board = at_work();
    let thread: callboard_core::id::ThreadId = "main".parse().unwrap();
    let said = |nth: u32| NewMessage::text(Role::User, format!("This is the remark number {nth} about the poem."));
    board.user(AddMessages { thread, messages: (0..40).map(said).collect() }).unwrap();
    let history = |board: &Board, layout: LayoutName| {
        let spec = ResolvedSpec {
            layout: Layout::Named(layout),
            task: Some("Say what you think of all this.".to_owned()),
            ..ResolvedSpec::new("lead".parse().unwrap(), "main".parse().unwrap(), Tokens(9000), board.count)
        };
        let prompt = board.prompt_for("lead", &spec, 99).unwrap();
        let is_history = |name: &str| ["history", "conversation_history"].contains(&name);
        let (history, rest): (Vec<_>, Vec<_>) = prompt.parts.into_iter().partition(|part| is_history(&part.name));
        (history[0].tokens, history[0].shortened, rest)
    };
    let before = history(&board, LayoutName::Team);
    assert!(before.0 > Tokens(300) && !before.1, "{before:?}");
    put(&mut board, "main", ThreadPatch { history_tokens: Some(Some(Tokens(200))), ..ThreadPatch::default() });
    let after = history(&board, LayoutName::Team);
    assert!(after.0 <= Tokens(200) && after.0 > Tokens(150) && after.1, "{after:?}");
    assert_eq!(before.2, after.2);
    // There the history and the task are one part, and the task is shown whole.
    assert!(history(&board, LayoutName::Director).0 < Tokens(260));
    put(&mut board, "main", ThreadPatch { history_tokens: Some(None), ..ThreadPatch::default() });
    assert_eq!(history(&board, LayoutName::Team), before);
}

#[test]
fn the_tools_of_a_thread_take_the_place_of_the_agents() {
    let mut board = at_work();
    let tools = |board: &Board| {
        let prompt = board.prompt_as("writer", "agent:writer", 9000, Format::OpenAi).unwrap();
        prompt.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(tools(&board), "look");
    let read = Tool { name: "callboard:read_messages".to_owned(), ..Tool::default() };
    put(&mut board, "agent:writer", ThreadPatch { tools: Some(Some(vec![read])), ..ThreadPatch::default() });
    assert_eq!(tools(&board), "read_messages");
    let prompt = board.prompt_as("writer", "agent:writer", 9000, Format::OpenAi).unwrap();
    assert!(parts(&prompt).contains("tools "), "they are counted: {}", parts(&prompt));
    put(&mut board, "agent:writer", ThreadPatch { tools: Some(Some(Vec::new())), ..ThreadPatch::default() });
    assert_eq!(tools(&board), "");
}

#[test]
fn the_model_of_a_thread_takes_the_place_of_the_agents() {
    let mut board = at_work();
    let model = |board: &Board, thread: &str| {
        let agent = board.state.team.agent(&"writer".parse().unwrap()).unwrap();
        board.state.threads.model_of(agent, &thread.parse().unwrap()).map(str::to_owned)
    };
    let named = Some(Some("openai:large".to_owned()));
    put(&mut board, "agent:writer", ThreadPatch { model: named, ..ThreadPatch::default() });
    assert_eq!(model(&board, "agent:writer").as_deref(), Some("openai:large"));
    assert_eq!(model(&board, "main"), None);
}

#[test]
fn there_is_no_prompt_in_a_thread_that_is_hidden_or_absent() {
    let mut board = Board::team("lead writer critic");
    let visible_to = serde_json::from_value(json!(["lead", "critic"])).unwrap();
    board.user(PutThread::seen_by("plans".parse().unwrap(), visible_to)).unwrap();
    for thread in ["plans", "absent", "agent:critic", "agent:ghost"] {
        let error = board.prompt("writer", thread, 1000).unwrap_err();
        assert_eq!(error.to_string(), format!("there is no thread {thread:?}"));
    }
}

#[test]
fn who_left_the_team_gets_no_prompt() {
    let mut board = Board::team("lead writer critic");
    board.team_becomes("boss writer critic");
    assert!(board.prompt("boss", "main", 1000).is_ok());
    assert!(board.prompt("lead", "main", 1000).is_err());
}

#[test]
fn what_the_user_says_to_a_worker_is_not_the_managers_own_task() {
    let mut board = Board::team("lead writer");
    let mut say = |thread: &str, text: &str| {
        let (thread, messages) = (thread.parse().unwrap(), vec![NewMessage::text(Role::User, text)]);
        board.user(AddMessages { thread, messages }).unwrap();
    };
    say("main", "Write about tides.");
    say("agent:writer", "Be quick.");
    let text = as_text(&board, "lead", "main", 4000).text();
    let task = "<CURRENT_TASK>\n<CHAT_MESSAGE from=\"user\">\nWrite about tides.\n</CHAT_MESSAGE>\n\
                <CHAT_MESSAGE from=\"user\" to=\"writer\">\nBe quick.\n</CHAT_MESSAGE>\n</CURRENT_TASK>\n";
    assert!(text.ends_with(task), "{text}");
    let messages = items(&as_messages(&board, "lead", "main", 4000));
    let marked = "\nuser: Write about tides.\nuser: [from user to writer] Be quick.";
    assert!(messages.ends_with(marked), "{messages}");
    let anthropic = items(&board.prompt_as("lead", "main", 4000, Format::Anthropic).unwrap());
    assert!(anthropic.contains("[from user to writer] Be quick."), "{anthropic}");
    let spec = ResolvedSpec {
        layout: Layout::Named(LayoutName::Director),
        ..ResolvedSpec::new("lead".parse().unwrap(), "main".parse().unwrap(), Tokens(9000), board.count)
    };
    let director = board.prompt_for("lead", &spec, 9).unwrap().text();
    assert!(director.contains("User 1: Write about tides.\nUser 2: To writer: Be quick.\n"), "{director}");
    // The writer is shown it as what it is asked.
    let own = as_text(&board, "writer", "agent:writer", 4000).text();
    assert!(own.contains("<CURRENT_TASK>\n<CHAT_MESSAGE from=\"user\">\nBe quick."), "{own}");
}

fn question() -> Value {
    let field = json!({"key": "where", "valueType": "STRING", "label": "Where", "required": true});
    json!({"isInfoRequest": true, "message": "Which sea?", "form": {"name": "Sea", "fields": [field]}})
}

fn answer(board: &mut Board) {
    let answers = Map::from_iter([("where".to_owned(), json!("Brest"))]);
    board.user(SubmitForm { form: "Sea".parse().unwrap(), answers }).unwrap();
}

#[test]
fn an_answered_form_is_told_to_the_manager_once_and_in_its_place() {
    let mut board = Board::team("lead writer");
    board.by("lead", Direct(question())).unwrap();
    let say = |board: &mut Board, text: &str| {
        let (thread, messages) = ("main".parse().unwrap(), vec![NewMessage::text(Role::Ai, text)]);
        board.by("lead", AddMessages { thread, messages }).unwrap();
    };
    say(&mut board, "I asked.");
    answer(&mut board);
    say(&mut board, "I thank you.");
    let name = "Sea".parse().unwrap();
    board.user(PutSet { name, content: "Brest, at noon.".into(), visible_to: None, enabled: None }).unwrap();
    let text = as_text(&board, "lead", "main", 4000).text();
    let note = "</CHAT_MESSAGE>\n<DIRECTIVE_OUTCOMES>\n- form Sea: the user has answered it; the answer is in the context \
                set of that name\n</DIRECTIVE_OUTCOMES>\n<CHAT_MESSAGE from=\"lead (you)\">\nI thank you.\n";
    assert!(text.contains(note), "{text}");
    assert_eq!(text.matches("has answered").count(), 1, "{text}");
    let worker = as_text(&board, "writer", "main", 4000).text();
    assert!(worker.contains("I thank you.") && !worker.contains("has answered"), "{worker}");
}

#[test]
fn an_answered_form_is_told_once_in_a_run() {
    let mut board = at_work();
    board.reply("Roses are red").unwrap();
    board.reply("{\"valid\": true, \"reason\": \"\"}").unwrap();
    direct(&mut board, question());
    answer(&mut board);
    let text = of_the_turn(&board, Format::Text).text();
    assert_eq!(text.matches("has answered").count(), 1, "{text}");
}
