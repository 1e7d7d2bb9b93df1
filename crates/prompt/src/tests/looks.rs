//! Looks at pages: of one tab only the newest of each kind stands whole, in every prompt.

use callboard_core::prompt::{Layout, LayoutName};

use crate::tests::*;

fn say(board: &mut Board, messages: &[Value]) {
    let messages: Vec<NewMessage> = serde_json::from_value(json!(messages)).unwrap();
    board.by("writer", AddMessages { thread: "agent:writer".parse().unwrap(), messages }).unwrap();
}

fn call(id: &str, arguments: &Value) -> Value {
    json!({"id": id, "name": "inspect_tab", "arguments": arguments})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

/// A look, and its result.
fn look(id: &str, arguments: &Value, text: &str) -> [Value; 2] {
    [json!({"role": "assistant", "content": "", "tool_calls": [call(id, arguments)]}), result(id, text)]
}

#[test]
fn of_the_looks_at_one_tab_the_newest_of_each_kind_stands_whole_in_every_prompt() {
    let snapshot = |tab: &str| json!({"tabName": tab, "inspectionType": "dom_snapshot"});
    let asked = json!({"tabName": "Main", "inspectionType": "lightweight_exploration", "instruction": "a form"});
    let looks = [
        look("a", &snapshot("Main"), "first tree"),
        look("b", &json!({"tab_name": "Main"}), "first outline"),
        look("c", &snapshot("Other"), "tree of the other tab"),
        look("d", &json!({"tab_name": "Main", "inspection_type": "dom_snapshot"}), "second tree"),
        look("e", &asked, "second outline"),
        look("f", &snapshot("Main"), "[not done: the browser does not answer]"),
    ];
    for layout in LayoutName::ALL.map(Layout::Named) {
        for format in [Format::Text, Format::OpenAi, Format::Responses, Format::Anthropic] {
            let (mut board, mut kept, mut shown) = (Board::team("lead writer"), None, Vec::new());
            for look in &looks {
                say(&mut board, look);
                let (writer, thread) = ("writer".parse().unwrap(), "agent:writer".parse().unwrap());
                let spec = ResolvedSpec::new(writer, thread, Tokens(9000), board.count);
                let spec = ResolvedSpec { layout: layout.clone(), format, ..spec };
                let prompt = board.prompt_from(&mut kept, "writer", &spec).unwrap();
                assert_eq!(prompt, board.prompt_for("writer", &spec, 1).unwrap(), "made of nothing it is the same");
                shown.push(prompt.text());
            }
            let (before, now) = (&shown[2], &shown[5]);
            for whole in ["first tree", "first outline", "tree of the other tab"] {
                assert!(before.contains(whole), "{whole}: {before}");
            }
            for whole in ["second tree", "second outline", "tree of the other tab", "[not done: the browser"] {
                assert!(now.contains(whole), "{whole}: {now}");
            }
            assert!(!now.contains("first tree") && !now.contains("first outline"), "{now}");
            assert_eq!(now.matches("[left out: there is a newer one, entry ").count(), 2, "{now}");
        }
    }
}

#[test]
fn of_two_looks_in_one_answer_the_later_stands_whole_and_both_calls_have_results() {
    let arguments = json!({"tabName": "Main", "inspectionType": "dom_snapshot"});
    let calls = [call("a", &arguments), call("b", &arguments)];
    let mut board = Board::team("lead writer");
    let looks = json!({"role": "assistant", "content": "", "tool_calls": calls});
    say(&mut board, &[looks, result("a", "first tree"), result("b", "second tree")]);
    let Body::Messages(messages) = as_messages(&board, "writer", "agent:writer", 1000).body else { panic!() };
    let results: Vec<_> = messages.iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(results.len(), 2, "{results:?}");
    assert!(results[0]["tool_call_id"] == "a" && results[1]["tool_call_id"] == "b", "{results:?}");
    assert!(results[0]["content"].as_str().unwrap().starts_with("[left out: there is a newer one, entry "));
    assert_eq!(results[1]["content"], "second tree");
}
