use serde_json::{Value, json};

use super::*;
use crate::{id::NodeId, testing::Board, workflow::CreateNode};

fn node(kind: &str, config: Value) -> Node {
    let Value::Object(config) = config else { panic!() };
    Node { id: NodeId(1), kind: kind.into(), config, description: None }
}

/// Where the faults are of a configuration, as it is written.
fn check(kind: &str, config: Value, expected: &[&str]) {
    let mut faults = Vec::new();
    node(kind, config.clone()).check_config("", &mut faults);
    let pointers: Vec<_> = faults.iter().map(|fault| fault.pointer.as_str()).collect();
    assert_eq!(pointers, expected, "{kind} {config}: {faults:?}");
}

#[test]
fn a_configuration_is_checked_as_it_is_written() {
    for (kind, config) in [
        ("browser_action", json!({"action": "navigate", "url": "https://example.com/{{city}}", "tab_name": "Main"})),
        ("browser_action", json!({"action": "type", "selector": "#pw", "value": "{{secret:creds.password}}"})),
        (
            "browser_action",
            json!({"actions": [{"action": "click", "selector": "#a"}, {"action": "wait", "value": 50}]}),
        ),
        ("browser_query", json!({"fields": {"url": {"page": "url"}, "n": {"selector": "li", "take": "count"}}})),
        (
            "browser_query",
            json!({"fields": {"rows": {"selector": "tr", "each": {"name": {"selector": "td", "optional": true},
            "link": {"selector": "a", "attribute": "href"}}}}, "expect": "rows|length > 0"}),
        ),
        ("transform", json!({"set": {"total": "node1.a + 1"}})),
        ("model", json!({"prompt": "Which of {{node1.a}}?", "schema": {"type": "object"}})),
        ("route", json!({"routes": [{"when": "node1.a", "to": "node_1"}], "else": "end"})),
        ("route", json!({"value": "{{node1.a}}", "cases": {"x": "node_1"}})),
        ("iterate", json!({"over": "{{node1.a}}", "last": "node_2", "count": "{{limit}}", "collect": "node1.b"})),
        ("table", json!({"any": {"thing": "{{"}})),
        ("transform", json!({})),
        // What is missing is told when it is executed.
        ("browser_action", json!({"action": "type", "selector": "#a"})),
        ("browser_action", json!({"action": "navigate"})),
    ] {
        check(kind, config, &[]);
    }
    for (kind, config, expected) in [
        ("browser_action", json!({"action": "fly"}), &["/action"][..]),
        ("browser_action", json!({"action": "click", "url": "x"}), &["/url"]),
        ("browser_action", json!({"action": "click", "actions": []}), &["/actions"]),
        ("browser_action", json!({"actions": []}), &["/actions"]),
        (
            "browser_action",
            json!({"actions": [{"action": "type", "selector": "#a", "words": "x"}]}),
            &["/actions/0/words"],
        ),
        ("browser_action", json!({"action": "click", "selector": "{{secret:a.b}}"}), &["/selector"]),
        ("browser_action", json!({"action": "navigate", "url": "{{city"}), &["/url"]),
        ("browser_query", json!({"fields": {}}), &["/fields"]),
        ("browser_query", json!({"fields": {"a": {"take": "count"}}}), &["/fields/a/selector"]),
        ("browser_query", json!({"fields": {"a": {"selector": "b", "take": "all"}}}), &["/fields/a/take"]),
        ("browser_query", json!({"fields": {"a": {"page": "text"}}, "expect": "a +"}), &["/expect"]),
        ("transform", json!({"set": {"a": "1 +", "b": "{{x}}", "c": 1}}), &["/set/a", "/set/b"]),
        ("transform", json!({"set": {"a": 1}}), &["/set/a"]),
        ("transform", json!({"let": 1}), &["/let", "/set"]),
        ("model", json!({"prompt": " ", "schema": {"type": 7}}), &["/prompt", "/schema"]),
        ("model", json!({"prompt": "x", "schema": [], "temperature": 1}), &["/temperature", "/schema"]),
        ("route", json!({"else": "end"}), &["/routes"]),
        ("route", json!({"routes": [{"when": "1", "to": "node"}], "cases": {}}), &["/routes/0/to", "/cases", "/value"]),
        ("iterate", json!({"over": "abc", "last": 3}), &["/over", "/last"]),
    ] {
        check(kind, config, expected);
    }
}

