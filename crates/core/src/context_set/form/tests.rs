use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use crate::{
    context_set::PutSet,
    context_set::form::SubmitForm,
    directive::{Direct, Directed},
    error::Error,
    id::SetName,
    testing::Board,
};

/// A board whose manager asked the user with a form that has these fields.
fn asked(fields: &Value) -> Board {
    let mut board = Board::team("lead writer");
    ask(&mut board, fields).unwrap();
    board
}

fn ask(board: &mut Board, fields: &Value) -> Result<Directed, Error> {
    let form = json!({"name": "Wishes", "fields": fields});
    board.by("lead", Direct(json!({"isInfoRequest": true, "message": "What do you wish?", "form": form})))
}

fn field(value_type: &str) -> Value {
    json!([{"key": "k", "valueType": value_type, "label": "K", "required": true, "enumValues": ["red", "blue"]}])
}

/// Whether a form takes `value` as the answer to a field of this type; the fault where it does not.
fn takes(value_type: &str, value: Value) -> String {
    submit(&mut asked(&field(value_type)), json!({"k": value}))
}

fn submit(board: &mut Board, answers: Value) -> String {
    let Value::Object(answers) = answers else { panic!("{answers}") };
    match board.user(SubmitForm { form: name(), answers }) {
        Ok(_) => "ok".to_owned(),
        Err(error) => format!("{}: {error}", error.code()),
    }
}

fn name() -> SetName {
    "Wishes".parse().unwrap()
}

fn content(board: &Board) -> String {
    let held = board.state.sets.get(&name()).unwrap();
    held.set.content.whole(&board.values).unwrap().to_string()
}

