use serde_json::json;

use super::*;
use crate::reading::Assembly as _;

/// Puts an answer together from `events`, and shows it in one line.
fn answer(form: Option<&str>, events: impl IntoIterator<Item = Value>) -> String {
    let mut assembly = Assembly::new(form);
    let mut heard = String::new();
    for event in events {
        assert!(assembly.take(&event.to_string(), &mut |piece| heard.push_str(piece)).is_ok(), "{event}");
    }
    let answer = assembly.answer(&mut |piece| heard.push_str(piece));
    assert_eq!(heard, answer.text, "what was handed out is the text");
    let calls = answer.tool_calls.iter().map(|call| format!(" {}:{}{}", call.id, call.name, call.arguments));
    format!("{:?}: {}{}", answer.finish, answer.text, calls.collect::<String>())
}

fn begin(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn text(text: &str) -> Value {
    json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}})
}

fn input(index: u64, json: &str) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": json}})
}

fn call(index: u64, id: &str, name: &str) -> Value {
    begin(index, json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
}

fn end(reason: &str) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}})
}

#[test]
fn the_pieces_of_a_text_are_joined_and_what_is_new_means_nothing() {
    let events = [
        json!({"type": "message_start", "message": {"model": "m", "content": [], "usage": {"input_tokens": 4}}}),
        json!({"type": "ping"}),
        begin(0, json!({"type": "thinking", "thinking": ""})),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}),
        begin(1, json!({"type": "text", "text": ""})),
        text("Once "),
        text("more."),
        json!({"type": "content_block_stop", "index": 1}),
        json!({"type": "novelty", "index": 1}),
        end("end_turn"),
    ];
    assert_eq!(answer(None, events), "Stop: Once more.");
}

#[test]
fn null_is_absent() {
    let usage = json!({"input_tokens": null, "output_tokens": null});
    let events = [
        json!({"type": "message_start", "message": {"model": null, "content": null, "usage": usage}}),
        begin(0, json!({"type": "text", "text": null})),
        text("Hi"),
        json!({"type": "message_delta", "delta": null, "usage": null}),
    ];
    assert_eq!(answer(None, events), "Stop: Hi");
    let whole = json!({"type": "message", "content": [{"type": "tool_use", "id": null, "name": "f", "input": null}]});
    assert_eq!(answer(None, [whole]), "ToolCalls:  call_1:f{}");
}

#[test]
fn the_pieces_of_calls_are_joined_by_index() {
    let events = [
        text("Let me look."),
        call(1, "a", "find"),
        input(1, ""),
        input(1, "{\"q\":1}"),
        call(2, "b", "open"),
        input(2, "{\"n\""),
        input(2, ":2}"),
        call(3, "", "stop"),
        end("tool_use"),
    ];
    assert_eq!(answer(None, events), "ToolCalls: Let me look. a:find{\"q\":1} b:open{\"n\":2} call_3:stop{}");
}

#[test]
fn empty_pieces_take_nothing_away() {
    let whole_call = json!({"type": "tool_use", "id": "a", "name": "find", "input": {"q": 1}});
    let thought = json!({"type": "thinking_delta", "thinking": "Hm.", "text": ""});
    let events = [
        begin(0, json!({"type": "thinking", "thinking": ""})),
        json!({"type": "content_block_delta", "index": 0, "delta": thought}),
        begin(1, whole_call),
        input(1, ""),
        end("max_tokens"),
        json!({"type": "message_delta", "delta": {"stop_reason": null}}),
    ];
    assert_eq!(answer(None, events), "Length:  a:find{\"q\":1}");
}

