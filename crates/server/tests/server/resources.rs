//! Each resource, as the user.

use serde_json::json;

use crate::fixtures::{Answer, Server};

#[tokio::test]
async fn a_session_is_made_read_changed_listed_and_deleted() {
    let server = Server::start().await;
    let made = server.send("POST", "/v1/sessions", json!({"id": "one", "title": "Tides"})).await.is(201);
    for field in ["id", "head", "title", "agents", "created_at", "last_activity", "expires_at", "ttl_seconds"] {
        assert!(!made.body[field].is_null(), "{field} in {}", made.raw);
    }
    server.send("POST", "/v1/sessions", json!({"id": "one"})).await.problem(409, "session_exists");
    let patch = json!({"title": "Waves", "ttl_seconds": "never", "agents": [{"name": "solo", "role": "worker"}]});
    let changed = server.send("PATCH", "/v1/sessions/one", patch).await.is(200);
    assert_eq!(changed.body["title"], "Waves");
    assert!(changed.body["expires_at"].is_null());
    assert_eq!(server.get("/v1/sessions/one").await.is(200).body["agents"][0]["name"], "solo");
    server.send("POST", "/v1/sessions", json!({"id": "two"})).await.is(201);
    let first = server.get("/v1/sessions?order=id&limit=1").await.is(200);
    assert_eq!(first.body["sessions"][0]["id"], "one");
    let next = server.get(&format!("/v1/sessions?order=id&limit=1&cursor={}", first.text("next_cursor"))).await.is(200);
    assert_eq!(next.body["sessions"][0]["id"], "two");
    assert!(next.body.get("next_cursor").is_none());
    server.delete("/v1/sessions/one").await.is(204);
    server.get("/v1/sessions/one").await.problem(404, "not_found");
    server.delete("/v1/sessions/one").await.problem(404, "not_found");
}

