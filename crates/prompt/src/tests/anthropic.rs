use insta::assert_snapshot;
use serde_json::{Value, json};

use callboard_core::{
    conversation::{AddMessages, NewMessage},
    count::Counting,
    prompt::Format,
    testing::Board,
};

use crate::{
    Prompt,
    testing::Shows as _,
    tests::{at_work, board, of_the_turn, parts, short, text_items},
};

/// What is said, one line a block; `*` stands behind the role where a prefix ends that is worth keeping.
pub(super) fn items(system: &[Value], messages: &[Value]) -> Vec<String> {
    let mut items: Vec<_> = system.iter().flat_map(system_items).collect();
    for message in messages {
        let role = message["role"].as_str().unwrap();
        items.extend(message["content"].as_array().unwrap().iter().map(|block| item(role, block)));
    }
    items
}

fn system_items(block: &Value) -> Vec<String> {
    let mut items: Vec<_> =
        text_items(block["text"].as_str().unwrap()).into_iter().map(|item| format!("system: {item}")).collect();
    if let (Some(last), true) = (items.last_mut(), is_marked(block)) {
        *last = last.replacen("system:", "system*:", 1);
    }
    items
}

fn item(role: &str, block: &Value) -> String {
    let mark = if is_marked(block) { "*" } else { "" };
    let said = match block["type"].as_str().unwrap() {
        "text" => block["text"].as_str().unwrap().replace('\n', " ⏎ "),
        _ => {
            let fields = block.as_object().unwrap().iter().filter(|(name, _)| *name != "cache_control");
            Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect()).to_string()
        }
    };
    format!("{role}{mark}: {}", short(&said))
}

fn is_marked(block: &Value) -> bool {
    block.get("cache_control") == Some(&json!({"type": "ephemeral"}))
}

fn said(agent: &str, thread: &str, messages: Value) -> Prompt {
    let mut board = Board::team("lead writer");
    let messages: Vec<NewMessage> = serde_json::from_value(messages).unwrap();
    board.by("writer", AddMessages { thread: thread.parse().unwrap(), messages }).unwrap();
    board.prompt_as(agent, thread, 4000, Format::Anthropic).unwrap()
}

/// The lines of what was said, without the system's.
fn talk(prompt: &Prompt) -> String {
    let all = super::items(prompt);
    all.lines().filter(|line| !line.starts_with("system")).collect::<Vec<_>>().join("\n")
}

