//! Compressing threads over HTTP.

use callboard_model::scripted::{Reply, Scripted};
use serde_json::{Value, json};

use crate::fixtures::Server;

const AT: &str = "/v1/sessions/s/threads/main";

/// A team that has talked: `lead`, `ann` and the user, who said something worth keeping in the beginning.
async fn talked(server: &Server) {
    let model = "openai:gpt-4o";
    talked_among(server, json!([agent("lead", "manager", model), agent("ann", "worker", model)])).await;
}

fn agent(name: &str, role: &str, model: &str) -> Value {
    json!({"name": name, "role": role, "model": model})
}

/// The same with another team.
async fn talked_among(server: &Server, agents: Value) {
    server.send("POST", "/v1/sessions", json!({"id": "s", "agents": agents})).await.is(201);
    let mut messages = vec![json!({"role": "user", "content": "The login page is https://example.com/login?x=7."})];
    for n in 0..140 {
        let call = json!({"id": format!("c{n}"), "name": "look", "arguments": {"at": n}});
        messages.push(json!({"role": "assistant", "content": format!("Let me see page {n}."), "tool_calls": [call]}));
        let found = format!("Page {n} is about tides. {}", "The sea comes and goes. ".repeat(6));
        messages.push(json!({"role": "tool", "tool_call_id": format!("c{n}"), "content": found}));
    }
    messages.push(json!({"role": "assistant", "content": "Which page was it: https://example.com/login?x=7?"}));
    messages.push(json!({"role": "user", "content": "Go on then."}));
    server.send("POST", &format!("{AT}/messages"), json!({"messages": messages})).await.is(200);
}

async fn prompt(server: &Server) -> Value {
    let body = json!({"agent": "lead", "thread": "main", "model": "gpt-4o"});
    server.send("POST", "/v1/sessions/s/prompt", body).await.is(200).body
}

fn history(prompt: &Value) -> u64 {
    let parts = prompt["parts"].as_array().unwrap();
    parts.iter().find(|part| part["name"] == "history").unwrap()["tokens"].as_u64().unwrap()
}

/// Compresses the thread, without a model where none is named.
async fn compress(server: &Server, mut body: Value) -> Value {
    if body["model"].is_null() {
        body["method"] = json!("extractive");
    }
    server.send("POST", &format!("{AT}/compress"), body).await.is(200).body
}

#[tokio::test]
async fn a_thread_is_compressed_and_that_is_undone() {
    let server = Server::start().await;
    talked(&server).await;
    let before = prompt(&server).await;
    let preview = compress(&server, json!({"target_tokens": 2000, "preview": true})).await;
    assert_eq!((&preview["seq"], &prompt(&server).await["text"]), (&Value::Null, &before["text"]));
    let done = compress(&server, json!({"target_tokens": 2000})).await;
    assert_eq!(done["method"], "extractive");
    assert_eq!((&done["through"], &done["messages"]), (&preview["through"], &preview["messages"]));
    assert!(done["tokens_before"].as_u64().unwrap() > 6000 && done["tokens_after"].as_u64().unwrap() <= 2000, "{done}");
    let after = prompt(&server).await;
    assert_eq!((&done["tokens_before"], &done["tokens_after"]), (&json!(history(&before)), &json!(history(&after))));
    assert!(history(&before) > 6000 && history(&after) <= 2000, "{} {}", history(&before), history(&after));
    let text = after["text"].as_str().unwrap();
    assert!(text.contains("<CONVERSATION_SUMMARY") && text.contains("Go on then."), "{text}");
    assert_eq!(text.matches("https://example.com/login?x=7").count(), 2, "{text}");

    let entry = &server.get("/v1/sessions/s/journal?types=conversation.compressed").await.is(200).body["entries"][0];
    assert_eq!((&entry["seq"], &entry["data"]["thread"]), (&done["seq"], &json!("main")));
    for size in ["tokens_before", "tokens_after"] {
        assert_eq!(entry["data"][size], done[size], "{size} in the entry and in the answer");
    }
    assert!(preview["tokens_after"].as_u64() >= done["tokens_after"].as_u64(), "{preview} {done}");
    let messages = server.get(&format!("{AT}/messages")).await.is(200).body;
    assert_eq!(messages["messages"].as_array().unwrap().len(), 283, "the originals stay");
    let why = server.get("/v1/sessions/s/why?text=Page%2017%20is").await.is(200).body;
    let gone = &why["findings"][0]["gone"];
    assert_eq!((&gone["seq"], &gone["how"]), (&done["seq"], &json!("compressed")), "{why}");

    // There is nothing left to do.
    let again = compress(&server, json!({"target_tokens": 2000})).await;
    assert_eq!(again["method"], "none");
    let undo = |seq: &Value| format!("{AT}/compressions/{seq}/undo");
    server.send("POST", &undo(&json!(3)), json!({})).await.problem(404, "not_found");
    server.send("POST", &undo(&done["seq"]), json!({})).await.is(200);
    assert_eq!(prompt(&server).await["text"], before["text"]);
    server.send("POST", &undo(&done["seq"]), json!({})).await.problem(409, "not_newest");
}

