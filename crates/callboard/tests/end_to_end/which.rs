//! Which session a command works on that names none.

use std::process::Command;

use serde_json::{Value, json};

use crate::home::{Done, Home, Way};

both_ways!(
    one_session_is_meant_where_there_is_one,
    where_there_are_several_the_newest_are_listed,
    a_chosen_session_is_meant_until_another_one_is_chosen,
    a_new_session_is_chosen_where_that_is_wanted,
    a_chosen_session_that_is_gone_is_an_error,
    a_session_is_named_behind_the_command_too,
);

fn two(way: Way) -> Home {
    let home = way(Home::new()).with_session("--id first --title 'The first'");
    home.json("session new --id second");
    home
}

fn with_variable(home: &Home, session: &str, line: &str) -> Done {
    let mut command = home.command(crate::home::split(line));
    done(command.env("CALLBOARD_SESSION", session))
}

fn done(command: &mut Command) -> Done {
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { stdout: text(output.stdout), stderr: text(output.stderr), status: output.status.code().unwrap() }
}

fn one_session_is_meant_where_there_is_one(way: Way) {
    let home = way(Home::new());
    let (status, error) = home.error("messages");
    assert_eq!((status, &error["detail"]), (1, &json!("there are no sessions")));
    home.json("session new --id only");
    assert_eq!(home.json("say hello")["head"], 2);
    assert_eq!(home.json("use"), json!({"session": "only", "because": "only"}));
    assert_eq!(home.run("messages").stderr, "", "what is plain need not be said");
}

