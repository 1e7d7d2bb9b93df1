//! A director at work, as it is talked with: on a scripted model, with a real Chromium, and on a real small model.

use std::{
    process::{Command, Output},
    sync::LazyLock,
};

use callboard_model::scripted::{Reply, Scripted};
use serde_json::{Value, json};

use crate::{
    browser::{page, serve, site},
    home::Home,
    play::Played,
    real_model::model_url,
    server::{PATIENCE, Server},
};

/// The password of the mails, which nobody but the user may read.
const PASSWORD: &str = "osprey-9920-quartz";

/// Mails on two pages, behind a login.
const MAILS: &[(&str, &str)] = &[
    (
        "/",
        "<!doctype html><title>Sign in</title><h1>Sign in</h1><form onsubmit=\"event.preventDefault(); \
        if (mail.value == 'ann@example.com' && pass.value == 'osprey-9920-quartz') location = '/inbox'\">\
        <label>Email <input id=mail></label><input id=pass type=password><button id=next>Next</button></form>",
    ),
    (
        "/inbox",
        "<!doctype html><title>Inbox</title><h1>Page 1</h1><table>\
        <tr class=mail><td class=from>ann</td><td class=amount>1,200</td></tr>\
        <tr class=mail><td class=from>bob</td><td class=amount>7.5</td></tr></table><a id=more href=/inbox/2>More</a>",
    ),
    (
        "/inbox/2",
        "<!doctype html><title>Inbox</title><h1>Page 2</h1><table>\
        <tr class=mail><td class=from>cyd</td><td class=amount>30</td></tr></table>",
    ),
];

/// The site to which the amounts are copied.
static LEDGER: LazyLock<u16> = LazyLock::new(|| {
    site(&[(
        "/",
        "<!doctype html><title>Ledger</title><form onsubmit=\"event.preventDefault(); \
        const row = document.createElement('li'); row.textContent = who.value; rows.append(row); who.value = ''\">\
        <input id=who><button id=add>Add</button></form><ul id=rows></ul>",
    )])
});

/// Lets a command line look at the page on this port, and at the ledger.
fn allowed(mut command: Command, port: u16) -> Command {
    command.env("CALLBOARD_BROWSER_ALLOW", format!("127.0.0.1:{port},127.0.0.1:{}", *LEDGER));
    command
}

/// A command line of `callboard director` that may look at the page on this port.
fn director(home: &Home, port: u16, message: &[&str]) -> Command {
    allowed(home.command(["director", "--json", "--session", "demo"].iter().chain(message)), port)
}

fn say(home: &Home, port: u16, message: &[&str]) -> Played {
    played(&director(home, port, message).output().unwrap())
}

fn played(output: &Output) -> Played {
    let played = Played::of(output);
    assert!(!played.result.is_null(), "{}", String::from_utf8_lossy(&output.stderr));
    played
}

/// Says it, and is killed as `kill -9` does once the model was asked so often.
fn say_and_die(home: &Home, port: u16, message: &[&str], endpoint: &Scripted, asked: usize) {
    let mut child = director(home, port, message).spawn().unwrap();
    assert!(endpoint.wait_for(asked, PATIENCE), "the model was not asked {asked} times");
    child.kill().unwrap();
    child.wait().unwrap();
}

fn plan(status: &str, notes: &str) -> (&'static str, Value) {
    let task = json!({"task_id": 1, "description": "Press the button", "status": status, "notes": notes});
    let phase = json!({"phase_name": "Login", "status": status, "tasks": [task]});
    let plan = json!({"overall_goal": "Log in", "current_phase": "Login", "phases": [phase]});
    ("update_plan", json!({"plan": plan, "reason": notes}))
}

fn click(selector: &str) -> (&'static str, Value) {
    ("debug_action", json!({"action": "click", "selector": selector, "tabName": "Main Tab", "reason": "to test it"}))
}

/// The node that signs in, by a button with this selector.
fn sign_in(button: &str) -> Value {
    json!({"tab_name": "Main Tab", "actions": [
        {"action": "type", "selector": "#mail", "value": "{{mail_creds.email}}"},
        {"action": "type", "selector": "#pass", "value": "{{secret:mail_creds.password}}"},
        {"action": "click", "selector": button},
        {"action": "wait", "value": "Page 1"},
    ]})
}

