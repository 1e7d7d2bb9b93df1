//! A whole job over HTTP, at a server that is killed on the way.

use callboard_model::scripted::{Reply, Scripted};
use serde_json::{Value, json};

use crate::{
    home::Home,
    play::{answered, ask, complete, storyteller},
    server::{Http, PATIENCE, Relay, Server, lines, until},
};

/// What the team says: a form for the user, work for the writer, a verdict, the end.
fn story() -> Vec<Reply> {
    let field = json!({"key": "n", "valueType": "NUMBER", "label": "Lines", "required": true});
    let question = json!({
        "messageTo": "user", "message": "How long?", "isInfoRequest": true, "form": {"name": "Length", "fields": [field]},
    });
    let work = json!({
        "messageTo": "writer", "message": "Write.", "expectedOutput": "a poem",
        "contextSetUpdate": {"contextSets": [{"name": "Theme", "context": "spring", "visibleToAgents": ["writer"]}]},
    });
    let verdict = json!({"valid": true, "reason": "it rhymes"});
    vec![
        Reply::json(&question),
        Reply::json(&work),
        Reply::text("Roses are red."),
        Reply::json(&verdict),
        Reply::json(&complete()),
    ]
}

fn begin(http: &Http) {
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}]);
    http.done("POST", "/v1/sessions", &json!({"id": "demo", "agents": agents}));
    http.done("POST", "/v1/sessions/demo/runs", &json!({"kind": "team", "input": "Write a poem."}));
}

/// Takes in what a stream gives until `enough`, and answers the form as soon as it is asked for.
fn follow(http: &Http, seen: &mut Vec<Value>, enough: impl Fn(&[Value]) -> bool) {
    let last = seen.last().map_or(0, |entry| entry["seq"].as_u64().unwrap());
    // The question may have come before the server was killed, and its answer not.
    if has_open_form(http) {
        fill_in(http);
    }
    let mut stream = http.follow("demo", last);
    while !enough(seen) {
        let entry = stream.next().expect("the stream goes on");
        let asks = entry["type"] == "turn.answered" && entry["data"]["due"]["kind"] == "user";
        seen.push(entry);
        if asks && !enough(seen) {
            fill_in(http);
        }
    }
}

/// Answers the form, unless that was done before.
fn fill_in(http: &Http) {
    let (status, set) = http.send("POST", "/v1/sessions/demo/forms/Length", &json!({"answers": {"n": 4}}));
    assert!(status == 200 || (status == 409 && set["code"] == "form_answered"), "{status} {set}");
}

fn has_open_form(http: &Http) -> bool {
    let (status, set) = http.get("/v1/sessions/demo/context-sets/Length");
    status == 200 && set["form"]["answered"] == false
}

fn has_ended(seen: &[Value]) -> bool {
    seen.last().is_some_and(|entry| entry["type"] == "run.ended")
}

/// How many entries there are where nothing goes wrong.
fn undisturbed() -> usize {
    let endpoint = storyteller(story(), |_| None);
    let home = Home::with(&endpoint);
    let server = Server::start(&home, "");
    let (http, mut seen) = (Http::new(&server), Vec::new());
    begin(&http);
    follow(&http, &mut seen, has_ended);
    assert_eq!((seen, endpoint.requests().len()), (home.journal("demo"), 5));
    home.journal("demo").len()
}

#[test]
fn i7_a_stream_that_comes_back_after_kill_9_has_each_entry_once_and_no_answer_is_asked_for_twice() {
    let all = undisturbed();
    for count in 3..all {
        let endpoint = storyteller(story(), |_| None);
        let home = Home::with(&endpoint);
        let mut server = Server::start(&home, "");
        let (http, mut seen) = (Http::new(&server), Vec::new());
        begin(&http);
        follow(&http, &mut seen, |seen| seen.len() >= count);
        server.kill();
        let (before, asked_before) = (answered(&home.journal("demo")), endpoint.requests().len());

        let server = Server::start(&home, "");
        let http = Http::new(&server);
        follow(&http, &mut seen, has_ended);
        let journal = home.journal("demo");
        assert_eq!(seen, journal, "killed after entry {count}");
        assert_eq!(answered(&journal), 5, "killed after entry {count}");
        assert_eq!(endpoint.requests().len() - asked_before, 5 - before, "killed after entry {count}");
        let run = http.get("/v1/sessions/demo/runs").1["runs"][0].clone();
        assert_eq!(run["status"], "completed", "killed after entry {count}");
        home.assert_sound();
    }
}