#[test]
fn what_the_tool_of_the_form_is_called_with_is_the_answer() {
    let events = [
        text("Here:"),
        call(1, "a", "form"),
        input(1, "{\"a\":"),
        input(1, "1}"),
        call(2, "b", "form"),
        input(2, "{}"),
    ];
    assert_eq!(answer(Some("form"), events.into_iter().chain([end("tool_use")])), "Stop: {\"a\":1}");
    let cut = [call(0, "a", "form"), input(0, "{\"a\":"), end("max_tokens")];
    assert_eq!(answer(Some("form"), cut), "Length: {\"a\":");
    assert_eq!(
        answer(Some("form"), [text("I would "), text("rather not."), end("end_turn")]),
        "Stop: I would rather not."
    );
}

#[test]
fn a_whole_answer_is_one_piece() {
    let content =
        json!([{"type": "text", "text": "Done."}, {"type": "tool_use", "id": "a", "name": "f", "input": {"n": 1}}]);
    let whole = |content: &Value| json!({"type": "message", "content": content, "stop_reason": "tool_use"});
    assert_eq!(answer(None, [whole(&content)]), "ToolCalls: Done. a:f{\"n\":1}");
    assert_eq!(answer(Some("f"), [whole(&content)]), "Stop: {\"n\":1}");
}

#[test]
fn what_came_is_told_in_its_order() {
    let thought = |index: u64, thinking: &str| begin(index, json!({"type": "thinking", "thinking": thinking}));
    let later = json!({"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "look."}});
    let events = [
        thought(0, "A word."),
        begin(1, json!({"type": "text", "text": "I "})),
        later,
        thought(2, "Where?"),
        call(3, "a", "find"),
        call(4, "b", "find"),
        end("tool_use"),
    ];
    let mut assembly = Assembly::new(None);
    for event in events {
        assert!(assembly.take(&event.to_string(), &mut |_| {}).is_ok(), "{event}");
    }
    let answer = assembly.answer(&mut |_| {});
    let expected = [Piece::Thought(0), Piece::Text(0..7), Piece::Thought(1), Piece::Call(0), Piece::Call(1)];
    assert_eq!((answer.text.as_str(), answer.pieces), ("I look.", expected.to_vec()));
}

#[test]
fn reasons_for_the_end_have_their_meaning() {
    for (reason, finish) in [
        ("stop_sequence", "Stop"),
        ("model_context_window_exceeded", "Length"),
        ("refusal", "ContentFilter"),
        ("tired", "Other(\"tired\")"),
    ] {
        assert_eq!(answer(None, [text("So."), end(reason)]), format!("{finish}: So."));
    }
}

#[test]
fn what_was_read_from_a_cache_was_read() {
    let mut assembly = Assembly::new(None);
    let started = json!({"input_tokens": 4, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100, "output_tokens": 1});
    let events = [
        json!({"type": "message_start", "message": {"usage": started}}),
        json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ];
    for event in events {
        assert!(assembly.take(&event.to_string(), &mut |_| {}).is_ok());
    }
    let answer = assembly.answer(&mut |_| {});
    assert_eq!(answer.usage, Some(Usage { prompt_tokens: 124, completion_tokens: 7 }));
}

#[test]
fn a_stream_makes_a_whole_message_with_all_that_came_if_it_ended() {
    let cited = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": 1}});
    let mut events = vec![
        json!({"type": "message_start", "message": {"id": "m", "content": [], "usage": {"input_tokens": 4}}}),
        begin(0, json!({"type": "text", "text": ""})),
        text("Hi."),
        cited,
        call(1, "a", "find"),
        input(1, "{\"q\""),
        input(1, ":1}"),
        end("tool_use"),
    ];
    assert_eq!(whole(events.clone()), None);
    events.push(json!({"type": "message_stop"}));
    let content = json!([
        {"type": "text", "text": "Hi.", "citations": [1]},
        {"type": "tool_use", "id": "a", "name": "find", "input": "{\"q\":1}"},
    ]);
    let usage = json!({"input_tokens": 4, "output_tokens": 3});
    let expected =
        json!({"id": "m", "role": "assistant", "stop_reason": "tool_use", "content": content, "usage": usage});
    assert_eq!(whole(events), Some(expected));
}
