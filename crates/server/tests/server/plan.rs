//! The plan over HTTP, by each actor.

use serde_json::{Value, json};

use crate::fixtures::{Answer, Server};

fn plan(status: &str) -> Value {
    json!({"overall_goal": "A poem", "current_phase": "draft", "blockers": [], "phases": [
        {"phase_name": "draft", "status": "in_progress", "tasks": [
            {"task_id": 0, "description": "Find a rhyme", "status": status},
            {"task_id": 1, "description": "Write", "status": "pending", "node_ids": ["node_3"]},
        ]},
    ]})
}

async fn board() -> (Server, String) {
    let (server, team) = Server::with_team().await;
    (server, format!("{team}/plan"))
}

async fn put(server: &Server, at: &str, plan: Value, reason: &str) -> Answer {
    server.send("PUT", at, json!({"plan": plan, "reason": reason})).await
}

#[tokio::test]
async fn a_plan_is_put_and_read_with_what_callboard_knows_of_it() {
    let (server, at) = board().await;
    server.get(&at).await.problem(404, "not_found");
    let put = put(&server, &at, plan("pending"), "begin").await.is(200);
    assert_eq!(put.body, json!({"version": 1}));
    let read = server.get(&at).await.is(200);
    assert_eq!(put.headers["etag"], read.headers["etag"]);
    let known = ["version", "reason", "by"].map(|field| read.body[field].clone());
    assert_eq!(known, [json!(1), json!("begin"), json!("user")]);
    let document = &read.body["plan"];
    assert_eq!((&document["plan_version"], &document["overall_goal"]), (&json!(1), &json!("A poem")));
    assert_eq!((&document["updated_at"], &document["phases"]), (&read.body["at"], &plan("pending")["phases"]));
    // What was read can be put again: what Callboard sets is ignored.
    let mut again = document.clone();
    again["plan_version"] = 99.into();
    again["workflow_id"] = "mine".into();
    let again = json!({"plan": again, "reason": "again", "expected_version": 1});
    assert_eq!(server.send("PUT", &at, again).await.is(200).body["version"], 2);
    let second = server.get(&at).await.body["plan"].clone();
    assert_eq!((&second["workflow_id"], &second["plan_version"]), (&document["workflow_id"], &json!(2)));
    assert_eq!(second["created_at"], document["created_at"]);
}

#[tokio::test]
async fn a_bad_plan_is_refused_with_every_fault_and_a_stale_one_with_409() {
    let (server, at) = board().await;
    let faulty =
        json!({"overall_goal": "x", "current_phase": "y", "colour": 1, "phases": [{"status": "done", "tasks": 5}]});
    let refused = put(&server, &at, faulty, "r").await.problem(422, "invalid");
    let pointers: Vec<_> =
        refused.body["errors"].as_array().unwrap().iter().map(|fault| fault["pointer"].clone()).collect();
    let phase = ["phase_name", "status", "tasks"].map(|field| json!(format!("/plan/phases/0/{field}")));
    assert_eq!(pointers, [&[json!("/plan/colour")], &phase[..]].concat());
    for (body, pointer) in [
        (json!({"plan": plan("pending")}), "/reason"),
        (json!({"plan": plan("pending"), "reason": " "}), "/reason"),
        (json!({"reason": "r"}), "/plan"),
        (json!({"plan": plan("pending"), "reason": "r", "expected_version": -1}), "/expected_version"),
        (json!({"plan": plan("pending"), "reason": "r", "version": 1}), "/version"),
    ] {
        assert_eq!(server.send("PUT", &at, body).await.problem(422, "invalid").text("pointer"), pointer);
    }
    server.get(&at).await.problem(404, "not_found");
    put(&server, &at, plan("pending"), "one").await.is(200);
    let stale = json!({"plan": plan("pending"), "reason": "r", "expected_version": 0});
    server.send("PUT", &at, stale).await.problem(409, "stale_plan");
    let large = json!({"plan": {"notes": "x".repeat(300_000)}, "reason": "r"});
    server.send("PUT", &at, large).await.problem(413, "too_large");
}

