//! Context files of a project in the sessions of a server: whoever writes them.

use std::{path::Path, sync::Arc, time::Duration};

use callboard_core::{entry::Actor, id::SessionId, time::Timestamp};
use callboard_engine::KeyedRequest;
use callboard_files::{Category, NewFile, Project};
use callboard_model::scripted::{Reply, Scripted, first_text};
use callboard_server::{ProjectFolder, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    fixtures::{Answer, Server, memory, models, settings, until},
    keyed::{keyed, request},
    streams::{events, next},
};

/// A server with a project.
async fn stage() -> (Server, TempDir, String) {
    let folder = TempDir::new().unwrap();
    let server = Server::with(memory().await, with(folder.path())).await;
    let team = server.team("s").await;
    (server, folder, team)
}

fn with(root: &Path) -> Settings {
    // clock: how often the server looks; the tests wait until it has
    let every = Duration::from_millis(20);
    let project = ProjectFolder { root: root.to_owned(), look_every: every, sweep_every: Some(every) };
    Settings { project: Some(project), ..settings() }
}

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_millis(since.as_millis().try_into().unwrap()).unwrap()
}

/// Adds a file as a shell does, which knows of no server.
fn add(root: &Path, session: &str, name: &str, recipient: &str, at: Timestamp) {
    let file = NewFile {
        category: Category::Features,
        name: name.parse().unwrap(),
        recipient: recipient.parse().unwrap(),
        keywords: vec!["user-auth".parse().unwrap()],
        request: "Build it.".to_owned(),
        background: None,
        expected: None,
        constraints: None,
    };
    let id: SessionId = session.parse().unwrap();
    Project::at(root).unwrap().session_or_new(&id, at).unwrap().add(&file, at).unwrap();
}

fn login(recipient: &str) -> Value {
    json!({"category": "features", "name": "login", "for": recipient, "keywords": ["user-auth", "login"],
        "request": "Build the login.", "constraints": "No passwords."})
}

async fn as_agent(server: &Server, agent: &str, path: &str) -> Answer {
    let joined = if path.contains('?') { '&' } else { '?' };
    server.get(&format!("{path}{joined}as={agent}")).await
}

#[tokio::test]
async fn a_file_is_written_found_read_handed_over_and_removed() {
    let (server, folder, team) = stage().await;
    assert_eq!(server.get(&format!("{team}/files")).await.is(200).body, json!({"files": []}));
    let added = server.send("POST", &format!("{team}/files"), login("writer")).await.is(201);
    let path = ".tmp/sessions/s/features/login-context.md";
    assert_eq!(added.body, json!({"path": path, "session_id": "s"}));
    assert!(std::fs::read_to_string(folder.path().join(path)).unwrap().contains("No passwords."));
    server.send("POST", &format!("{team}/files"), login("writer")).await.problem(409, "exists");
    let found = server.get(&format!("{team}/files/search?keywords=login,none")).await.is(200);
    assert_eq!((&found.body["files"][0]["path"], &found.body["files"][0]["for"]), (&json!(path), &json!("writer")));
    let none = server.get(&format!("{team}/files/search?keywords=login,none&match=all")).await.is(200);
    assert_eq!(none.body, json!({"files": []}));
    for spelling in ["features/login-context.md", "features%2Flogin-context.md"] {
        let read = server.get(&format!("{team}/files/{spelling}")).await.is(200);
        assert!(read.text("content").starts_with("# Context: Login\nSession: s\n"));
    }
    let task = json!({"to": "writer", "task": "Implement the form.", "keywords": ["login"]});
    let handed = server.send("POST", &format!("{team}/files/delegation"), task).await.is(200);
    assert_eq!(handed.body["files"], json!([path]));
    assert!(handed.text("message").contains(&format!("Related context available at:\n- {path}\n")));
    server.delete(&format!("{team}/files/features/login-context.md")).await.is(204);
    server.get(&format!("{team}/files/features/login-context.md")).await.problem(404, "not_found");
    let journal = server.get(&format!("{team}/journal?types=file.added,file.removed")).await.is(200);
    let entries = journal.body["entries"].as_array().unwrap();
    let kinds: Vec<_> = entries.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["file.added", "file.removed"]);
    assert_eq!((&entries[0]["data"]["path"], &entries[0]["by"]), (&json!(path), &json!("system")));
    server.stop().await;
}