#[test]
fn each_type_of_value_takes_what_it_is_for_and_nothing_else() {
    let values = [
        json!("text"),
        json!(7),
        json!(2.5),
        json!(true),
        json!("2025-01-18"),
        json!("2025-01-18T14:30:22Z"),
        json!("red"),
        json!(["a", 1]),
        json!([]),
        json!([[1]]),
        json!({"a": 1}),
        json!(""),
        json!(null),
    ];
    let types = ["STRING", "NUMBER", "BOOLEAN", "DATE", "ENUM", "ENUM_OR_CUSTOM", "ARRAY", "FILE"];
    let taken = types.map(|value_type| {
        let taken = values.iter().filter(|value| takes(value_type, (*value).clone()) == "ok");
        format!("{value_type}: {}", taken.map(Value::to_string).collect::<Vec<_>>().join(" "))
    });
    assert_snapshot!(taken.join("\n"), @r#"
    STRING: "text" "2025-01-18" "2025-01-18T14:30:22Z" "red"
    NUMBER: 7 2.5
    BOOLEAN: true
    DATE: "2025-01-18" "2025-01-18T14:30:22Z"
    ENUM: "red"
    ENUM_OR_CUSTOM: "text" "2025-01-18" "2025-01-18T14:30:22Z" "red"
    ARRAY: ["a",1]
    FILE: "text" "2025-01-18" "2025-01-18T14:30:22Z" "red"
    "#);
    let faults = types.map(|value_type| format!("{value_type}: {}", takes(value_type, json!({"a": 1}))));
    assert_snapshot!(faults.join("\n"), @"
    STRING: invalid: /answers/k: give a text
    NUMBER: invalid: /answers/k: give a number
    BOOLEAN: invalid: /answers/k: give true or false
    DATE: invalid: /answers/k: give a date, for instance 2025-01-18 or 2025-01-18T14:30:22Z
    ENUM: invalid: /answers/k: give one of: red, blue
    ENUM_OR_CUSTOM: invalid: /answers/k: give a text
    ARRAY: invalid: /answers/k: give a list of texts or numbers
    FILE: invalid: /answers/k: give a text
    ");
}

#[test]
fn an_answer_that_is_unknown_or_missing_is_refused_with_every_fault() {
    let fields = json!([
        {"key": "a", "valueType": "STRING", "label": "A", "required": true},
        {"key": "b/c", "valueType": "NUMBER", "label": "B", "required": true},
        {"key": "d", "valueType": "STRING", "label": "D", "required": false},
    ]);
    let mut board = asked(&fields);
    assert_snapshot!(submit(&mut board, json!({"b/c": "x", "surprise": 1})), @"invalid: /answers/surprise: the form has no such field; it has: a, b/c, d; /answers/a: an answer is required; /answers/b~1c: give a number");
    assert_snapshot!(submit(&mut board, json!({"a": " ", "b/c": 1})), @"invalid: /answers/a: an answer is required");
    assert_snapshot!(submit(&mut board, json!({"a": "x", "b/c": 1})), @"ok");
    assert_snapshot!(content(&board), @"
    What do you wish?
    A: x
    B: 1
    D: (not answered)
    ");
    assert_snapshot!(submit(&mut board, json!({"a": "x", "b/c": 1})), @"form_answered: the form Wishes has been answered: change the context set instead");
}

#[test]
fn answers_are_limited_in_size() {
    let mut board = asked(&field("STRING"));
    assert_snapshot!(submit(&mut board, json!({"k": "x".repeat(1 << 20)})), @"invalid: /answers: use at most 65536 bytes altogether; bring long texts as context sets");
}

#[test]
fn a_form_is_hidden_from_workers_until_it_is_answered() {
    let mut board = asked(&field("STRING"));
    assert!(board.view("writer").unwrap().set(&name()).is_err());
    assert!(board.view("lead").unwrap().set(&name()).is_ok());
    assert!(board.seen("writer").iter().all(|entry| !entry.data.contains("Wishes")));
    assert_snapshot!(submit(&mut board, json!({"k": "peace"})), @"ok");
    assert!(board.view("writer").unwrap().set(&name()).is_ok());
    assert_snapshot!(board.seen("writer").last().unwrap().data, @r#"{"name":"Wishes","content":"What do you wish?\nK: peace","visible_to":"all","enabled":true,"form":{"fields":[{"key":"k","valueType":"STRING","label":"K","required":true,"enumValues":["red","blue"]}],"answered":true,"answers":{"k":"peace"}},"tokens":9}"#);
}

#[test]
fn a_form_stays_hidden_from_one_who_was_the_manager() {
    let mut board = asked(&field("STRING"));
    board.team_becomes("boss lead writer");
    assert!(board.view("lead").unwrap().set(&name()).is_err());
    assert!(board.view("boss").unwrap().set(&name()).is_ok());
    assert!(board.seen("lead").iter().all(|entry| !entry.data.contains("do you wish")));
}

#[test]
fn an_update_by_name_keeps_the_fields() {
    let mut board = asked(&field("STRING"));
    let sets = json!([{"name": "Wishes", "context": "Say what you wish."}]);
    board.by("lead", Direct(json!({"contextSetUpdate": {"contextSets": sets}}))).unwrap();
    assert!(board.view("writer").unwrap().set(&name()).is_err());
    assert_snapshot!(submit(&mut board, json!({"k": "peace"})), @"ok");
    assert_snapshot!(content(&board), @"
    Say what you wish.
    K: peace
    ");
}

#[test]
fn a_form_that_the_user_switched_off_stays_off_when_it_is_answered() {
    let mut board = asked(&field("STRING"));
    let off = PutSet { name: name(), content: "?".into(), visible_to: None, enabled: Some(false) };
    board.user(off).unwrap();
    submit(&mut board, json!({"k": "peace"}));
    assert!(!board.state.sets.get(&name()).unwrap().set.enabled);
}

#[test]
fn only_the_user_answers_and_only_a_form() {
    let mut board = asked(&field("STRING"));
    let answers = Map::from_iter([("k".to_owned(), json!("x"))]);
    assert_snapshot!(board.by("lead", SubmitForm { form: name(), answers: answers.clone() }).unwrap_err(), @"lead may not answer forms: ask the user");
    assert_snapshot!(board.user(SubmitForm { form: "Other".parse().unwrap(), answers }).unwrap_err(), @r#"there is no form "Other""#);
}

#[test]
fn a_form_that_asks_for_nothing_sensible_is_refused() {
    let mut board = Board::team("lead writer");
    let mut refused = |fields: Value| ask(&mut board, &fields).unwrap_err().to_string();
    assert_snapshot!(refused(json!([])), @"/form/fields: [] has less than 1 item");
    assert_snapshot!(refused(json!([{"key": "", "valueType": "STRING", "label": "K", "required": true}])), @r#"/form/fields/0/key: "" is shorter than 1 character"#);
    assert_snapshot!(refused(json!([{"key": "k", "valueType": "COLOUR", "label": "K", "required": true}])), @r#"/form/fields/0/valueType: "COLOUR" is not one of "STRING", "NUMBER" or 6 other candidates"#);
    assert_snapshot!(refused(json!([{"key": "k", "valueType": "ENUM", "label": "K", "required": true}])), @"/form/fields/0/enumValues: list the values to choose from");
    let one = json!({"key": "k", "valueType": "STRING", "label": "K", "required": true});
    assert_snapshot!(refused(json!([one, one])), @"/form/fields/1/key: give each field a key of its own");
    let long = json!({"key": "k", "valueType": "STRING", "label": "x".repeat(1 << 17), "required": true});
    assert_snapshot!(refused(json!([long])), @"/form/fields: use at most 65536 bytes altogether");
}

#[test]
fn a_form_never_takes_the_name_of_another_set() {
    let mut board = asked(&field("STRING"));
    ask(&mut board, &field("STRING")).unwrap();
    let steps = json!({"name": "Process Steps", "fields": field("STRING")});
    let directive = json!({"isInfoRequest": true, "message": "?", "form": steps});
    board.by("lead", Direct(directive)).unwrap();
    board.by("lead", Direct(json!({"isInfoRequest": true, "message": "Anything else?"}))).unwrap();
    let names: Vec<_> = board.state.sets.iter().map(|held| held.set.name.to_string()).collect();
    assert_snapshot!(names.join(", "), @"Information Request, Process Steps 2, Wishes, Wishes 2");
}

#[test]
fn a_long_request_says_where_it_is_shortened() {
    let mut board = Board::team("lead writer");
    let request = "word ".repeat(20_000);
    let form = json!({"name": "Wishes", "fields": field("STRING")});
    board.by("lead", Direct(json!({"isInfoRequest": true, "message": request, "form": form}))).unwrap();
    submit(&mut board, json!({"k": "peace"}));
    assert!(content(&board).contains("[shortened here"));
    assert!(content(&board).ends_with("K: peace"));
}

#[test]
fn the_manager_is_told_of_an_answer_that_no_run_waits_for() {
    let mut board = asked(&field("STRING"));
    assert_snapshot!(submit(&mut board, json!({"k": "peace"})), @"ok");
    let told = |viewer: &str| board.seen(viewer).iter().filter(|entry| &*entry.kind == "form.answered").count();
    assert_eq!(["user", "lead", "writer"].map(told), [1, 1, 0]);
    // A run that waits for the form makes it the task of its next turn.
    let mut board = Board::team("lead writer");
    board.start("Ask me.").unwrap();
    let form = json!({"name": "Wishes", "fields": field("STRING")});
    board.reply(&json!({"isInfoRequest": true, "message": "What?", "form": form}).to_string()).unwrap();
    assert_snapshot!(submit(&mut board, json!({"k": "peace"})), @"ok");
    assert!(board.entries.iter().all(|entry| &*entry.header.kind != "form.answered"));
}
