//! Transcripts: what a person sees, noun by noun.

use serde_json::json;

use crate::home::{Home, Way};

both_ways!(
    sessions,
    sets,
    directives,
    a_directive_has_a_schema_of_the_team,
    forms,
    messages_and_threads,
    prompts,
    lines_are_said_one_by_one,
    tools,
    entries_are_erased,
    what_was_said_is_found_again,
);

fn team(way: Way) -> Home {
    way(Home::new()).with_session("--id demo --title Demo --agent lead:manager --agent writer --agent critic")
}

fn sessions(way: Way) {
    let home = way(Home::new());
    insta::assert_snapshot!(
        "sessions",
        home.transcript(&[
            "session list",
            "session show",
            "session new --id demo --title Demo --agent lead:manager --agent critic",
            "session new --id demo",
            "session new --id other --ttl never",
            "session show --session demo",
            "session update --session demo --title Renamed --ttl 60 --budget 4000",
            "session show --session demo --json",
            "session update --session demo",
            "session update --session demo --title Mine --as critic",
            "say --session demo hello",
            "session fork --session demo --at 3 --id copy",
            "session journal --session copy",
            "session fork --session demo --at 99",
            "session delete",
            "session delete --session copy",
            "session show --session copy",
            "session show --session ../etc",
        ])
    );
}

fn entries_are_erased(way: Way) {
    let home = team(way);
    home.json("say --session demo hello");
    home.json("say --session demo 'my number is 555-0199'");
    home.json("session fork --session demo --id copy");
    insta::assert_snapshot!(
        "erasing",
        home.transcript(&[
            "erase 6 --session demo --reason ' '",
            "erase 6 --session demo --reason 'a number' --as lead",
            "erase 99 --session demo --reason 'a number'",
            "erase 3 --session demo --reason 'a number'",
            "erase 6 --session demo --reason 'a number'",
            "erase 6 --session copy --json",
            "messages --session demo",
            "why 555-0199 --session demo",
            "prompt --session demo --agent writer --at 6",
        ])
    );
    assert!(home.json("session journal --session demo").to_string().contains("erased_by"));
    home.assert_sound();
}

fn what_was_said_is_found_again(way: Way) {
    let home = team(way);
    home.json("say --session demo 'Ana moved to Lisbon in May 2023.'");
    home.json("say --session demo 'The weather is fine.'");
    home.json("set put Secret 'The vault opens with bergamot.' --visible-to lead --session demo");
    insta::assert_snapshot!(
        "recall",
        home.transcript(&[
            "recall 'When did Ana move?' --session demo --limit 1",
            "recall 'What opens the vault?' --session demo --limit 1",
            "recall 'What opens the vault?' --session demo --as writer",
            "recall vault --session demo --agent writer --json",
            "recall Ana --session demo --sources plan,dreams",
            "recall Ana --session demo --sources plan",
            "recall 'of and the' --session demo",
            "recall '' --session demo",
            "recall Ana --session demo --limit 0",
            "recall Ana --session demo --thread nowhere",
            "recall Ana --session demo --agent critic --as writer",
            "search 'weather fine' --session demo",
            "search '\"to lisbon\" from:user' --session demo --as writer --json",
            "search 'bergamot type:context_set' --session demo",
            "search bergamot --session demo --as writer",
            "search '\"open' --session demo",
            "search 'before:soon' --session demo",
            "prompt --agent writer --recall --query 'Where is Ana?' --session demo",
            "tools call recall '{\"query\": \"vault\"}' --as lead --session demo",
            "tools call search '{\"q\": \"lisbon\"}' --as writer --session demo",
        ])
    );
    home.assert_sound();
}

fn sets(way: Way) {
    let home = team(way);
    home.write("tone.txt", "short\nfriendly");
    let mut written = home.transcript(&[
        "set list --session demo",
        "set put Tone --session demo --file tone.txt --visible-to writer,critic",
        "set put Tone 'short' --session demo",
        "set put Tone 'short' --session demo",
        "set put Tone --session demo --enabled false",
        "set put Nothing --session demo",
        "set put Plan 'a plan' --session demo --visible-to nobody",
        "set put 'Process Steps' '1. [Pending] begin' --session demo --visible-to all",
        "set put 'Process Steps' '1. [Pending] begin' --session demo",
        "set put Own 'mine' --session demo --as writer",
        "set list --session demo",
        "set list --session demo --as writer",
        "set list --session demo --json",
        "set show Tone --session demo",
        "set show Tone --session demo --as lead",
        "set show Tone --session demo --as lead --json",
        "set show 'Process Steps' --session demo --as writer",
        "set delete Tone --session demo",
        "set delete Tone --session demo",
        "set show '' --session demo",
    ]);
    let fed = home.feed("set put Diff - --session demo --json", "+ a line\n");
    written += &home.normal(&fed.stdout);
    insta::assert_snapshot!("sets", written);
}