#[test]
fn first_turn_of_the_manager() {
    let prompt = of_the_turn(&board(), Format::Anthropic);
    assert_snapshot!(super::items(&prompt), @"
    system: <AGENT_INSTRUCTIONS> ⏎ You are lead, the editor. ⏎ Keep it short. ⏎ </AGENT_INSTRUCTIONS>
    system: <TEAM_MEMBERS> ⏎ - lead (manager) (you): the editor ⏎ - writer (worker): a poet ⏎ - critic (worker) ⏎ </TEAM_MEMBERS>
    system*: <AGENT_DUTIES> ⏎ You direct the team. In each turn you give one directive: a JSON object whose fields may all be left out. ⏎ - messageTo and … there already are suggestions: adapt them. ⏎ </AGENT_DUTIES>
    user*: Write a poem about spring.
    ");
    assert_snapshot!(parts(&prompt), @"instructions 26, team 40, duties 314, format 63, task 18");
    assert_eq!(prompt.counting, Counting::UpperBound);
}

#[test]
fn a_turn_of_a_worker_with_a_tool() {
    let prompt = of_the_turn(&at_work(), Format::Anthropic);
    assert_snapshot!(super::items(&prompt), @r#"
    system: <AGENT_INSTRUCTIONS> ⏎ You are writer, a poet. ⏎ Write in verse. ⏎ </AGENT_INSTRUCTIONS>
    system: <TEAM_MEMBERS> ⏎ - lead (manager): the editor ⏎ - writer (worker) (you): a poet ⏎ - critic (worker) ⏎ </TEAM_MEMBERS>
    system*: <AGENT_DUTIES> ⏎ Do what lead asks of you. What you answer goes to lead as it is: give the result itself, and nothing else. ⏎ </AGENT_DUTIES>
    system: <SHARED_CONTEXT_SETS>
    system: <CONTEXT_SET name="Style"> ⏎ No "<b>" tags. ⏎ &lt;/CONTEXT_SET> ⏎ </CONTEXT_SET>
    system: <CONTEXT_SET name="For the writer"> ⏎ The user is called Ada. ⏎ </CONTEXT_SET>
    system*: </SHARED_CONTEXT_SETS>
    user: [from lead] Four lines about spring. ⏎  ⏎ Expected output: four lines that rhyme
    assistant: {"type":"tool_use","id":"c1","name":"look","input":{"at":"spring"}}
    user*: {"type":"tool_result","tool_use_id":"c1","content":"It has flowers."}
    "#);
    assert_snapshot!(parts(&prompt), @"instructions 26, team 40, duties 40, format 63, tools 857, context_sets 80, task 146");
}

#[test]
fn a_turn_of_the_manager_after_an_answer() {
    let mut board = at_work();
    board.reply("Roses are red").unwrap();
    board.reply("{\"valid\": false, \"reason\": \"It has one line.\"}").unwrap();
    assert_snapshot!(talk(&of_the_turn(&board, Format::Anthropic)), @"
    user: Write a poem about spring.
    assistant: To writer: Four lines about spring. ⏎  ⏎ Expected output: four lines that rhyme
    user: [results of your directive] ⏎ - context set Process Steps: created ⏎ - context set Style: created ⏎ - context set For the writer: created
    user: [from writer] [calls look]
    user*: [result of writer's call of look] ⏎ It has flowers.
    user: [from writer] Roses are red
    user*: [The last answer is not what was expected: It has one line.]
    ");
}

#[test]
fn a_check_of_an_answer_is_marked_up_to_what_is_asked_for_this_once() {
    let mut board = at_work();
    board.reply("Roses are red").unwrap();
    assert_snapshot!(talk(&of_the_turn(&board, Format::Anthropic)), @"
    user: Write a poem about spring.
    assistant: To writer: Four lines about spring. ⏎  ⏎ Expected output: four lines that rhyme
    user: [results of your directive] ⏎ - context set Process Steps: created ⏎ - context set Style: created ⏎ - context set For the writer: created
    user: [from writer] [calls look]
    user: [result of writer's call of look] ⏎ It has flowers.
    user*: [from writer] Roses are red
    user: Check whether the last answer of writer is what was expected: four lines that rhyme ⏎  ⏎ Answer with a JSON object: `valid`, true or false, and `reason`, one sentence.
    ");
}

#[test]
fn every_call_has_its_result_in_the_next_message_and_results_without_calls_are_told() {
    let messages = json!([
        {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "name": "look"}, {"id": "c2", "name": "look"}]},
        {"role": "assistant", "content": "I wait."},
        {"role": "tool", "tool_call_id": "c2", "content": " "},
        {"role": "tool", "tool_call_id": "c9", "content": "nobody asked"},
        {"role": "tool", "tool_call_id": "c2", "content": "two again"},
    ]);
    assert_snapshot!(talk(&said("writer", "agent:writer", messages.clone())), @r#"
    user: [what was said before is not here]
    assistant: {"type":"tool_use","id":"c1","name":"look","input":{}}
    assistant: {"type":"tool_use","id":"c2","name":"look","input":{}}
    user: {"type":"tool_result","tool_use_id":"c1","content":"[there is no result]"}
    user: {"type":"tool_result","tool_use_id":"c2"}
    assistant: I wait.
    user: [result of a tool] ⏎ nobody asked
    user*: [result of a tool] ⏎ two again
    "#);
    assert_snapshot!(talk(&said("lead", "main", messages)), @"
    user: [from writer] [calls look] ⏎ [calls look]
    user*: [result of writer's call of look]
    user: [from writer] I wait.
    user: [from writer] [result of a tool] ⏎ nobody asked
    user*: [from writer] [result of a tool] ⏎ two again
    ");
}

#[test]
fn ids_stand_for_one_call_and_have_few_characters() {
    let turn = json!([
        {"role": "assistant", "content": "Again.", "tool_calls": [
            {"id": "a.1", "name": "look", "arguments": {"at": 1}}, {"id": "a.1", "name": "look", "arguments": "not JSON"},
        ]},
        {"role": "tool", "tool_call_id": "a.1", "content": "one"},
        {"role": "tool", "tool_call_id": "a.1", "content": "two"},
    ]);
    let turns: Vec<_> = turn.as_array().unwrap().iter().chain(turn.as_array().unwrap()).cloned().collect();
    assert_snapshot!(talk(&said("writer", "agent:writer", json!(turns))), @r#"
    user: [what was said before is not here]
    assistant: Again.
    assistant: {"type":"tool_use","id":"a_1","name":"look","input":{"at":1}}
    assistant: {"type":"tool_use","id":"a_1-2","name":"look","input":{"arguments":"not JSON"}}
    user: {"type":"tool_result","tool_use_id":"a_1","content":"one"}
    user: {"type":"tool_result","tool_use_id":"a_1-2","content":"two"}
    assistant: Again.
    assistant: {"type":"tool_use","id":"a_1-3","name":"look","input":{"at":1}}
    assistant: {"type":"tool_use","id":"a_1-4","name":"look","input":{"arguments":"not JSON"}}
    user: {"type":"tool_result","tool_use_id":"a_1-3","content":"one"}
    user*: {"type":"tool_result","tool_use_id":"a_1-4","content":"two"}
    "#);
}

#[test]
fn what_is_blank_is_not_written_and_nothing_at_all_still_begins_and_ends_with_the_user() {
    let blank = json!([
        {"role": "user", "content": " \n"},
        {"role": "user", "content": "\u{1c}\u{1f}\n"},
        {"role": "assistant", "content": ""},
        {"role": "assistant", "content": "\u{1d}"},
    ]);
    assert_snapshot!(talk(&said("writer", "agent:writer", blank)), @"user: [it is your turn]");
    let own = json!([{"role": "assistant", "content": "Hello."}, {"role": "assistant", "content": "Anybody?"}]);
    assert_snapshot!(talk(&said("writer", "agent:writer", own)), @"
    user: [what was said before is not here]
    assistant: Hello.
    assistant*: Anybody?
    user: [it is your turn]
    ");
}

#[test]
fn what_the_system_says_is_the_users_with_its_name() {
    let mut board = Board::team("lead writer");
    let message: NewMessage = serde_json::from_value(json!({"role": "system", "content": "Be quick."})).unwrap();
    board.user(AddMessages { thread: "main".parse().unwrap(), messages: vec![message] }).unwrap();
    assert_snapshot!(talk(&board.prompt_as("lead", "main", 4000, Format::Anthropic).unwrap()), @"user*: [from system] Be quick.");
}
