//! The journal as a timeline: filtered, with the newest entries first, and the state at an earlier entry.

use serde_json::{Value, json};

use crate::fixtures::Server;

fn seqs(page: &Value) -> Vec<u64> {
    page["entries"].as_array().unwrap().iter().map(|entry| entry["seq"].as_u64().unwrap()).collect()
}

async fn set(server: &Server, team: &str, content: &str, visible_to: Value) -> u64 {
    let body = json!({"content": content, "visible_to": visible_to});
    server.send("PUT", &format!("{team}/context-sets/facts"), body).await.is(200).etag()
}

async fn read(server: &Server, team: &str, query: &str) -> Value {
    server.get(&format!("{team}/journal?{query}")).await.is(200).body
}

#[tokio::test]
async fn entries_are_chosen_by_subject_author_audience_and_text() {
    let (server, team) = Server::with_team().await;
    let first = set(&server, &team, "Tides: high at six.", json!("all")).await;
    let second = set(&server, &team, "Tides: high at seven.", json!(["writer"])).await;
    let said = json!({"messages": [{"role": "assistant", "content": "I read the TIDES."}]});
    let added =
        server.send("POST", &format!("{team}/threads/agent:writer/messages?as=writer"), said).await.is(200).head();

    let versions = read(&server, &team, "subject=set:facts").await;
    assert_eq!(seqs(&versions), [first, second]);
    assert_eq!(versions["entries"][0]["audience"], "all");
    assert_eq!(seqs(&read(&server, &team, "by=writer").await), [added]);
    assert_eq!(seqs(&read(&server, &team, "by=agent:writer&types=context_set.updated").await), Vec::<u64>::new());
    assert_eq!(seqs(&read(&server, &team, "q=tides&order=desc").await), [added, second, first]);
    assert_eq!(seqs(&read(&server, &team, "q=seven&sentences=true").await), [second]);
    let of_critic = read(&server, &team, "q=tides&audience=critic").await;
    assert!(!seqs(&of_critic).contains(&added), "{of_critic}");
    assert_eq!(seqs(&read(&server, &team, "q=tides&audience=writer").await), [first, second, added]);

    server.get(&format!("{team}/journal?audience=lead&as=writer")).await.problem(403, "forbidden");
    let of_worker = server.get(&format!("{team}/journal?audience=writer&as=writer&sentences=true")).await.is(200).body;
    let entries = of_worker["entries"].as_array().unwrap();
    assert!(
        entries.iter().all(|entry| entry.get("audience").is_none() && entry["sentence"].is_string()),
        "{of_worker}"
    );
    let messages = server.get(&format!("{team}/threads/agent:writer/messages?audience=true")).await.is(200).body;
    assert_eq!(messages["messages"][0]["audience"], json!(["lead", "writer"]));
    let own = server.get(&format!("{team}/threads/agent:writer/messages?audience=true&as=writer")).await.is(200).body;
    assert!(own["messages"][0].get("audience").is_none(), "{own}");
}

#[tokio::test]
async fn pages_from_both_ends_have_every_entry_once() {
    let (server, team) = Server::with_team().await;
    let said: Vec<_> = (0..1500).map(|n| json!({"role": "user", "content": format!("word {n}")})).collect();
    server.send("POST", &format!("{team}/threads/main/messages"), json!({"messages": said})).await.is(200);
    let whole = seqs(&read(&server, &team, "").await);
    for (order, place) in [("asc", "after"), ("desc", "before")] {
        let (mut found, mut query) = (Vec::new(), format!("order={order}&limit=400"));
        loop {
            let page = read(&server, &team, &query).await;
            found.extend(seqs(&page));
            match page["next"].as_u64() {
                Some(next) => query = format!("order={order}&limit=400&{place}={next}"),
                None => break,
            }
        }
        if order == "desc" {
            found.reverse();
        }
        assert_eq!(found, whole, "{order}");
    }
    let rare = read(&server, &team, "q=word+777&order=desc&limit=5").await;
    assert_eq!(seqs(&rare).len(), 1);
    let filtered = read(&server, &team, "q=word&by=user").await;
    assert_eq!(seqs(&filtered).len(), 1500);
}

#[tokio::test]
async fn the_user_sees_sets_plan_and_variables_as_of_an_entry() {
    let (server, team) = Server::with_team().await;
    let first = set(&server, &team, "one", json!("all")).await;
    set(&server, &team, "two", json!("none")).await;
    let then = |what: &str| format!("{team}/{what}?at={first}");
    let sets = server.get(&then("context-sets")).await.is(200).body;
    assert_eq!(
        (&sets["context_sets"][0]["content"], &sets["context_sets"][0]["visible_to"]),
        (&json!("one"), &json!("all"))
    );
    assert_eq!(server.get(&then("context-sets/facts")).await.is(200).body["content"], "one");
    assert_eq!(server.get(&format!("{team}/context-sets/facts")).await.is(200).body["content"], "two");
    let variable = |value: u64| json!({"value": value, "reason": "counted"});
    let at = server.send("PUT", &format!("{team}/variables/n"), variable(1)).await.is(200).etag();
    server.send("PUT", &format!("{team}/variables/n"), variable(2)).await.is(200);
    assert_eq!(server.get(&format!("{team}/variables/n?at={at}")).await.is(200).body["value"], 1);
    assert_eq!(server.get(&format!("{team}/variables?at={at}")).await.is(200).body["variables"][0]["display"], "1");
    assert_eq!(server.get(&then("variables")).await.is(200).body["variables"], json!([]));
    server.get(&then("plan")).await.problem(404, "not_found");
    for what in ["context-sets", "context-sets/facts", "plan", "variables", "variables/n"] {
        server.get(&format!("{}&as=lead", then(what))).await.problem(403, "forbidden");
    }
}
