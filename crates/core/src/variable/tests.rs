use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::json;

use std::collections::BTreeMap;

use super::{facts::Set, *};
use crate::{
    command::{Command as _, DecisionContext, Lookups, decide},
    entry::{Actor, Hash},
    fact::read,
    rights::Share,
    sealed::SealedInput,
    session::SessionPatch,
    state::State,
    testing::Board,
};

fn name(name: &str) -> VariableName {
    name.parse().unwrap()
}

/// The value of a variable without its secrets, and the secrets.
fn split_of(variable: &str, mut value: Value, marked: Option<bool>) -> (Value, BTreeMap<String, Value>) {
    let secrets = split(variable, &mut value, marked).unwrap();
    (value, secrets)
}

/// How a variable is shown, `name = display`.
fn line(variable: &str, value: Value) -> String {
    format!("{variable} = {}", display(&split_of(variable, value, None).0))
}

/// How a value is shown where nothing is secret.
fn plain(value: &Value) -> String {
    display(value)
}

#[test]
fn the_examples_of_variables_are_shown_in_a_line() {
    let email = json!({"sender": "investor@vc.com", "subject": "Re: Funding"});
    let other = json!({"sender": "startup@example.com", "subject": "Hello"});
    let selected = json!({"sender": "investor@vc.com", "subject": "Re: Funding",
        "content": "Hi, we're interested in what you build. Can we talk on Monday?"});
    let result = json!({"title": "Gmail API", "url": "https://developers.google.com/gmail/api/guides/overview"});
    let lines = [
        line("gmail_creds", json!({"email": "user@gmail.com", "password": "hunter2"})),
        line("node4.loginRequired", json!(true)),
        line("node7.emails", json!([email, other])),
        line("node10.selectedEmail", selected),
        line("search_results", json!([result, 2, 3, 4, 5, 6, 7, 8])),
        line("current_page", json!("gmail_inbox")),
    ];
    assert_snapshot!(lines.join("\n"), @r#"
    gmail_creds = {email: "user@gmail.com", password: "[hidden]"}
    node4.loginRequired = true
    node7.emails = [Array of 2 results - first: {"sender": "investor@vc.com", "subject": "Re: Funding"}...
    node10.selectedEmail = {sender: "investor@vc.com", subject: "Re: Funding", content: "Hi, we're interested in what you build...
    search_results = [Array of 8 results - first: {"title": "Gmail API", "url": "https://developers.google.com/gmail/api/...
    current_page = "gmail_inbox"
    "#);
}

#[test]
fn a_value_is_shown_by_what_it_is() {
    let shown = |value: Value| display(&value);
    let values = [
        json!(null),
        json!(false),
        json!(0),
        json!(-1.5),
        json!(""),
        json!([]),
        json!({}),
        json!([[], {}, ""]),
        json!({"a": {"b": [{"c": 1}]}, "": 1, "two words": 2, "n1_$": 3, "größe": 4, "1st": 5}),
        json!("say \"hi\"\n\u{7}\u{2028}\\"),
        json!("[hidden]"),
        json!(["[hidden]", "[hidden:]"]),
        json!({"a": "[hidden]", "b": ["[hidden]"]}),
    ];
    assert_snapshot!(values.map(shown).join("\n"), @r#"
    null
    false
    0
    -1.5
    ""
    [] (empty)
    {} (empty)
    [[], {}, ""]
    {a: {b: [{"c": 1}]}, "": 1, "two words": 2, n1_$: 3, größe: 4, "1st": 5}
    "say \"hi\"\n\u0007\u2028\\"
    [hidden]
    ["[hidden]", "[hidden:]"]
    {a: "[hidden]", b: ["[hidden]"]}
    "#);
}

#[test]
fn up_to_100_characters_are_shown_in_full() {
    let text = |n| "é".repeat(n);
    assert_eq!(plain(&json!(text(100))), format!("\"{}\"", text(100)));
    assert_eq!(plain(&json!(text(101))), format!("\"{}...", text(100)));
    let object = |n| json!({"k": text(n)});
    assert_eq!(plain(&object(93)), format!("{{k: \"{}\"}}", text(93)));
    assert_eq!(plain(&object(94)), format!("{{k: \"{}\"...", text(94)));
    let array = |n| json!([text(n), 2]);
    assert_eq!(plain(&array(93)), format!("[\"{}\", 2]", text(93)));
    assert_eq!(plain(&array(94)), format!("[Array of 2 results - first: \"{}...", text(70)));
    assert_eq!(plain(&json!(vec![7; 50])), "[Array of 50 results - first: 7...");
}

#[test]
fn a_secret_is_known_by_the_last_word_of_its_name() {
    let secrets = "password Password user_password userPasswd PASSPHRASE db-secret accessToken access_token token2 \
        credentials aws.credential PIN card_pin otp smsOTP api_key API_KEY apiKey APIKey apiKey2 x-api-key apikey \
        private_key signingKey AWS_SECRET_ACCESS_KEY node4.password Authorization proxy-authorization bearer db_pwd \
        Set-Cookie sessionCookie";
    let others = "author token_count tokens keyboard monkey key primary_key publicKey shipping spin passwordless \
        password_hint secretary pinned 2 _ next_page_token pageToken cursor_token continuationToken \
        NextToken pagination_token nextSyncToken cookies";
    let found = |names: &str| names.split_whitespace().filter(|name| is_secret_name(name)).count();
    assert_eq!(found(secrets), secrets.split_whitespace().count());
    assert_eq!(found(others), 0);
    assert!(!is_secret_name("token [hidden]") && is_secret_name("[hidden] token"));
}

#[test]
fn secrets_are_found_at_any_depth() {
    let value = json!({"users": [{"name": "Ann", "password": "p1"}, {"api_key": {"id": 1}}], "a/b": {"otp": null}});
    let (masked, secrets) = split_of("logins", value, None);
    assert_snapshot!(format!("{masked:#}"), @r#"
    {
      "users": [
        {
          "name": "Ann",
          "password": "[hidden]"
        },
        {
          "api_key": "[hidden]"
        }
      ],
      "a/b": {
        "otp": "[hidden]"
      }
    }
    "#);
    assert_snapshot!(json!(secrets), @r#"{"/a~1b/otp":null,"/users/0/password":"p1","/users/1/api_key":{"id":1}}"#);
}

#[test]
fn a_variable_is_a_secret_as_a_whole_by_its_name_or_its_mark() {
    let masked = |variable: &str, marked| split_of(variable, json!({"password": 1}), marked).0;
    assert_eq!(masked("db_password", None), "[hidden]");
    assert_eq!(masked("db", Some(true)), "[hidden]");
    assert_eq!(masked("db", None), json!({"password": "[hidden]"}));
    assert_eq!(masked("db_password", Some(false)), json!({"password": 1}));
    assert_eq!(line("api_key", json!("sk-123")), "api_key = [hidden]");
}

#[test]
fn what_was_split_has_no_more_secrets() {
    let (once, secrets) = split_of("db", json!({"password": 1, "a": [{"token": ""}]}), None);
    assert_eq!(secrets.len(), 2);
    assert_eq!(split_of("db", once.clone(), None), (once.clone(), BTreeMap::new()));
    assert_eq!(find_secrets("db", &once, None).unwrap().placeholders, ["/password", "/a/0/token"]);
}

#[test]
fn a_variable_is_not_called_as_secrets_in_calls_are() {
    let error = Board::team("lead").user(set("call:c1.arguments", json!("a value"))).unwrap_err();
    assert_eq!(error.to_string(), "/name: names of secrets in calls begin with `call:`: use another name");
}

#[test]
fn a_value_with_too_many_secrets_or_too_long_ways_to_them_is_refused_as_it_is() {
    let many = |count: usize| json!(vec![json!({"pin": 1}); count]);
    let long = |key: usize, count: usize| json!({ "~".repeat(key): many(count) });
    for (mut value, is_taken) in [
        (many(10_000), true),
        (many(10_001), false),
        (long(50_000, 10), true),
        (long(50_000, 11), false),
        (long(500_000, 50_000), false),
    ] {
        let before = value.clone();
        match split("db", &mut value, None) {
            Ok(secrets) => assert!(is_taken && !secrets.is_empty() && value != before),
            Err(error) => assert!(!is_taken && value == before && error.code() == "invalid", "{error}"),
        }
        assert_eq!(split("db", &mut before.clone(), Some(true)).unwrap().len(), 1, "as a whole it is one");
    }
    let error = Board::team("lead").user(set("db", many(10_001))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/value: db has more than 10000 secrets, or the keys on the way to them have more than 1048576 bytes together: split it, use \
         shorter keys, or keep it in a variable that is marked as secret as a whole"
    );
}

#[test]
fn a_value_that_is_nested_too_deep_is_refused_however_deep_it_is() {
    let nested = |depth| (0..depth).fold(Value::Null, |value, _| Value::Array(vec![value]));
    let set = |depth| SetVariable::new(name("deep"), nested(depth), None, "to try it".into());
    assert!(set(64).is_ok());
    for depth in [65, 10_000, 200_000] {
        let error = set(depth).unwrap_err().to_string();
        assert_eq!(error, "/value: it is nested too deep: use at most 64 levels of lists and objects");
    }
}

#[test]
fn what_is_shown_of_a_deep_value_takes_no_deep_stack() {
    let mut value = Value::Null;
    for _ in 0..10_000 {
        value = Value::Array(vec![value]);
    }
    assert_eq!(plain(&value), format!("[Array of 1 results - first: {}...", "[".repeat(71)));
    crate::json::forget(value);
}

#[test]
fn a_variable_belongs_to_the_node_in_its_name() {
    let node = |variable: &str| name(variable).node();
    assert_eq!(node("node7.emails"), Some(7));
    assert_eq!(["node7", "node.x", "node07.x", "nodex.y", "node-1.x", "mynode7.x"].map(node), [None; 6]);
    for bad in ["", " ", "all", "a\nb", "a\u{2028}b", &"x".repeat(201)] {
        assert!(bad.parse::<VariableName>().is_err(), "{bad:?}");
    }
}

/// Any JSON.
fn any_json() -> impl Strategy<Value = Value> {
    let text = prop_oneof![".{0,120}", "[a-z]{0,6}", Just("[hidden]".to_owned())];
    let key = prop_oneof![3 => "[a-zA-Z_]{0,8}", 1 => ".{0,4}", 1 => Just("password".to_owned())];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_value_is_shown_in_one_short_line(value in any_json()) {
        let shown = plain(&value);
        // A text has quotes, and its characters may need several to be written.
        let most = if value.is_string() { 1 + 6 * 100 + 3 } else { 100 + 3 };
        prop_assert!(shown.chars().count() <= most, "{shown}");
        prop_assert!(!shown.chars().any(crate::id::is_control), "{shown:?}");
        let is_small = value.to_string().len() < 20;
        prop_assert!(!is_small || !shown.ends_with("...") || value.to_string().contains("..."), "{shown}");
    }

    #[test]
    fn no_secret_is_shown_or_left_in_a_value(value in any_json(), whole in any::<bool>()) {
        // Each secret that there can be is this number.
        fn plant(value: &mut Value) {
            match value {
                Value::Array(all) => all.iter_mut().for_each(plant),
                Value::Object(fields) => {
                    for (key, inner) in fields {
                        if is_secret_name(key) { *inner = json!({"deep": [987_654_321]}) } else { plant(inner) }
                    }
                }
                _ => {}
            }
        }
        let mut value = value;
        plant(&mut value);
        let marked = whole.then_some(true);
        let (masked, secrets) = split_of("thing", value.clone(), marked);
        prop_assert!(!masked.to_string().contains("987654321"));
        prop_assert!(!plain(&masked).contains("987654321"));
        // Put back in their places, the secrets make up the value.
        let mut again = masked;
        for (pointer, secret) in secrets {
            *again.pointer_mut(&pointer).unwrap() = secret;
        }
        prop_assert_eq!(again, value);
    }
}

fn set(variable: &str, value: Value) -> SetVariable {
    marked(variable, value, None)
}

fn marked(variable: &str, value: Value, secret: Option<bool>) -> SetVariable {
    SetVariable::new(name(variable), value, secret, "to try it".into()).unwrap()
}

/// Sets a variable whose secrets somebody seals, as an engine does.
fn set_sealed(board: &Board, mut command: SetVariable) -> State {
    let mark = board.state.variables.mark(&command.name, command.put.secret);
    let secrets = split(command.name.as_str(), &mut command.put.value, mark).unwrap();
    let stored = (Hash::of(json!(secrets).to_string().as_bytes()), "sealed".into());
    let sealed = SealedInput { values: [(command.name.as_str().into(), stored)].into(), ..SealedInput::default() };
    let (by, lookups) = (&Actor::User, &Lookups::default());
    let context = DecisionContext {
        by,
        at: board.now,
        nonce: None,
        salt: None,
        count: board.count,
        lookups,
        sealed: &sealed,
        hide: None,
    };
    let decision = decide(&board.state, &command, context).unwrap();
    assert!(decision.entries.iter().all(|entry| !entry.data.contains("hunter2")));
    decision.state
}

fn share(board: &mut Board, share: Vec<Share>) {
    board.user(SessionPatch { share: Some(share), ..SessionPatch::default() }).unwrap();
}

/// What a viewer sees of the variables, and how often it hears of them in the journal.
fn seen(board: &Board, viewer: &str) -> (String, usize) {
    let view = board.view(viewer).unwrap();
    let lines: Vec<_> = view.variables().map(|one| format!("{} = {}", one.name, one.display)).collect();
    let heard = board.seen(viewer).iter().filter(|entry| entry.kind.starts_with("variable.")).count();
    (lines.join("; "), heard)
}

#[test]
fn variables_are_set_changed_and_cleared() {
    let mut board = Board::team("lead writer");
    board.by("lead", set("page", json!("inbox"))).unwrap();
    board.user(set("node7.emails", json!([]))).unwrap();
    board.user(set("page", json!(null))).unwrap();
    assert_eq!(seen(&board, "lead"), ("node7.emails = [] (empty); page = null".to_owned(), 3));
    board.by("lead", ClearVariables { name: Some(name("page")), reason: "again".into() }).unwrap();
    assert_eq!(seen(&board, "user").0, "node7.emails = [] (empty)");
    let all = ClearVariables { name: None, reason: "a clean test".into() };
    board.by("lead", all.clone()).unwrap();
    assert_eq!(seen(&board, "user").0, "");
    let head = board.state.head;
    board.user(all).unwrap();
    assert_eq!(board.state.head, head, "there was nothing to clear");
    let gone = board.user(ClearVariables { name: Some(name("page")), reason: "again".into() });
    assert_eq!(gone.unwrap_err().code(), "not_found");
}

#[test]
fn an_entry_has_the_value_the_reason_and_the_author() {
    let mut board = Board::team("lead writer");
    for value in [json!(null), json!(false), json!(0), json!(""), json!({"b": 1, "a": [2.5]})] {
        board.by("lead", set("page", value.clone())).unwrap();
        let entry = board.entries.last().unwrap();
        let fact: Set = read(entry).unwrap();
        assert_eq!(
            (fact.value, &*fact.reason, entry.header.by.to_string()),
            (Some(value), "to try it", "agent:lead".to_owned())
        );
    }
    assert_snapshot!(board.entries.last().unwrap().data, @r#"{"name":"page","value":{"b":1,"a":[2.5]},"display":"{b: 1, a: [2.5]}","secret":false,"reason":"to try it"}"#);
}

#[test]
fn a_large_value_stands_beside_the_journal() {
    let mut board = Board::team("lead writer");
    let value = json!(vec!["x".repeat(1000); 100]);
    board.user(set("rows", value.clone())).unwrap();
    let entry = board.entries.last().unwrap();
    assert!(entry.data.len() < 2000, "{}", entry.data);
    let fact: Set = read(entry).unwrap();
    let text = fact.long_value.unwrap().whole(&board.values).unwrap().clone();
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    assert!(seen(&board, "lead").0.starts_with("rows = [Array of 100 results - first: \"xxx"));
    let size = serde_json::to_string(&board.state.variables).unwrap().len();
    assert!(size < 500, "the state has {size} bytes of it");
}

#[test]
fn a_value_over_16_mib_is_refused() {
    let mut board = Board::team("lead writer");
    let error = board.user(set("huge", json!("x".repeat(16 << 20)))).unwrap_err();
    assert_eq!(error.code(), "too_large");
}

#[test]
fn workers_see_variables_where_the_session_shares_them_and_set_none() {
    let mut board = Board::team("lead writer");
    board.user(set("page", json!(1))).unwrap();
    assert_eq!(seen(&board, "writer"), (String::new(), 0));
    assert_eq!(board.view("writer").unwrap().variable(&name("page")).unwrap_err().code(), "not_found");
    share(&mut board, vec![Share::Variables]);
    board.user(set("other", json!(2))).unwrap();
    assert_eq!(seen(&board, "writer"), ("other = 2; page = 1".to_owned(), 1));
    assert_eq!(board.by("writer", set("page", json!(2))).unwrap_err().code(), "forbidden");
    let clear = ClearVariables { name: Some(name("absent")), reason: "r".into() };
    assert_eq!(board.by("writer", clear).unwrap_err().code(), "forbidden");
    assert_eq!(board.by("writer", ClearVariables { name: None, reason: "r".into() }).unwrap_err().code(), "forbidden");
    share(&mut board, Vec::new());
    assert_eq!(seen(&board, "writer"), (String::new(), 0));
}

#[test]
fn only_the_user_says_into_which_pages_secrets_are_typed() {
    let mut board = Board::team("lead writer");
    let set = |origins: Option<&[&str]>| {
        let origins = origins.map(|all| all.iter().map(|origin| origin.parse().unwrap()).collect());
        SetVariable::of(name("page"), PutVariable { value: json!(1), reason: "r".into(), secret: None, origins })
            .unwrap()
    };
    let origins = |board: &Board| {
        let page = board.state.variables.get(&name("page")).unwrap();
        page.origins.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(board.by("lead", set(Some(&["https://a.example"]))).unwrap_err().code(), "forbidden");
    board.user(set(Some(&["https://a.example"]))).unwrap();
    board.by("lead", set(None)).unwrap();
    assert_eq!(origins(&board), ["https://a.example"], "they stay as they were");
    board.user(set(Some(&[]))).unwrap();
    assert!(origins(&board).is_empty());
    let many = vec!["https://a.example"; 21];
    assert!(board.user(set(Some(&many))).unwrap_err().to_string().starts_with("/origins: "));
}

#[test]
fn nothing_is_set_or_cleared_without_a_reason() {
    let mut board = Board::team("lead writer");
    for reason in ["", " \n", &"x".repeat(1001)] {
        let set = SetVariable::new(name("page"), json!(1), None, reason.into()).unwrap();
        let errors: [Error; 2] = [
            board.user(set).unwrap_err(),
            board.user(ClearVariables { name: None, reason: reason.into() }).unwrap_err(),
        ];
        assert!(errors.iter().all(|error| error.to_string().starts_with("/reason: ")), "{errors:?}");
    }
}

#[test]
fn secrets_that_are_not_sealed_are_refused() {
    let mut board = Board::team("lead writer");
    let creds = || set("creds", json!({"email": "a@b.c", "password": "hunter2"}));
    let refused = board.user(creds()).unwrap_err();
    assert_eq!(refused.code(), "sealed");
    assert!(!refused.to_string().contains("hunter2"));
    board.state = set_sealed(&board, creds());
    assert_eq!(seen(&board, "lead").0, r#"creds = {email: "a@b.c", password: "[hidden]"}"#);
    assert!(board.state.variables.get(&name("creds")).unwrap().secret);
    assert_eq!(board.state.secrets.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["creds"]);
    let placeholder = board.user(set("creds", json!({"password": "[hidden]"}))).unwrap_err();
    assert_snapshot!(placeholder, @"/value/password: this stands for a secret: give the secret itself");
}

#[test]
fn a_mark_stays_until_another_one_is_given() {
    let mut board = Board::team("lead writer");
    board.state = set_sealed(&board, marked("code", json!("4711"), Some(true)));
    assert_eq!(board.user(set("code", json!("4712"))).unwrap_err().code(), "sealed");
    board.state = set_sealed(&board, set("code", json!("4712")));
    assert_eq!(seen(&board, "lead").0, "code = [hidden]");
    board.user(marked("code", json!("4712"), Some(false))).unwrap();
    assert_eq!(seen(&board, "lead").0, "code = \"4712\"");
}

#[test]
fn a_large_value_is_decided_where_nothing_waits_for_it() {
    assert_eq!(set("small", json!([1, 2])).items(), 1);
    assert!(set("large", json!("x".repeat(1 << 20))).items() > 1000);
    assert!(set("large", json!(vec![json!({"key": 1}); 100_000])).items() > 800);
}

#[test]
fn many_variables_cost_little() {
    let mut board = Board::team("lead writer");
    for number in 0..300 {
        board.user(set(&format!("v{number}"), json!({"number": number}))).unwrap();
    }
    assert_eq!(board.view("lead").unwrap().variables().count(), 300);
    let size = serde_json::to_string(&board.state.variables).unwrap().len();
    assert!(size < 300 * 200, "{size}");
}