#[tokio::test]
async fn what_a_shell_writes_is_heard_by_those_who_listen() {
    let (server, folder, team) = stage().await;
    let mut heard = events(server.call("GET", &format!("{team}/events?as=writer"))).await;
    add(folder.path(), "s", "for-critic", "critic", now());
    add(folder.path(), "s", "for-writer", "writer", now());
    for name in ["critic", "writer"] {
        let event = next(&mut heard).await.unwrap();
        let entry: Value = serde_json::from_str(&event.data).unwrap();
        assert_eq!(event.event, "file.added");
        assert_eq!(entry["data"]["path"], format!(".tmp/sessions/s/features/for-{name}-context.md"));
    }
    std::fs::remove_dir_all(folder.path().join(".tmp")).unwrap();
    assert_eq!(next(&mut heard).await.unwrap().event, "file.removed");
    server.stop().await;
}

#[tokio::test]
async fn a_folder_that_was_there_before_its_session_is_taken_in() {
    let folder = TempDir::new().unwrap();
    add(folder.path(), "s", "early", "all", now());
    let server = Server::with(memory().await, with(folder.path())).await;
    let team = server.team("s").await;
    let mut heard = events(server.call("GET", &format!("{team}/events?after=0&types=file.added"))).await;
    assert!(next(&mut heard).await.unwrap().data.contains("early-context.md"));
    server.stop().await;
}

#[tokio::test]
async fn an_agent_is_shown_what_is_meant_for_it_and_finds_the_rest() {
    let (server, folder, team) = stage().await;
    add(folder.path(), "s", "for-writer", "writer", now());
    add(folder.path(), "s", "for-critic", "critic", now());
    let prompt = server.send("POST", &format!("{team}/prompt"), json!({"agent": "writer"})).await.is(200);
    let text = prompt.text("text");
    assert!(text.contains("- .tmp/sessions/s/features/for-writer-context.md (user-auth)\n"), "{text}");
    assert!(!text.contains("for-critic") && !text.contains("Build it."));
    assert!(!text.contains("for others"), "it is told of no tool that it does not have: {text}");
    let managers = server.send("POST", &format!("{team}/prompt"), json!({"agent": "lead"})).await.is(200);
    for name in ["writer", "critic"] {
        let line = format!("- .tmp/sessions/s/features/for-{name}-context.md (for {name}: user-auth)\n");
        assert!(managers.text("text").contains(&line), "{}", managers.raw);
    }
    // Whom it is for is no access right.
    let listed = as_agent(&server, "writer", &format!("{team}/files")).await.is(200);
    assert_eq!(listed.body["files"].as_array().unwrap().len(), 2);
    let path = format!("{team}/files/features/for-critic-context.md");
    for agent in ["writer", "critic", "lead"] {
        assert!(as_agent(&server, agent, &path).await.is(200).text("content").contains("Build it."));
    }
    as_agent(&server, "writer", &path.replace("critic", "nobody")).await.problem(404, "not_found");
    // A worker writes where the session grants it.
    let add = async || server.send("POST", &format!("{team}/files?as=writer"), login("critic")).await;
    let tool = async |name: &str, arguments: Value| {
        server.send("POST", &format!("{team}/tools/{name}?as=writer"), json!({ "arguments": arguments })).await
    };
    let new = json!({"name": "by-tool", "for": "critic", "request": "Look at it."});
    let hand_over = json!({"to": "critic", "task": "Look at by-tool."});
    let names = async || server.get(&format!("{team}/tools?as=writer")).await.is(200).raw;
    add().await.problem(403, "forbidden");
    tool("add_file", new.clone()).await.tool_error();
    tool("delegate", hand_over.clone()).await.tool_error();
    assert!(names().await.contains("find_files") && !names().await.contains("add_file"));
    server.send("PATCH", &team, json!({"grant": ["files"]})).await.is(200);
    add().await.is(201);
    assert!(names().await.contains("add_file"));
    let added = tool("add_file", new.clone()).await.is(200);
    assert_eq!(added.text("result"), "Context file added: .tmp/sessions/s/general/by-tool-context.md");
    let handed = tool("delegate", hand_over).await.is(200);
    assert!(handed.text("result").contains("by-tool-context.md"), "{}", handed.raw);
    tool("add_file", new).await.tool_error();
    tool("add_file", json!({"name": "x", "for": "all", "request": " "})).await.tool_error();
    tool("read_file", json!({"path": "../../secret.md"})).await.tool_error();
    tool("read_file", json!({"path": "features/none-context.md"})).await.tool_error();
    server.stop().await;
}

