//! Streams: nothing missed, nothing twice, in order.

use eventsource_stream::{Event, EventStreamError, Eventsource};
use futures::{Stream, StreamExt};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, client::IntoClientRequest};

use crate::fixtures::{Answer, Server, soon};

/// The events of an open stream.
pub(crate) async fn events(
    call: RequestBuilder,
) -> impl Stream<Item = Result<Event, EventStreamError<reqwest::Error>>> + Unpin {
    let response = call.send().await.unwrap();
    assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
    Box::pin(response.bytes_stream().eventsource())
}

/// The next event, and nothing that takes too long.
pub(crate) async fn next(
    events: &mut (impl Stream<Item = Result<Event, EventStreamError<reqwest::Error>>> + Unpin),
) -> Option<Event> {
    soon("an event", events.next()).await.and_then(Result::ok)
}

#[tokio::test]
async fn i7_who_comes_back_misses_nothing() {
    let (server, team) = Server::with_team().await;
    let (mut seen, mut last) = (Vec::new(), 0);
    for round in 0..10 {
        let writing = async {
            for n in 0..5 {
                server.say(&team, "main", &(round * 5 + n).to_string()).await;
            }
        };
        let reading = async {
            let call = server.call("GET", &format!("{team}/events?after=0")).header("Last-Event-ID", last.to_string());
            let mut events = events(call).await;
            let mut got = Vec::new();
            // Each time it leaves in the middle.
            while got.len() < 4 {
                let event = next(&mut events).await.unwrap();
                got.push((event.id.parse::<u64>().unwrap(), event.event, event.data));
            }
            got
        };
        let ((), got) = tokio::join!(writing, reading);
        last = got.last().unwrap().0;
        seen.extend(got);
    }
    assert_eq!(seen.iter().map(|(id, ..)| *id).collect::<Vec<_>>(), (1..=40).collect::<Vec<_>>());
    let entry: Value = serde_json::from_str(&seen[5].2).unwrap();
    assert_eq!((entry["seq"].as_u64(), &*seen[5].1), (Some(6), "message.added"));
}

#[tokio::test]
async fn a_stream_begins_at_the_head_and_is_filtered() {
    let (server, team) = Server::with_team().await;
    let at_head = events(server.call("GET", &format!("{team}/events"))).await;
    let sets = events(server.call("GET", &format!("{team}/events?types=context_set.updated"))).await;
    let roles = events(server.call("GET", &format!("{team}/events?roles=AI"))).await;
    let side = events(server.call("GET", &format!("{team}/events?thread=side"))).await;
    server.say(&team, "main", "1").await;
    let both = json!({"messages": [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]});
    server.send("POST", &format!("{team}/threads/side/messages"), both).await.is(200);
    server.send("PUT", &format!("{team}/context-sets/x"), json!({"content": "1"})).await.is(200);
    let mut heads = Vec::new();
    for mut events in [at_head, sets, roles, side] {
        heads.push(next(&mut events).await.unwrap().id);
    }
    assert_eq!(heads, ["5", "8", "7", "6"]);
    server.get(&format!("{team}/events?after=99")).await.problem(409, "beyond_head");
    for wrong in ["after=x", "roles=boss"] {
        server.get(&format!("{team}/events?{wrong}")).await.problem(422, "invalid");
    }
    let roleless = format!("{team}/events?roles=user&types=context_set.updated");
    server.get(&roleless).await.problem(409, "contradiction");
    let bad = server.call("GET", &format!("{team}/events")).header("Last-Event-ID", "x");
    Answer::of(bad).await.problem(400, "bad_last_event_id");
}

