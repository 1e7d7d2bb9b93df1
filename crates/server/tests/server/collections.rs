//! Collections: documents that sessions share.

use serde_json::{Value, json};

use crate::fixtures::{Answer, Server, settings, sqlite};

const C: &str = "/v1/collections/handbook";

/// A server with a collection that has two documents.
async fn stage() -> Server {
    let server = Server::start().await;
    fill(&server).await;
    server
}

async fn fill(server: &Server) {
    server.send("PUT", C, json!({})).await.is(200);
    let style = json!({"name": "guides/style.md", "text": "zq-short sentences", "visible_to": ["writer"]});
    assert_eq!(server.send("POST", &format!("{C}/documents"), style).await.is(200).body["outcome"], "created");
    let long = json!({ "text": "zq-long ".repeat(20_000) });
    server.send("PUT", &format!("{C}/documents/long"), long).await.is(200);
}

fn names<'a>(list: &'a Value, of: &str) -> Vec<&'a str> {
    list[of].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_collection_is_made_listed_read_and_deleted() {
    let server = stage().await;
    assert_eq!(server.send("PUT", C, json!({})).await.is(200).body["documents"], 2, "what is there stays");
    server.send("PUT", "/v1/collections/empty", json!({})).await.is(200);
    server.send("PUT", "/v1/collections/a:b", json!({})).await.problem(422, "invalid");
    server.get("/v1/collections/a:b").await.problem(404, "not_found");
    let list = server.get("/v1/collections").await.is(200);
    assert_eq!(names(&list.body, "collections"), ["empty", "handbook"]);
    let page = server.get("/v1/collections?limit=1").await.is(200);
    let rest = server.get(&format!("/v1/collections?cursor={}", page.text("next_cursor"))).await.is(200);
    assert_eq!(names(&rest.body, "collections"), ["handbook"]);
    assert_eq!(server.get(C).await.is(200).body, list.body["collections"][1]);
    let documents = server.get(&format!("{C}/documents")).await.is(200);
    assert_eq!(names(&documents.body, "documents"), ["guides/style.md", "long"]);
    let style = server.get(&format!("{C}/documents/guides%2Fstyle.md")).await.is(200);
    assert_eq!((&style.body["text"], &style.body["visible_to"]), (&json!("zq-short sentences"), &json!(["writer"])));
    server.delete(&format!("{C}/documents/long")).await.is(204);
    server.delete(&format!("{C}/documents/long")).await.problem(404, "not_found");
    server.delete(C).await.is(204);
    for path in ["", "/documents", "/journal", "/export"] {
        let gone = server.get(&format!("{C}{path}")).await;
        assert_eq!(gone.problem(404, "not_found").body["detail"], "there is no collection \"handbook\"");
    }
    server.delete(C).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_collection_is_no_session() {
    let server = stage().await;
    let team = server.team("s").await;
    assert_eq!(server.get("/v1/sessions").await.is(200).body["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(server.get("/v1/sessions?order=recent").await.is(200).body["sessions"][0]["id"], "s");
    let s = "/v1/sessions/collection:handbook";
    let hint = server.get(s).await.problem(404, "not_found").body["hint"].clone();
    assert_eq!(hint, "collections are at /v1/collections/handbook");
    for (method, path, body) in [
        ("GET", "/journal", None),
        ("GET", "/documents", None),
        ("GET", "/export", None),
        ("DELETE", "", None),
        ("PATCH", "", Some(json!({"ttl_seconds": 60}))),
        ("POST", "/fork", Some(json!({}))),
        ("POST", "/threads/main/messages", Some(json!({"messages": [{"role": "user", "content": "hi"}]}))),
        ("POST", "/prompt", Some(json!({}))),
        ("POST", "/tokens", Some(json!({"agent": "writer"}))),
    ] {
        let call = server.call(method, &format!("{s}{path}"));
        let call = if let Some(body) = body { call.json(&body) } else { call };
        Answer::of(call).await.problem(404, "not_found");
    }
    let keyed = server.call("DELETE", s).header("Idempotency-Key", "k");
    Answer::of(keyed).await.problem(404, "not_found");
    assert_eq!(server.get(C).await.is(200).body["documents"], 2);
    let taken = server.send("POST", "/v1/sessions", json!({"id": "collection:new"})).await.problem(422, "invalid");
    assert_eq!(taken.body["pointer"], "/id");
    let taken = server.send("POST", &format!("{team}/fork"), json!({"id": "collection:new"})).await;
    assert_eq!(taken.problem(422, "invalid").body["pointer"], "/id");
}

#[tokio::test]
async fn only_the_user_comes_to_a_collection() {
    let server = stage().await;
    let team = server.team("s").await;
    for agent in ["lead", "writer"] {
        let token = server.token(&team, agent).await;
        for (method, path) in [("GET", C), ("PUT", C), ("DELETE", C), ("GET", "/v1/collections/absent")] {
            let call = server.call(method, path).bearer_auth(&token);
            Answer::of(call).await.problem(403, "forbidden");
        }
        server.get(&format!("{C}/documents?as={agent}")).await.problem(403, "forbidden");
    }
}

#[tokio::test]
async fn sessions_name_collections_that_are_there() {
    let server = stage().await;
    let absent = server.send("POST", "/v1/sessions", json!({"id": "a", "collections": ["handbook", "ghost"]})).await;
    let absent = absent.problem(404, "not_found");
    assert!(
        absent.raw.contains("there is no collection \\\"ghost\\\"") && absent.raw.contains("hint"),
        "{}",
        absent.raw
    );
    server.get("/v1/sessions/a").await.problem(404, "not_found");
    let team = server.team("s").await;
    let two = server.send("POST", "/v1/sessions", json!({"id": "two", "collections": ["handbook"]})).await.is(201);
    assert_eq!(two.body["collections"], json!(["handbook"]));
    server.send("PATCH", &team, json!({"collections": ["ghost"]})).await.problem(404, "not_found");
    let patch = json!({"collections": ["handbook"]});
    server.send("PATCH", &format!("{team}?as=lead"), patch.clone()).await.problem(403, "forbidden");
    assert_eq!(server.send("PATCH", &team, patch).await.is(200).body["collections"], json!(["handbook"]));
    // A deleted one is simply empty.
    server.delete(C).await.is(204);
    assert_eq!(server.get(&team).await.is(200).body["collections"], json!(["handbook"]));
    server.send("PATCH", &team, json!({"title": "t"})).await.is(200);
    assert!(server.send("PATCH", &team, json!({"collections": []})).await.is(200).body.get("collections").is_none());
}

#[tokio::test]
async fn agents_read_the_collections_that_their_session_names_as_far_as_they_may() {
    let server = stage().await;
    let team = server.team("s").await;
    let style = format!("{team}/documents/guides%2Fstyle.md?collection=handbook");
    server.get(&format!("{style}&as=writer")).await.problem(404, "not_found");
    server.send("PATCH", &team, json!({"collections": ["handbook"]})).await.is(200);
    // Of another team, with an agent of the same name.
    let other = json!({"id": "o", "agents": [{"name": "writer", "role": "worker"}], "collections": ["handbook"]});
    server.send("POST", "/v1/sessions", other).await.is(201);
    for session in ["s", "o"] {
        let style = style.replace("/s/", &format!("/{session}/"));
        let read = server.get(&format!("{style}&as=writer")).await.is(200).body;
        assert_eq!((&read["text"], &read["visible_to"]), (&json!("zq-short sentences"), &json!(["writer"])));
    }
    let listed = async |agent: &str| {
        let list = server.get(&format!("{team}/documents?collection=handbook{agent}")).await.is(200).body;
        names(&list, "documents").join(" ")
    };
    assert_eq!(listed("&as=writer").await, "guides/style.md long");
    assert_eq!(listed("").await, "guides/style.md long");
    assert_eq!(listed("&as=lead").await, "long");
    assert_eq!(listed("&as=critic&limit=5").await, "long");
    for agent in ["lead", "critic"] {
        server.get(&format!("{style}&as={agent}")).await.problem(404, "not_found");
    }
    let absent = server.get(&format!("{}&as=critic", style.replace("style", "absent"))).await;
    let hidden = server.get(&format!("{style}&as=critic")).await;
    assert_eq!(absent.raw.replace("absent", "style"), hidden.raw);
    let read = async |agent: &str, arguments: Value| {
        let call = json!({"agent": agent, "arguments": arguments});
        server.send("POST", &format!("{team}/tools/read_document"), call).await
    };
    let of = json!({"name": "guides/style.md", "collection": "handbook"});
    assert!(read("writer", of.clone()).await.is(200).raw.contains("zq-short sentences"));
    read("critic", of.clone()).await.tool_error();
    read("writer", json!({"name": "long", "collection": "ghost"})).await.tool_error();
    server
        .send("PUT", &format!("{team}/documents/own"), json!({"text": "zq-own", "visible_to": ["writer"]}))
        .await
        .is(200);
    assert!(read("writer", json!({"name": "own"})).await.is(200).raw.contains("zq-own"));
    assert!(read("lead", json!({"name": "own"})).await.is(200).raw.contains("hidden from you"));
    read("critic", json!({"name": "own"})).await.tool_error();
    server.delete(C).await.is(204);
    assert_eq!(listed("&as=writer").await, "");
    read("writer", of).await.tool_error();
}

#[tokio::test]
async fn i3_questions_find_what_collections_say_for_whoever_may_see_it() {
    let server = stage().await;
    let team = server.team("s").await;
    let guide = json!({"text": "# Harbour\n\nThe harbour master is called Odalys.", "visible_to": ["writer"]});
    server.send("PUT", &format!("{C}/documents/harbour"), guide).await.is(200);
    server.send("PUT", &format!("{team}/documents/own"), json!({"text": "Odalys likes tea."})).await.is(200);
    let ask = async |who: &str| {
        let asked =
            server.send("POST", &format!("{team}/recall{who}"), json!({"query": "Who is Odalys?"})).await.is(200);
        asked.body["hits"].as_array().unwrap().clone()
    };
    assert_eq!(ask("?as=writer").await.len(), 1, "the session does not name it yet");
    server.send("PATCH", &team, json!({"collections": ["handbook"]})).await.is(200);
    for who in ["?as=writer", ""] {
        let hits = ask(who).await;
        assert_eq!(hits.len(), 2, "{hits:?}");
        let shared = hits.iter().find(|hit| hit["collection"] == "handbook").unwrap();
        assert!(shared["text"].as_str().unwrap().contains("harbour master"), "{shared}");
        assert_eq!((&shared["document"], &shared["name"]), (&json!("harbour"), &json!("harbour")));
        let read_on = shared["read_on"].as_str().unwrap();
        assert_eq!(read_on, "/v1/sessions/s/documents/harbour?collection=handbook");
        assert!(server.get(read_on).await.is(200).raw.contains("Odalys"));
    }
    for who in ["?as=critic", "?as=lead"] {
        let hits = ask(who).await;
        assert!(hits.len() == 1 && hits[0].get("collection").is_none(), "{hits:?}");
    }
    let seq = server.get(&format!("{C}/documents/harbour")).await.body["seq"].clone();
    server.delete(&format!("{C}/journal/{seq}?reason=private")).await.is(200);
    assert_eq!(ask("?as=writer").await.len(), 1, "what was erased is not found");
}

#[tokio::test]
async fn a_collection_outlives_a_restart_and_is_exported_imported_and_erased_from() {
    let folder = tempfile::tempdir().unwrap();
    let store = async || sqlite(&folder.path().join("board.db")).await;
    let server = Server::with(store().await, settings()).await;
    fill(&server).await;
    let team = server.team("s").await;
    server.stop().await;
    let server = Server::with(store().await, settings()).await;
    assert_eq!(server.get(C).await.is(200).body["documents"], 2);
    let export = server.get(&format!("{C}/export")).await.is(200).raw;
    Answer::of(server.import("/v1/collections/copy/import", &export)).await.is(201);
    Answer::of(server.import("/v1/collections/copy/import", &export)).await.problem(409, "session_exists");
    Answer::of(server.import("/v1/import", &export)).await.problem(422, "invalid");
    Answer::of(server.import("/v1/import?id=x", &export)).await.problem(422, "invalid");
    let session = server.get(&format!("{team}/export")).await.is(200).raw;
    Answer::of(server.import("/v1/collections/s/import", &session)).await.problem(422, "invalid");
    Answer::of(server.import("/v1/import?id=collection:s", &session)).await.problem(422, "invalid");
    assert_eq!(names(&server.get("/v1/collections").await.body, "collections"), ["copy", "handbook"]);
    let seqs: Vec<_> = server.get(&format!("{C}/documents")).await.body["documents"].as_array().unwrap().clone();
    for document in seqs {
        let path = format!("{C}/journal/{}?reason=private", document["seq"]);
        assert_eq!(server.delete(&path).await.is(200).body["forks"], json!(["collection:copy"]));
    }
    for path in ["journal", "export", "documents/long", "documents/guides%2Fstyle.md"] {
        let read = server.get(&format!("{C}/{path}")).await.is(200).raw;
        assert!(!read.contains("zq-") && read.contains("[erased]"), "{path}: {read}");
    }
    assert!(server.get("/v1/collections/copy/documents/long").await.raw.contains("zq-long"));
}

#[tokio::test]
async fn writers_of_a_collection_lose_no_update_and_a_repeated_request_changes_nothing() {
    let server = stage().await;
    let write = async |n: u32| {
        let path = format!("{C}/documents/d{n}");
        server.send("PUT", &path, json!({ "text": format!("t{n}") })).await.is(200);
    };
    futures::future::join_all((0..24).map(write)).await;
    assert_eq!(server.get(C).await.body["documents"], 26);
    let head = server.get(C).await.body["head"].clone();
    let once = async || {
        let call = server.call("POST", &format!("{C}/documents")).header("Idempotency-Key", "one");
        Answer::of(call.json(&json!({"name": "once", "text": "x"}))).await
    };
    assert_eq!(once().await.is(200).body["outcome"], "created");
    assert_eq!(once().await.is(200).body["outcome"], "created");
    let stale = server.call("PUT", &format!("{C}/documents/d1")).header("If-Match", format!("\"{head}\""));
    Answer::of(stale.json(&json!({"text": "late"}))).await.problem(412, "stale");
}
