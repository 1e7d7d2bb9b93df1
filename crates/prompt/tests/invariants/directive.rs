//! Directives: whatever a model says is read, and schema and reader agree on what is good in it.

use callboard_core::{
    context_set::Outcome,
    directive::{
        Direct, Reading,
        read::{read, read_text},
        schema::schema,
    },
    testing::Board,
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    let key = || prop_oneof![select(FIELDS).prop_map(str::to_owned), any::<String>()];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((key(), inner), 0..6).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

const FIELDS: &[&str] = &[
    "messageTo",
    "message",
    "workflowComplete",
    "isInfoRequest",
    "form",
    "contextSetUpdate",
    "contextSets",
    "name",
    "context",
    "newOrUpdate",
    "visibleToAgents",
    "expectedOutput",
    "fields",
    "key",
    "valueType",
    "text",
    "contextUpdates",
];

/// Something close to an update of a set.
fn near_update() -> impl Strategy<Value = Value> {
    let name = select(vec![
        json!("A"),
        json!("B c"),
        json!(""),
        json!("a\u{1}b"),
        json!(7),
        json!("x".repeat(201)),
        json!(null),
    ]);
    let context = select(vec![json!("1"), json!(""), json!(1), json!(null), json!(["x"])]);
    let mode = select(vec![json!("new"), json!("update"), json!(null), json!("replace"), json!(true)]);
    let visible_to = select(vec![
        json!("all"),
        json!("none"),
        json!("writer"),
        json!(["writer", "lead"]),
        json!([]),
        json!(null),
        json!("ghost"),
        json!(["ghost"]),
        json!(["all"]),
        json!({"a": 1}),
        json!("All"),
        json!([1]),
    ]);
    (name, context, mode, visible_to, any::<[bool; 5]>()).prop_map(|(name, context, mode, visible_to, absent)| {
        let fields = [
            ("name", name),
            ("context", context),
            ("newOrUpdate", mode),
            ("visibleToAgents", visible_to),
            ("more", json!(1)),
        ];
        let said = fields.into_iter().zip(absent).enumerate();
        // Names and contexts are mostly there, and unknown fields mostly are not.
        let is_said = |at: usize, absent: bool| if at < 2 { true } else { absent };
        said.filter(|(at, (_, absent))| is_said(*at, *absent))
            .map(|(_, ((name, value), _))| (name.to_owned(), value))
            .collect()
    })
}

proptest! {
    #![proptest_config(crate::cases(256))]

    #[test]
    fn any_text_is_read(text in any::<String>(), lines in vec(select(LINES), 0..12)) {
        let team = Board::team("lead writer Big.Boss").state.team;
        read_text(&text, &team);
        let Reading { directive, .. } = read_text(&(lines.join("\n") + &text), &team);
        prop_assert!(directive.sets.len() <= lines.len() + 1);
    }

    #[test]
    fn any_json_is_read(value in any_json(), fenced in any::<bool>()) {
        let team = Board::team("lead writer").state.team;
        read(&value, &team);
        let text = if fenced { format!("So:\n```json\n{value}\n```") } else { value.to_string() };
        read_text(&text, &team);
    }

    #[test]
    fn what_the_schema_allows_is_read_whole_and_what_it_does_not_allow_is_a_fault(value in any_json()) {
        let team = Board::team("lead writer").state.team;
        let validator = jsonschema::validator_for(&schema(&team)).unwrap();
        let Value::Object(mut fields) = value else { return Ok(()) };
        fields.retain(|name, value| !["text", "contextUpdates"].contains(&name.as_str()) && no_nulls(value));
        fields.retain(|name, value| !(name == "contextSetUpdate" && *value == json!({})));
        let value = Value::Object(fields);
        let reading = read(&value, &team);
        prop_assert_eq!(validator.is_valid(&value), reading.faults.is_empty(), "{}: {:?}", value, reading.faults);
        if reading.faults.is_empty() {
            prop_assert_eq!(reading.directive.message_to.is_some(), value.get("messageTo").is_some());
            prop_assert_eq!(reading.directive.form.is_some(), value.get("form").is_some());
        }
    }

    #[test]
    fn an_update_that_the_schema_does_not_allow_is_rejected(updates in vec(near_update(), 1..5)) {
        let mut board = Board::team("lead writer");
        let directive = json!({"contextSetUpdate": {"contextSets": updates}});
        let reading = read(&directive, &board.state.team);
        let directed = board.by("lead", Direct(directive.clone())).unwrap();
        prop_assert_eq!(directed.outcomes.len(), updates.len());
        for (at, outcome) in directed.outcomes.iter().enumerate() {
            let place = format!("/contextSetUpdate/contextSets/{at}");
            let faulty = reading.faults.iter().any(|fault| fault.pointer == place || fault.pointer.starts_with(&(place.clone() + "/")));
            let is_control = updates[at]["name"] == json!("a\u{1}b");
            let rejected = outcome.outcome == Outcome::Rejected;
            prop_assert_eq!(rejected, faulty || is_control, "{}: {:?} {:?}", updates[at], outcome, reading.faults);
        }
    }
}

fn no_nulls(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(all) => all.iter().all(no_nulls),
        Value::Object(fields) => fields.values().all(no_nulls),
        _ => true,
    }
}

const LINES: &[&str] = &[
    "Context update: A (visible to: writer)",
    "context update: B",
    "Context update: (visible to: ghost)",
    "@writer do it",
    "@ghost boo",
    "Message to Big.Boss: hi",
    "Information request: what?",
    "Expected output: x",
    "Workflow complete",
    "",
    "  ",
    "(visible to: all)",
    "```json",
    "{",
    "}",
    "@",
    "Message to : x",
];