fn directives(way: Way) {
    let home = team(way);
    home.write(
        "directive.json",
        r#"{"messageTo": "writer", "message": "Write.", "contextSetUpdate": {"contextSets": [
            {"name": "Brief", "context": "Two pages.", "visibleToAgents": ["writer"]},
            {"name": "Brief", "context": "again", "newOrUpdate": "new"},
            {"name": "Odd", "context": "x", "visibleToAgents": ["nobody"]}
        ]}}"#,
    );
    home.write("question.json", r#"{"messageTo": "user", "message": "How long?", "isInfoRequest": true}"#);
    home.write("unknown.json", r#"{"messageTo": "nobody", "message": "Hello", "colour": "red"}"#);
    home.write("broken.json", r#"{"messageTo": "#);
    home.write("text.txt", "Context update: Tone (visible to: writer)\nfriendly\nWorkflow complete\nand more");
    insta::assert_snapshot!(
        "directives",
        home.transcript(&[
            "directive directive.json --session demo",
            "directive question.json --session demo --json",
            "directive text.txt --session demo",
            "directive unknown.json --session demo",
            "directive broken.json --session demo",
            "directive none.json --session demo",
            "directive directive.json --session demo --as writer",
            "directive --session demo",
            "set list --session demo",
        ])
    );
}

fn a_directive_has_a_schema_of_the_team(way: Way) {
    let home = team(way);
    let schema = home.json("directive --schema --session demo");
    assert_eq!(schema["properties"]["messageTo"]["enum"], json!(["writer", "critic", "user"]));
}

fn forms(way: Way) {
    let home = team(way);
    home.write(
        "form.json",
        r#"{"messageTo": "user", "message": "Say more.", "isInfoRequest": true, "form": {"name": "Details", "fields": [
            {"key": "who", "valueType": "ENUM", "label": "For whom", "required": true, "enumValues": ["all", "experts"]},
            {"key": "words", "valueType": "NUMBER", "label": "How many words", "required": true},
            {"key": "due", "valueType": "DATE", "label": "By when", "required": false},
            {"key": "tags", "valueType": "ARRAY", "label": "Tags", "required": false},
            {"key": "quick", "valueType": "BOOLEAN", "label": "Quickly", "required": false}
        ]}}"#,
    );
    insta::assert_snapshot!(
        "forms",
        home.transcript(&[
            "directive form.json --session demo",
            "form list --session demo",
            "set list --session demo --as writer",
            "form answer Details who=nobody words=many due=soon tone=kind --session demo",
            "form answer Details who=experts --session demo --json",
            "form answer Details who=experts words=300 'tags=a, b' quick=yes --session demo",
            "form answer Details who=experts words=300 --session demo",
            "form answer Other who=experts --session demo",
            "form answer Details who --session demo",
            "form list --session demo --json",
        ])
    );
}

fn messages_and_threads(way: Way) {
    let home = team(way);
    insta::assert_snapshot!(
        "messages_and_threads",
        home.transcript(&[
            "say 'Good morning' --session demo",
            "say 'Good morning' --session demo --id greeting",
            "say 'Good morning' --session demo --id greeting",
            "say 'Good evening' --session demo --id greeting",
            "say 'To the critic' --session demo --thread agent:critic --as lead",
            "say 'I see' --session demo --thread agent:critic --as writer",
            "thread put secret --visible-to lead --session demo",
            "say 'hush' --session demo --thread secret --json",
            "thread list --session demo",
            "thread list --session demo --as writer",
            "messages --session demo",
            "messages --session demo --limit 1 --json",
            "messages --session demo --limit 0",
            "messages --session demo --roles assistant",
            "messages --session demo --thread secret --as writer",
            "messages --session demo --thread none",
            "messages --session demo --before yesterday",
            "messages --session demo --limit -1",
            "say hello --session demo --as nobody",
            "say hello --session demo --role boss",
            "say --session demo",
        ])
    );
}