#[tokio::test]
async fn a_second_compression_takes_the_place_of_the_first_which_comes_back_when_it_is_undone() {
    let server = Server::start().await;
    talked(&server).await;
    let first = compress(&server, json!({"target_tokens": 3000})).await;
    let once = prompt(&server).await;
    let second = compress(&server, json!({"target_tokens": 1500})).await;
    assert_eq!(second["method"], "extractive");
    assert!(second["messages"].as_u64() >= first["messages"].as_u64(), "{first} {second}");
    let text = prompt(&server).await["text"].as_str().unwrap().to_owned();
    assert_eq!(text.matches("<CONVERSATION_SUMMARY").count(), 1, "{text}");
    assert!(text.contains("https://example.com/login?x=7"), "{text}");
    let undo = |seq: &Value| format!("{AT}/compressions/{seq}/undo");
    server.send("POST", &undo(&first["seq"]), json!({})).await.problem(409, "not_newest");
    server.send("POST", &undo(&second["seq"]), json!({})).await.is(200);
    assert_eq!(prompt(&server).await["text"], once["text"]);
    server.send("POST", &undo(&first["seq"]), json!({})).await.is(200);
}

#[tokio::test]
async fn pinned_messages_are_kept_word_for_word_and_take_half_of_the_target_at_most() {
    let server = Server::start().await;
    talked(&server).await;
    let pin = format!("{AT}/messages/m6/pin");
    let message = server.get(&format!("{AT}/messages/m6")).await.is(200).body;
    server.send("PUT", &pin, json!({})).await.is(200);
    server.send("PUT", &pin, json!({})).await.is(200);
    compress(&server, json!({"target_tokens": 1000})).await;
    let text = prompt(&server).await["text"].as_str().unwrap().to_owned();
    assert!(text.contains(message["content"].as_str().unwrap().trim_end()), "{text}");
    server.delete(&pin).await.is(200);
    let text = prompt(&server).await["text"].as_str().unwrap().to_owned();
    assert!(!text.contains(message["content"].as_str().unwrap().trim_end()), "{text}");

    let long = json!({"messages": [{"message_id": "long", "role": "user", "content": "word ".repeat(11_000)}]});
    server.send("POST", &format!("{AT}/messages"), long).await.is(200);
    server.send("PUT", &format!("{AT}/messages/long/pin"), json!({})).await.problem(422, "pins_too_large");
    server.send("PUT", &format!("{AT}/messages/ghost/pin"), json!({})).await.problem(404, "not_found");
    server.get(&format!("{AT}/messages/ghost")).await.problem(404, "not_found");
}