fn where_there_are_several_the_newest_are_listed(way: Way) {
    let home = two(way);
    home.json("say hello --session first");
    let done = home.run("messages");
    assert_eq!(done.status, 2);
    insta::allow_duplicates! {
        insta::assert_snapshot!(done.stderr, @r"
        error: there are several sessions, and none is named or chosen
        hint: name one with --session ID, or choose one with `callboard use ID`. The newest are:
          first  The first
          second
        ");
    }
    assert_eq!(home.run("use").status, 2);
    for n in 0..5 {
        home.json(&format!("session new --id more{n}"));
    }
    let hint = home.error("say hi").1["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("more4") && !hint.contains("second") && hint.contains("session list"), "{hint}");
}

fn a_chosen_session_is_meant_until_another_one_is_chosen(way: Way) {
    let home = two(way);
    assert_eq!(home.run("use first").stdout, "commands work on first (The first) from now on\n");
    home.json("say hello --session second");
    home.json("say there");
    assert_eq!(home.json("messages")["messages"][0]["content"], "there", "not the one that was used last");
    assert_eq!(home.run("use").stdout, "first (The first): it was chosen with `callboard use`\n");

    let named = with_variable(&home, "second", "messages");
    assert!(named.stdout.contains("hello"), "{}", named.stdout);
    assert!(with_variable(&home, "second", "use").stdout.ends_with("CALLBOARD_SESSION names it\n"));
    assert!(with_variable(&home, "second", "messages -s first").stdout.contains("there"), "an option comes first");
    let wrong = with_variable(&home, "../x", "messages");
    assert!(wrong.status == 2 && wrong.stderr.contains("CALLBOARD_SESSION"), "{}", wrong.stderr);

    home.json("use second");
    assert_eq!(home.json("messages")["messages"][0]["content"], "hello");
    assert_eq!(home.json("use --clear"), json!({"session": null, "was": "second"}));
    assert_eq!(home.run("messages").status, 2);
    assert_eq!(home.run("use --clear").stdout, "no session was chosen\n");
}

fn a_new_session_is_chosen_where_that_is_wanted(way: Way) {
    let home = way(Home::new());
    assert_eq!(home.run("session new --id first").stderr, "", "it is the only one");
    let told = home.run("session new --id second").stderr;
    assert!(told.contains("there are others") && told.contains("use second"), "{told}");
    home.json("session new --id third --use");
    assert_eq!(home.json("use"), json!({"session": "third", "because": "chosen"}));
    assert_eq!(home.run("session new --id fourth --use").stderr, "");
    assert_eq!(home.json("use")["session"], "fourth");
}

fn a_chosen_session_that_is_gone_is_an_error(way: Way) {
    let home = two(way);
    home.json("use first");
    home.json("session delete first");
    let done = home.run("messages");
    assert_eq!(done.status, 1, "{}", done.stdout);
    assert!(done.stderr.contains("there is no session first (it was chosen with `callboard use`)"), "{}", done.stderr);
    assert!(done.stderr.contains("callboard use --clear"), "{}", done.stderr);
    let gone = with_variable(&home, "first", "messages");
    assert!(gone.status == 1 && gone.stderr.contains("(CALLBOARD_SESSION names it)"), "{}", gone.stderr);
    let (status, error) = home.error("use first");
    assert_eq!((status, &error["code"]), (1, &json!("not_found")));
    home.json("use second");
    assert_eq!(home.run("messages").status, 0);
}

fn a_session_is_named_behind_the_command_too(way: Way) {
    let home = two(way);
    for line in ["session show first", "session show -s first", "session update first --title New"] {
        assert_eq!(home.json(line)["id"], "first", "{line}");
    }
    assert_eq!(home.json("session fork first --id copy")["title"], "New");
    assert_eq!(home.json("session journal first -n 1")["entries"][0]["type"], "session.updated");
    assert_eq!(home.run("session show first -s second").status, 2);
    assert_eq!(home.json("session delete copy"), json!({"deleted": "copy"}));
}

#[test]
fn each_store_has_a_choice_of_its_own_and_a_file_is_the_same_from_any_folder() {
    let home = Home::new();
    for store in ["a.db", "b.db"] {
        for id in ["one", "two"] {
            home.json(&format!("session new --id {id} --store sqlite:{store}"));
        }
    }
    home.json("use one --store sqlite:a.db");
    home.json("use two --store sqlite:b.db");
    let meant = |store: &str| home.json(&format!("use --store sqlite:{store}"))["session"].clone();
    assert_eq!([meant("a.db"), meant("b.db")], ["one", "two"]);
    assert_eq!(meant(home.path("a.db").to_str().unwrap()), "one");
    assert!(home.path(".local/state/callboard/chosen").is_dir(), "it is in the user's state folder");
    let mut elsewhere = home.on_the_store(["use", "--json", "--store", "sqlite:a.db"]);
    assert_ne!(done(elsewhere.env("XDG_STATE_HOME", home.path("state"))).status, 0, "another user has chosen nothing");
    let mut kept = home.on_the_store(["use", "one", "--store", "sqlite:a.db"]);
    assert_eq!(done(kept.env("XDG_STATE_HOME", home.path("state"))).status, 0);
    assert!(home.path("state/callboard/chosen").is_dir());
}

#[test]
fn a_choice_that_cannot_be_read_is_an_error_that_says_where_it_is() {
    let home = two(|home| home);
    home.json("use first");
    let folder = home.path(".local/state/callboard/chosen");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, "nonsense").unwrap();
    let (status, error) = home.error("messages");
    let detail = error["detail"].as_str().unwrap();
    assert!(status == 1 && detail.contains(file.to_str().unwrap()), "{error}");
    assert_eq!(home.run("use --clear").status, 0);
    assert_eq!(home.run("messages").status, 2);
}

#[test]
fn a_token_of_one_session_means_that_session_and_lists_no_others() {
    let home = two(Home::over_http);
    let token = home.run("token new --agent lead -s first").stderr;
    assert!(token.contains("error"), "there is no such agent: {token}");
    home.json("session update first --title Mine");
    home.json("session new --id third --agent lead:manager --agent writer");
    let token = home.json("token new --agent writer -s third")["token"].as_str().unwrap().to_owned();
    let with = |line: &str| done(home.command(crate::home::split(line)).env("CALLBOARD_TOKEN", &token));
    for line in ["thread list", "messages", "prompt", "session journal", "set list", "session show"] {
        let done = with(line);
        assert_eq!(done.status, 0, "{line}: {}", done.stderr);
    }
    let listed: Value = serde_json::from_str(&with("session list --json").stdout).unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().iter().map(|it| &it["id"]).collect::<Vec<_>>(), ["third"]);
    assert!(with("use").stdout.contains("third: the access token is for this session only"));
    assert_eq!(with("doctor").status, 0);
}

#[test]
fn a_prompt_takes_the_thread_in_which_the_agent_was_spoken_to_last() {
    let home = Home::new().with_session("--id demo --agent lead:manager --agent writer --agent critic");
    home.json("say 'Begin.'");
    assert_eq!(home.run("prompt writer --budget 900").status, 0, "nobody has spoken to it yet");
    home.json("say 'Write a poem.' -t agent:writer -a lead");
    home.json("thread put review --visible-to writer,critic");
    home.json("say 'Look at this.' -t review -a critic");
    home.json("say 'I do.' -t review -a writer");
    let last = home.run("prompt writer");
    assert!(last.stderr.starts_with("thread review: writer was spoken to there last (entry 8)\n"), "{}", last.stderr);
    assert!(last.stdout.contains("Look at this."));
    home.json("say 'Go on.' -t agent:writer -a lead");
    home.json("say 'And the user says more.'");
    for line in ["prompt writer", "prompt --agent writer", "prompt --as writer"] {
        let done = home.run(line);
        assert!(done.stderr.starts_with("thread agent:writer: writer was spoken to there last"), "{}", done.stderr);
        assert!(done.stdout.contains("Go on."), "{line}");
    }
    assert!(home.run("prompt writer --at 8").stderr.contains("thread review"));
    assert!(home.run("prompt lead").stdout.contains("And the user says more."));
    assert!(home.run("prompt writer -t main").stdout.contains("And the user says more."));
}
