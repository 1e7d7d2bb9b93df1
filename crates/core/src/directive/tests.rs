use insta::assert_snapshot;
use serde_json::{Value, json};

use super::{
    Directive, Reading, Recipient,
    read::{contradictions, read, read_text},
    schema::schema,
};
use crate::{directive::Direct, testing::Board};

/// What is made of a directive: what is good in it on the first lines, then what is wrong, then what is not understood.
fn reads(directive: &Value) -> String {
    told(&read(directive, &Board::team("lead writer @sub/task-manager Big.Boss").state.team))
}

fn reads_text(text: &str) -> String {
    told(&read_text(text, &Board::team("lead writer @sub/task-manager Big.Boss").state.team))
}

fn told(reading: &Reading) -> String {
    let Directive { message_to, message, workflow_complete, is_info_request, form, sets, expected_output } =
        &reading.directive;
    let mut lines = Vec::new();
    let to = match message_to {
        Some(Recipient::Agent(name)) => format!("to {name}: "),
        Some(Recipient::User(_)) => "to the user: ".to_owned(),
        None => "to nobody: ".to_owned(),
    };
    if message.is_some() || message_to.is_some() {
        lines.push(format!("{to}{:?}", message.as_deref().unwrap_or_default()));
    }
    lines.extend(expected_output.iter().map(|criteria| format!("expects {criteria:?}")));
    lines.extend(is_info_request.then(|| "asks the user".to_owned()));
    lines.extend(form.iter().map(|form| format!("form {:?} of {} fields", form.name, form.fields.len())));
    lines.extend(workflow_complete.then(|| "complete".to_owned()));
    lines.extend(sets.iter().map(|set| match set {
        Ok(set) => {
            let visible_to = set.visible_to_agents.as_ref().map(|audience| format!(" for {audience}"));
            format!("set {:?}{} = {:?}", set.name, visible_to.unwrap_or_default(), set.context)
        }
        Err(outcome) => {
            format!("set {:?} {:?}: {}", outcome.name, outcome.outcome, outcome.reason.as_deref().unwrap_or_default())
        }
    }));
    lines.extend(reading.faults.iter().map(|fault| format!("fault {fault}")));
    lines.extend(contradictions(&reading.directive).iter().map(|fault| format!("contradiction {fault}")));
    lines.extend(reading.unparsed.iter().map(|line| format!("unparsed {line:?}")));
    lines.join("\n")
}

