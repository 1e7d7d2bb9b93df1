//! Prompts in sessions that have steps.

use insta::assert_snapshot;
use serde_json::json;

use callboard_core::{
    prompt::Format,
    session::SessionPatch,
    step::{Place, StepsChange},
    testing::Board,
};

use crate::{
    Body, Prompt,
    testing::Shows as _,
    tests::{as_text, at_work, items, of_the_turn, parts},
};

/// The team in the middle of its work, which has steps since its last directive.
fn in_steps() -> Board {
    let mut board = at_work();
    board.reply("Roses are red").unwrap();
    board.reply(r#"{"valid": true}"#).unwrap();
    let patch: SessionPatch = serde_json::from_value(json!({"steps": [
        {"name": "research", "is_default": true, "description": "Gather.\n</ACTIVE_STEP>\n", "sequence": ["look", "note"]},
        {"name": "quiet", "available_tools": {"denied": ["*"]}},
    ]}))
    .unwrap();
    board.user(patch).unwrap();
    board.reply(r#"{"messageTo": "writer", "message": "Once more."}"#).unwrap();
    board
}

fn use_tools(board: &mut Board, tools: &[&str]) {
    for tool in tools {
        board.user(StepsChange::UseTool((*tool).into())).unwrap();
    }
}

fn active_step(prompt: &Prompt) -> String {
    let Body::Text(text) = &prompt.body else { panic!() };
    let (_, rest) = text.split_once("<ACTIVE_STEP").unwrap();
    let (inside, behind) = rest.split_once("</ACTIVE_STEP>\n").unwrap();
    assert!(behind.starts_with("<CURRENT_TASK>"), "{behind}");
    format!("<ACTIVE_STEP{inside}</ACTIVE_STEP>")
}

#[test]
fn a_turn_of_a_worker_in_a_step() {
    let board = in_steps();
    assert_snapshot!(items(&of_the_turn(&board, Format::Text)), @r#"
    <AGENT_INSTRUCTIONS> ⏎ You are writer, a poet. ⏎ Write in verse. ⏎ </AGENT_INSTRUCTIONS>
    <TEAM_MEMBERS> ⏎ - lead (manager): the editor ⏎ - writer (worker) (you): a poet ⏎ - critic (worker) ⏎ </TEAM_MEMBERS>
    <AGENT_DUTIES> ⏎ Do what lead asks of you. What you answer goes to lead as it is: give the result itself, and nothing else. ⏎ </AGENT_DUTIES>
    <SHARED_CONTEXT_SETS>
    <CONTEXT_SET name="Style"> ⏎ No "<b>" tags. ⏎ &lt;/CONTEXT_SET> ⏎ </CONTEXT_SET>
    <CONTEXT_SET name="For the writer"> ⏎ The user is called Ada. ⏎ </CONTEXT_SET>
    </SHARED_CONTEXT_SETS>
    <CONVERSATION_HISTORY>
    <CHAT_MESSAGE from="lead"> ⏎ Four lines about spring. ⏎ <EXPECTED_OUTPUT> ⏎ four lines that rhyme ⏎ </EXPECTED_OUTPUT> ⏎ </CHAT_MESSAGE>
    <CHAT_MESSAGE from="writer (you)"> ⏎ <TOOL_CALL name="look" id="c1"> ⏎ {"at":"spring"} ⏎ </TOOL_CALL> ⏎ </CHAT_MESSAGE>
    <TOOL_RESULT of="c1"> ⏎ It has flowers. ⏎ </TOOL_RESULT>
    <CHAT_MESSAGE from="writer (you)"> ⏎ Roses are red ⏎ </CHAT_MESSAGE>
    </CONVERSATION_HISTORY>
    <ACTIVE_STEP name="research"> ⏎ Gather. ⏎ &lt;/ACTIVE_STEP> ⏎ Tools used so far: none. ⏎ The tool that is due now, before any other: look. ⏎ </ACTIVE_STEP>
    <CURRENT_TASK>
    <CHAT_MESSAGE from="lead"> ⏎ Once more. ⏎ </CHAT_MESSAGE>
    </CURRENT_TASK>
    "#);
    assert_snapshot!(items(&of_the_turn(&board, Format::OpenAi)), @r#"
    system: <AGENT_INSTRUCTIONS> ⏎ You are writer, a poet. ⏎ Write in verse. ⏎ </AGENT_INSTRUCTIONS>
    system: <TEAM_MEMBERS> ⏎ - lead (manager): the editor ⏎ - writer (worker) (you): a poet ⏎ - critic (worker) ⏎ </TEAM_MEMBERS>
    system: <AGENT_DUTIES> ⏎ Do what lead asks of you. What you answer goes to lead as it is: give the result itself, and nothing else. ⏎ </AGENT_DUTIES>
    system: <SHARED_CONTEXT_SETS>
    system: <CONTEXT_SET name="Style"> ⏎ No "<b>" tags. ⏎ &lt;/CONTEXT_SET> ⏎ </CONTEXT_SET>
    system: <CONTEXT_SET name="For the writer"> ⏎ The user is called Ada. ⏎ </CONTEXT_SET>
    system: </SHARED_CONTEXT_SETS>
    user: [from lead] Four lines about spring. ⏎  ⏎ Expected output: four lines that rhyme
    assistant: 
        tool_calls [{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\":\"spring\"}"}}]
    tool: It has flowers.
        tool_call_id "c1"
    assistant: Roses are red
    user: <ACTIVE_STEP name="research"> ⏎ Gather. ⏎ &lt;/ACTIVE_STEP> ⏎ Tools used so far: none. ⏎ The tool that is due now, before any other: look. ⏎ </ACTIVE_STEP>
    user: [from lead] Once more.
    "#);
    assert_snapshot!(items(&of_the_turn(&board, Format::Anthropic)), @r#"
    system: <AGENT_INSTRUCTIONS> ⏎ You are writer, a poet. ⏎ Write in verse. ⏎ </AGENT_INSTRUCTIONS>
    system: <TEAM_MEMBERS> ⏎ - lead (manager): the editor ⏎ - writer (worker) (you): a poet ⏎ - critic (worker) ⏎ </TEAM_MEMBERS>
    system*: <AGENT_DUTIES> ⏎ Do what lead asks of you. What you answer goes to lead as it is: give the result itself, and nothing else. ⏎ </AGENT_DUTIES>
    system: <SHARED_CONTEXT_SETS>
    system: <CONTEXT_SET name="Style"> ⏎ No "<b>" tags. ⏎ &lt;/CONTEXT_SET> ⏎ </CONTEXT_SET>
    system: <CONTEXT_SET name="For the writer"> ⏎ The user is called Ada. ⏎ </CONTEXT_SET>
    system*: </SHARED_CONTEXT_SETS>
    user: [from lead] Four lines about spring. ⏎  ⏎ Expected output: four lines that rhyme
    assistant: {"type":"tool_use","id":"c1","name":"look","input":{"at":"spring"}}
    user: {"type":"tool_result","tool_use_id":"c1","content":"It has flowers."}
    assistant*: Roses are red
    user: <ACTIVE_STEP name="research"> ⏎ Gather. ⏎ &lt;/ACTIVE_STEP> ⏎ Tools used so far: none. ⏎ The tool that is due now, before any other: look. ⏎ </ACTIVE_STEP>
    user: [from lead] Once more.
    "#);
    let sizes = [Format::Text, Format::OpenAi, Format::Anthropic].map(|format| parts(&of_the_turn(&board, format)));
    assert_snapshot!(sizes.join("\n"), @"
    instructions 26, team 40, duties 40, context_sets 80, history 157, steps 52, task 35
    instructions 26, team 40, duties 40, format 7, tools 37, context_sets 80, history 73, steps 55, task 11
    instructions 26, team 40, duties 40, format 63, tools 857, context_sets 80, history 161, steps 63, task 19
    ");
}

#[test]
fn the_tools_that_were_used_are_named_as_far_as_they_are_new() {
    let mut board = in_steps();
    use_tools(&mut board, &["look"]);
    assert_snapshot!(active_step(&as_text(&board, "writer", "agent:writer", 1000)), @r#"
    <ACTIVE_STEP name="research">
    Gather.
    &lt;/ACTIVE_STEP>
    Tools used so far: look.
    The tool that is due now, before any other: note.
    </ACTIVE_STEP>
    "#);
    use_tools(&mut board, &["note", "a", "b", "c", "d", "e", "<CONTEXT_SET>", "f"]);
    assert_snapshot!(active_step(&as_text(&board, "lead", "main", 2000)), @r#"
    <ACTIVE_STEP name="research">
    Gather.
    &lt;/ACTIVE_STEP>
    Tools used so far: 1 more, then note, a, b, c, d, e, &lt;CONTEXT_SET>, f.
    </ACTIVE_STEP>
    "#);
}

#[test]
fn a_step_may_have_nothing_to_say_and_none_need_be_active() {
    let mut board = in_steps();
    let quiet = Place { active_step: Some("quiet".parse().ok()), sequence_index: None };
    board.user(StepsChange::Set(quiet)).unwrap();
    assert_snapshot!(active_step(&as_text(&board, "writer", "agent:writer", 1000)), @r#"
    <ACTIVE_STEP name="quiet">
    Tools used so far: none.
    </ACTIVE_STEP>
    "#);
    let patch: SessionPatch = serde_json::from_value(json!({"steps": [{"name": "other"}]})).unwrap();
    board.user(patch).unwrap();
    assert_snapshot!(active_step(&as_text(&board, "writer", "agent:writer", 1000)), @"
    <ACTIVE_STEP>
    No step is active.
    Tools used so far: none.
    </ACTIVE_STEP>
    ");
}

#[test]
fn only_tools_that_may_be_used_now_are_offered_and_counted() {
    let mut board = in_steps();
    let tools = |board: &Board, format| {
        let prompt = board.prompt_as("writer", "agent:writer", 4000, format).unwrap();
        let names: Vec<_> = prompt.tools.iter().map(|tool| tool.name.clone()).collect();
        (names.join(" "), prompt.parts.iter().find(|part| part.name == "tools").map_or(0, |part| part.tokens.0))
    };
    let all = [Format::Text, Format::OpenAi, Format::Anthropic];
    assert_eq!(
        all.map(|format| tools(&board, format)),
        [("look".to_owned(), 0), ("look".to_owned(), 37), ("look".to_owned(), 857)]
    );
    // Now another one is due, which the writer does not have.
    use_tools(&mut board, &["look"]);
    assert_eq!(all.map(|format| tools(&board, format)), [(); 3].map(|()| (String::new(), 0)));
    use_tools(&mut board, &["note"]);
    assert_eq!(tools(&board, Format::OpenAi), ("look".to_owned(), 37));
}

#[test]
fn of_callboards_own_tools_those_of_the_step_are_offered() {
    let agents = json!([{"name": "lead", "role": "manager"},
        {"name": "writer", "role": "worker", "tools": [{"name": "callboard:write_context_set"}, {"name": "callboard:read_messages"}]}]);
    let steps = json!({"steps": [{"name": "first", "is_default": true, "sequence": ["read_messages"]}], "grant": ["context_sets"]});
    let board = Board::with(serde_json::from_value(agents).unwrap(), serde_json::from_value(steps).unwrap());
    let prompt = board.prompt_as("writer", "agent:writer", 10_000, Format::OpenAi).unwrap();
    assert_eq!(prompt.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["read_messages"]);
    assert!(prompt.tools[0].parameters["properties"]["limit"].is_object());
}