#[test]
fn a_template_is_resolved_and_keeps_its_type() {
    let values: Values = [("city", json!("Rome")), ("node1.a", json!([1, 2, 3])), ("limit", json!(1))]
        .into_iter()
        .map(|(name, value)| (name.parse().unwrap(), value))
        .collect();
    let iterate = node("iterate", json!({"over": "{{node1.a}}", "last": "node_2", "start": "{{limit}}"}));
    let Ok(Work::Iterate(Iterate { over, last, .. })) = iterate.work(&values) else { panic!() };
    assert_eq!((over, last), (vec![json!(2), json!(3)], NodeId(2)));
    let action = node("browser_action", json!({"action": "navigate", "url": "https://x.org/{{city}}/{{node1.a[1]}}"}));
    let Ok(Work::BrowserAction(action)) = action.work(&values) else { panic!() };
    assert!(format!("{action:?}").contains("https://x.org/Rome/2"));
    let lacks = node("browser_action", json!({"action": "type"})).work(&values).unwrap_err();
    assert!(lacks.to_string().starts_with("/config/selector: say where"), "{lacks}");
    let wrong = node("iterate", json!({"over": "{{city}}", "last": "node_2"})).work(&values).unwrap_err();
    assert!(wrong.to_string().starts_with("/config/over: use a list"), "{wrong}");
}

#[test]
fn a_node_reads_the_variables_that_its_templates_and_expressions_name() {
    let mut board = Board::team("lead");
    for name in ["node1.a", "node1.b", "city", "my list"] {
        board.set_variable(name, json!(1));
    }
    let reads = |node: Node| node.reads(&board.state.variables);
    let names = |node: Node| reads(node).unwrap().into_iter().map(|name| name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(node("transform", json!({"set": {"x": "node1.a + 1"}}))), ["node1.a", "node1.b"]);
    assert_eq!(names(node("transform", json!({"set": {"x": "vars[\"my list\"]"}}))).len(), 4);
    assert_eq!(names(node("model", json!({"prompt": "{{city}} {{my list[0]}}"}))), ["city", "my list"]);
    let unresolved = reads(node("model", json!({"prompt": "in {{nowhere.x}}"}))).unwrap_err();
    assert!(unresolved.to_string().starts_with("/config/prompt: {{nowhere.x}} does not resolve"), "{unresolved}");
}

#[test]
fn an_expression_refers_to_nodes() {
    let mut board = Board::team("lead");
    let create = |config: Value| CreateNode { kind: "transform".into(), config, ..CreateNode::default() };
    let refused = board.user(create(json!({"set": {"x": "node7.a + 1"}}))).unwrap_err();
    assert_eq!(refused.to_string(), "/config/set/x: there is no node node_7: refer to one that is there");
    board.user(create(json!({"set": {"x": "1"}}))).unwrap();
    board.user(create(json!({"set": {"y": "node1.x + 1"}}))).unwrap();
    let edges = board.state.workflow.edges();
    assert!(edges.iter().any(|edge| edge.kind == crate::workflow::EdgeKind::Reads && edge.to == NodeId(1)));
}

#[test]
fn an_answer_of_a_model_is_checked() {
    let properties = json!({"n": {"type": "integer"}, "why": {"type": "string"}});
    let schema = json!({"type": "object", "properties": properties, "required": ["n"]});
    let ask = AskModel { prompt: "?".into(), instructions: None, schema, model: None };
    assert_eq!(ask.answer("Sure:\n```json\n{\"n\": 3}\n```"), Ok(json!({"n": 3})));
    assert_eq!(ask.answer("{\"n\": 3, \"why\": null}"), Ok(json!({"n": 3})));
    assert_eq!(ask.answer("{\"n\": \"3\"}").unwrap_err()[0].pointer, "/n");
    assert!(ask.answer("three").unwrap_err()[0].problem.contains("no JSON"));
}