#[test]
fn the_schema_is_made_for_the_team_as_it_is_now() {
    assert_snapshot!(schema(&Board::team("lead writer critic").state.team)["properties"]["messageTo"], @r#"{"type":"string","enum":["writer","critic","user"],"description":"who gets the message"}"#);
    let set = &schema(&Board::team("lead writer").state.team)["properties"]["contextSetUpdate"]["properties"];
    assert_snapshot!(set["contextSets"]["items"]["properties"]["visibleToAgents"], @r#"{"anyOf":[{"type":"string","enum":["all","none","lead","writer"]},{"type":"array","items":{"type":"string","enum":["lead","writer"]}}]}"#);
    for team in ["lead", "lead writer"] {
        jsonschema::validator_for(&schema(&Board::team(team).state.team)).unwrap();
    }
    jsonschema::validator_for(&schema(&Board::empty().state.team)).unwrap();
}

#[test]
fn a_directive_is_read_field_by_field() {
    assert_snapshot!(reads(&json!({
        "messageTo": "writer", "message": "Write.", "expectedOutput": "a poem", "workflowComplete": false,
        "contextSetUpdate": {"contextSets": [
            {"name": "A", "context": "1", "newOrUpdate": "new", "visibleToAgents": ["writer"]},
            {"name": "B", "context": "", "visibleToAgents": "none"},
        ]},
    })), @r#"
    to writer: "Write."
    expects "a poem"
    set "A" for writer = "1"
    set "B" for none = ""
    "#);
    assert_snapshot!(reads(&json!({"messageTo": "user", "message": "Done.", "workflowComplete": true})), @r#"
    to the user: "Done."
    complete
    "#);
    assert_snapshot!(reads(&json!({})), @"");
}

#[test]
fn null_is_what_is_left_out_at_any_depth() {
    assert_snapshot!(reads(&json!({
        "messageTo": null, "message": null, "workflowComplete": null, "isInfoRequest": null, "form": null,
        "contextSetUpdate": null, "expectedOutput": null, "contextUpdates": null,
    })), @"");
    assert_snapshot!(reads(&json!({
        "contextSetUpdate": {"contextSets": [{"name": "A", "context": "1", "newOrUpdate": null, "visibleToAgents": null}]},
        "form": {"name": null, "answered": null, "fields": [
            {"key": "k", "valueType": "STRING", "label": "K", "required": true, "enumValues": null, "description": null},
        ]},
        "isInfoRequest": true, "message": "Which?",
    })), @r#"
    to nobody: "Which?"
    asks the user
    form None of 1 fields
    set "A" = "1"
    "#);
    assert_snapshot!(reads(&json!({"contextSetUpdate": {"contextSets": null}})), @"");
}

#[test]
fn context_updates_mean_nothing() {
    assert_snapshot!(reads(&json!({"contextUpdates": [{"anything": 1}], "workflowComplete": true})), @"complete");
}

#[test]
fn what_the_schema_does_not_allow_is_a_fault_and_the_rest_is_good() {
    assert_snapshot!(reads(&json!({"messageTo": "ghost", "message": "Boo."})), @r#"
    to ghost: "Boo."
    fault /messageTo: "ghost" gets no messages: name one of writer, @sub/task-manager, Big.Boss, or "user"
    "#);
    assert_snapshot!(reads(&json!({"messageTo": "lead", "message": "Boo."})), @r#"
    to lead: "Boo."
    fault /messageTo: "lead" gets no messages: name one of writer, @sub/task-manager, Big.Boss, or "user"
    "#);
    assert_snapshot!(reads(&json!({"messageTo": ["writer"], "message": 7, "surprise": true})), @r#"
    fault unknown field `surprise`
    fault /message: 7 is not of type "string"
    fault /messageTo: ["writer"] gets no messages: name one of writer, @sub/task-manager, Big.Boss, or "user"
    "#);
    assert_snapshot!(reads(&json!({"workflowComplete": "yes", "isInfoRequest": 1})), @r#"
    fault /isInfoRequest: 1 is not of type "boolean"
    fault /workflowComplete: "yes" is not of type "boolean"
    "#);
    assert_snapshot!(reads(&json!({"contextSetUpdate": [{"name": "A", "context": "1"}]})), @r#"fault /contextSetUpdate: [{"name":"A","context":"1"}] is not of type "object""#);
    assert_snapshot!(reads(&json!([1, 2])), @"fault a directive is a JSON object");
    assert_snapshot!(reads(&json!(null)), @"fault a directive is a JSON object");
}

#[test]
fn an_update_that_cannot_be_read_is_rejected_in_its_place() {
    assert_snapshot!(reads(&json!({"contextSetUpdate": {"contextSets": [
        {"name": "A"}, {"name": "B", "context": "1"}, {"context": "1"}, "C", {"name": "D", "context": 1},
        {"name": "E", "context": "1", "newOrUpdate": "create"}, {"name": "F", "context": "1", "visibleTo": "all"},
        {"name": "G", "context": "1", "visibleToAgents": {"to": "all"}}, {"name": "H", "context": "1", "visibleToAgents": []},
    ]}})), @r#"
    set "A" Rejected: missing field `context`
    set "B" = "1"
    set "" Rejected: missing field `name`
    set "" Rejected: invalid type: string "C", expected an object
    set "D" Rejected: invalid type: integer `1`, expected a string
    set "E" Rejected: `create` is not known here: use `new` or `update`
    set "F" Rejected: unknown field `visibleTo`: use `name`, `context`, `newOrUpdate`, `visibleToAgents`
    set "G" Rejected: "all", "none", an agent's name or a list of names
    set "H" for none = "1"
    fault /contextSetUpdate/contextSets/0: "context" is a required property
    fault /contextSetUpdate/contextSets/2: "name" is a required property
    fault /contextSetUpdate/contextSets/3: "C" is not of type "object"
    fault /contextSetUpdate/contextSets/4/context: 1 is not of type "string"
    fault /contextSetUpdate/contextSets/5/newOrUpdate: "create" is not one of "new" or "update"
    fault /contextSetUpdate/contextSets/6: unknown field `visibleTo`
    fault /contextSetUpdate/contextSets/7/visibleToAgents: {"to":"all"} is no visibility: use "all", "none", the name of an agent or a list of names; the team is: lead, writer, @sub/task-manager, Big.Boss
    "#);
}

#[test]
fn outcomes_keep_the_order_of_the_list() {
    let mut board = Board::team("lead writer");
    let sets = json!([
        {"name": "A", "context": "1"}, {"name": "B"}, {"name": "A", "context": "2", "newOrUpdate": "new"},
        {"name": "C", "context": "1", "visibleToAgents": "ghost"}, {"name": "A", "context": ""},
    ]);
    let directed = board.by("lead", Direct(json!({"contextSetUpdate": {"contextSets": sets}}))).unwrap();
    let outcomes: Vec<_> = directed.outcomes.iter().map(|set| format!("{} {:?}", set.name, set.outcome)).collect();
    assert_snapshot!(outcomes.join(", "), @"A Created, B Rejected, A Conflict, C Rejected, A Deleted");
    assert_snapshot!(board.entries.last().unwrap().data, @r#"{"outcomes":[{"name":"A","outcome":"created"},{"name":"B","outcome":"rejected","reason":"missing field `context`"},{"name":"A","outcome":"conflict","reason":"there is a set of this name: update it"},{"name":"C","outcome":"rejected","reason":"/visibleToAgents: there is no agent ghost; the team is: lead, writer"},{"name":"A","outcome":"deleted"}]}"#);
}

#[test]
fn an_update_for_unknown_agents_deletes_nothing() {
    let mut board = Board::team("lead writer");
    let mut update = |set: Value| {
        let directed = board.by("lead", Direct(json!({"contextSetUpdate": {"contextSets": [set]}}))).unwrap();
        json!(directed.outcomes).to_string()
    };
    update(json!({"name": "A", "context": "1"}));
    assert_snapshot!(update(json!({"name": "A", "context": "", "visibleToAgents": "ghost"})), @r#"[{"name":"A","outcome":"rejected","reason":"/visibleToAgents: there is no agent ghost; the team is: lead, writer"}]"#);
    assert_eq!(board.state.sets.iter().count(), 1);
}

#[test]
fn outside_of_a_run_a_directive_with_other_faults_is_refused_whole() {
    let mut board = Board::team("lead writer");
    let before = board.clone();
    let directive = json!({"messageTo": "ghost", "contextSetUpdate": {"contextSets": [{"name": "A", "context": "1"}]}});
    assert_snapshot!(board.by("lead", Direct(directive)).unwrap_err(), @r#"/messageTo: "ghost" gets no messages: name one of writer, or "user""#);
    assert_snapshot!(board.by("lead", Direct(json!(7))).unwrap_err(), @"a directive is a JSON object");
    assert_eq!(board.state, before.state);
}

#[test]
fn contradictions_are_named() {
    assert_snapshot!(reads(&json!({"messageTo": "writer", "message": "More.", "workflowComplete": true})), @r#"
    to writer: "More."
    complete
    contradiction /workflowComplete: the work is not complete while an agent is asked for more: say one or the other
    "#);
    assert_snapshot!(reads(&json!({"messageTo": "writer", "message": "Which?", "isInfoRequest": true})), @r#"
    to writer: "Which?"
    asks the user
    contradiction /isInfoRequest: a request for information goes to the user: set messageTo to user
    "#);
    assert_snapshot!(reads(&json!({"isInfoRequest": true, "workflowComplete": true})), @"
    asks the user
    complete
    contradiction /isInfoRequest: the work is not complete while the user is asked: say one or the other
    contradiction /message: say what the message is
    ");
    assert_snapshot!(reads(&json!({"messageTo": "writer"})), @r#"
    to writer: ""
    contradiction /message: say what the message is
    "#);
    assert_snapshot!(reads(&json!({"message": "Hello?"})), @r#"
    to nobody: "Hello?"
    contradiction /messageTo: say whom the message is for
    "#);
}

#[test]
fn json_is_found_in_a_code_fence() {
    let complete = "complete";
    for text in [
        "{\"workflowComplete\": true}",
        "  {\"workflowComplete\": true}\n\n",
        "```json\n{\"workflowComplete\": true}\n```",
        "```\n{\"workflowComplete\": true}\n```",
        "```JSON\n{\"workflowComplete\": true}\n```",
        "Here it is:\n```json\n{\"workflowComplete\": true}\n```\nI hope that it helps.",
        "Not ```this``` but\n```json\n{\"workflowComplete\": true}\n```\nand not ```that```.",
        "```json\n{\"workflowComplete\": true}",
        "\u{feff}{\"workflowComplete\": true}",
    ] {
        assert_eq!(reads_text(text), complete, "{text}");
    }
    assert_snapshot!(reads_text("```json\n{\"message\": \"Use ```sh\\nls\\n```\", \"messageTo\": \"writer\"}\n```"), @r#"to writer: "Use ```sh\nls\n```""#);
}

#[test]
fn json_that_cannot_be_read_says_where() {
    assert_snapshot!(reads_text("{\"message\": \"cut of"), @"fault the JSON cannot be read: it ends in the middle of a string at line 1 column 19");
    let twice = "{\"messageTo\": \"writer\", \"messageTo\": \"user\"}";
    for text in [twice.to_owned(), format!("So:\n```json\n{twice}\n```\n")] {
        let said = reads_text(&text);
        assert!(said.starts_with("fault the JSON cannot be read: duplicate field `messageTo`"), "{said}");
    }
    assert_snapshot!(reads_text("```json\n{\"message\": \"\\ud800\"}\n```"), @"fault the JSON cannot be read: an escape stands for half of a character at line 1 column 20");
    assert_snapshot!(reads_text(&format!("{{\"message\": {}{}}}", "[".repeat(200), "]".repeat(200))), @"fault the JSON cannot be read: it is nested too deep at line 1 column 139");
}

#[test]
fn a_text_is_read_line_by_line() {
    assert_snapshot!(reads_text("\
Context update: Facts (visible to: writer, Big.Boss)
The sky is blue.

Water is wet.
Context update: Old Notes
Message to writer: Write about the sky.
Keep it short.
Expected output: two lines
that rhyme
"), @r#"
    to writer: "Write about the sky.\nKeep it short."
    expects "two lines\nthat rhyme"
    set "Facts" for Big.Boss, writer = "The sky is blue.\n\nWater is wet."
    set "Old Notes" = ""
    "#);
}

#[test]
fn keywords_may_be_in_any_case() {
    assert_snapshot!(reads_text("CONTEXT UPDATE: A (VISIBLE TO: ALL)\nx\nmEsSaGe tO WRITER: hi\neXpected Output: y"), @r#"
    to writer: "hi"
    expects "y"
    set "A" for all = "x"
    "#);
    assert_snapshot!(reads_text("information REQUEST: Which colour?"), @r#"
    to the user: "Which colour?"
    asks the user
    "#);
    assert_snapshot!(reads_text("WORKFLOW COMPLETE!"), @"complete");
    assert_snapshot!(reads_text("context update: B (visible to: none)\nworkflow complete."), @r#"
    complete
    set "B" for none = ""
    "#);
}

#[test]
fn a_line_may_begin_with_an_agents_name_behind_an_at_sign() {
    assert_snapshot!(reads_text("@writer Write."), @r#"to writer: "Write.""#);
    assert_snapshot!(reads_text("@Writer: Write."), @r#"to writer: "Write.""#);
    assert_snapshot!(reads_text("@writer, write."), @r#"to writer: "write.""#);
    assert_snapshot!(reads_text("@user Done."), @r#"to the user: "Done.""#);
    assert_snapshot!(reads_text("@sub/task-manager Plan."), @r#"to @sub/task-manager: "Plan.""#);
    assert_snapshot!(reads_text("@Big.Boss Look."), @r#"to Big.Boss: "Look.""#);
    assert_snapshot!(reads_text("@writers Write."), @r#"
    to nobody: "@writers Write."
    contradiction /messageTo: say whom the message is for
    "#);
}

#[test]
fn a_content_keeps_lines_that_only_look_like_a_message() {
    assert_snapshot!(reads_text("Context update: Code\n@Override\nvoid main()\n<html>"), @r#"set "Code" = "@Override\nvoid main()\n<html>""#);
}

#[test]
fn a_set_for_an_unknown_agent_is_rejected_and_never_shown_to_all() {
    assert_snapshot!(reads_text("Context update: A (visible to: ghost)\nsecret\nContext update: B (visible to: )\nx"), @r#"
    set "A" Rejected: there is no agent ghost; the team is: lead, writer, @sub/task-manager, Big.Boss
    set "B" for none = "x"
    "#);
}

#[test]
fn what_fits_nothing_is_the_message_or_is_reported() {
    assert_snapshot!(reads_text("I think that we are done here."), @r#"
    to nobody: "I think that we are done here."
    contradiction /messageTo: say whom the message is for
    "#);
    assert_snapshot!(reads_text("Well.\nMessage to writer: Write.\n\nThat is all."), @r#"
    to writer: "Write."
    unparsed "Well."
    unparsed "That is all."
    "#);
    assert_snapshot!(reads_text("Message to ghost: Boo.\nMessage to writer: Write.\nMessage to Big.Boss: Look."), @r#"
    to writer: "Write."
    unparsed "Message to ghost: Boo."
    unparsed "Message to Big.Boss: Look."
    "#);
    assert_snapshot!(reads_text("Expected output: a\nExpected output: b\nWorkflow complete when it is done"), @r#"
    to nobody: "Workflow complete when it is done"
    expects "a"
    contradiction /messageTo: say whom the message is for
    unparsed "Expected output: b"
    "#);
    assert_snapshot!(reads_text("Context update:\nMessage to writer"), @r#"
    to nobody: "Context update:\nMessage to writer"
    contradiction /messageTo: say whom the message is for
    "#);
    assert_snapshot!(reads_text(""), @"");
}

#[test]
fn a_megabyte_of_lines_is_read_at_once_and_reported_in_a_few_words() {
    let lines = "x\n".repeat(500_000);
    assert!(reads_text(&format!("Context update: A\n{lines}")).len() > 500_000);
    let reported = reads_text(&format!("Message to writer: Write.\n\n{lines}"));
    assert!(reported.len() < 10_000, "{}", reported.len());
}
