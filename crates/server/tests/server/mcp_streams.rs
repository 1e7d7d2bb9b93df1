//! What clients of the Model Context Protocol are told in streams: what changes, and that it goes on where a stream broke.

use eventsource_stream::{Event, EventStreamError};
use futures::Stream;
use serde_json::{Value, json};

use crate::{
    fixtures::{Server, memory, moment, settings, soon},
    mcp::{LONG, ask, ask_newest, connect, held, long_call, newest, on, told_next},
    streams::{events, next},
};

const TOOLS: &str = "notifications/tools/list_changed";
const PROMPTS: &str = "notifications/prompts/list_changed";

/// The numbers of the events of a stream, up to one that tells of a change of this resource.
async fn numbers_until(
    told: &mut (impl Stream<Item = Result<Event, EventStreamError<reqwest::Error>>> + Unpin),
    address: &str,
) -> Vec<u64> {
    let mut numbers = Vec::new();
    loop {
        let event = next(told).await.expect("it tells what changes");
        numbers.push(event.id.parse().unwrap());
        let message: Value = serde_json::from_str(&event.data).unwrap();
        if message["params"]["uri"] == address {
            return numbers;
        }
    }
}

#[tokio::test]
async fn a_stream_that_broke_goes_on_with_what_was_missed_and_repeats_nothing() {
    let server = Server::start().await;
    let team = server.team("s").await;
    let address = "/mcp?session=s&as=lead";
    let connection = connect(&server, address, None).await;
    let sets = ["First", "Second", "Third"].map(|name| format!("callboard://s/context-sets/{name}"));
    for set in &sets {
        let subscribe = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": set}});
        let (_, answer, _) = ask(&server, address, None, Some(&connection), subscribe).await;
        assert!(answer["result"].is_object(), "{answer}");
    }
    let put = async |name: &str, n: u64| {
        let content = json!({"content": format!("The sea rises {n} m.")});
        server.send("PUT", &format!("{team}/context-sets/{name}"), content).await.is(200);
    };
    let listen = async |last: u64| {
        events(on(&server, "GET", address, &connection).header("last-event-id", last.to_string())).await
    };
    let mut told = events(on(&server, "GET", address, &connection)).await;
    // When the server follows the session is not told.
    let writing = async {
        for n in 0.. {
            put("First", n).await;
            moment().await;
        }
    };
    let numbers = tokio::select! {
        numbers = numbers_until(&mut told, &sets[0]) => numbers,
        () = writing => unreachable!("it writes without an end"),
    };
    let last = *numbers.last().unwrap();
    put("Second", 0).await;
    // The server does not know that the first stream broke: the second takes its place.
    let mut again = listen(last).await;
    let missed = numbers_until(&mut again, &sets[1]).await;
    assert_eq!(missed, (last + 1..).take(missed.len()).collect::<Vec<_>>());
    while next(&mut told).await.is_some() {}
    // Whoever was told of it and comes back as if not is told of it again.
    let mut again = listen(last).await;
    assert_eq!(numbers_until(&mut again, &sets[1]).await, missed);
    let last = *missed.last().unwrap();
    put("Third", 0).await;
    let mut again = listen(last).await;
    assert_eq!(numbers_until(&mut again, &sets[2]).await[0], last + 1);
}

#[tokio::test]
async fn the_stream_of_a_call_that_broke_goes_on() {
    let (server, held) = held().await;
    let connection = connect(&server, LONG, None).await;
    let mut told = events(long_call(&server, &connection)).await;
    let first = next(&mut told).await.unwrap();
    soon("the model to be asked", held.asked.notified()).await;
    drop(told);
    let (number, stream) = first.id.split_once('/').unwrap();
    let mut again = events(on(&server, "GET", LONG, &connection).header("last-event-id", &first.id)).await;
    let second = next(&mut again).await.unwrap();
    assert_eq!(second.id, format!("{}/{stream}", number.parse::<u64>().unwrap() + 1));
    let message: Value = serde_json::from_str(&second.data).unwrap();
    assert_eq!(message["params"]["progressToken"], "long", "{message}");
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(ask(&server, LONG, None, Some(&connection), cancel).await.0, 202);
    while next(&mut again).await.is_some() {}
}

#[tokio::test]
async fn a_stream_ends_where_its_connection_is_ended_at_another_server() {
    let store = memory().await;
    let (here, there) = (Server::with(store.clone(), settings()).await, Server::with(store, settings()).await);
    here.team("s").await;
    let address = "/mcp?session=s&as=lead";
    let connection = connect(&here, address, None).await;
    let mut told = events(on(&there, "GET", address, &connection)).await;
    assert!(on(&here, "DELETE", address, &connection).send().await.unwrap().status().is_success());
    while next(&mut told).await.is_some() {}
}

#[tokio::test]
async fn a_client_is_told_that_its_tools_and_prompts_changed() {
    let server = Server::start().await;
    let team = server.team("s").await;
    let address = "/mcp?session=s&as=lead&tools=all";
    let connection = connect(&server, address, None).await;
    let wanted = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    let newest = newest(&server, address, "subscriptions/listen", wanted);
    let agents = |names: &[&str]| {
        let worker = |name: &&str| json!({"name": name, "role": "worker"});
        let lead = json!({"name": "lead", "role": "manager"});
        json!({"agents": std::iter::once(lead).chain(names.iter().map(worker)).collect::<Vec<_>>()})
    };
    for listening in [on(&server, "GET", address, &connection), newest] {
        let mut told = events(listening).await;
        // When the server follows the session is not told.
        let granting = async {
            for n in 0_u64.. {
                let grant = if n.is_multiple_of(2) { json!(["fork"]) } else { json!([]) };
                server.send("PATCH", &team, json!({ "grant": grant })).await.is(200);
                moment().await;
            }
        };
        let telling = async { while !told_next(&mut told, |message| message["method"] == TOOLS).await {} };
        tokio::select! {
            () = telling => {}
            () = granting => {}
        }
        for (names, is_there) in [(["writer", "editor"].as_slice(), true), (["writer"].as_slice(), false)] {
            server.send("PATCH", &team, agents(names)).await.is(200);
            while !told_next(&mut told, |message| message["method"] == PROMPTS).await {}
            while !told_next(&mut told, |message| message["method"] == TOOLS).await {}
            let prompts = ask_newest(&server, address, "prompts/list", json!({})).await.to_string();
            assert_eq!(prompts.contains("agent:editor"), is_there, "{prompts}");
        }
    }
}