/// What the director answers, one turn after the other.
fn story(port: u16) -> Vec<Reply> {
    let url = format!("http://127.0.0.1:{port}/");
    let node = |kind: &str, config: Value, what: &str| {
        ("create_node", json!({"type": kind, "config": config, "description": what}))
    };
    let each = json!({"from": {"selector": ".from"}, "amount": {"selector": ".amount", "type": "number"}});
    let mails = json!({"tab_name": "Main Tab", "fields": {"mails": {"selector": "tr.mail", "each": each}}});
    let more = json!([{"action": "click", "selector": "#more"}, {"action": "wait", "value": "Page 2"}]);
    let sums = json!({"mails": "[node3.mails[0], node3.mails[1], node5.mails[0]]",
        "total": "mails[0].amount + mails[1].amount + mails[2].amount"});
    let write = json!([
        {"action": "type", "selector": "#who", "value": "{{node8.item.from}} {{node8.item.amount}}"},
        {"action": "click", "selector": "#add"},
    ]);
    let repeat = json!({"over": "{{node6.mails}}", "last": "node_9", "collect": "node8.item.from"});
    let rows = json!({"tab_name": "Ledger", "fields": {"rows": {"selector": "#rows li", "all": true}},
        "expect": "rows|length == node6.mails|length"});
    let ledger =
        json!({"variableName": "ledger_url", "value": format!("http://127.0.0.1:{}/", *LEDGER), "reason": "r"});
    let open = |url: &str, tab: &str| json!({"action": "navigate", "url": url, "tab_name": tab});
    vec![
        Reply::tool_calls([plan("in_progress", "the first draft")]),
        Reply::tool_calls([("deploy_scout", json!({"instruction": "Which button logs in?", "url": url}))]),
        Reply::tool_calls([
            node("browser_action", open(&url, "Main Tab"), "To open the mails"),
            node("browser_action", sign_in("#nxt"), "To sign in"),
        ]),
        Reply::text("Two nodes are there. Shall I test them?"),
        Reply::text("I keep these rules in mind."),
        Reply::tool_calls([
            ("debug_open_tab", json!({"url": url, "tabName": "Main Tab"})),
            click("#nxt"),
            ("inspect_tab", json!({"tabName": "Main Tab", "inspectionType": "dom_snapshot"})),
        ]),
        Reply::tool_calls([
            ("update_node", json!({"nodeId": "node_2", "config": sign_in("#next")})),
            click("#next"),
            ("test_single_node", json!({"nodeId": "node_2"})),
        ]),
        Reply::tool_calls([
            node("browser_query", mails.clone(), "To read the first page"),
            ("test_single_node", json!({"nodeId": "node_3"})),
            node("browser_action", json!({"tab_name": "Main Tab", "actions": more}), "To turn the page"),
            node("browser_query", mails, "To read the second page"),
            node("transform", json!({ "set": sums }), "To put them together"),
        ]),
        Reply::tool_calls([
            ("set_variable", ledger),
            node("browser_action", open("{{ledger_url}}", "Ledger"), "To open the ledger"),
            node("iterate", json!({}), "For each mail"),
            node("browser_action", json!({"tab_name": "Ledger", "actions": write}), "To write a row"),
            ("update_node", json!({"nodeId": "node_8", "config": repeat})),
            node("browser_query", rows, "To check the ledger"),
        ]),
        Reply::tool_calls([plan("completed", "#next is stable")]),
        Reply::text("It works."),
    ]
}

fn text(request: &Value) -> String {
    request["messages"].to_string()
}

fn is_scouts(request: &Value) -> bool {
    text(request).contains("You are a scout.")
}

fn is_summary(request: &Value) -> bool {
    request.get("tools").is_none() && !is_scouts(request)
}

/// Answers by what is asked, so that a question that comes again gets the same answer. To some requests nothing is answered.
fn storyteller(port: u16, mut is_silent: impl FnMut(&Value, usize) -> bool + Send + 'static) -> Scripted {
    let (story, mut asked) = (story(port), Vec::new());
    Scripted::start(move |request, nth| {
        if is_silent(request, nth) {
            return Reply::silence();
        }
        if is_summary(request) {
            return Reply::text("The user wants to log in. The director made node_1 and node_2, which clicks #nxt.");
        }
        if is_scouts(request) {
            return match text(request).contains("\"tool\"") {
                false => Reply::tool_calls([("inspect_tab", json!({"inspectionType": "dom_snapshot"}))]),
                true => {
                    Reply::json(&json!({"summary": "a form", "selectors": [{"name": "next", "selector": "#next"}]}))
                }
            };
        }
        let known = asked.iter().position(|messages| *messages == request["messages"]);
        let turn = known.unwrap_or_else(|| {
            asked.push(request["messages"].clone());
            asked.len() - 1
        });
        story.get(turn).cloned().unwrap_or_else(|| Reply::text("There is nothing more to do."))
    })
}