#[tokio::test]
async fn the_user_and_the_manager_compress_and_pin_and_nobody_else() {
    let server = Server::start().await;
    talked(&server).await;
    let hidden = json!({"visible_to": ["ann"]});
    server.send("PUT", "/v1/sessions/s/threads/secret", hidden).await.is(200);
    let calls = [("POST", "/compress"), ("POST", "/compressions/9/undo"), ("PUT", "/messages/m4/pin")];
    for (method, path) in calls {
        server.send(method, &format!("{AT}{path}?as=ann"), json!({})).await.problem(403, "forbidden");
        let of_ghost = format!("/v1/sessions/s/threads/ghost{path}");
        let absent = server.send(method, &of_ghost, json!({})).await.problem(404, "not_found");
        let of_secret = format!("/v1/sessions/s/threads/secret{path}?as=lead");
        let secret = server.send(method, &of_secret, json!({})).await.problem(404, "not_found");
        assert_eq!(secret.raw.replace("secret", "ghost"), absent.raw, "{path}");
    }
    let wanted = json!({"target_tokens": 1500, "method": "extractive"});
    let done = server.send("POST", &format!("{AT}/compress?as=lead"), wanted).await.is(200).body;
    let seen = server.get("/v1/sessions/s/journal?types=conversation.compressed&as=ann").await.is(200).body;
    assert_eq!(
        (&seen["entries"][0]["data"]["through"], &seen["entries"][0]["data"]["model"]),
        (&done["through"], &Value::Null)
    );
}

#[tokio::test]
async fn bad_wishes_are_refused_and_change_nothing() {
    let server = Server::start().await;
    talked(&server).await;
    let head = server.get("/v1/sessions/s").await.is(200).head();
    let refused = async |body: Value| server.send("POST", &format!("{AT}/compress"), body).await;
    refused(json!({"target_tokens": 499})).await.problem(422, "invalid");
    refused(json!({"target_tokens": 1000, "keep_recent_tokens": 1000})).await.problem(409, "contradiction");
    refused(json!({"target": 1000})).await.problem(422, "invalid");
    for model in ["", " ", "a b", "openai:"] {
        refused(json!({"target_tokens": 1000, "model": model})).await.problem(422, "invalid");
        refused(json!({"target_tokens": 1000, "model": model, "preview": true})).await.problem(422, "invalid");
    }
    let settings =
        async |compression: Value| server.send("PATCH", "/v1/sessions/s", json!({ "compression": compression })).await;
    settings(json!({"warn_tokens": 9, "compress_tokens": 8})).await.problem(409, "contradiction");
    settings(json!({"target_tokens": 1})).await.problem(422, "invalid");
    assert_eq!(server.get("/v1/sessions/s").await.is(200).head(), head);
    let set = settings(json!({"auto": false, "compress_tokens": 9000})).await.is(200).body;
    assert_eq!(set["compression"], json!({"auto": false, "compress_tokens": 9000}));
    let context = server.get(&format!("{AT}/context")).await.is(200).body;
    assert_eq!((&context["warn_at"], &context["compress_at"]), (&json!(8000), &json!(9000)));
}

#[tokio::test]
async fn the_size_of_each_prompt_is_told_and_what_compressing_would_save() {
    let server = Server::start().await;
    talked(&server).await;
    let context = server.get(&format!("{AT}/context")).await.is(200).body;
    let agents: Vec<_> = context["agents"].as_array().unwrap().iter().map(|agent| agent["agent"].clone()).collect();
    assert_eq!(agents, ["lead", "ann"]);
    assert_eq!(
        (&context["tokens"], &context["agents"][0]["window"]),
        (&context["agents"][0]["tokens"], &json!(123_904))
    );
    assert_eq!((&context["warn_at"], &context["compress_at"]), (&json!(99_122), &json!(111_513)));
    // The target is in proportion to the window, as in a run.
    assert!(context["compression"]["messages"].as_u64().unwrap() > 100, "{context}");
    assert_eq!(context["compression"]["tokens_after"], 12_390);
    server.send("PATCH", "/v1/sessions/s", json!({"compression": {"target_tokens": 30_000}})).await.is(200);
    let context = server.get(&format!("{AT}/context")).await.is(200).body;
    assert_eq!(context["compression"]["messages"], 0, "it fits the target");
    let own = server.get(&format!("{AT}/context?as=ann")).await.is(200).body;
    assert_eq!(own["agents"].as_array().unwrap().len(), 1, "{own}");
    assert_eq!((&own["agents"][0]["agent"], &own["compression"]), (&json!("ann"), &Value::Null));
    server.send("PATCH", "/v1/sessions/s", json!({"compression": {"target_tokens": 2000}})).await.is(200);
    let context = server.get(&format!("{AT}/context")).await.is(200).body;
    assert!(context["compression"]["messages"].as_u64().unwrap() > 200, "{context}");
    assert_eq!(context["compression"]["tokens_after"], 1239);
}

