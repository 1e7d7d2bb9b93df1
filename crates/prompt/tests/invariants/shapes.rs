//! What comes in as message objects of a provider is given back as it came.

use callboard_core::{
    conversation::{AddMessages, MessageShape, MessageView, facts::MessageAdded, reading, shape::in_shape},
    fact,
    testing::Board,
};
use proptest::{collection::vec, option, prelude::*, sample::select};
use serde_json::{Value, json};

fn words() -> impl Strategy<Value = String> {
    select(vec!["hello", "", "two\nlines", "{\"a\": 1}", "[from lead] x", "日本"]).prop_map(str::to_owned)
}

/// A text or parts that every provider's messages may have.
fn content(image: Value) -> impl Strategy<Value = Value> {
    let text = words().prop_map(|text| json!({"type": "text", "text": text}));
    let part = prop_oneof![3 => text, 1 => Just(image)];
    prop_oneof![words().prop_map(Value::from), vec(part, 1..4).prop_map(Value::from)]
}

fn with(mut object: Value, fields: Vec<(&str, Option<Value>)>) -> Value {
    for (name, value) in fields {
        if let Some(value) = value {
            object[name] = value;
        }
    }
    object
}

/// What messages of some providers have besides: OpenAI's sources and sound, what a router and Groq say, and Mistral's prefix.
fn besides() -> impl Strategy<Value = Vec<(&'static str, Option<Value>)>> {
    let sound = json!({"id": "audio_1", "data": "SUQzBAAA", "expires_at": 1_737_190_800, "transcript": "hello"});
    let field =
        |name: &'static str, values: Vec<Value>| option::of(select(values).prop_map(move |value| (name, value)));
    let fields = (
        field(
            "annotations",
            vec![json!([]), json!([{"type": "url_citation", "url_citation": {"url": "https://a.b"}}])],
        ),
        field("audio", vec![sound]),
        field("provider_specific_fields", vec![json!({}), json!({"citations": [null, {"page": 1}]})]),
        field(
            "executed_tools",
            vec![json!([]), json!([{"index": 0, "type": "search", "arguments": "{}", "output": null}])],
        ),
        field("prefix", vec![json!(true), json!(false)]),
    );
    fields.prop_map(|(annotations, audio, router, executed, prefix)| {
        let there = [annotations, audio, router, executed, prefix].into_iter().flatten();
        there.map(|(name, value)| (name, Some(value))).collect::<Vec<_>>()
    })
}

fn openai() -> impl Strategy<Value = Value> {
    let image = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png", "detail": "low"}});
    let name = || option::of(Just(json!("ada")));
    let of_router = option::of(Just(json!({"thought_signature": "c2ln"})));
    let call = (words(), select(vec!["look", "find"]), of_router).prop_map(|(arguments, tool, of_router)| {
        let call = json!({"id": "c1", "type": "function", "function": {"name": tool, "arguments": arguments}});
        with(call, vec![("provider_specific_fields", of_router)])
    });
    let calls = option::of(vec(call, 1..3)).prop_map(|calls| calls.map(Value::from));
    let thought = || option::of(words()).prop_map(|text| text.map(Value::from));
    let said = (select(vec!["user", "system", "developer"]), content(image), name());
    prop_oneof![
        said.prop_map(|(role, content, name)| with(json!({"role": role, "content": content}), vec![("name", name)])),
        (option::of(words()), calls, thought(), option::of(Just(json!("I will not."))), thought(), besides()).prop_map(
            |(text, calls, thought, refusal, other, besides)| {
                let more = vec![
                    ("tool_calls", calls),
                    ("reasoning_content", thought),
                    ("refusal", refusal),
                    ("reasoning", other),
                ];
                // A message that says and calls nothing is refused.
                let is_empty = more.iter().take(3).all(|(name, value)| value.is_none() || *name == "reasoning_content");
                let text = if is_empty { text.or(Some(String::new())) } else { text };
                with(with(json!({"role": "assistant", "content": text}), more), besides)
            }
        ),
        words().prop_map(|text| json!({"role": "tool", "tool_call_id": "c1", "content": text})),
    ]
}

fn anthropic() -> impl Strategy<Value = Value> {
    let image = || json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let marked = || option::of(Just(json!({"type": "ephemeral"})));
    let text = || {
        (words(), marked())
            .prop_map(|(text, mark)| with(json!({"type": "text", "text": text}), vec![("cache_control", mark)]))
    };
    let result = (option::of(content(image())), option::of(any::<bool>().prop_map(Value::from))).prop_map(
        |(content, failed)| {
            with(json!({"type": "tool_result", "tool_use_id": "t1"}), vec![("content", content), ("is_error", failed)])
        },
    );
    let call = marked().prop_map(|mark| {
        with(
            json!({"type": "tool_use", "id": "t1", "name": "look", "input": {"at": [1, {}]}}),
            vec![("cache_control", mark)],
        )
    });
    let thought = prop_oneof![
        words().prop_map(|text| json!({"type": "thinking", "thinking": text, "signature": "c2ln"})),
        Just(json!({"type": "redacted_thinking", "data": "abc"})),
    ];
    let of_user = vec(prop_oneof![result, text(), Just(image())], 1..6);
    let of_model = vec(prop_oneof![call, text(), thought], 1..6);
    prop_oneof![
        (select(vec!["user", "assistant"]), content(image()))
            .prop_map(|(role, content)| json!({"role": role, "content": content})),
        of_user.prop_map(|blocks| json!({"role": "user", "content": blocks})),
        of_model.prop_map(|blocks| json!({"role": "assistant", "content": blocks})),
    ]
}

/// What becomes of objects that are added and read again in a shape.
fn back(shape: MessageShape, objects: &[Value]) -> Vec<Value> {
    let messages = reading::read(serde_json::from_value(json!(objects)).unwrap()).unwrap();
    let mut board = Board::team("lead");
    let before = board.entries.len();
    board.user(AddMessages { thread: "main".parse().unwrap(), messages }).unwrap();
    let view = |entry: &callboard_core::entry::Entry| -> MessageView {
        let mut data: Value = json!(fact::read::<MessageAdded>(entry).unwrap());
        data["seq"] = json!(entry.header.seq);
        serde_json::from_value(data).unwrap()
    };
    let views: Vec<_> = board.entries[before..].iter().map(view).collect();
    in_shape(shape, &views)
}

proptest! {
    #![proptest_config(crate::cases(128))]

    #[test]
    fn openais_messages_come_back_as_they_were(objects in vec(openai(), 1..8)) {
        let back = back(MessageShape::OpenAi, &objects);
        prop_assert_eq!(json!(back), json!(objects));
    }

    #[test]
    fn anthropics_messages_come_back_as_they_were(objects in vec(anthropic(), 1..8)) {
        let back = back(MessageShape::Anthropic, &objects);
        prop_assert_eq!(json!(back), json!(objects));
    }

    #[test]
    fn what_came_from_one_provider_can_be_given_to_another(one in vec(openai(), 1..5), other in vec(anthropic(), 1..5)) {
        for object in back(MessageShape::Anthropic, &one) {
            prop_assert!(["user", "assistant"].contains(&object["role"].as_str().unwrap()), "{}", object);
        }
        for object in back(MessageShape::OpenAi, &other) {
            let calls_ok = object["tool_calls"].as_array().is_none_or(|calls| calls.iter().all(|call| call["type"] == "function"));
            prop_assert!(calls_ok && !object.to_string().contains("tool_use"), "{}", object);
        }
    }
}