#[tokio::test]
async fn what_is_hidden_in_mid_stream_is_seen_to_go() {
    let (server, team) = Server::with_team().await;
    let set = format!("{team}/context-sets/brief");
    let mut events = events(server.call("GET", &format!("{team}/events?as=writer"))).await;
    server.send("PUT", &set, json!({"content": "tides"})).await.is(200);
    let shown = next(&mut events).await.unwrap();
    assert!(shown.event == "context_set.updated" && shown.data.contains("tides"));
    server.send("PUT", &set, json!({"content": "secret", "visible_to": ["critic"]})).await.is(200);
    let gone = next(&mut events).await.unwrap();
    assert!(gone.event == "context_set.deleted" && !gone.data.contains("secret"), "{gone:?}");
    server.send("PUT", &set, json!({"content": "more secrets"})).await.is(200);
    server.send("PUT", &set, json!({"content": "open again", "visible_to": "all"})).await.is(200);
    let again = next(&mut events).await.unwrap();
    assert!(again.event == "context_set.updated" && again.data.contains("open again"), "{again:?}");
}

#[tokio::test]
async fn an_agent_is_told_that_what_it_sees_was_erased_and_of_nothing_that_is_hidden_from_it() {
    let (server, team) = Server::with_team().await;
    let open = server.say(&team, "main", "tides").await;
    let critics = json!({"visible_to": ["critic"]});
    server.send("PUT", &format!("{team}/threads/aside"), critics).await.is(200);
    let hidden = server.say(&team, "aside", "currents").await;
    // The manager sees that there was a turn, and not what its prompt showed.
    let turn = json!({"agent": "critic", "thread": "aside", "record": true});
    server.send("POST", &format!("{team}/prompt"), turn).await.is(200);
    // The manager knows that the set is there, and not what it says.
    let depths = json!({"content": "depths", "visible_to": ["critic"]});
    let set = server.send("PUT", &format!("{team}/context-sets/brief"), depths).await.is(200).etag();
    let follow =
        async |agent: &str, more: &str| events(server.call("GET", &format!("{team}/events?as={agent}{more}"))).await;
    let mut streams = [follow("writer", "").await, follow("lead", "").await];
    let mut messages = follow("writer", "&types=message.added").await;
    let erase = async |seq: u64| {
        server.delete(&format!("{team}/journal/{seq}?reason=x")).await.is(200);
    };
    erase(hidden).await;
    erase(set).await;
    let after = server.say(&team, "main", "waves").await;
    for stream in &mut streams {
        assert_eq!(next(stream).await.unwrap().event, "message.added", "nothing was said of what is hidden");
    }
    erase(open).await;
    for stream in &mut streams {
        let told = next(stream).await.unwrap();
        assert_eq!((&*told.event, &*told.data), ("entries.changed", "{}"));
    }
    assert_eq!(next(&mut messages).await.unwrap().event, "message.added");
    server.say(&team, "main", "more").await;
    assert_eq!(next(&mut messages).await.unwrap().event, "message.added", "only these were asked for");
    // Who was away meanwhile is told, too.
    let mut back = follow("writer", &format!("&after={after}")).await;
    assert_eq!(next(&mut back).await.unwrap().event, "entries.changed");
    assert_eq!(next(&mut back).await.unwrap().event, "message.added");
}

#[tokio::test]
async fn a_stream_ends_with_its_session_its_token_and_its_server() {
    let (server, team) = Server::with_team().await;
    let token = server.token(&team, "writer").await;
    let by_token = || server.call("GET", &format!("{team}/events")).bearer_auth(&token);
    let mut his = events(by_token()).await;
    let id = server.get(&format!("{team}/tokens")).await.body["tokens"][0]["id"].as_str().unwrap().to_owned();
    server.delete(&format!("{team}/tokens/{id}")).await.is(204);
    assert!(next(&mut his).await.is_none());
    let mut removed = events(server.call("GET", &format!("{team}/events?as=writer&types=x"))).await;
    let agents = json!({"agents": [{"name": "lead", "role": "manager"}]});
    server.send("PATCH", &team, agents).await.is(200);
    assert!(next(&mut removed).await.is_none());
    let mut of_session = events(server.call("GET", &format!("{team}/events"))).await;
    server.delete(&team).await.is(204);
    assert!(next(&mut of_session).await.is_none());
    server.team("t").await;
    let mut of_server = events(server.call("GET", "/v1/sessions/t/events")).await;
    server.stop().await;
    assert!(next(&mut of_server).await.is_none());
}