#[tokio::test]
async fn what_compressing_would_do_is_what_it_does() {
    let gpt = "openai:gpt-4o";
    let team = json!([agent("lead", "manager", gpt), agent("ann", "worker", gpt)]);
    let alone = json!([agent("lead", "manager", gpt)]);
    let small = json!([agent("ann", "worker", "openai:gemma-2-9b-it"), agent("bob", "worker", gpt)]);
    let claude = json!([agent("lead", "manager", "anthropic:claude-sonnet-4-5"), agent("ann", "worker", gpt)]);
    for (agents, own_words, target) in [
        (team, 0, None),
        // What whoever reads alone said last is history.
        (alone, 500, None),
        // Nobody manages: the first who reads has the smaller window.
        (small, 0, None),
        // Claude counts more tokens than sizes have.
        (claude, 0, Some(4000)),
    ] {
        let server = Server::start().await;
        talked_among(&server, agents.clone()).await;
        if let Some(target) = target {
            let patch = json!({"compression": {"target_tokens": target}});
            server.send("PATCH", "/v1/sessions/s", patch).await.is(200);
        }
        if own_words > 0 {
            let said = json!({"role": "assistant", "content": "The sea comes and goes. ".repeat(own_words)});
            let body = json!({"messages": [said]});
            server.send("POST", &format!("{AT}/messages?as=lead"), body).await.is(200);
        }
        let context = server.get(&format!("{AT}/context")).await.is(200).body;
        let (told, done) = (&context["compression"], compress(&server, json!({})).await);
        assert!(done["messages"].as_u64() > Some(50), "{agents}: {done}");
        assert_eq!(
            (&told["messages"], &told["tokens_before"]),
            (&done["messages"], &done["tokens_before"]),
            "{agents}: {told} {done}"
        );
        assert!(done["tokens_after"].as_u64() <= told["tokens_after"].as_u64(), "{agents}: {told} {done}");
    }
}

#[tokio::test]
async fn a_model_writes_the_summary_and_where_it_fails_there_is_one_without_it() {
    let endpoint = Scripted::start(|request, nth| {
        let asked = request["messages"].to_string();
        assert!(asked.contains("Page 17 is about tides") && asked.contains("CONTEXT"), "{asked}");
        match nth {
            0 => Reply::text("We look for the page of the login."),
            1 => Reply::text("We look for https://example.com/login?x=7, the page of the login."),
            _ => Reply::text(""),
        }
    });
    let server = Server::asking(&endpoint).await;
    talked(&server).await;
    let done = compress(&server, json!({"target_tokens": 2000, "model": "openai:scripted"})).await;
    assert_eq!(
        (&done["method"], &done["model"], &done["reason"]),
        (&json!("model"), &json!("openai:scripted"), &Value::Null)
    );
    assert_eq!(done["spent"]["requests"], 2, "it was asked again for what it left out");
    let text = prompt(&server).await["text"].as_str().unwrap().to_owned();
    assert!(text.contains("the page of the login"), "{text}");
    let undo = format!("{AT}/compressions/{}/undo", done["seq"]);
    server.send("POST", &undo, json!({})).await.is(200);
    let done = compress(&server, json!({"target_tokens": 2000, "model": "openai:scripted"})).await;
    assert_eq!((&done["method"], &done["model"]), (&json!("extractive"), &Value::Null));
    assert!(done["reason"].as_str().unwrap().contains("it is empty"), "{done}");
}

