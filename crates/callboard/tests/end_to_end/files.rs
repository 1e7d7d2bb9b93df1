//! Context files: as agents use them from their shells.

mod bad_input;
mod processes;

use std::fs;

use serde_json::{Value, json};

use crate::{
    home::{Home, replace},
    server::{Http, Server},
};

/// The manifest of a session.
fn manifest(home: &Home, id: &str) -> Value {
    let text = fs::read(home.path(&format!(".tmp/sessions/{id}/.manifest.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn paths(found: &Value) -> Vec<&str> {
    found["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect()
}

/// What a person sees who types these lines. Manifests have times to the second.
fn transcript(home: &Home, lines: &[&str]) -> String {
    replace(&home.transcript(lines), "####-##-##T##:##:##Z", "TIME")
}

/// Sets back when a session was used last.
fn age(home: &Home, id: &str, last: &str) {
    let mut manifest = manifest(home, id);
    manifest["last_activity"] = json!(last);
    home.write(&format!(".tmp/sessions/{id}/.manifest.json"), manifest.to_string());
}

#[test]
fn people_see_what_became_of_each_command() {
    let home = Home::new();
    home.write("notes.md", "## Request Summary\nWrite the pages.\n\n## Constraints\nOne page each.\n");
    home.write("own.txt", "TASK {task_name} ({for}, {session_id}): {request}");
    insta::assert_snapshot!(transcript(
        &home,
        &[
            "files new --session demo",
            "files new --session demo",
            "files add --session demo --category features --name user-auth --for @task-manager --keywords user-auth,features --request 'Build it.' --background 'There is none.' --expected 'A login.' --constraints 'No passwords.'",
            "files add --session demo --name pages --for @writer --from notes.md --json",
            "files add --session demo --category code --name own --for @coder --request 'Do it.' --template own.txt",
            "files add --session demo --category features --name user-auth --for @x --request again",
            "files list --session demo",
            "files list --session demo --category code --json",
            "files search --session demo --keywords user-auth,own",
            "files search --session demo --keywords user-auth,features --match all --for @task-manager --text login",
            "files search --all-sessions --keywords pages",
            "files delegate --session demo --to @coder --task 'Implement the login.' --keywords user-auth",
            "files delegate --session demo --to @nobody --task 'Sing.'",
            "files delegate --session demo --to @nobody --task 'Sing.' --json",
            "files touch --session demo --json",
            "files remove --session demo features/user-auth-context.md",
            "files remove --session demo .tmp/sessions/demo/code/own-context.md --json",
            "files remove --session demo features/user-auth-context.md",
            "files check",
            "files clean --dry-run",
            "files end --session demo",
            "files end --session demo",
            "files list --session demo",
            "files should-create --delegating --sentences 3",
            "files should-create --delegating --sentences 2",
            "files should-create --sentences 9 --risk --json",
            "files add --session demo --name x --for @x",
            "files search --keywords a",
        ]
    ));
}

#[test]
fn what_is_wrong_is_told_and_mended() {
    let home = Home::new();
    home.run("files add --session demo --category code --name login --for @coder --keywords login --request Go.");
    home.run("files add --session demo --category code --name gone --for @coder --request Go.");
    fs::remove_file(home.path(".tmp/sessions/demo/code/gone-context.md")).unwrap();
    home.write(".tmp/sessions/demo/mine.md", "mine");
    let mut spoilt = manifest(&home, "demo");
    spoilt["context_index"] = json!({});
    spoilt["last_activity"] = json!("yesterday");
    home.write(".tmp/sessions/demo/.manifest.json", spoilt.to_string());
    insta::assert_snapshot!(transcript(
        &home,
        &[
            "files check",
            "files clean",
            "files end --session demo",
            "files check --session demo --repair",
            "files check --json",
            "files end --session demo",
            "files check --session none",
        ]
    ));
}

#[test]
fn an_agent_is_told_how_to_work_with_files() {
    let home = Home::new();
    let text = home.run("files instructions").stdout;
    assert_eq!(home.json("files instructions")["instructions"], text);
    for command in ["new", "add", "search", "delegate", "remove", "end", "clean", "should-create"] {
        assert!(text.contains(&format!("callboard files {command}")), "{command}");
    }
}

/// The document of the authentication example: a task is handed from agent to agent, and with it what each of them wrote.
#[test]
fn an_authentication_system_is_built_by_three_agents() {
    let home = Home::new();
    // The first agent writes down what is wanted. Its session begins with its first file.
    let features = home.json(
        "files add --category features --name user-auth --for @subagents/core/task-manager \
         --keywords user-auth,authentication,features --request 'Build user authentication system'",
    );
    let id = features["session_id"].as_str().unwrap();
    assert_eq!(features["path"], format!(".tmp/sessions/{id}/features/user-auth-context.md"));
    let text = fs::read_to_string(home.path(features["path"].as_str().unwrap())).unwrap();
    assert!(text.starts_with(&format!("# Context: User Auth\nSession: {id}\n\n## Request Summary\nBuild user")));
    // The one that plans finds it, and breaks the task down.
    let found = home.json(&format!("files search --session {id} --keywords authentication"));
    assert_eq!(paths(&found), [features["path"].as_str().unwrap()]);
    let tasks = home.json(&format!(
        "files add --session {id} --category tasks --name user-auth --for @subagents/core/task-manager \
         --keywords user-auth,tasks,breakdown --request '1. Login component'"
    ));
    assert_eq!(tasks["path"], format!(".tmp/sessions/{id}/tasks/user-auth-tasks.md"));
    // The login is delegated with both.
    let task = "Implement user authentication login component.";
    let line =
        format!("files delegate --session {id} --to @subagents/code/coder-agent --task '{task}' --keywords user-auth");
    let delegated = home.json(&line);
    let mut files: Vec<_> = delegated["files"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    files.sort_unstable();
    assert_eq!(files, [features["path"].as_str().unwrap(), tasks["path"].as_str().unwrap()]);
    let message = delegated["message"].as_str().unwrap();
    assert_eq!(home.run(&line).stdout, format!("{message}\n"));
    assert!(message.starts_with(&format!(
        "Delegating to @subagents/code/coder-agent:\n\"{task}\n\nRelated context available at:\n- "
    )));
    assert!(message.ends_with("\n\nRead these files for full context on requirements and task breakdown.\""));
    // All of it is in the manifest, in the form of the document.
    let manifest = manifest(&home, id);
    let keys: Vec<_> = manifest.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["session_id", "created_at", "last_activity", "context_files", "context_index"]);
    let both = json!(["features/user-auth-context.md", "tasks/user-auth-tasks.md"]);
    assert_eq!(manifest["context_index"]["user-auth"], both);
    assert_eq!(manifest["context_files"]["features/user-auth-context.md"]["for"], "@subagents/core/task-manager");
}

#[test]
fn two_instances_work_side_by_side() {
    let home = Home::new();
    let add = |name: &str| {
        let line = format!("files add --category features --name {name} --for @x --keywords shared --request Go.");
        home.json(&line)["session_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (add("user-auth"), add("payment"));
    assert_ne!(first, second);
    assert_eq!(paths(&home.json(&format!("files list --session {first}"))).len(), 1);
    assert_eq!(paths(&home.json("files search --all-sessions --keywords shared")).len(), 2);
    let before = manifest(&home, &second);
    let ended = home.json(&format!("files end --session {first}"));
    let file = format!(".tmp/sessions/{first}/features/user-auth-context.md");
    assert_eq!(ended, json!({"deleted": [file, format!(".tmp/sessions/{first}")], "kept": []}));
    assert!(!home.path(&format!(".tmp/sessions/{first}")).exists());
    assert_eq!(manifest(&home, &second), before);
    assert!(home.path(&format!(".tmp/sessions/{second}/features/payment-context.md")).exists());
}

#[test]
fn a_session_comes_to_its_end() {
    let home = Home::new();
    let id = "20250118-143022-a4f2";
    for name in ["user-auth", "login", "forms"] {
        home.json(&format!("files add --session {id} --category code --name {name} --for @x --request Go."));
    }
    // While it lasts, a file goes with its task.
    age(&home, id, "2025-01-18T14:30:22Z");
    home.json(&format!("files remove --session {id} code/login-context.md"));
    let after = manifest(&home, id);
    assert!(
        after["context_files"].get("code/login-context.md").is_none() && after["context_index"].get("login").is_none()
    );
    assert_ne!(after["last_activity"], "2025-01-18T14:30:22Z");
    // Nobody else cleans it up as long as it is in use.
    assert_eq!(home.json("files clean"), json!({"deleted": [], "kept": []}));
    // What nobody has used for a day goes, and says so before.
    home.json("files add --session forgotten --category code --name old --for @x --request Go.");
    age(&home, "forgotten", "2025-01-18T14:30:22Z");
    let said = home.json("files clean --dry-run");
    assert!(home.path(".tmp/sessions/forgotten/code/old-context.md").exists());
    assert_eq!(home.json("files clean"), said);
    assert_eq!(said["deleted"], json!([".tmp/sessions/forgotten/code/old-context.md", ".tmp/sessions/forgotten"]));
    // A file that somebody else put there stays, and with it the folder.
    home.write(&format!(".tmp/sessions/{id}/code/mine.md"), "mine");
    let ended = home.run(&format!("files end --session {id} --json"));
    let told: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.status, &told["kept"][0]["path"]), (1, &json!(format!(".tmp/sessions/{id}/code/mine.md"))));
    fs::remove_file(home.path(&format!(".tmp/sessions/{id}/code/mine.md"))).unwrap();
    home.json(&format!("files end --session {id}"));
    assert!(!home.path(&format!(".tmp/sessions/{id}")).exists());
}

#[test]
fn each_command_but_check_and_clean_is_a_use() {
    let home = Home::new();
    let long_ago = "2025-01-18T14:30:22Z";
    home.json("files add --session demo --category code --name one --for @x --keywords a --request Go.");
    home.write(".tmp/sessions/demo/code/two.md", "two");
    let uses = [
        "list --session demo",
        "search --session demo --keywords a",
        "delegate --session demo --to @x --task a",
        "add --session demo --name three --for @x --request Go.",
        "add --session demo --file code/two.md --for @x",
        "remove --session demo code/one-context.md",
        "touch --session demo",
    ];
    for line in uses {
        age(&home, "demo", long_ago);
        home.json(&format!("files {line}"));
        assert_ne!(manifest(&home, "demo")["last_activity"], long_ago, "{line}");
    }
    age(&home, "demo", long_ago);
    for line in ["check", "clean --dry-run", "clean --older-than 99999d", "search --all-sessions --keywords a"] {
        home.run(&format!("files {line}"));
        assert_eq!(manifest(&home, "demo")["last_activity"], long_ago, "{line}");
    }
}

#[test]
fn texts_come_from_the_standard_input_too() {
    let home = Home::new();
    let line = "files add --session demo --name diff --for @critic --request 'Review this.' --background - --json";
    assert_eq!(home.feed(line, "+ a line\n").status, 0);
    let line = "files add --session demo --name whole --for @critic --from -";
    assert_eq!(home.feed(line, "Do all of it.\n## Expected Output\nAll.\n").status, 0);
    let text =
        |name: &str| fs::read_to_string(home.path(&format!(".tmp/sessions/demo/general/{name}-context.md"))).unwrap();
    assert!(text("diff").contains("## Request Summary\nReview this.\n\n## Background\n+ a line\n"));
    assert!(text("whole").contains("Do all of it.") && text("whole").contains("## Expected Output\nAll.\n"));
    let twice = home.feed("files add --session demo --name x --for @x --request - --background -", "x");
    assert_eq!(twice.status, 2);
    assert_eq!(home.feed("files delegate --session demo --to @x --task -", "Do the whole.").status, 0);
}

#[test]
fn a_project_may_be_elsewhere() {
    let home = Home::new();
    fs::create_dir(home.path("project")).unwrap();
    let line =
        format!("files --root {} add --session demo --name x --for @x --request Go.", home.path("project").display());
    assert_eq!(home.json(&line)["path"], ".tmp/sessions/demo/general/x-context.md");
    assert!(home.path("project/.tmp/sessions/demo").exists() && !home.path(".tmp").exists());
    let absolute = home.path("project/.tmp/sessions/demo/general/x-context.md");
    home.json(&format!("files remove --session demo {} --root project", absolute.display()));
    assert!(!absolute.exists());
    for line in ["files --root project list -s typo", "files check -s typo --root project"] {
        let told = home.run(line).stderr;
        assert!(told.contains("there is no session typo in project/.tmp/sessions"), "{told}");
    }
}

#[test]
fn a_project_is_found_from_any_folder_below_it() {
    let home = Home::new();
    fs::create_dir_all(home.path("src/deep")).unwrap();
    home.json("files new -s demo");
    let below = |line: &str| {
        let output = home.command(crate::home::split(line)).current_dir(home.path("src/deep")).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, told) = below("files add -s demo --name x --for coder --request Go.");
    assert!(status == Some(0) && told.starts_with("project /"), "{told}");
    assert!(home.path(".tmp/sessions/demo/general/x-context.md").exists());
    assert_eq!(below("files new -s more").0, Some(0));
    assert!(home.path(".tmp/sessions/more").exists() && !home.path("src/deep/.tmp").exists());
    assert_eq!(below("files --root . new -s here"), (Some(0), String::new()));
    assert!(home.path("src/deep/.tmp/sessions/here").exists());
    let none = (Some(0), "there are no context files\n".to_owned());
    assert_eq!(below("files list -s here"), none, "the nearest one is meant");
}

#[test]
fn the_session_of_the_environment_is_meant_where_none_is_named() {
    let home = Home::new();
    let with = |line: &str| {
        let output = home.command(crate::home::split(line)).env("CALLBOARD_SESSION", "demo").output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let added = with("files add --name x --for @coder --request Go.");
    assert_eq!(added, (Some(0), "added .tmp/sessions/demo/general/x-context.md\n".to_owned()));
    assert!(with("files list").1.contains("x-context.md"));
    assert!(with("files search --for coder").1.contains("x-context.md"));
    assert_eq!(with("files list -s other").0, Some(1), "an option comes first");
    assert_eq!(with("files end").0, Some(0));
    assert_eq!(home.run("files touch").status, 2);
}

#[test]
fn a_search_that_finds_nothing_says_so() {
    let home = Home::new();
    home.json("files add -s demo --name x --for @coder --request Go.");
    for scope in ["-s demo", "--all-sessions"] {
        let done = home.run(&format!("files search {scope} --keywords nothing"));
        assert_eq!((done.status, &*done.stdout, &*done.stderr), (1, "", "nothing was found\n"), "{scope}");
    }
    let done = home.run("files search -s demo --keywords nothing --json");
    assert_eq!((done.status, &*done.stdout), (1, "{\"files\":[]}\n"));
}

#[test]
fn a_folder_and_the_session_of_its_name_are_one_where_a_server_has_the_project() {
    let home = Home::new();
    let server = Server::start(&home, "--project . --sweep-seconds 1");
    let http = Http::new(&server);
    let agents = json!([{"name": "lead", "role": "manager"}, {"name": "coder", "role": "worker"}]);
    http.done("POST", "/v1/sessions", &json!({"id": "demo", "agents": agents}));
    home.json("files add --session demo --category code --name login --for coder --keywords login --request Go.");
    let path = ".tmp/sessions/demo/code/login-context.md";
    let prompt = http.done("POST", "/v1/sessions/demo/prompt", &json!({"agent": "coder"}));
    assert!(prompt["text"].as_str().unwrap().contains(&format!("- {path} (login)")), "{prompt}");
    let (_, journal) = http.get("/v1/sessions/demo/journal?types=file.added");
    assert_eq!(journal["entries"][0]["data"]["path"], path);
    // What came in over HTTP is there for shells.
    let body = json!({"name": "notes", "for": "coder", "request": "Read this."});
    http.done("POST", "/v1/sessions/demo/files", &body);
    assert_eq!(paths(&home.json("files list --session demo")).len(), 2);
    assert_eq!(http.send("DELETE", "/v1/sessions/demo", &json!({})).0, 204);
    assert!(!home.path(".tmp/sessions/demo").exists());
}

#[test]
fn a_server_says_which_project_it_cannot_have() {
    let home = Home::new();
    let (status, error) = home.error("serve --listen 127.0.0.1:0 --project nowhere");
    assert_eq!(status, 1);
    assert!(error["detail"].as_str().unwrap().contains("nowhere"), "{error}");
}

#[test]
fn a_new_session_cleans_up_stale_ones_and_names_them_unless_told_not_to() {
    let home = Home::new();
    for id in ["old", "young"] {
        home.json(&format!("files new -s {id}"));
    }
    let manifest = home.path(".tmp/sessions/old/.manifest.json");
    let stale = std::fs::read_to_string(&manifest).unwrap();
    let last = home.json("files sessions")["sessions"][0]["last_activity"].as_str().unwrap().to_owned();
    std::fs::write(&manifest, stale.replace(&last[..4], "2020")).unwrap();
    assert_eq!(home.json("files new -s kept --no-clean")["deleted"], json!([]));
    assert!(manifest.exists());
    let refused = home.run("files new -s ../x");
    assert!(refused.status != 0 && manifest.exists(), "a refused command deletes nothing");
    let made = home.json("files new -s new");
    assert!(made["deleted"].to_string().contains(".tmp/sessions/old"), "{made}");
    assert_eq!(made["kept"], json!([]));
    assert!(!manifest.exists());
    let mut left: Vec<_> = home.json("files sessions")["sessions"].as_array().unwrap().clone();
    left.retain(|session| session["session_id"] == "old");
    assert_eq!(left, Vec::<serde_json::Value>::new());
}
