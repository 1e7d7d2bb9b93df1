use serde_json::json;

use super::*;

/// Puts an answer together from `chunks`, and shows it in one line.
fn answer(chunks: impl IntoIterator<Item = Value>) -> String {
    let mut assembly = Assembly::default();
    let mut heard = String::new();
    for chunk in chunks {
        assembly.add(serde_json::from_value(chunk).unwrap(), &mut |piece| heard.push_str(piece));
    }
    let answer = assembly.answer();
    assert_eq!(heard, answer.text, "what was handed out is the text");
    let calls = answer.tool_calls.iter().map(|call| format!(" {}:{}{}", call.id, call.name, call.arguments));
    format!("{:?}: {}{}", answer.finish, answer.text, calls.collect::<String>())
}

fn delta(delta: &Value) -> Value {
    json!({"choices": [{"delta": delta}]})
}

fn call(call: &Value) -> Value {
    delta(&json!({"tool_calls": [call]}))
}

#[test]
fn the_pieces_of_a_text_are_joined() {
    let pieces = [json!({"content": "Once "}), json!({"content": null}), json!({"content": "more."})];
    assert_eq!(answer(pieces.iter().map(delta)), "Stop: Once more.");
}

#[test]
fn parts_with_a_text_are_said_and_thoughts_are_not() {
    let thought = json!({"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]});
    let pieces = [json!({"content": [thought]}), json!({"content": [{"type": "text", "text": "Once "}]})];
    let pieces = pieces.into_iter().chain([json!({"content": "more."})]);
    assert_eq!(answer(pieces.map(|piece| delta(&piece))), "Stop: Once more.");
}

#[test]
fn a_piece_counts_where_the_whole_so_far_is_beside_it() {
    let chunk =
        |piece: &str, so_far: &str| json!({"choices": [{"delta": {"content": piece}, "message": {"content": so_far}}]});
    assert_eq!(answer([chunk("Once ", "Once "), chunk("more.", "Once more.")]), "Stop: Once more.");
}

#[test]
fn the_pieces_of_calls_are_joined_by_index() {
    let pieces = [
        json!({"index": 0, "id": "a", "function": {"name": "find", "arguments": ""}}),
        json!({"index": 1, "id": "b", "function": {"name": "open", "arguments": "{\"n\""}}),
        json!({"index": 0, "function": {"arguments": "{\"q\":1}"}}),
        json!({"index": 1, "function": {"arguments": ":2}"}}),
    ];
    assert_eq!(answer(pieces.iter().map(call)), "ToolCalls:  a:find{\"q\":1} b:open{\"n\":2}");
}

#[test]
fn calls_of_servers_that_count_badly_stay_apart() {
    let same_index = [
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}),
        json!({"index": 0, "id": "b", "function": {"name": "g", "arguments": "{}"}}),
    ];
    assert_eq!(answer(same_index.iter().map(call)), "ToolCalls:  a:f{} b:g{}");
    let no_index = [
        json!({"function": {"name": "f", "arguments": {"n": 1}}}),
        json!({"function": {"name": "g"}}),
        json!({"function": {"arguments": "{\"n\":2}"}}),
    ];
    assert_eq!(answer(no_index.iter().map(call)), "ToolCalls:  call_1:f{\"n\":1} call_2:g{\"n\":2}");
}

#[test]
fn a_whole_answer_is_one_piece() {
    let message = json!({"role": "assistant", "content": "Done."});
    let whole = json!({"choices": [{"message": message, "finish_reason": "length"}]});
    assert_eq!(answer([whole]), "Length: Done.");
}

#[test]
fn null_is_absent() {
    let no_numbers = json!({"prompt_tokens": null, "completion_tokens": null});
    let chunks = [
        json!({"choices": null, "usage": null}),
        json!({"choices": [{"delta": {"content": "Hi"}, "finish_reason": null}], "usage": {"prompt_tokens": 3}}),
        json!({"choices": [], "usage": no_numbers}),
    ];
    let mut assembly = Assembly::default();
    for chunk in chunks {
        assembly.add(serde_json::from_value(chunk).unwrap(), &mut |_: &str| {});
    }
    let answer = assembly.answer();
    assert_eq!(answer.text, "Hi");
    assert_eq!(answer.usage, Some(Usage { prompt_tokens: 3, completion_tokens: 0 }));
}

#[test]
fn a_refusal_is_the_text_of_a_filtered_answer() {
    let refused = json!({"choices": [{"delta": {"refusal": "No."}, "finish_reason": "stop"}]});
    assert_eq!(answer([refused]), "ContentFilter: No.");
}

#[test]
fn a_reason_that_nobody_knows_is_kept() {
    assert_eq!(answer([json!({"choices": [{"delta": {}, "finish_reason": "tired"}]})]), "Other(\"tired\"): ");
}

#[test]
fn a_stream_makes_a_whole_answer_with_all_that_came() {
    let pieces = [
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"n\""}}),
        json!({"index": 0, "function": {"arguments": ":1}"}}),
        json!({"index": 0, "id": "b", "function": {"name": "g", "arguments": ""}}),
    ];
    let other = json!({"choices": [{"index": 1, "delta": {"content": "Or."}}]});
    let end = json!({"choices": [{"delta": {"annotations": [1]}, "finish_reason": "tool_calls"}], "usage": {"prompt_tokens": 3}});
    let whole = whole(pieces.iter().map(call).chain([other, end]).collect()).unwrap();
    let calls = [
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"n\":1}"}}),
        json!({"index": 0, "id": "b", "function": {"name": "g", "arguments": ""}}),
    ];
    let message = json!({"tool_calls": calls, "annotations": [1]});
    let choices = json!([{"message": message, "finish_reason": "tool_calls"}, {"index": 1}]);
    assert_eq!(whole, json!({"choices": choices, "usage": {"prompt_tokens": 3}}));
    assert_eq!(super::whole(vec![json!({"choices": []})]), None);
}