#[tokio::test]
async fn a_subscriber_that_never_reads_harms_nobody() {
    let (server, team) = Server::with_team().await;
    let idle = server.call("GET", &format!("{team}/events?after=0")).send().await.unwrap();
    let mut reading = events(server.call("GET", &format!("{team}/events?types=message.added"))).await;
    let long = "x".repeat(50_000);
    for n in 0..200 {
        server.say(&team, "main", &format!("{n} {long}")).await;
        let event = next(&mut reading).await.unwrap();
        assert!(event.data.contains(&format!("\"{n} x")));
    }
    drop(idle);
    server.stop().await;
}

#[tokio::test]
async fn the_same_comes_over_a_websocket() {
    let (server, team) = Server::with_team().await;
    let request = |path: String| {
        let mut request = format!("ws://{}{path}", server.address).into_client_request().unwrap();
        request.headers_mut().insert("host", "localhost".parse().unwrap());
        request
    };
    let (mut socket, _) =
        tokio_tungstenite::connect_async(request(format!("{team}/ws?after=1&types=agent.added"))).await.unwrap();
    for (seq, name) in [(2, "lead"), (3, "writer"), (4, "critic")] {
        let Message::Text(frame) = socket.next().await.unwrap().unwrap() else { panic!("no text") };
        let entry: Value = serde_json::from_str(&frame).unwrap();
        assert_eq!((&entry["seq"], &entry["data"]["name"]), (&json!(seq), &json!(name)));
    }
    server.get(&format!("{team}/ws")).await.problem(426, "no_websocket");
    assert!(tokio_tungstenite::connect_async(request(format!("{team}/ws?as=nobody"))).await.is_err());
    server.stop().await;
    let closed = socket.next().await.unwrap().unwrap();
    assert!(matches!(closed, Message::Close(Some(frame)) if u16::from(frame.code) == 1001));
}

#[tokio::test]
async fn the_list_of_sessions_is_followed() {
    let server = Server::start().await;
    let old = server.team("old").await;
    let mut events = events(server.call("GET", "/v1/events")).await;
    // Changes that come together are one event or several: this waits for the one that is meant.
    let mut wait_for = async |kind: &str, is: &dyn Fn(&Value) -> bool| loop {
        let event = next(&mut events).await.unwrap();
        assert!(event.id.is_empty() && event.event.starts_with("session"), "{event:?}");
        let data: Value = serde_json::from_str(&event.data).unwrap();
        if event.event == kind && is(&data) {
            break data;
        }
    };
    let team = server.team("new").await;
    wait_for("session.changed", &|session| session["id"] == "new").await;
    server.say(&team, "main", "7").await;
    let told = wait_for("session.changed", &|session| session["last"]["sentence"] == "user in main: 7").await;
    let listed = server.get("/v1/sessions?q=new").await.is(200).body;
    assert_eq!(told, listed["sessions"][0]);
    // Collections and the records of keyed requests are no sessions.
    server.send("PUT", "/v1/collections/guides", json!({"title": "Guides"})).await;
    let keyed = server.call("POST", "/v1/sessions").header("Idempotency-Key", "k").json(&json!({"id": "third"}));
    Answer::of(keyed).await.is(201);
    server.delete(&old).await.is(204);
    wait_for("session.gone", &|gone| {
        assert_eq!(gone["id"], "old");
        true
    })
    .await;
    let token = server.token(&team, "writer").await;
    Answer::of(server.call("GET", "/v1/events").bearer_auth(&token)).await.problem(403, "forbidden");
}
