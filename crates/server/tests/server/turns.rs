//! Turns of loops of one's own: whoever drives a model itself records what it is asked with and what it answers.

use callboard_model::scripted::{Reply, Scripted};
use serde_json::{Value, json};

use crate::fixtures::{Answer, Server};

const S: &str = "/v1/sessions/s";

async fn team() -> Server {
    let server = Server::start().await;
    server.team("s").await;
    server.say(S, "main", "Write on tides.").await;
    server
}

async fn record(server: &Server, body: Value) -> Answer {
    let mut wanted = json!({"agent": "writer", "record": true});
    wanted.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    server.send("POST", &format!("{S}/prompt"), wanted).await
}

fn turn(answer: &Answer) -> u64 {
    answer.body["turn"].as_u64().unwrap_or_else(|| panic!("no turn in {}", answer.raw))
}

async fn answer(server: &Server, turn: u64, body: Value) -> Answer {
    server.send("POST", &format!("{S}/turns/{turn}"), body).await
}

async fn journal(server: &Server) -> Vec<Value> {
    server.get(&format!("{S}/journal")).await.is(200).body["entries"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_turn_is_recorded_answered_once_and_listed() {
    let server = team().await;
    let asked = record(&server, json!({"model": "openai:gpt-4o", "format": "openai"})).await.is(200);
    let number = turn(&asked);
    let open = server.get(&format!("{S}/turns/{number}")).await.is(200);
    assert_eq!((&open.body["answered"], &open.body["usage"]), (&json!(false), &Value::Null));
    let said = json!({"text": "The tide turns.", "usage": {"prompt_tokens": 90, "completion_tokens": 5}});
    let first = answer(&server, number, said.clone()).await.is(200);
    let added = &first.body["messages"];
    assert_eq!(added.as_array().unwrap().len(), 1);
    assert_eq!(first.head(), added[0]["seq"].as_u64().unwrap() + 1);
    let message = server.get(&format!("{S}/threads/main/messages/{}", added[0]["message_id"].as_str().unwrap())).await;
    assert_eq!(
        (message.text("role"), message.text("agent"), message.text("content")),
        ("AI", "writer", "The tide turns.")
    );

    server.say(S, "main", "Go on.").await;
    let length = journal(&server).await.len();
    let again = answer(&server, number, said.clone()).await.is(200);
    assert_eq!(again.body, first.body, "the same answer gives the same result");
    for other in [
        json!({"text": "It does not."}),
        json!({"text": "The tide turns."}),
        json!({"text": "The tide turns.", "usage": {"prompt_tokens": 91, "completion_tokens": 5}}),
        json!({"error": "no answer"}),
        json!({"text": "The tide turns.", "tool_calls": [{"id": "c", "name": "look"}]}),
    ] {
        answer(&server, number, other).await.problem(409, "turn_answered");
    }
    assert_eq!(journal(&server).await.len(), length, "and nothing is added");

    let listed = server.get(&format!("{S}/turns")).await.is(200).body;
    let expected = json!({"turn": number, "agent": "writer", "thread": "main", "seq": number, "model": "openai:gpt-4o",
        "tokens": asked.body["tokens"], "usage": {"prompt_tokens": 90, "completion_tokens": 5}, "answered": true});
    let mut known = listed["turns"][0].clone();
    known.as_object_mut().unwrap().remove("at");
    assert_eq!(known, expected);
    let types: Vec<_> = journal(&server).await.iter().map(|entry| entry["type"].clone()).collect();
    assert!(types.contains(&json!("turn.requested")) && types.contains(&json!("turn.answered")), "{types:?}");
}

#[tokio::test]
async fn a_managers_answer_is_its_directive_with_the_message_once_and_the_outcomes_behind_it() {
    let server = team().await;
    let number = turn(&record(&server, json!({"agent": "lead"})).await.is(200));
    let sets = json!([{"name": "Brief", "context": "For sailors.", "visibleToAgents": ["writer"]}]);
    let directive = json!({"messageTo": "writer", "message": "Write it.", "contextSetUpdate": {"contextSets": sets}});
    let said = json!({"directive": directive, "usage": {"prompt_tokens": 90, "completion_tokens": 5}});
    let first = answer(&server, number, said.clone()).await.is(200);
    assert_eq!(first.body["directed"]["outcomes"][0]["outcome"], "created");
    let length = journal(&server).await.len();
    assert_eq!(answer(&server, number, said.clone()).await.is(200).body, first.body, "the same gives the same result");
    let mut other = said.clone();
    other["directive"]["message"] = json!("Write another.");
    for other in [other, json!({"text": "Write it.", "usage": said["usage"]}), json!({"directive": directive})] {
        answer(&server, number, other).await.problem(409, "turn_answered");
    }
    assert_eq!(journal(&server).await.len(), length, "and nothing is added");

    let shown = async |agent: &str, thread: &str| {
        let body = json!({"agent": agent, "thread": thread, "format": "text"});
        server.send("POST", &format!("{S}/prompt"), body).await.is(200).text("text").to_owned()
    };
    let manager = shown("lead", "main").await;
    let expected = "<CHAT_MESSAGE from=\"lead (you)\" to=\"writer\">\nWrite it.\n</CHAT_MESSAGE>\n\
                    <DIRECTIVE_OUTCOMES>\n- context set Brief: created\n</DIRECTIVE_OUTCOMES>\n";
    assert!(manager.contains(expected), "{manager}");
    assert_eq!(manager.matches("Write it.").count(), 1, "{manager}");
    let worker = shown("writer", "agent:writer").await;
    assert!(
        worker.contains("<CHAT_MESSAGE from=\"lead\">\nWrite it.\n") && worker.contains("For sailors."),
        "{worker}"
    );

    // What it says to the user is in the turn's thread, and so is the request for information.
    let number = turn(&record(&server, json!({"agent": "lead"})).await.is(200));
    let field = json!({"key": "sea", "valueType": "STRING", "label": "Sea", "required": true});
    let form = json!({"name": "Sea", "fields": [field]});
    let asks = json!({"directive": {"isInfoRequest": true, "message": "Which sea?", "form": form}});
    let first = answer(&server, number, asks.clone()).await.is(200);
    assert_eq!(first.body["directed"]["form"], form);
    assert_eq!(answer(&server, number, asks).await.is(200).body, first.body);
    let id = first.body["messages"][0]["message_id"].as_str().unwrap().to_owned();
    let said = server.get(&format!("{S}/threads/main/messages/{id}")).await.is(200);
    assert_eq!((said.text("agent"), said.text("content")), ("lead", "Which sea?"));
    server.send("POST", &format!("{S}/forms/Sea"), json!({"answers": {"sea": "North Sea"}})).await.is(200);
    let manager = shown("lead", "main").await;
    assert!(
        manager.contains("</CHAT_MESSAGE>\n<DIRECTIVE_OUTCOMES>\n- form Sea: the user has answered it"),
        "{manager}"
    );

    // A worker gives none, and a directive is all that was said.
    let number = turn(&record(&server, json!({})).await.is(200));
    answer(&server, number, json!({"directive": {"message": "Hi."}})).await.problem(403, "forbidden");
    answer(&server, number, json!({"directive": {}, "text": "Hi."})).await.problem(409, "contradiction");
}

#[tokio::test]
async fn a_directive_does_not_come_before_the_answer_of_the_managers_turn() {
    let server = team().await;
    let sets = json!({"contextSets": [{"name": "Brief", "context": "For sailors."}]});
    let direct = async || {
        let directive = json!({ "contextSetUpdate": sets });
        server.send("POST", &format!("{S}/directives"), directive).await
    };
    direct().await.is(200);
    let number = turn(&record(&server, json!({"agent": "lead"})).await.is(200));
    let length = journal(&server).await.len();
    let refused = direct().await.problem(409, "turn_open");
    assert!(refused.raw.contains(&format!("turn {number} of lead waits for its answer")), "{}", refused.raw);
    assert_eq!(journal(&server).await.len(), length, "and nothing is added");
    // The turn of a worker, and one whose answer is there or will not come, are in nobody's way.
    answer(&server, number, json!({"text": "I think of sailors."})).await.is(200);
    record(&server, json!({"agent": "writer"})).await.is(200);
    direct().await.is(200);
    let failed = turn(&record(&server, json!({"agent": "lead"})).await.is(200));
    answer(&server, failed, json!({"error": "no answer"})).await.is(200);
    direct().await.is(200);
    let open = turn(&record(&server, json!({"agent": "lead"})).await.is(200));
    answer(&server, open, json!({"directive": {"contextSetUpdate": sets}})).await.is(200);
    direct().await.is(200);
}

#[tokio::test]
async fn i5_the_prompt_of_a_turn_is_given_again_as_it_was_sent() {
    let server = team().await;
    let set = async |content: &str| {
        server.send("PUT", &format!("{S}/context-sets/facts"), json!({"content": content})).await.is(200);
    };
    set("High water is at noon.").await;
    let mut sent = Vec::new();
    for (nth, format) in ["text", "openai", "anthropic"].into_iter().enumerate() {
        server.say(S, "main", &format!("The secret word is lagoon{nth}.")).await;
        let body = json!({"format": format, "recall": true, "query": "tides", "tools": ["callboard:read"],
            "model": "gpt-4o"});
        sent.push(record(&server, body).await.is(200));
        set(&format!("High water is at {nth}.")).await;
        answer(&server, turn(sent.last().unwrap()), json!({"text": format!("answer {nth}")})).await.is(200);
    }
    // The last message is erased now.
    let with_word = |entry: &Value| entry["data"]["content"].as_str().is_some_and(|said| said.contains("lagoon2"));
    let entry = journal(&server).await.iter().find(|entry| with_word(entry)).unwrap()["seq"].clone();
    let same = |given: &Answer, asked: &Answer| {
        ["seq", "budget", "tokens", "parts", "text", "messages", "system", "tools", "vocabulary"]
            .iter()
            .all(|field| given.body[field] == asked.body[field])
    };
    for asked in &sent {
        let given = server.get(&format!("{S}/turns/{}/prompt", turn(asked))).await.is(200);
        assert!(same(&given, asked), "{}\n{}", given.raw, asked.raw);
        assert_eq!((&given.body["as_sent"], given.text("agent")), (&json!(true), "writer"));
    }
    server.delete(&format!("{S}/journal/{entry}?reason=r")).await.is(200);
    let last = server.get(&format!("{S}/turns/{}/prompt", turn(&sent[2]))).await.is(200);
    assert_eq!((&last.body["as_sent"], &last.body["erased"]), (&json!(false), &json!([entry])));
    assert!(!last.raw.contains("lagoon2"), "{}", last.raw);
    let first = server.get(&format!("{S}/turns/{}/prompt", turn(&sent[0]))).await.is(200);
    assert!(same(&first, &sent[0]) && first.body["as_sent"] == true, "{}", first.raw);
    let why = server.get(&format!("{S}/why?text=lagoon0")).await.is(200).body;
    let shown: Vec<_> =
        why["findings"][0]["shown"].as_array().unwrap().iter().map(|shown| shown["turn"].clone()).collect();
    assert_eq!(shown, sent.iter().map(|asked| json!(turn(asked))).collect::<Vec<_>>());
    assert_eq!(why["findings"][0]["shown"][0].get("run"), None);
}

#[tokio::test]
async fn only_the_agent_and_the_user_answer_and_others_see_no_turn() {
    let server = team().await;
    let number = turn(&record(&server, json!({})).await.is(200));
    let other = turn(&record(&server, json!({"agent": "critic"})).await.is(200));
    let at = format!("{S}/turns/{number}");
    server.send("POST", &format!("{at}?as=critic"), json!({"text": "x"})).await.problem(404, "not_found");
    server.send("POST", &format!("{at}?as=lead"), json!({"text": "x"})).await.problem(403, "forbidden");
    let numbers = async |viewer: &str| {
        let turns = server.get(&format!("{S}/turns?as={viewer}")).await.is(200).body["turns"].clone();
        turns.as_array().unwrap().iter().map(|turn| turn["turn"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((numbers("writer").await, numbers("critic").await), (vec![number], vec![other]));
    assert_eq!(numbers("lead").await, [other, number]);
    server.get(&format!("{at}?as=critic")).await.problem(404, "not_found");
    for agent in ["writer", "critic", "lead"] {
        server.get(&format!("{at}/prompt?as={agent}")).await.problem(403, "forbidden");
    }
    // The entries are seen as the list is.
    let seen = async |viewer: &str| {
        let entries = server.get(&format!("{S}/journal?as={viewer}&types=turn.requested")).await.is(200).body;
        entries["entries"].as_array().unwrap().len()
    };
    assert_eq!((seen("writer").await, seen("lead").await), (1, 2));
    let token = server.token(S, "writer").await;
    let call = server.call("POST", &at).bearer_auth(&token).json(&json!({"text": "Mine."}));
    Answer::of(call).await.is(200);
    let foreign = json!({"agent": "critic", "record": true});
    let call = server.call("POST", &format!("{S}/prompt")).bearer_auth(&token).json(&foreign);
    Answer::of(call).await.problem(403, "forbidden");
    // Whoever lost sight of the thread cannot answer in it.
    let hidden = json!({"visible_to": ["lead"]});
    server.send("PUT", &format!("{S}/threads/main"), hidden).await.is(200);
    answer(&server, other, json!({"text": "late"})).await.problem(404, "not_found");
    // Nor is it told of a thread that it sees no more.
    let side = format!("{S}/threads/side");
    server.send("PUT", &side, json!({"visible_to": "all"})).await.is(200);
    let aside = turn(&record(&server, json!({"thread": "side"})).await.is(200));
    let known = async || server.get(&format!("{S}/turns/{aside}?as=writer")).await.is(200);
    assert_eq!(known().await.text("thread"), "side");
    server.send("PUT", &side, json!({"visible_to": ["lead"]})).await.is(200);
    assert_eq!(known().await.body.get("thread"), None);
    answer(&server, other, json!({"error": "too late"})).await.is(200);
}

#[tokio::test]
async fn bad_answers_are_refused_and_change_nothing() {
    let server = team().await;
    let number = turn(&record(&server, json!({"format": "openai"})).await.is(200));
    let before = journal(&server).await.len();
    let call = json!({"id": "c1", "name": "look", "arguments": {"at": 1}});
    for (body, code, pointer) in [
        (json!({}), "invalid", "/text"),
        (json!({"text": "x", "usage": {"prompt_tokens": -1}}), "invalid", "/usage/prompt_tokens"),
        (json!({"text": "x", "colour": 1}), "invalid", "/colour"),
    ] {
        let refused = answer(&server, number, body).await.problem(422, code);
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{}", refused.raw);
    }
    let both = answer(&server, number, json!({"text": "x", "error": "y"})).await.problem(409, "contradiction");
    assert_eq!(both.body["errors"][0]["pointer"], "/error");
    for absent in ["0", "1", "999", "x", "18446744073709551615"] {
        let refused = server.send("POST", &format!("{S}/turns/{absent}"), json!({"text": "x"})).await;
        refused.problem(404, "not_found");
        server.get(&format!("{S}/turns/{absent}/prompt")).await.problem(404, "not_found");
    }
    record(&server, json!({"at": 2})).await.problem(409, "contradiction");
    record(&server, json!({"tools": ["callboard:fly"]})).await.problem(422, "invalid");
    assert_eq!(journal(&server).await.len(), before);

    // A model may use the id of an earlier call again.
    for nth in 0..2 {
        let number = turn(&record(&server, json!({"format": "anthropic"})).await.is(200));
        answer(&server, number, json!({"tool_calls": [call]})).await.is(200);
        let result = json!({"messages": [{"role": "tool", "tool_call_id": "c1", "content": format!("seen {nth}")}]});
        server.send("POST", &format!("{S}/threads/main/messages?as=writer"), result).await.is(200);
    }
    let prompt = record(&server, json!({"format": "anthropic"})).await.is(200);
    assert!(prompt.raw.contains("seen 0") && prompt.raw.contains("seen 1"), "{}", prompt.raw);
    // The first turn was never answered, and nothing hangs on it.
    let failed = answer(&server, number, json!({"error": "timed out", "usage": {"prompt_tokens": 7}})).await.is(200);
    assert_eq!(failed.body["messages"], json!([]));
    let again = answer(&server, number, json!({"error": "timed out", "usage": {"prompt_tokens": 7}})).await.is(200);
    assert_eq!(again.body, failed.body);
    let known = server.get(&format!("{S}/turns/{number}")).await.is(200).body;
    assert_eq!((&known["answered"], &known["failed"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn a_request_with_a_key_records_one_turn() {
    let server = team().await;
    let body = json!({"agent": "writer", "record": true});
    let ask = async || {
        let call = server.call("POST", &format!("{S}/prompt")).header("Idempotency-Key", "k1").json(&body);
        Answer::of(call).await.is(200)
    };
    let first = ask().await;
    server.say(S, "main", "Something else.").await;
    let again = ask().await;
    assert_eq!(first.body, again.body);
    assert_eq!(server.get(&format!("{S}/turns")).await.body["turns"].as_array().unwrap().len(), 1);
    let stale = server.call("POST", &format!("{S}/prompt")).header("If-Match", "\"1\"").json(&body);
    Answer::of(stale).await.problem(412, "stale");
}

#[tokio::test]
async fn usage_of_turns_adds_up_where_there_are_steps() {
    let server = team().await;
    let steps = json!([{"name": "begin", "is_default": true, "description": "All of it"}]);
    server.send("PATCH", S, json!({"steps": steps})).await.is(200);
    for _ in 0..3 {
        let number = turn(&record(&server, json!({})).await.is(200));
        let usage = json!({"prompt_tokens": 10, "completion_tokens": 2});
        answer(&server, number, json!({"text": "ok", "usage": usage})).await.is(200);
        answer(&server, number, json!({"text": "ok", "usage": usage})).await.is(200);
    }
    let known = server.get(&format!("{S}/orchestration")).await.is(200).body;
    let total = json!({"prompt_tokens": 30, "completion_tokens": 6, "total_tokens": 36});
    assert_eq!(known["cumulative_token_usage"], total);
    let context = server.get(&format!("{S}/threads/main/context")).await.is(200).body;
    let writer = context["agents"].as_array().unwrap().iter().find(|agent| agent["agent"] == "writer").unwrap().clone();
    assert_eq!((&writer["last_turn"]["prompt_tokens"], writer["last_turn"].get("run")), (&json!(10), None));
}

#[tokio::test]
async fn a_thread_is_compressed_before_the_turn_that_would_pass_the_threshold() {
    let endpoint = Scripted::start(|_, _| Reply::text("The water rose and fell, as was remarked many times."));
    let server = Server::asking(&endpoint).await;
    server.team("s").await;
    let settings = json!({"compression": {"auto": true, "warn_tokens": 1500, "compress_tokens": 2000, "target_tokens": 600},
        "prompt": {"budget": 8000}});
    server.send("PATCH", S, settings).await.is(200);
    for nth in 0..40 {
        server
            .say(S, "main", &format!("Remark {nth}: {}", "the water rises and the water falls again. ".repeat(8)))
            .await;
    }
    let model = json!({"agent": "writer", "model": "gpt-4o"});
    let plain = server.send("POST", &format!("{S}/prompt"), model.clone()).await.is(200);
    assert!(plain.body["tokens"].as_u64().unwrap() > 2000);
    let kinds = async || journal(&server).await.iter().map(|entry| entry["type"].clone()).collect::<Vec<_>>();
    assert!(!kinds().await.contains(&json!("conversation.compressed")), "a prompt alone changes nothing");
    let asked = record(&server, model).await.is(200);
    assert!(asked.body["tokens"].as_u64().unwrap() < 2000, "{}", asked.raw);
    assert!(kinds().await.contains(&json!("conversation.compressed")));
    let given = server.get(&format!("{S}/turns/{}/prompt", turn(&asked))).await.is(200);
    assert_eq!((&given.body["text"], &given.body["as_sent"]), (&asked.body["text"], &json!(true)));
}

#[tokio::test]
async fn turns_of_runs_and_of_ones_own_are_listed_alike() {
    let endpoint = Scripted::start(|_, _| {
        Reply::json(&json!({"messageTo": "user", "message": "Done.", "workflowComplete": true}))
    });
    let server = Server::asking(&endpoint).await;
    server.team("s").await;
    let run = server.send("POST", &format!("{S}/runs"), json!({"kind": "team", "input": "go"})).await.is(201);
    let run = run.text("id").to_owned();
    server.when(&format!("{S}/runs/{run}"), |run| run.body["status"] != "running").await;
    let own = turn(&record(&server, json!({"agent": "lead"})).await.is(200));
    let listed = server.get(&format!("{S}/turns")).await.is(200).body["turns"].clone();
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    let (newest, of_run) = (&listed[0], &listed[1]);
    assert_eq!((&newest["turn"], newest.get("run")), (&json!(own), None));
    assert_eq!((&of_run["run"], &of_run["turn_of_run"], &of_run["answered"]), (&json!(run), &json!(1), &json!(true)));
    assert!(of_run["usage"]["prompt_tokens"].as_u64().is_some(), "{of_run}");
    let number = of_run["turn"].as_u64().unwrap();
    let sent = server.get(&format!("{S}/turns/{number}/prompt")).await.is(200);
    assert_eq!(sent.body["as_sent"], true);
    assert_eq!(sent.body["messages"], endpoint.requests()[0]["messages"], "it is what the endpoint got");
    answer(&server, number, json!({"text": "x"})).await.problem(409, "turn_of_run");
    assert_eq!(server.get(&format!("{S}/turns?as=writer")).await.body["turns"], json!([]));
    // Pages: one turn each.
    let page = server.get(&format!("{S}/turns?limit=1")).await.is(200).body;
    let cursor = page["next_cursor"].as_str().unwrap();
    let second = server.get(&format!("{S}/turns?limit=1&cursor={cursor}")).await.is(200).body;
    assert_eq!((&page["turns"][0]["turn"], &second["turns"][0]["turn"]), (&json!(own), &json!(number)));
    assert_eq!(second.get("next_cursor"), None);
}
