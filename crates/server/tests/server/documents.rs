//! Documents of a session.

use serde_json::{Value, json};

use crate::fixtures::{Answer, Server, settings, sqlite};

fn names(list: &Value) -> Vec<&str> {
    list["documents"].as_array().unwrap().iter().map(|document| document["name"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_document_is_added_replaced_read_listed_and_removed_under_any_name() {
    let (server, team) = Server::with_team().await;
    let (list, path) = (format!("{team}/documents"), format!("{team}/documents/a%2Fb%20%3F%C3%A9.md"));
    let new = json!({"name": "a/b ?é.md", "text": "# Tides\n\nhigh at noon", "media_type": "text/markdown"});
    let added = server.send("POST", &list, new.clone()).await.is(200);
    assert_eq!(added.body["outcome"], "created");
    assert_eq!(server.send("POST", &list, new).await.is(200).body["outcome"], "unchanged");
    let document = server.get(&path).await.is(200).body;
    assert_eq!(document["text"], "# Tides\n\nhigh at noon");
    let found = server.send("POST", &format!("{team}/recall"), json!({"query": "high noon"})).await.is(200).body;
    assert_eq!(found["hits"][0]["document"], "a/b ?é.md", "{found}");
    for field in ["name", "visible_to", "hidden_from_agents", "media_type", "size_bytes", "tokens", "updated_at", "seq"]
    {
        assert_eq!(document[field], added.body[field], "{field}");
    }
    let hidden = json!({"text": "low at six", "visible_to": ["lead"]});
    let changed = server.send("PUT", &path, hidden).await.is(200);
    assert_eq!((&changed.body["outcome"], &changed.body["media_type"]), (&json!("updated"), &json!("text/markdown")));
    assert_eq!(changed.body["hidden_from_agents"], json!(["writer", "critic"]));
    server.get(&format!("{path}?as=writer")).await.problem(404, "not_found");
    assert_eq!(server.get(&format!("{path}?as=lead")).await.is(200).body["text"], "low at six");
    server.send("PUT", &format!("{list}/z"), json!({"text": "last", "visible_to": ["critic"]})).await.is(200);
    let outline = server.get(&format!("{list}/z?as=lead")).await.is(200).body;
    assert!(outline.get("text").is_none() && outline["tokens"] == 1, "{outline}");
    let page = server.get(&format!("{list}?limit=1")).await.is(200);
    assert!(page.body["documents"][0].get("text").is_none());
    let rest = server.get(&format!("{list}?cursor={}", page.text("next_cursor"))).await.is(200);
    assert_eq!((names(&page.body), names(&rest.body)), (vec!["a/b ?é.md"], vec!["z"]));
    server.delete(&path).await.is(204);
    server.delete(&path).await.problem(404, "not_found");
    assert_eq!(names(&server.get(&list).await.is(200).body), ["z"]);
}

#[tokio::test]
async fn what_is_no_document_is_refused_and_says_where() {
    let (server, team) = Server::with_team().await;
    let list = format!("{team}/documents");
    let post = async |body: Value| server.send("POST", &list, body).await;
    assert_eq!(post(json!({"name": "a", "text": " "})).await.problem(422, "invalid").body["pointer"], "/text");
    assert_eq!(post(json!({"name": "a/../b", "text": "x"})).await.problem(422, "invalid").body["pointer"], "/name");
    assert_eq!(post(json!({"name": "a\u{7}b", "text": "x"})).await.problem(422, "invalid").body["pointer"], "/name");
    let wrong = post(json!({"name": "a", "text": "x", "media_type": "text"})).await.problem(422, "invalid");
    assert_eq!(wrong.body["pointer"], "/media_type");
    post(json!({"name": "a", "text": "x", "visible_to": ["ghost"]})).await.problem(409, "no_agent");
    post(json!({"name": "a", "text": "x", "size": 1})).await.problem(422, "invalid");
    post(json!({"name": "a", "text": "x".repeat((16 << 20) + 1)})).await.problem(413, "too_large");
    assert_eq!(names(&server.get(&list).await.is(200).body), Vec::<&str>::new());
}

#[tokio::test]
async fn html_is_kept_as_markdown() {
    let (server, team) = Server::with_team().await;
    let page =
        "<html><title>Tides</title><body><h2>High &amp; low</h2><p>Twice a day.<script>x()</script></body></html>";
    let new = json!({"name": "tides.html", "text": page, "media_type": "Text/HTML; charset=utf-8"});
    let outcome =
        async || server.send("POST", &format!("{team}/documents"), new.clone()).await.is(200).body["outcome"].clone();
    assert_eq!((outcome().await, outcome().await), (json!("created"), json!("unchanged")));
    let document = server.get(&format!("{team}/documents/tides.html")).await.is(200).body;
    assert_eq!(document["text"], "# Tides\n\n## High & low\n\nTwice a day.");
    assert_eq!(document["media_type"], "text/markdown");
    let blank = json!({"name": "b", "text": "<p> </p><style>p {}</style>", "media_type": "text/html"});
    let blank = server.send("POST", &format!("{team}/documents"), blank).await.problem(422, "invalid");
    assert_eq!(blank.body["pointer"], "/text");
}

#[tokio::test]
async fn a_document_outlives_a_restart_an_export_and_a_fork_and_is_erased_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::with(sqlite(&folder.path().join("board.db")).await, settings()).await;
    let team = server.team("s").await;
    let long = "zq-long words ".repeat(9000);
    for (name, text) in [("short", "zq-short words"), ("long", &*long)] {
        server.send("PUT", &format!("{team}/documents/{name}"), json!({ "text": text })).await.is(200);
    }
    server.send("POST", &format!("{team}/fork"), json!({"id": "fork"})).await.is(201);
    server.stop().await;
    let server = Server::with(sqlite(&folder.path().join("board.db")).await, settings()).await;
    let export = server.get(&format!("{team}/export")).await.is(200).raw;
    Answer::of(server.import("/v1/import?id=copy", &export)).await.is(201);
    for session in ["s", "fork", "copy"] {
        let read =
            async |name: &str| server.get(&format!("/v1/sessions/{session}/documents/{name}")).await.is(200).body;
        assert_eq!(read("short").await["text"], "zq-short words");
        assert_eq!(read("long").await["text"], long);
    }
    for name in ["short", "long"] {
        let seq = server.get(&format!("{team}/documents/{name}")).await.body["seq"].clone();
        server.delete(&format!("{team}/journal/{seq}?reason=private")).await.is(200);
        assert_eq!(server.get(&format!("{team}/documents/{name}")).await.is(200).body["text"], "[erased]");
    }
    assert!(!server.get(&format!("{team}/export")).await.is(200).raw.contains("zq-"));
}