/// The story of a team that shares files: a file for the task manager, one that the task manager writes, and a coder who
/// searches and reads both.
#[tokio::test]
async fn in_a_run_agents_find_read_and_write_files() {
    let endpoint = Scripted::start(|request, _| {
        let said = request["messages"].to_string();
        if request.get("response_format").is_some() {
            let next = if said.contains("The login is done.") {
                json!({"messageTo": "user", "message": "Built.", "workflowComplete": true})
            } else if said.contains("The tasks are written.") {
                json!({"messageTo": "coder", "message": "Implement the login component."})
            } else {
                json!({"messageTo": "task-manager", "message": "Break user-auth down."})
            };
            return Reply::json(&next);
        }
        if first_text(request).contains("You are task-manager") {
            let tasks = json!({"category": "tasks", "name": "user-auth", "for": "task-manager", "keywords": ["user-auth", "tasks"],
                "request": "1. The form. 2. The session cookie."});
            return match said.contains("Context file added") {
                true => Reply::text("The tasks are written."),
                false => Reply::tool_calls([("add_file", tasks)]),
            };
        }
        if said.contains("The session cookie.") && said.contains("Sign in with a password.") {
            return Reply::text("The login is done.");
        }
        if said.contains("The session cookie.") {
            return Reply::tool_calls([(
                "read_file",
                json!({"path": ".tmp/sessions/s/features/user-auth-context.md"}),
            )]);
        }
        if said.contains("user-auth-tasks.md") {
            return Reply::tool_calls([("read_file", json!({"path": ".tmp/sessions/s/tasks/user-auth-tasks.md"}))]);
        }
        Reply::tool_calls([("find_files", json!({"keywords": ["user-auth"]}))])
    });
    let folder = TempDir::new().unwrap();
    let mut settings = with(folder.path());
    settings.models = models(endpoint.base_url());
    let server = Server::with(memory().await, settings).await;
    let tools = json!([{"name": "callboard:read"}, {"name": "callboard:add_file"}]);
    let agents = json!([
        {"name": "open-agent", "role": "manager"},
        {"name": "task-manager", "role": "worker", "tools": tools},
        {"name": "coder", "role": "worker", "tools": [{"name": "callboard:read"}]},
    ]);
    let new = json!({"id": "s", "agents": agents, "grant": ["files"]});
    server.send("POST", "/v1/sessions", new).await.is(201);
    let file = json!({"category": "features", "name": "user-auth", "for": "task-manager",
        "keywords": ["user-auth", "authentication"], "request": "Sign in with a password."});
    server.send("POST", "/v1/sessions/s/files", file).await.is(201);
    let run = json!({"kind": "team", "input": "Build user authentication.", "limits": {"turns": 20}});
    let run = server.send("POST", "/v1/sessions/s/runs", run).await.is(201);
    let run = format!("/v1/sessions/s/runs/{}", run.text("id"));
    let now = server.when(&run, |now| now.body["status"] != "running").await;
    assert_eq!(now.body["status"], "completed", "{}", now.raw);
    assert!(folder.path().join(".tmp/sessions/s/tasks/user-auth-tasks.md").exists());
    let asked: Vec<_> = endpoint.requests().iter().map(|request| request["messages"].to_string()).collect();
    let managers = asked.iter().rfind(|said| said.contains("Context files of this session")).unwrap();
    assert!(managers.contains("user-auth-tasks.md (for task-manager: user-auth, tasks)"), "{asked:#?}");
    let coders = asked.iter().find(|said| said.contains("You are coder")).unwrap();
    assert!(coders.contains("- 2 for others, which you may read too: call `find_files`"), "{coders}");
    server.stop().await;
}