#[tokio::test]
async fn all_versions_are_kept_and_compared() {
    let (server, at) = board().await;
    for version in 1..=5 {
        let status = if version % 2 == 0 { "completed" } else { "pending" };
        put(&server, &at, plan(status), &format!("change {version}")).await.is(200);
        server.say("/v1/sessions/s", "main", "meanwhile").await;
    }
    let mut listed = Vec::new();
    let mut page = format!("{at}/versions?limit=2");
    loop {
        let answer = server.get(&page).await.is(200).body;
        listed.extend(answer["versions"].as_array().unwrap().clone());
        let Some(cursor) = answer["next_cursor"].as_str() else { break };
        page = format!("{at}/versions?limit=2&cursor={cursor}");
    }
    let numbers: Vec<_> = listed.iter().map(|version| version["version"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [5, 4, 3, 2, 1]);
    assert_eq!((&listed[1]["reason"], &listed[1]["by"]), (&json!("change 4"), &json!("user")));
    for version in 1..=5 {
        let read = server.get(&format!("{at}/versions/{version}")).await.is(200).body;
        assert_eq!((&read["version"], &read["plan"]["plan_version"]), (&json!(version), &json!(version)));
        assert_eq!(read["reason"], format!("change {version}"));
        assert_eq!(
            read["plan"]["phases"][0]["tasks"][0]["status"],
            if version % 2 == 0 { "completed" } else { "pending" }
        );
    }
    for absent in ["0", "6", "x", "-1", "99999999999999999999"] {
        server.get(&format!("{at}/versions/{absent}")).await.problem(404, "not_found");
    }
    assert_eq!(server.get(&format!("{at}/diff?from=2&to=4")).await.is(200).body["changes"], json!([]));
    let change = json!([{"task_id": 0, "phase": "draft", "change": "changed", "field": "status",
        "before": "completed", "after": "pending"}]);
    let last = server.get(&format!("{at}/diff")).await.is(200).body;
    assert_eq!((&last["from"], &last["to"], &last["changes"]), (&json!(4), &json!(5), &change));
    let first = server.get(&format!("{at}/diff?from=0&to=1")).await.is(200).body;
    assert!(first["changes"].as_array().unwrap().iter().any(|change| change["change"] == "added"));
    server.get(&format!("{at}/diff?from=9")).await.problem(404, "not_found");
    server.get(&format!("{at}/versions?cursor=zz")).await.problem(422, "invalid");
}

#[tokio::test]
async fn a_person_ticks_a_task() {
    let (server, at) = board().await;
    let patch = async |task: &str, body: Value| server.send("PATCH", &format!("{at}/tasks/{task}"), body).await;
    patch("0", json!({"status": "completed", "reason": "r"})).await.problem(404, "not_found");
    put(&server, &at, plan("pending"), "begin").await.is(200);
    let ticked = patch("0", json!({"status": "completed", "notes": "moon", "reason": "done"})).await.is(200);
    assert_eq!(ticked.body, json!({"version": 2}));
    let task = server.get(&at).await.body["plan"]["phases"][0]["tasks"][0].clone();
    assert_eq!((&task["status"], &task["notes"]), (&json!("completed"), &json!("moon")));
    patch("7", json!({"status": "completed", "reason": "r"})).await.problem(404, "not_found");
    patch("0", json!({"status": "done", "reason": "r"})).await.problem(422, "invalid");
    patch("0", json!({"reason": "r"})).await.problem(422, "invalid");
    patch("0", json!({"status": "failed"})).await.problem(422, "invalid");
}

#[tokio::test]
async fn workers_see_the_plan_where_it_is_shared_and_never_change_it() {
    let (server, at) = board().await;
    let before = server.get(&format!("{at}?as=writer")).await.problem(404, "not_found").raw;
    put(&server, &at, plan("pending"), "begin").await.is(200);
    let calls = ["", "/versions", "/versions/1", "/diff?from=0&to=1"];
    let asked = |path: &str| format!("{at}{path}{}as=writer", if path.contains('?') { '&' } else { '?' });
    for path in calls {
        server.get(&asked(path)).await.problem(404, "not_found");
    }
    assert_eq!(server.get(&asked("")).await.raw, before, "a hidden plan answers like none");
    let forbidden = |method: &'static str, path: &str| (method, asked(path));
    for (method, path) in [forbidden("PUT", ""), forbidden("PATCH", "/tasks/9")] {
        server.send(method, &path, json!({"broken": 1})).await.problem(403, "forbidden");
    }
    server.send("PATCH", "/v1/sessions/s", json!({"share": ["plan"]})).await.is(200);
    put(&server, &format!("{at}?as=lead"), plan("completed"), "go on").await.is(200);
    let seen = server.get(&asked("")).await.is(200).body;
    assert_eq!((&seen["version"], &seen["by"]), (&json!(2), &json!("agent:lead")));
    let versions = server.get(&asked("/versions")).await.is(200).body;
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1, "what came before was not for it");
    server.get(&asked("/versions/1")).await.problem(404, "not_found");
    server.send("PUT", &asked(""), json!({"plan": plan("failed"), "reason": "r"})).await.problem(403, "forbidden");
}

#[tokio::test]
async fn versions_have_no_gap_however_many_write_at_once() {
    let (server, at) = board().await;
    let writers = (0..16).map(|n| {
        let (server, at) = (&server, &at);
        async move {
            put(server, at, plan("pending"), &format!("writer {n}")).await.is(200).body["version"].as_u64().unwrap()
        }
    });
    let mut versions = futures::future::join_all(writers).await;
    versions.sort_unstable();
    assert_eq!(versions, (1..=16).collect::<Vec<_>>());
    // Of those that replace the same version, one does.
    let tries =
        (0..8).map(|_| server.send("PUT", &at, json!({"plan": plan("failed"), "reason": "r", "expected_version": 16})));
    let done = futures::future::join_all(tries).await;
    let statuses = done.iter().map(|answer| answer.status.as_u16());
    let mut statuses: Vec<_> = statuses.collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [&[200][..], &[409; 7]].concat());
    assert_eq!(server.get(&at).await.body["version"], 17);
}