#[tokio::test]
async fn a_model_whose_name_holds_a_secret_is_not_asked() {
    let server = Server::start_with_key().await;
    talked(&server).await;
    let secret = json!({"value": "hunter2-hunter2", "secret": true, "reason": "needed"});
    server.send("PUT", "/v1/sessions/s/variables/pass", secret).await.is(200);
    let head = server.get("/v1/sessions/s").await.is(200).head();
    for preview in [true, false] {
        let body = json!({"target_tokens": 1000, "model": "openai:hunter2-hunter2", "preview": preview});
        server.send("POST", &format!("{AT}/compress"), body).await.problem(422, "invalid");
    }
    assert_eq!(server.get("/v1/sessions/s").await.is(200).head(), head);
}

#[tokio::test]
async fn a_thread_that_was_widened_is_compressed_for_those_who_see_its_beginning() {
    let server = Server::start().await;
    let model = "openai:gpt-4o";
    let agents =
        json!([{"name": "lead", "role": "manager", "model": model}, {"name": "ann", "role": "worker", "model": model}]);
    server.send("POST", "/v1/sessions", json!({"id": "s", "agents": agents})).await.is(201);
    server.send("PUT", AT, json!({"visible_to": ["lead"]})).await.is(200);
    let say = async |what: &str, most: usize| {
        let words = "The sea comes and goes. ".repeat(6);
        let said = (0..most).map(|n| json!({"role": "user", "content": format!("{what} {n}. {words}")}));
        let body = json!({"messages": said.collect::<Vec<_>>()});
        server.send("POST", &format!("{AT}/messages"), body).await.is(200);
    };
    let of = async |agent: &str| {
        let body = json!({"agent": agent, "thread": "main", "model": "gpt-4o"});
        server.send("POST", "/v1/sessions/s/prompt", body).await.is(200).body
    };
    say("Whisper", 150).await;
    server.send("PUT", AT, json!({"visible_to": "all"})).await.is(200);
    say("Shout", 3).await;
    let before = (of("lead").await, of("ann").await);
    let done = compress(&server, json!({"target_tokens": 1500})).await;
    assert_eq!(done["method"], "extractive", "{done}");
    let lead = of("lead").await;
    assert!(history(&before.0) > 5000 && history(&lead) <= 1500, "{}", history(&lead));
    assert_eq!(done["tokens_after"], history(&lead));
    let ann = of("ann").await;
    assert_eq!(ann["text"], before.1["text"], "what she sees is short");
    let seen = server.get("/v1/sessions/s/journal?as=ann").await.is(200).raw;
    assert!(!seen.contains("conversation.compressed") && !seen.contains("Whisper"), "{seen}");

    // Where all that she sees is long, it is summarized for her too.
    say("Shout again", 150).await;
    let before = (of("lead").await, of("ann").await);
    let done = compress(&server, json!({"target_tokens": 1500})).await;
    for agent in ["lead", "ann"] {
        let prompt = of(agent).await;
        assert!(history(&prompt) <= 1500, "{agent}: {prompt}");
        let text = prompt["text"].as_str().unwrap();
        assert_eq!(text.matches("<CONVERSATION_SUMMARY").count(), 1, "{text}");
        assert!(agent == "lead" || !text.contains("Whisper"), "{agent}: {text}");
    }
    let seen = server.get("/v1/sessions/s/journal?as=ann").await.is(200).raw;
    assert!(!seen.contains("Whisper"), "{seen}");
    let of_ann = server.get("/v1/sessions/s/journal?types=conversation.compressed&as=ann").await.is(200).body;
    assert_eq!(of_ann["entries"].as_array().unwrap().len(), 1, "{of_ann}");

    // Both are undone at once.
    let undo = format!("{AT}/compressions/{}/undo", done["seq"]);
    server.send("POST", &undo, json!({})).await.is(200);
    assert_eq!((&of("lead").await["text"], &of("ann").await["text"]), (&before.0["text"], &before.1["text"]));
}