#[tokio::test]
async fn a_session_that_is_deleted_takes_its_folder_with_it() {
    let (server, folder, team) = stage().await;
    add(folder.path(), "s", "one", "all", now());
    add(folder.path(), "other", "one", "all", now());
    std::fs::write(folder.path().join(".tmp/sessions/s/mine.md"), "mine").unwrap();
    server.delete(&team).await.is(204);
    assert!(!folder.path().join(".tmp/sessions/s/features").exists());
    assert!(folder.path().join(".tmp/sessions/s/mine.md").exists(), "what no manifest lists stays");
    assert!(folder.path().join(".tmp/sessions/other/features/one-context.md").exists());
    server.stop().await;
}

#[tokio::test]
async fn a_session_that_expires_takes_its_folder_with_it() {
    let folder = TempDir::new().unwrap();
    let server = Server::with(memory().await, with(folder.path())).await;
    let short = json!({"id": "short", "agents": [{"name": "a", "role": "worker"}]});
    server.send("POST", "/v1/sessions", short).await.is(201);
    server.send("POST", "/v1/sessions/short/files", login("a")).await.is(201);
    add(folder.path(), "forever", "one", "all", now());
    let path = folder.path().join(".tmp/sessions/short");
    assert!(path.exists());
    server.send("PATCH", "/v1/sessions/short", json!({"ttl_seconds": 1})).await.is(200);
    until("the end of the folder", async || !path.exists()).await;
    assert!(folder.path().join(".tmp/sessions/forever/features/one-context.md").exists());
    server.stop().await;
}

#[tokio::test]
async fn what_nobody_uses_is_cleaned_up_and_what_belongs_to_a_session_that_lives_is_kept() {
    let (server, folder, team) = stage().await;
    let long_ago = now().plus_seconds(-90_000);
    add(folder.path(), "s", "in-use", "all", long_ago);
    add(folder.path(), "forgotten", "one", "all", long_ago);
    let path = folder.path().join(".tmp/sessions/forgotten");
    until("the end of the folder", async || !path.exists()).await;
    let listed = server.get(&format!("{team}/files")).await.is(200);
    assert_eq!(listed.body["files"].as_array().unwrap().len(), 1);
    server.stop().await;
}

#[tokio::test]
async fn what_cannot_be_a_file_is_refused() {
    let (server, folder, team) = stage().await;
    std::fs::write(folder.path().join("secret.md"), "secret").unwrap();
    let wrong =
        [("name", "../x"), ("name", "/etc/x"), ("name", "a\nb"), ("category", "../.."), ("for", ""), ("request", "")];
    for (field, value) in wrong {
        let mut body = login("writer");
        body[field] = json!(value);
        server.send("POST", &format!("{team}/files"), body).await.is(422);
    }
    for path in ["..%2F..%2F..%2Fsecret.md", "%2Fetc%2Fpasswd", "..%2Fsecret.md", ".manifest.json"] {
        let answer = server.get(&format!("{team}/files/{path}")).await;
        assert!([404, 422].contains(&answer.status.as_u16()), "{path}: {}", answer.raw);
        let answer = server.delete(&format!("{team}/files/{path}")).await;
        assert!([404, 422].contains(&answer.status.as_u16()), "{path}: {}", answer.raw);
    }
    assert!(folder.path().join("secret.md").exists());
    server.get(&format!("{team}/files?category=none")).await.is(422);
    server.stop().await;
}

#[tokio::test]
async fn a_server_without_a_project_has_no_files_and_one_without_its_folder_does_not_start() {
    let (server, team) = Server::with_team().await;
    server.get(&format!("{team}/files")).await.problem(404, "no_project");
    server.send("POST", &format!("{team}/files"), login("writer")).await.problem(404, "no_project");
    server.stop().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let board = callboard_engine::Board::new(memory().await, crate::fixtures::board());
    let gone = callboard_server::Server::ready(board, with(Path::new("/no/such/folder")), listener);
    assert!(gone.err().unwrap().to_string().contains("/no/such/folder"));
}