fn prompts(way: Way) {
    let home = team(way);
    home.json("set put Tone friendly --visible-to writer --session demo");
    home.json("say 'Write a poem' --session demo --thread agent:writer --as lead");
    home.json("set put Tone grumpy --session demo");
    insta::assert_snapshot!(
        "prompts",
        home.transcript(&[
            "prompt --agent writer --thread agent:writer --session demo",
            "prompt --agent writer --thread agent:writer --at 6 --format openai --session demo",
            "prompt --agent critic --session demo --json --model openai:qwen2.5-coder-0.5b",
            "prompt --agent writer --budget 20 --session demo",
            "prompt --agent writer --at 99 --session demo",
            "prompt --agent nobody --session demo",
            "prompt --layout poem --session demo",
        ])
    );
}

fn lines_are_said_one_by_one(way: Way) {
    let home = team(way);
    let said = home.feed("say --lines --id line --session demo", "one\ntwo\n\nfour\n");
    assert_eq!((said.status, said.stdout.as_str()), (0, "5\n6\n7\n8\n"));
    let again = home.feed("say --lines --id line --session demo", "one\ntwo\n\nfour\nfive\n");
    assert_eq!(again.stdout, "5\n6\n7\n8\n9\n");
    let messages = home.json("messages --session demo");
    assert_eq!(messages["messages"].as_array().unwrap().len(), 5);
}

fn tools(way: Way) {
    let home = team(way);
    home.json("set put Tone friendly --session demo");
    insta::assert_snapshot!(
        "tools",
        home.transcript(&[
            "tools list --session demo --as writer",
            "tools call read_context_set '{\"name\": \"Tone\"}' --session demo --as writer",
            "tools call write_context_set '{\"name\": \"Tone\", \"content\": \"short\"}' --session demo --as writer",
            "tools call write_context_set '{\"name\": \"Tone\", \"content\": \"short\"}' --session demo",
            "tools call read_context_set '{\"name\": \"Tone\"}' --session demo --json",
            "tools call read_context_set '{\"nam\": \"Tone\"}' --session demo",
            "tools call read_messages --session demo",
            "tools call dance --session demo",
            "tools call read_messages nonsense --session demo",
        ])
    );
}

#[test]
fn a_noun_alone_lists_or_shows_what_there_is() {
    let home = team(|home| home);
    for noun in ["sessions", "set", "forms", "thread", "runs", "tools", "documents", "collection", "token", "variables"]
    {
        let (alone, whole) = (home.run(noun), home.run(&format!("{noun} list")));
        assert_eq!((alone.status, alone.stdout), (whole.status, whole.stdout), "{noun}: {}", alone.stderr);
    }
    let (alone, whole) = (home.run("steps"), home.run("step show"));
    assert_eq!((alone.status, alone.stdout, alone.stderr), (whole.status, whole.stdout, whole.stderr));
    assert_eq!(home.json("session")["sessions"][0]["id"], "demo");
}

#[test]
fn a_noun_with_options_alone_is_the_command_that_takes_them() {
    let home = team(|home| home);
    assert_eq!(home.json("sessions --session demo")["id"], "demo");
    assert_eq!(home.json("sessions -n 1")["sessions"][0]["id"], "demo");
    home.json("set put Brief 'One page.' --visible-to writer -s demo");
    assert_eq!(home.json("sets -s demo --as critic")["context_sets"], json!([]));
    let wrong = home.run("sets --sesion demo");
    assert!(wrong.status == 2 && wrong.stderr.contains("--sesion"), "{}", wrong.stderr);
}

#[test]
fn where_there_is_nothing_to_show_that_is_said() {
    let home = Home::new();
    home.json("session new --id demo");
    for (line, said) in [
        ("messages", "there are no messages"),
        ("messages --roles user", "there are no such messages"),
        ("session journal --after 1", "there are no such entries"),
        ("turns", "there are no turns"),
        ("var list", "there are no variables"),
        ("prompt", "there is no agent in the team"),
    ] {
        let done = home.run(&format!("{line} --session demo"));
        assert!(done.stdout.is_empty() && done.stderr.contains(said), "{line}: {}{}", done.stdout, done.stderr);
    }
}