const DIRECTOR: &str = r#"
[[agent]]
name = "director"
role = "manager"

[prompt]
budget = 24000

[compression]
warn_tokens = 8000
compress_tokens = 9000
target_tokens = 1500
"#;

/// A session in which a long paste passes the size at which a conversation is compressed.
fn home(endpoint: &Scripted) -> Home {
    // The tokens of this model are counted exactly.
    let home = Home::at(endpoint.base_url(), "openai:gpt-4o");
    home.write("director.toml", DIRECTOR);
    home.json("session new director.toml --id demo");
    home
}

/// More than is kept of a conversation that is compressed.
fn rules() -> String {
    (0..160)
        .map(|n| format!("Rule {n}: what is written in the ledger on day {n} stays there for {n} years.\n"))
        .collect()
}

#[test]
fn a_director_plans_scouts_builds_tests_and_mends_and_is_killed_three_times_on_the_way() {
    let port = site(MAILS);
    let mut silent = 0;
    let endpoint = storyteller(port, move |request, _| {
        let dies = match silent {
            // While it thinks, while its scout thinks, and while its conversation is compressed.
            0 => true,
            1 => is_scouts(request) && text(request).contains("\"tool\""),
            2 => is_summary(request),
            _ => false,
        };
        silent += usize::from(dies);
        dies
    });
    let home = home(&endpoint);
    let creds = json!({"email": "ann@example.com", "password": PASSWORD});
    home.json(&format!("var set mail_creds '{creds}' --origin http://127.0.0.1:{port} --session demo"));
    let wish = "Hi I would like to build a workflow that copies the amounts of my mails into the ledger.";
    say_and_die(&home, port, &[wish], &endpoint, 1);
    // The plan, the scout's turns, of which the second is silent.
    say_and_die(&home, port, &[], &endpoint, 1 + 4);
    let built = say(&home, port, &[]);
    assert_eq!(built.run(), "completed", "{}", built.result);
    assert_eq!(built.result["message"], "Two nodes are there. Shall I test them?");
    assert_eq!(say(&home, port, &[&rules()]).run(), "completed");
    let before = endpoint.requests().len();
    say_and_die(&home, port, &["Yes, test them."], &endpoint, before + 1);
    let mended = say(&home, port, &[]);
    assert_eq!((mended.run(), &mended.result["message"]), ("completed", &json!("It works.")), "{}", mended.result);

    let journal = home.journal("demo");
    let of = |kind: &str| {
        journal.iter().filter(|entry| entry["type"] == kind).map(|entry| &entry["data"]).collect::<Vec<_>>()
    };
    assert_eq!((of("plan.updated").len(), of("run.ended").len()), (2, 3));
    assert_ne!(of("conversation.compressed").len(), 0);
    let said: Vec<_> = of("message.added").iter().filter_map(|message| message["content"].as_str()).collect();
    let told = |part: &str| said.iter().any(|text| text.contains(part));
    assert!(told("Scout deployed successfully\nScout Report: {"), "{:?}", &said[..9]);
    assert!(told("`#nxt` matches nothing; nearest:"), "the test finds the fault: {said:?}");
    assert!(told("1. click `#next`: done"), "the test passes once it is mended: {said:?}");
    let is_read = |text: &&str| text.starts_with("<page_text ") && text.contains("\"from\":\"ann\"");
    assert!(said.iter().any(is_read), "what a node read is data: {said:?}");
    let workflow = home.json("workflow --session demo");
    assert_eq!(workflow["nodes"].as_array().unwrap().len(), 10, "{workflow}");
    assert_eq!(workflow["nodes"][1]["config"]["actions"][2]["selector"], "#next");
    assert_eq!(workflow["nodes"][1]["status"], "success", "the node was tested: {workflow}");
    // What was built runs by itself, without any model.
    let asked_before = endpoint.requests().len();
    let execute = home.command(["workflow", "run", "--session", "demo", "--json"]);
    let output = allowed(execute, port).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(endpoint.requests().len(), asked_before);
    let variable = |name: &str| home.json(&format!("var get {name} --session demo"))["value"].clone();
    assert_eq!(variable("node3.mails")[0], json!({"from": "ann", "amount": 1200}));
    assert_eq!(variable("node5.mails"), json!([{"from": "cyd", "amount": 30}]));
    assert_eq!(variable("node6.total"), json!(1237.5));
    assert_eq!(variable("node8.collected"), json!(["ann", "bob", "cyd"]));
    assert_eq!(variable("node10.rows"), json!(["ann 1200", "bob 7.5", "cyd 30"]));
    let everything = json!([home.journal("demo"), endpoint.requests()]).to_string();
    assert!(!everything.contains(PASSWORD), "the password is in no entry and in no request");
    // What was answered was not asked again: one more request than answers for each death in a turn.
    let turns = of("turn.requested").iter().filter(|turn| turn["run"].is_string()).count();
    assert_eq!(turns, of("turn.answered").iter().filter(|turn| turn["run"].is_string()).count());
    let asked = endpoint.requests().iter().filter(|one| !is_scouts(one) && !is_summary(one)).count();
    assert_eq!(asked, turns + 1, "only the turn in which it died first was asked twice");
    for requested in of("turn.requested") {
        assert!(requested["prompt"]["tokens"].as_u64() <= requested["prompt"]["budget"].as_u64());
    }
    home.assert_sound();
}