#[test]
fn i7_who_follows_on_the_command_line_has_each_entry_once_when_the_server_comes_back() {
    let home = Home::new();
    let mut server = Server::start(&home, "");
    let relay = Relay::to(&server);
    let say = |text: &str| {
        let output = home.on_the_store(["say", text, "--session", "demo"]).output().unwrap();
        assert!(output.status.success());
    };
    Http::new(&server).done("POST", "/v1/sessions", &json!({"id": "demo"}));
    let line = format!("session journal --session demo --follow --json --url http://{}", relay.address);
    let mut follower = home.start(&line);
    let mut lines = lines(&mut follower);
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap()).unwrap()["seq"].clone();
    say("one");
    assert_eq!([next(), next()], [1, 2]);
    relay.cut();
    server.kill();
    say("two");
    let mut server = Server::start(&home, "");
    relay.lead_to(&server);
    say("three");
    assert_eq!([next(), next()], [3, 4]);
    relay.cut();
    server.tell_to_end();
    assert!(server.ended().success());
    say("four");
    let server = Server::start(&home, "");
    relay.lead_to(&server);
    assert_eq!(next(), 5);
    follower.kill().unwrap();
    follower.wait().unwrap();
}

#[test]
fn a_run_that_is_followed_on_the_command_line_goes_on_when_the_server_comes_back() {
    let endpoint = Scripted::start(|request, nth| match nth {
        0 => Reply::json(&ask("writer", "Write.")),
        1 => Reply::silence(),
        _ => crate::play::otherwise(request),
    });
    let home = Home::with(&endpoint);
    home.write("team.toml", crate::play::TEAM);
    let mut server = Server::start(&home, "");
    let relay = Relay::to(&server);
    let mut run = home.start(&format!("run team.toml --id demo --json --url http://{}", relay.address));
    assert!(endpoint.wait_for(2, crate::server::PATIENCE));
    relay.cut();
    server.kill();
    let server = Server::start(&home, "");
    relay.lead_to(&server);
    let played = {
        drop(run.stdin.take());
        crate::play::Played::of(&run.wait_with_output().unwrap())
    };
    assert_eq!((played.run(), played.status), ("completed", Some(0)), "{}", played.result);
    let journal = home.journal("demo");
    assert_eq!(journal[journal.len() - played.entries.len()..], played.entries);
    assert_eq!(endpoint.requests().len(), 4, "the turn that was under way is asked again, and no other");
}

#[test]
fn results_of_tools_set_the_run_going_at_the_server() {
    let endpoint = crate::play::model(vec![
        Reply::json(&ask("writer", "Look it up.")),
        Reply::tool_calls([("look", json!({"word": "rose"}))]),
        Reply::text("A flower."),
    ]);
    let home = Home::with(&endpoint).over_http();
    let tools = json!([{"name": "look", "description": "Looks up"}]);
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker", "tools": tools}]);
    let http = home.http();
    http.done("POST", "/v1/sessions", &json!({"id": "demo", "agents": agents}));
    http.done("POST", "/v1/sessions/demo/runs", &json!({"kind": "team", "input": "What is a rose?"}));
    let mut stream = http.follow("demo", 0);
    let mut until = |kind: &str, due: Value| loop {
        let entry = stream.next().expect("the stream goes on");
        if entry["type"] == kind && entry["data"]["due"]["kind"] == due {
            return;
        }
    };
    until("turn.answered", json!("tools"));
    home.json("runs tool-result call_1 red --session demo");
    until("run.ended", Value::Null);
    assert_eq!(home.json("runs show --session demo")["status"], "completed");
    assert_eq!(callboard_model::scripted::last_text(&endpoint.requests()[2]), "red");
}

#[test]
fn a_turn_of_a_program_whose_server_was_killed_is_interrupted() {
    const CHAT: &str = "/gateway/talk/helper/openai/v1/chat/completions";
    let endpoint = Scripted::start(|_, nth| if nth == 0 { Reply::silence() } else { Reply::text("High.") });
    let home = Home::with(&endpoint);
    let mut server = Server::start(&home, "--ttl never");
    let body = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "How high?"}]});
    let (program, asked) = (Http::new(&server), body.clone());
    // Its connection breaks off.
    let asking = std::thread::spawn(move || drop(program.send("POST", CHAT, &asked)));
    assert!(endpoint.wait_for(1, PATIENCE));
    server.kill();
    assert!(asking.join().is_err());
    let server = Server::start(&home, "--ttl never");
    let http = Http::new(&server);
    until("the end of the turn", || {
        let (_, turns) = http.get("/v1/sessions/talk/turns");
        (turns["turns"][0]["failed"] == true).then_some(())
    });
    let (_, failed) = http.get("/v1/sessions/talk/journal?types=turn.failed");
    let error = failed["entries"][0]["data"]["error"].as_str().unwrap_or_default();
    assert!(error.starts_with("interrupted: "), "{failed}");
    let answer = http.done("POST", CHAT, &body);
    assert_eq!(answer["choices"][0]["message"]["content"], "High.", "{answer}");
    let (_, thread) = http.get("/v1/sessions/talk/threads/chat:helper/messages");
    assert_eq!(thread["messages"].as_array().unwrap().len(), 2, "{thread}");
}