#[tokio::test]
async fn a_set_is_put_read_listed_and_deleted_under_any_name() {
    let (server, team) = Server::with_team().await;
    let path = format!("{team}/context-sets/a%2Fb%20%3F%C3%A9");
    let put = json!({"content": "high at noon", "visible_to": ["lead"]});
    let mut set = server.send("PUT", &path, put.clone()).await.is(200);
    assert_eq!(set.body.as_object_mut().unwrap().remove("outcome"), Some(json!("created")));
    assert_eq!(server.send("PUT", &path, put).await.is(200).body["outcome"], "unchanged");
    assert_eq!(set.body["name"], "a/b ?é");
    assert_eq!(set.body["hidden_from_agents"], json!(["writer", "critic"]));
    assert_eq!(server.get(&path).await.is(200).body, set.body);
    server.send("PUT", &format!("{team}/context-sets/z"), json!({"content": ""})).await.is(200);
    let list = server.get(&format!("{team}/context-sets")).await.is(200);
    assert_eq!(list.body["context_sets"][0], set.body);
    assert_eq!(list.body["context_sets"][1]["content"], "");
    let page = server.get(&format!("{team}/context-sets?limit=1")).await.is(200);
    let cursor = page.text("next_cursor");
    let rest = server.get(&format!("{team}/context-sets?cursor={cursor}")).await.is(200);
    assert_eq!(rest.body["context_sets"][0]["name"], "z");
    server.delete(&path).await.is(204);
    server.get(&path).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_session_begins_with_the_sets_of_another() {
    let server = Server::start_with_key().await;
    let team = server.team("s").await;
    let long = "sea ".repeat(60_000);
    let sets = [
        ("Brief", json!({"content": "the old tides"})),
        ("Brief", json!({"content": "the tides, key-4711", "enabled": false})),
        ("Long", json!({"content": long, "visible_to": "none"})),
        ("Process%20Steps", json!({"content": "1. measure"})),
        ("Style", json!({"content": "short", "visible_to": ["writer"]})),
    ];
    for (name, set) in sets {
        server.send("PUT", &format!("{team}/context-sets/{name}"), set).await.is(200);
    }
    // It became a secret only after it was said.
    let secret = json!({"value": "key-4711", "secret": true, "reason": "needed"});
    server.send("PUT", &format!("{team}/variables/API_KEY"), secret).await.is(200);
    let agents = json!([{"name": "chief", "role": "manager"}, {"name": "writer", "role": "worker"}]);
    let new = json!({"id": "t", "agents": agents, "context_sets_from": "s"});
    let keyed = || server.call("POST", "/v1/sessions").header("Idempotency-Key", "k").json(&new);
    let made = Answer::of(keyed()).await.is(201);
    let list = server.get("/v1/sessions/t/context-sets").await.is(200);
    let sets = list.body["context_sets"].as_array().unwrap();
    let told = |field: &str| sets.iter().map(|set| set[field].clone()).collect::<Vec<_>>();
    assert_eq!(told("name"), ["Brief", "Long", "Process Steps", "Style"]);
    assert_eq!(told("content"), ["the tides, [hidden]", &long, "1. measure", "short"]);
    assert_eq!(told("visible_to"), [json!("all"), json!("none"), json!(["chief"]), json!(["writer"])]);
    assert_eq!(told("enabled"), [false, true, true, true]);
    server.get("/v1/sessions/t/context-sets/Long?as=writer").await.problem(404, "not_found");
    // The same request again makes nothing, even once the other session is gone.
    server.delete("/v1/sessions/s").await.is(204);
    assert_eq!(Answer::of(keyed()).await.is(201).body, made.body);
    assert_eq!(server.get("/v1/sessions/t/context-sets").await.is(200).body, list.body);
}

#[tokio::test]
async fn a_session_whose_sets_do_not_fit_its_team_is_not_made() {
    let (server, team) = Server::with_team().await;
    let style = json!({"content": "short", "visible_to": ["writer"]});
    server.send("PUT", &format!("{team}/context-sets/Style"), style).await.is(200);
    let agents = json!([{"name": "painter", "role": "worker"}]);
    let new = json!({"id": "t", "agents": agents, "context_sets_from": "s"});
    let refused = server.send("POST", "/v1/sessions", new).await.problem(409, "no_agent");
    assert_eq!(refused.body["errors"][0]["pointer"], "/context_sets_from");
    assert!(refused.raw.contains("the set Style is for the agent writer"), "{}", refused.raw);
    let ghost = json!({"id": "t", "context_sets_from": "ghost"});
    server.send("POST", "/v1/sessions", ghost).await.problem(404, "not_found");
    server.get("/v1/sessions/t").await.problem(404, "not_found");
}

#[tokio::test]
async fn a_long_set_comes_back_whole() {
    let (server, team) = Server::with_team().await;
    let content = "sea ".repeat(60_000);
    let path = format!("{team}/context-sets/long");
    let put = server.send("PUT", &path, json!({ "content": content })).await.is(200);
    assert_eq!(put.text("content"), content);
    assert_eq!(server.get(&path).await.is(200).text("content"), content);
}

#[tokio::test]
async fn a_directive_says_how_each_update_came_out() {
    let (server, team) = Server::with_team().await;
    let sets = json!([
        {"name": "Brief", "context": "tides", "visibleToAgents": ["writer"]},
        {"name": "Brief", "context": "again", "newOrUpdate": "new"},
        {"name": "Odd", "context": "x", "visibleToAgents": ["nobody"]},
    ]);
    let directive = json!({"contextSetUpdate": {"contextSets": sets}, "contextUpdates": null});
    let answer = server.send("POST", &format!("{team}/directives"), directive).await.is(200);
    let outcomes: Vec<_> = (0..3).map(|at| answer.body["outcomes"][at]["outcome"].clone()).collect();
    assert_eq!(outcomes, ["created", "conflict", "rejected"]);
    let text = json!({"text": "Context update: Notes (visible to: all)\nebb"});
    let answer = server.send("POST", &format!("{team}/directives"), text).await.is(200);
    assert_eq!(answer.body["outcomes"][0]["name"], "Notes");
    let schema = server.get(&format!("{team}/directives/schema")).await.is(200);
    assert_eq!(schema.body["properties"]["messageTo"]["enum"], json!(["writer", "critic", "user"]));
}

#[tokio::test]
async fn a_form_is_answered_once_and_becomes_a_set() {
    let (server, team) = Server::with_team().await;
    let field = json!({"key": "port", "valueType": "NUMBER", "label": "Port", "required": true});
    let ask = json!({"isInfoRequest": true, "message": "Which?", "form": {"name": "Where", "fields": [field]}});
    let asked = server.send("POST", &format!("{team}/directives"), ask).await.is(200);
    assert_eq!(asked.body["form"]["name"], "Where");
    let forms = server.get(&format!("{team}/forms")).await.is(200).body;
    let shown = ["name", "answered", "request"].map(|field| &forms["forms"][0][field]);
    assert_eq!(shown, [&json!("Where"), &json!(false), &json!("Which?")], "{forms}");
    assert_eq!(server.get(&format!("{team}/forms?as=writer")).await.is(200).body, json!({"forms": []}));
    let path = format!("{team}/forms/Where");
    for answers in [json!({}), json!({"port": "x"}), json!({"port": 1, "more": 2})] {
        server.send("POST", &path, json!({ "answers": answers })).await.problem(422, "invalid");
    }
    let set = server.send("POST", &path, json!({"answers": {"port": 8}})).await.is(200);
    assert!(set.text("content").contains("Port: 8") && set.body["form"]["answered"] == true, "{}", set.raw);
    server.send("POST", &path, json!({"answers": {"port": 8}})).await.problem(409, "form_answered");
    let forms = server.get(&format!("{team}/forms?as=writer")).await.is(200).body;
    assert_eq!((&forms["forms"][0]["answered"], &forms["forms"][0]["answers"]["port"]), (&json!(true), &json!(8)));
    server.send("POST", &format!("{team}/forms/none"), json!({"answers": {}})).await.problem(404, "not_found");
}

#[tokio::test]
async fn messages_come_back_by_page_by_time_and_by_role() {
    let (server, team) = Server::with_team().await;
    let path = format!("{team}/threads/a%2Fb/messages");
    let message = |n: u32, role: &str| {
        json!({"message_id": format!("x{n}"), "role": role, "content": format!("text {n}"),
            "timestamp": format!("2025-01-18T09:00:0{n}.000Z"), "metadata": {"n": n}})
    };
    let all =
        json!({"messages": [message(1, "user"), message(2, "assistant"), message(3, "system"), message(4, "tool")]});
    let added = server.send("POST", &path, all.clone()).await.is(200);
    assert_eq!(added.body["messages"][3]["message_id"], "x4");
    let again = server.send("POST", &path, all).await.is(200);
    assert_eq!(again.body["messages"], added.body["messages"]);
    let list = server.get(&path).await.is(200);
    let roles: Vec<_> = (0..4).map(|at| list.body["messages"][at]["role"].clone()).collect();
    assert_eq!(roles, ["USER", "AI", "SYSTEM", "TOOL"]);
    assert_eq!(list.body["messages"][0]["thread_id"], "a/b");
    let ids = |body: &serde_json::Value| {
        let messages = body["messages"].as_array().unwrap().iter();
        messages.map(|message| message["message_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let page = server.get(&format!("{path}?limit=3")).await.is(200);
    assert_eq!(ids(&page.body), ["x2", "x3", "x4"]);
    let older = server.get(&format!("{path}?limit=3&cursor={}", page.text("next_cursor"))).await.is(200);
    assert_eq!((ids(&older.body), older.body.get("next_cursor")), (vec!["x1".to_owned()], None));
    let between = "after=2025-01-18T09:00:01Z&before=2025-01-18T09:00:04Z";
    assert_eq!(ids(&server.get(&format!("{path}?{between}")).await.is(200).body), ["x2", "x3"]);
    assert_eq!(ids(&server.get(&format!("{path}?roles=ai,TOOL")).await.is(200).body), ["x2", "x4"]);
    assert_eq!(ids(&server.get(&format!("{path}?limit=0")).await.is(200).body), Vec::<String>::new());
    server.get(&format!("{path}?limit=-1")).await.problem(422, "invalid");
    server.get(&format!("{team}/threads/none/messages")).await.problem(404, "not_found");
    assert_eq!(server.get(&format!("{team}/threads/main/messages")).await.is(200).raw, "{\"messages\":[]}");
}

#[tokio::test]
async fn a_thread_of_many_messages_is_given_whole() {
    let (server, team) = Server::with_team().await;
    let path = format!("{team}/threads/main/messages");
    let messages: Vec<_> = (0..1300).map(|n| json!({"role": "user", "content": format!("{n}")})).collect();
    server.send("POST", &path, json!({ "messages": messages })).await.is(200);
    let list = server.get(&path).await.is(200);
    let said: Vec<_> = list.body["messages"].as_array().unwrap().iter().map(|one| one["content"].clone()).collect();
    assert_eq!(said, (0..1300).map(|n| json!(n.to_string())).collect::<Vec<_>>());
    let journal = server.get(&format!("{team}/journal")).await.is(200);
    assert_eq!(journal.body["entries"].as_array().unwrap().len() as u64, journal.head());
}

#[tokio::test]
async fn threads_prompts_and_sizes_are_given() {
    let (server, team) = Server::with_team().await;
    server.say(&team, "main", "Begin, please.").await;
    let thread = server.send("PUT", &format!("{team}/threads/side"), json!({"visible_to": "writer"})).await.is(200);
    assert_eq!(thread.body["visible_to"], json!(["writer"]));
    let threads = server.get(&format!("{team}/threads")).await.is(200);
    assert_eq!(threads.body["threads"][0]["messages"], 1);
    assert!(
        threads.body["threads"][0]["last_at"].is_string() && threads.body["threads"][0]["tokens"].as_u64() > Some(0)
    );
    let asked = json!({"agent": "writer", "model": "openai:gpt-4o"});
    let prompt = server.send("POST", &format!("{team}/prompt"), asked).await.is(200);
    assert!(prompt.text("text").contains("Begin, please.") && prompt.body["counting"] == "exact", "{}", prompt.raw);
    assert_eq!(prompt.body["reusable_prefix_tokens"], 0);
    // The model of agents that name none is not known here, so that its tokens are counted at the most.
    let prompt = server.send("POST", &format!("{team}/prompt"), json!({"agent": "writer"})).await.is(200);
    assert_eq!(prompt.body["counting"], "upper_bound", "{}", prompt.raw);
    let openai = json!({"agent": "writer", "format": "openai", "budget": 4000, "at": 4});
    let prompt = server.send("POST", &format!("{team}/prompt"), openai).await.is(200);
    assert!(prompt.body["messages"].is_array() && prompt.body["seq"] == 4);
    let anthropic = json!({"agent": "writer", "format": "anthropic", "budget": 4000});
    let prompt = server.send("POST", &format!("{team}/prompt"), anthropic).await.is(200).body;
    assert_eq!((&prompt["system"][0]["type"], &prompt["messages"][0]["role"]), (&json!("text"), &json!("user")));
    assert_eq!((prompt.get("text"), &prompt["counting"]), (None, &json!("upper_bound")));
    assert_eq!(prompt.get("tools"), None, "the writer has none");
    server.send("POST", &format!("{team}/prompt"), json!({"budget": 3})).await.problem(422, "budget_exceeded");
    let size = server.get(&format!("{team}/threads/main/context")).await.is(200);
    assert!(size.body["tokens"].as_u64().unwrap() > 3 && size.body["parts"].is_array());
    assert_eq!((&size.body["warn_at"], &size.body["compress_at"]), (&json!(99_122), &json!(111_513)));
    assert_eq!(
        server.get(&format!("{team}/threads/side/context")).await.is(200).body["parts"][0]["name"],
        "instructions"
    );
}

#[tokio::test]
async fn a_fork_has_the_beginning_of_the_journal() {
    let (server, team) = Server::with_team().await;
    server.send("PUT", &format!("{team}/context-sets/late"), json!({"content": "x"})).await.is(200);
    let fork = server.send("POST", &format!("{team}/fork"), json!({"at": 4, "id": "f"})).await.is(201);
    assert_eq!((fork.head(), fork.text("id")), (4, "f"));
    server.get("/v1/sessions/f/context-sets/late").await.problem(404, "not_found");
    server.send("POST", &format!("{team}/fork"), json!({"at": 99})).await.problem(404, "not_found");
    server.send("POST", &format!("{team}/fork"), json!({"id": "f"})).await.problem(409, "session_exists");
    assert_eq!(server.call("POST", &format!("{team}/fork")).send().await.unwrap().status(), 201);
}

#[tokio::test]
async fn a_manager_forks_if_that_is_granted_and_learns_of_no_id() {
    let (server, team) = Server::with_team().await;
    let fork = format!("{team}/fork?as=lead");
    server.send("POST", &fork, json!({})).await.problem(403, "forbidden");
    server.send("PATCH", &team, json!({"grant": ["fork"]})).await.is(200);
    server.send("POST", &fork, json!({})).await.is(201);
    for id in ["s", "free"] {
        let refused = server.send("POST", &fork, json!({"id": id})).await.problem(422, "invalid");
        assert_eq!(refused.body["pointer"], "/id");
    }
    server.send("POST", &fork, json!({"at": 1})).await.problem(403, "forbidden");
    server.send("POST", &format!("{team}/fork?as=writer"), json!({})).await.problem(403, "forbidden");
}

#[tokio::test]
async fn the_server_says_how_it_is() {
    let server = Server::start().await;
    assert!(server.get("/").await.is(200).raw.contains("<base href=\"/\">"));
    server.get("/v1/nothing").await.problem(404, "not_found");
    let wrong = server.delete("/v1/sessions").await.problem(405, "method_not_allowed");
    assert!(wrong.headers.contains_key("allow"));
    let metrics = server.get("/metrics").await.is(200);
    assert!(metrics.raw.contains("route=\"/v1/sessions\",status=\"405\"} 1"), "{}", metrics.raw);
    assert!(metrics.raw.contains("callboard_recall_behind_entries 0\n"), "{}", metrics.raw);
}

#[tokio::test]
async fn where_a_text_came_from_is_answered_with_the_eyes_of_who_asks() {
    let (server, team) = Server::with_team().await;
    let put = json!({"content": "high at noon", "visible_to": ["writer"]});
    server.send("PUT", &format!("{team}/context-sets/Tide"), put).await.is(200);
    let found = server.get(&format!("{team}/why?text=at%20noon")).await.is(200);
    assert_eq!(found.body["findings"][0]["subject"], "set:Tide");
    assert_eq!(found.body["findings"][0]["hidden_from"], json!(["lead", "critic"]));
    let seen = server.get(&format!("{team}/why?text=at%20noon&as=writer")).await.is(200);
    assert_eq!(seen.body["findings"].as_array().unwrap().len(), 1);
    let hidden = server.get(&format!("{team}/why?text=at%20noon&as=critic")).await.is(200);
    assert_eq!(hidden.body["findings"], json!([]));
    server.get(&format!("{team}/why?text=%20")).await.problem(422, "invalid");
    server.get(&format!("{team}/why")).await.problem(422, "invalid");
}

#[tokio::test]
async fn the_sessions_used_last_are_given_first_where_that_is_asked_for() {
    let server = Server::start().await;
    for id in ["a", "b", "c"] {
        let keyed = server.call("POST", "/v1/sessions").header("Idempotency-Key", id).json(&json!({ "id": id }));
        Answer::of(keyed).await.is(201);
    }
    server.say("/v1/sessions/b", "main", "hello").await;
    let ids = |answer: Answer| {
        let sessions = answer.body["sessions"].as_array().unwrap().clone();
        sessions.iter().map(|session| session["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(server.get("/v1/sessions?order=recent&limit=1").await.is(200)), ["b"]);
    assert_eq!(ids(server.get("/v1/sessions?order=recent").await.is(200)).len(), 3);
    assert_eq!(ids(server.get("/v1/sessions?order=id").await.is(200)), ["a", "b", "c"]);
    // A cursor goes on in the order of its page, also where the order is not named again.
    let first = server.get("/v1/sessions?order=id&limit=1").await.is(200);
    let second = server.get(&format!("/v1/sessions?limit=1&cursor={}", first.text("next_cursor"))).await.is(200);
    let third = server.get(&format!("/v1/sessions?limit=1&cursor={}", second.text("next_cursor"))).await.is(200);
    assert_eq!([ids(first), ids(second), ids(third)], [["a"], ["b"], ["c"]]);
    server.get("/v1/sessions?order=size").await.problem(422, "invalid");
}

#[tokio::test]
async fn the_server_says_its_version_and_what_its_store_promises() {
    let server = Server::start().await;
    let health = server.get("/healthz").await.is(200);
    assert_eq!(health.body, json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}));
    assert_eq!(server.get("/readyz").await.is(200).body, json!({"status": "ok", "durability": "process"}));
}