#[test]
fn a_director_goes_on_at_a_server_that_was_killed() {
    let port = page();
    let endpoint = storyteller(port, |_, nth| nth == 2);
    let home = home(&endpoint);
    let serve = || Server::of(serve(&home, port, ""));
    let mut server = serve();
    let say = |message: &str, url: &str| {
        home.command(["director", "--json", "--session", "demo", "--url", url, message]).spawn().unwrap()
    };
    let mut watching = say("Log me in.", &server.url);
    assert!(endpoint.wait_for(3, PATIENCE));
    server.kill();
    watching.kill().unwrap();
    watching.wait().unwrap();
    let server = serve();
    let output = say("", &server.url).wait_with_output().unwrap();
    let played = played(&output);
    assert_eq!(played.run(), "completed", "{}", played.result);
    let journal = home.journal("demo");
    let said = journal.iter().filter_map(|entry| entry["data"]["content"].as_str()).collect::<Vec<_>>();
    assert!(said.iter().any(|text| text.contains("Scout Report:")), "{said:?}");
}

#[test]
fn a_director_is_talked_with_as_people_read_it() {
    let endpoint = storyteller(1, |_, _| false);
    let home = Home::at(endpoint.base_url(), "openai:gpt-4o");
    let said = home.run("director 'Log me in.' --limit-turns 1");
    assert_eq!(said.status, 1, "{}", said.stderr);
    assert!(
        said.stdout.contains("  update_plan ") && said.stdout.contains("→ Plan updated successfully"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("[>] Login  <- now\n  [>] 1. Press the button\n"), "{}", said.stdout);
    assert!(said.stdout.contains("paused: the limit of 1 turns is reached"), "{}", said.stdout);
    assert!(said.stdout.contains("tokens of 1"), "the size of the context is shown: {}", said.stdout);
    assert!(said.stderr.contains("made the session "), "{}", said.stderr);
    let again = home.run("director 'Go on.' --limit-turns 2");
    assert!(again.stderr.contains("were set when it started"), "{}", again.stderr);
    let context = home.json("context");
    let requested = home.json("turns");
    assert_eq!(context["agents"][0]["agent"], "director");
    assert!(requested["turns"][0]["tokens"].as_u64().unwrap() > 5000, "{requested}");
    // Its tools count, but for those of a browser, which this process has none of.
    assert!(context["tokens"].as_u64().unwrap() > 4000, "{context}");
    let nothing = Home::with(&endpoint).run("director");
    assert_eq!(nothing.status, 2, "{}", nothing.stderr);
    assert!(nothing.stderr.contains("say something to the director"), "{}", nothing.stderr);
}

#[test]
fn ctrl_c_cancels_the_run_of_a_director_and_not_the_session() {
    let endpoint = storyteller(1, |_, nth| nth == 0);
    let home = Home::with(&endpoint).with_session("--id demo --agent director:manager");
    let child = director(&home, 1, &["Log me in."]).spawn().unwrap();
    assert!(endpoint.wait_for(1, PATIENCE));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let cancelled = played(&child.wait_with_output().unwrap());
    assert_eq!((cancelled.run(), cancelled.status), ("cancelled", Some(1)));
    let again = say(&home, 1, &["Once more."]);
    assert_eq!(again.run(), "completed", "{}", again.result);
    home.assert_sound();
}

#[test]
fn a_team_that_works_is_not_taken_for_a_director() {
    let endpoint = callboard_model::scripted::Scripted::start(|_, _| Reply::silence());
    let home = Home::with(&endpoint).over_http().with_session("--id demo --agent lead:manager");
    home.http().done("POST", "/v1/sessions/demo/runs", &json!({"kind": "team", "input": "Write."}));
    let (status, error) = home.error("director 'Log me in.' --session demo");
    assert_eq!((status, &error["code"]), (1, &json!("run_unfinished")), "{error}");
    home.json("runs cancel --session demo");
    home.json("session new --id alone --agent writer");
    let (status, error) = home.error("director 'Log me in.' --session alone");
    assert_eq!((status, &error["code"]), (1, &json!("no_manager")), "{error}");
}

/// So often may a small model try.
const TRIES: usize = 6;

/// A director that is offered the two tools of its task: a model on a processor takes seconds to read the schemas of the others,
/// and reads them again whenever the plan or the workflow before them has changed.
const SMALL: &str = r#"
[[agent]]
name = "director"
role = "manager"

[prompt]
budget = 8000
answer_tokens = 256

[[step]]
name = "build"
is_default = true
available_tools = { allowed = ["update_plan", "create_node"] }
"#;

#[test]
fn a_director_on_a_real_model_plans_and_makes_a_node_that_works() {
    let home = Home::at(model_url(), "openai:qwen2.5-coder-0.5b");
    let has_built = (1..=TRIES).any(|nth| builds(&home, nth));
    assert!(has_built, "no node that works was made in {TRIES} tries");
    home.assert_sound();
}

/// Lets the director work in a session of its own, which holds whatever the model says. Whether it made a plan, and a node that
/// works. Each try is about another page.
fn builds(home: &Home, nth: usize) -> bool {
    let port = page();
    let (session, page) = (&format!("try-{nth}"), format!("http://127.0.0.1:{port}/{nth}"));
    home.write("small.toml", SMALL);
    home.json(&format!("session new small.toml --id {session}"));
    let line = |message: &str| {
        // One turn to call the tool, and one to read what came of it and to end, or to mend the call.
        let words = ["director", "--json", "--session", session, "--limit-turns", "2", message];
        played(&allowed(home.command(words), port).output().unwrap())
    };
    let task = json!({"task_id": 1, "description": "Make the node", "status": "pending"});
    let phase = json!({"phase_name": "Open", "status": "pending", "tasks": [task]});
    let plan = json!({"overall_goal": format!("Open page {nth}"), "current_phase": "Open", "phases": [phase]});
    let plan = json!({"reason": "It begins", "plan": plan});
    let config = json!({"action": "navigate", "url": page});
    let node = json!({"type": "browser_action", "config": config, "description": "Opens the page"});
    let asks = [
        ("plan.updated", format!("Call the tool update_plan now, with these arguments: {plan}")),
        ("node.created", format!("Call the tool create_node now, with these arguments: {node}")),
    ];
    for (made, ask) in asks {
        let played = line(&ask);
        let ended_well = played.run() == "completed" || (played.run() == "paused" && !played.reason().is_empty());
        assert!(ended_well, "{}", played.result);
        for requested in played.data("turn.requested") {
            assert!(requested["prompt"]["tokens"].as_u64() <= requested["prompt"]["budget"].as_u64());
        }
        if played.run() == "paused" {
            home.json(&format!("runs cancel --session {session}"));
        }
        if !home.journal(session).iter().any(|entry| entry["type"] == made) {
            return false;
        }
    }
    let first = home.json(&format!("workflow --session {session}"))["nodes"][0].clone();
    let Some(id) = first["id"].as_str() else { return false };
    let execute = home.command(["workflow", "run", "--node", id, "--session", session, "--json"]);
    let works = allowed(execute, port).output().unwrap().status.success();
    let after = home.json(&format!("workflow --session {session}"));
    assert_eq!(works, after["nodes"][0]["status"] == "success", "{after}");
    works
}