#[tokio::test]
async fn the_same_request_writes_and_removes_once() {
    let (server, folder, team) = stage().await;
    let files = format!("{team}/files");
    let file = format!("{files}/features/login-context.md");
    let added = Answer::of(keyed(&server, "POST", &files, "a", &login("writer"))).await.is(201);
    let again = Answer::of(keyed(&server, "POST", &files, "a", &login("writer"))).await.is(201);
    assert_eq!(added.raw, again.raw);
    Answer::of(keyed(&server, "POST", &files, "a", &login("critic"))).await.problem(422, "idempotency_key_reused");
    Answer::of(keyed(&server, "POST", &files, "b", &login("writer"))).await.problem(409, "exists");
    // The keys of another session are others.
    let other = server.team("other").await;
    Answer::of(keyed(&server, "POST", &format!("{other}/files"), "a", &login("writer"))).await.is(201);
    Answer::of(keyed(&server, "DELETE", &file, "d", &json!({}))).await.is(204);
    Answer::of(keyed(&server, "DELETE", &file, "d", &json!({}))).await.is(204);
    Answer::of(keyed(&server, "DELETE", &file, "e", &json!({}))).await.problem(404, "not_found");
    assert!(!folder.path().join(".tmp/sessions/s/features/login-context.md").exists());
    server.stop().await;
}

#[tokio::test]
async fn a_request_that_was_cut_short_is_done_by_the_next_of_its_kind() {
    let (server, folder, team) = stage().await;
    let (files, body) = (format!("{team}/files"), login("writer"));
    let file = format!("{files}/features/login-context.md");
    // It was done and not answered: the server died in between.
    Answer::of(server.call("POST", &files).json(&body)).await.is(201);
    begun(&server, "POST", &files, "a", &body).await;
    Answer::of(keyed(&server, "POST", &files, "a", &body)).await.is(201);
    // What somebody else wrote is not what it wrote.
    let mut another = body.clone();
    another["request"] = json!("Build another login.");
    begun(&server, "POST", &files, "b", &another).await;
    Answer::of(keyed(&server, "POST", &files, "b", &another)).await.problem(409, "exists");
    server.delete(&file).await.is(204);
    begun(&server, "DELETE", &file, "d", &json!({})).await;
    Answer::of(keyed(&server, "DELETE", &file, "d", &json!({}))).await.is(204);
    assert!(!folder.path().join(".tmp/sessions/s/features/login-context.md").exists());
    server.stop().await;
}

/// Notes that a request was begun.
async fn begun(server: &Server, method: &str, path: &str, key: &str, body: &Value) {
    let request = request(method, path, key, body);
    let session = "s".parse().unwrap();
    let begun = server.board.begin(Actor::User, &request, Some(&session), json!({"meant": null})).await.unwrap();
    assert!(matches!(begun, KeyedRequest::Begun(claim) if claim.is_fresh));
}

#[tokio::test]
async fn a_stale_head_changes_no_file() {
    let (server, folder, team) = stage().await;
    let files = format!("{team}/files");
    let head = server.get(&team).await.head();
    let at = |head: u64| format!("\"{head}\"");
    let add = |head| server.call("POST", &files).header("If-Match", at(head)).json(&login("writer"));
    Answer::of(add(head - 1)).await.problem(412, "stale");
    let path = folder.path().join(".tmp/sessions/s/features/login-context.md");
    assert!(!path.exists());
    Answer::of(add(head)).await.is(201);
    let remove =
        |head| server.call("DELETE", &format!("{files}/features/login-context.md")).header("If-Match", at(head));
    Answer::of(remove(head)).await.problem(412, "stale");
    assert!(path.exists());
    Answer::of(remove(server.get(&team).await.head())).await.is(204);
    server.stop().await;
}

#[tokio::test]
async fn many_at_once_lose_nothing() {
    let (server, folder, team) = stage().await;
    let server = Arc::new(server);
    let adds = (0..30).map(|n| {
        let (server, path) = (server.clone(), format!("{team}/files"));
        let mut body = login("writer");
        body["name"] = json!(format!("n{n}"));
        async move { server.send("POST", &path, body).await.is(201) }
    });
    let shells = tokio::task::spawn_blocking({
        let root = folder.path().to_owned();
        move || (0..10).for_each(|n| add(&root, "s", &format!("shell{n}"), "all", now()))
    });
    futures::future::join_all(adds).await;
    shells.await.unwrap();
    let listed = server.get(&format!("{team}/files")).await.is(200);
    assert_eq!(listed.body["files"].as_array().unwrap().len(), 40);
    let journal = server.get(&format!("{team}/journal?types=file.added,file.removed")).await.is(200);
    assert_eq!(journal.body["entries"].as_array().unwrap().len(), 40, "each was noted once");
}