#[tokio::test]
async fn all_calls_that_wait_for_results_are_kept_or_listed() {
    let server = Server::start().await;
    let agents = json!([{"name": "lead", "role": "manager", "model": "openai:gpt-4o"}]);
    server.send("POST", "/v1/sessions", json!({"id": "s", "agents": agents})).await.is(201);
    let call = |id: &str, at: String| {
        let call = json!({"id": id, "name": "look_up", "arguments": {"at": at}});
        json!({"role": "assistant", "content": "Let me look.", "tool_calls": [call]})
    };
    let words = "The sea comes and goes. ".repeat(6);
    let talk = |most: usize| (0..most).map(|n| json!({"role": "user", "content": format!("Part {n}. {words}")}));
    let say = async |messages: Vec<Value>| {
        server.send("POST", &format!("{AT}/messages"), json!({"messages": messages})).await.is(200);
    };
    say([call("old_call", format!("the far {}", "away ".repeat(2000)))].into_iter().chain(talk(65)).collect()).await;
    compress(&server, json!({"target_tokens": 2000})).await;
    let shown = prompt(&server).await;
    let text = shown["text"].as_str().unwrap();
    assert!(text.contains("old_call") && text.contains("the far away"), "{text}");
    assert!(history(&shown) <= 2000, "{text}");

    let calls = (0..60).map(|n| call(&format!("open_{n}"), format!("page {n}")));
    say(calls.chain(talk(65)).collect()).await;
    compress(&server, json!({"target_tokens": 4000})).await;
    let shown = prompt(&server).await;
    let text = shown["text"].as_str().unwrap();
    assert!(history(&shown) <= 4000, "{text}");
    for id in (0..60).map(|n| format!("open_{n}")).chain(["old_call".to_owned()]) {
        assert!(text.contains(&id), "{id}: {text}");
    }
    // Whatever has its result then waits no longer.
    say(vec![json!({"role": "tool", "tool_call_id": "old_call", "content": "It is far."})]).await;
    say(talk(65).collect()).await;
    compress(&server, json!({"target_tokens": 3500})).await;
    let text = prompt(&server).await["text"].as_str().unwrap().to_owned();
    let listed = text.split("calls that wait for results").nth(1).unwrap_or_default();
    assert!(!listed.contains("old_call"), "{text}");
}

#[tokio::test]
async fn a_change_of_settings_is_merged_into_them() {
    let (server, team) = Server::with_team().await;
    let patch = async |change: Value| {
        let settings = server.send("PATCH", &team, change).await.is(200).body.clone();
        (settings["compression"].clone(), settings["limits"].clone(), settings["prompt"].clone())
    };
    patch(json!({"compression": {"compress_tokens": 9000, "instructions": "Name every boat."}})).await;
    patch(json!({"limits": {"turns": 5}, "prompt": {"parts": {"history": {"max": "20%"}}}})).await;
    let change = json!({"compression": {"target_tokens": 700}, "limits": {"tokens": 100},
        "prompt": {"parts": {"task": {"max": "5%"}}}});
    let (compression, limits, prompt) = patch(change).await;
    let wanted = json!({"compress_tokens": 9000, "target_tokens": 700, "instructions": "Name every boat."});
    assert_eq!((compression, limits), (wanted, json!({"turns": 5, "tokens": 100})));
    assert_eq!((&prompt["parts"]["history"]["max"], &prompt["parts"]["task"]["max"]), (&json!("20%"), &json!("5%")));
    let change = json!({"compression": {"instructions": null}, "limits": {"turns": null}});
    let (compression, limits, _) = patch(change).await;
    assert_eq!(compression, json!({"compress_tokens": 9000, "target_tokens": 700}));
    assert_eq!(limits, json!({"tokens": 100}));
    patch(json!({"prompt": {"layout_parts": ["team", "history", "task"]}})).await;
    let (_, _, prompt) = patch(json!({"prompt": {"layout_parts": []}})).await;
    assert!(prompt["layout_parts"].is_null(), "an empty list is none: {prompt}");
    server.send("PATCH", &team, json!({"limits": {"turns": "five"}})).await.problem(422, "invalid");
    let unknown = json!({"prompt": {"layout_parts": ["task", "tsk"]}});
    let unknown = server.send("PATCH", &team, unknown).await.problem(422, "invalid");
    assert_eq!(unknown.text("pointer"), "/prompt/layout_parts/1");
    assert!(unknown.text("detail").contains("`tsk` is not known here: use `instructions`, `team`"), "{}", unknown.raw);
}