#[test]
fn all_of_the_newest_entries_that_are_wanted_are_read() {
    let home = Home::new().with_session("--id demo");
    let messages: Vec<_> = (0..4200).map(|n| json!({"role": "user", "content": format!("Day {n}.")})).collect();
    let path = "/v1/sessions/demo/threads/main/messages";
    home.with_http(|http| http.done("POST", path, &json!({"messages": messages})));
    let journal = home.json("session journal demo -n 4150");
    let seqs: Vec<_> = journal["entries"].as_array().unwrap().iter().map(|entry| entry["seq"].as_u64()).collect();
    assert_eq!((seqs.len(), *seqs.last().unwrap()), (4150, journal["head"].as_u64()));
}

#[test]
fn a_session_is_shown_with_each_of_its_settings() {
    let home = Home::new();
    let new = json!({
        "id": "demo", "title": "Tides", "agents": [{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}],
        "ttl_seconds": 7200, "default_visibility": ["lead"], "share": ["plan", "runs"], "grant": ["context_sets"],
        "prompt": {
            "budget": 4001, "answer_tokens": 101, "recall": false, "parts": {"history": {"max": "41%"}}, "layout": "plain",
            "changing_parts_last": true, "media": 7,
        },
        "limits": {"turns": 11, "tokens": 12000, "seconds": 13, "pages": 14},
        "steps": [{"name": "Draft", "is_default": true}],
        "compression": {
            "auto": false, "warn_tokens": 9001, "compress_tokens": 9002, "target_tokens": 801, "clear_tool_results_over": 702,
            "model": "openai:small", "instructions": "Keep names.", "timeout_seconds": 31,
        },
        "collections": ["handbook"],
    });
    home.json("collection create handbook");
    home.with_http(|http| http.done("POST", "/v1/sessions", &new));
    let shown = home.run("session show --session demo").stdout;
    let settings: &[(&str, &[&str])] = &[
        ("title", &["Tides"]),
        ("step", &["Draft (default)"]),
        ("collection", &["handbook"]),
        ("new sets", &["visible to lead"]),
        ("shared", &["plan", "runs"]),
        ("granted", &["context_sets"]),
        ("prompt", &["budget 4001", "answer tokens 101", "recall no", "parts (history (max 41%))", "layout plain"]),
        ("prompt", &["changing parts last yes", "media 7"]),
        ("limits", &["turns 11", "tokens 12000", "seconds 13", "pages 14"]),
        ("compress", &["auto no", "warn tokens 9001", "compress tokens 9002", "target tokens 801"]),
        ("compress", &["clear tool results over 702", "model openai:small", "instructions Keep names."]),
        ("compress", &["timeout seconds 31"]),
        ("expires", &["2 hours after its last use"]),
    ];
    for (what, told) in settings {
        let line = shown.lines().find(|line| line.starts_with(&format!("{what:<10} "))).unwrap_or_default();
        assert!(told.iter().all(|told| line.contains(*told)), "{what}: {told:?} in {shown}");
    }
}

#[test]
fn turns_of_an_agent_that_is_not_there_are_an_error() {
    let home = team(|home| home);
    insta::assert_snapshot!(home.transcript(&["turns --agent wirter --session demo"]), @r#"
    $ callboard turns --agent wirter --session demo
    ! error: there is no agent "wirter"
    ! hint: the team is: lead, writer, critic
    = 1
    "#);
}

#[test]
fn a_healthy_store_is_told_of() {
    let home = team(|home| home);
    insta::assert_snapshot!(home.transcript(&["doctor --no-model", "doctor --no-model --durability full", "doctor"]));
}

#[test]
fn the_endpoint_of_the_default_model_is_told_of_whatever_it_speaks() {
    let endpoint = callboard_model::scripted::Scripted::start(|_, _| callboard_model::scripted::Reply::silence());
    for model in ["openai:scripted", "anthropic:scripted"] {
        let doctor = Home::at(endpoint.base_url(), model).run("doctor");
        assert!(doctor.status == 0 && doctor.stdout.contains(&format!("{model} is available")), "{}", doctor.stdout);
    }
    let doctor = Home::at(endpoint.base_url(), "anthropic:other").run("doctor");
    assert!(doctor.status == 1 && doctor.stdout.contains("does not list anthropic:other"), "{}", doctor.stdout);
}

#[test]
fn a_store_in_memory_lasts_as_long_as_the_command() {
    let home = team(|home| home);
    insta::assert_snapshot!(home.transcript(&["session list --store memory:", "session show --session demo --store memory:"]), @"
    $ callboard session list --store memory:
    ! there are no sessions
    $ callboard session show --session demo --store memory:
    ! error: there is no session demo
    ! hint: `callboard session list` lists the sessions
    = 1
    ");
}
