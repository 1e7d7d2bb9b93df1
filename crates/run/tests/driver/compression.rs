//! Long conversations: they are compressed before a turn that would be too large, whatever the model does.

use std::sync::Arc;

use callboard_engine::{
    MasterKey, MessageQuery, PromptSpec, Session,
    core::{
        compression::{Compression, decide::UndoCompression, pin::PinMessage},
        context_set::PutSet,
        conversation::{AddMessages, NewMessage, PutThread, Role, ToolCall, settings::ThreadPatch},
        count::Tokens,
        entry::Actor,
        id::{Seq, ThreadId},
        run::Status,
        variable::SetVariable,
    },
    prompt::compression::plan::Aim,
};
use callboard_model::scripted::Reply;
use callboard_run::{Compressing, Compressor, Extent};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::fixture::{
    Models, done, journal, memory, of_type, patch, prompt, session_on, session_with_keys, soon, start, user,
};

/// What is asked for where a summary is wanted.
fn is_summary(request: &Value) -> bool {
    prompt(request).contains("You write a summary that takes the place")
}

async fn say(session: &Session, thread: &str, messages: Vec<NewMessage>) -> Vec<Seq> {
    let thread: ThreadId = thread.parse().unwrap();
    let said = user(session, AddMessages { thread, messages }).await;
    said.into_iter().map(|message| message.seq).collect()
}

/// About `tokens` of talk, with `fact` in its first message.
fn talk(tokens: usize, fact: &str) -> Vec<NewMessage> {
    let mut messages = vec![NewMessage::text(Role::User, fact)];
    let words = "The tide turns twice a day, and nobody stops it. ".repeat(18);
    messages.extend((0..tokens / 220).map(|n| NewMessage::text(Role::User, format!("Part {n}. {words}"))));
    messages
}

fn compressor(models: &Models, session: &Session) -> Compressor {
    Compressor { session: session.clone(), models: models.model() }
}

/// More answers than a test needs.
const OPEN: usize = 1000;

/// Waits until the model was asked so often.
async fn asked(models: &Models, count: usize) {
    soon("the model to be asked", async {
        while models.endpoint.requests().len() < count {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

/// The user's wish to compress `main` to `target` tokens.
fn compressing(target: u64, model: Option<&str>) -> Compressing {
    let aim = Aim { target: Tokens(target), keep_recent: None };
    let (thread, model) = ("main".parse().unwrap(), model.map(str::to_owned));
    Compressing {
        thread,
        aim,
        model,
        by: Actor::User,
        extent: Extent::Record,
        default_model: None,
        layout: None,
        behind: Seq::ZERO,
    }
}

async fn compress(compressor: &Compressor, model: Option<&str>) -> Compression {
    soon("the summary", compressor.compress(compressing(20_000, model))).await.unwrap()
}

async fn shown(session: &Session) -> String {
    let query = PromptSpec { budget: Some(Tokens(1_000_000)), ..PromptSpec::default() };
    session.prompt(&query).await.unwrap().text()
}

#[tokio::test]
async fn i12_a_session_of_180_000_tokens_is_compressed_three_times_over_by_a_good_a_bad_and_no_model() {
    let good = |facts: &[&str]| Reply::text(format!("They talk of tides. Known so far: {}.", facts.join(", ")));
    // One of each kind that has to stay as it is to the letter, two for each round.
    let facts = [
        "node_1234",
        "/srv/tides/high.log",
        "#identifierNext",
        "250 ms",
        "https://example.com/a?b=7",
        "\"the spring tide\"",
    ];
    type Script = Box<dyn FnMut(&Value, usize) -> Reply + Send>;
    let scripts: Vec<(&str, Option<&str>, Script)> = vec![
        ("model", Some("openai:scripted"), Box::new(move |_, _| good(&facts))),
        (
            "extractive",
            Some("openai:scripted"),
            Box::new(|_, nth| match nth % 6 {
                0 => Reply::text("   "),
                1 => Reply::text("word ".repeat(40_000)),
                2 => Reply::tool_calls([("look", json!({}))]),
                3 => Reply::error(500, "out of order"),
                4 => Reply::cut_off("They talk"),
                _ => Reply::silence(),
            }),
        ),
        ("extractive", None, Box::new(|_, _| panic!("nobody is to be asked"))),
    ];
    for (method, model, script) in scripts {
        let session = session_on(&memory()).await;
        let models = Models::new(script);
        // The bad one is silent, too, and is given up soon.
        let seconds = if method == "model" { 120 } else { 2 };
        user(&session, patch(json!({"compression": {"timeout_seconds": seconds}}))).await;
        let compressor = compressor(&models, &session);
        let mut pinned = None;
        for (round, new) in facts.chunks(2).enumerate() {
            let known = &facts[..2 * (round + 1)];
            let before =
                say(&session, "main", talk(180_000, &format!("It is {}, and the color is teal.", new.join(" or "))))
                    .await;
            if round == 0 {
                let pin = PinMessage {
                    thread: "main".parse().unwrap(),
                    message: format!("m{}", before[9]).parse().unwrap(),
                    seq: before[9],
                };
                user(&session, pin).await;
                pinned = Some(before[9]);
            }
            let call = ToolCall { id: format!("open{round}"), name: "look_up".into(), arguments: json!({"at": round}) };
            let calling = NewMessage { tool_calls: vec![call], ..NewMessage::text(Role::Ai, "Let me look.") };
            let question = NewMessage::text(Role::User, format!("What of {}?", known.join(" and ")));
            say(&session, "main", vec![question, calling]).await;
            let done = compress(&compressor, model).await;
            assert_eq!(serde_json::to_value(done.method).unwrap(), method, "{done:?}");
            assert!(done.tokens_before >= Tokens(150_000) && done.tokens_after <= Tokens(20_000), "{done:?}");
            let text = shown(&session).await;
            let (_, summary) = text.split_once("<CONVERSATION_SUMMARY").unwrap();
            let (summary, _) = summary.split_once("</CONVERSATION_SUMMARY>").unwrap();
            for fact in known {
                // The question has it, and so has the summary or the task that stands beside it.
                let shown = text.matches(fact.trim_matches('"')).count();
                assert!(shown >= 2, "{fact} is neither in the summary nor beside it: {summary}");
            }
            for open in 0..=round {
                assert!(text.contains(&format!("open{open}")), "the open call {open} is there: {text}");
            }
            assert!(text.contains("Part 8. The tide turns twice"), "what is pinned is there, word for word");
            assert_eq!(text.matches("<CONVERSATION_SUMMARY").count(), 1, "{text}");
            assert!(!text.contains("[summary of") || text.matches("[summary of").count() == 1, "{text}");
        }
        assert!(pinned.is_some());
        let query = MessageQuery { limit: Some(5000), ..MessageQuery::default() };
        let viewer = callboard_engine::core::viewer::Viewer::User;
        let all = session.messages(&viewer, &"main".parse().unwrap(), query).await.unwrap().messages;
        assert!(all.len() > 2400, "the originals stay: {}", all.len());
    }
}

#[tokio::test]
async fn what_is_said_while_a_model_writes_the_summary_follows_it() {
    let session = session_on(&memory()).await;
    say(&session, "main", talk(40_000, "It is node_77.")).await;
    let models = Models::new(|_, _| Reply::text("They talk of tides and node_77."));
    let gate = Arc::new(Semaphore::new(0));
    let compressor = Compressor { models: models.gated(&gate), ..compressor(&models, &session) };
    let (slow, quick) = tokio::join!(compress(&compressor, Some("openai:scripted")), async {
        asked(&models, 1).await;
        let said = say(&session, "main", vec![NewMessage::text(Role::User, "Meanwhile, the ship sank.")]).await;
        gate.add_permits(OPEN);
        said
    });
    assert!(slow.through < quick[0] && quick[0] < slow.seq.unwrap(), "{slow:?} {quick:?}");
    let text = shown(&session).await;
    assert!(text.find("They talk of tides").unwrap() < text.find("the ship sank").unwrap(), "{text}");
}

#[tokio::test]
async fn two_compressions_at_once_are_one() {
    let session = session_on(&memory()).await;
    say(&session, "main", talk(40_000, "It is node_77.")).await;
    let models = Models::new(|_, _| Reply::text("They talk of tides."));
    let wanted = compressing(5000, Some("openai:scripted"));
    let gate = Arc::new(Semaphore::new(0));
    let compressor = Compressor { models: models.gated(&gate), ..compressor(&models, &session) };
    let (one, other, ()) = soon("both", async {
        tokio::join!(compressor.compress(wanted.clone()), compressor.compress(wanted.clone()), async {
            asked(&models, 2).await;
            gate.add_permits(OPEN);
        })
    })
    .await;
    let refused = one.err().or(other.err()).unwrap().to_string();
    assert!(refused.contains("compress it again"), "{refused}");
    assert_eq!(
        session.state().await.unwrap().threads.get(&"main".parse().unwrap()).unwrap().compression.standing.len(),
        1
    );
}

#[tokio::test]
async fn a_run_warns_once_and_compresses_before_the_turn_that_would_be_too_large() {
    let store = memory();
    let session = session_on(&store).await;
    // The model's vocabulary is not known, so its prompts are counted with what they have at the most.
    let sizes = json!({"compression": {"warn_tokens": 10_000, "compress_tokens": 40_000, "target_tokens": 4000}});
    user(&session, patch(sizes)).await;
    say(&session, "main", talk(6000, "It is node_77.")).await;
    let models = Models::new(|request, _| match is_summary(request) {
        true => Reply::text("They talk of tides and node_77."),
        // Without usage nothing is learned of how it counts.
        false => done("Done.").without_usage(),
    });
    for _ in 0..2 {
        let run = start(&session).await;
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    }
    let entries = journal(&store).await;
    let warned = of_type(&entries, "context.warned");
    assert_eq!((warned.len(), &warned[0]["agent"], &warned[0]["warn_at"]), (1, &json!("lead"), &json!(10_000)));
    assert!(of_type(&entries, "conversation.compressed").is_empty());

    say(&session, "main", talk(9000, "It is node_78.")).await;
    let run = start(&session).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let entries = journal(&store).await;
    let compressed = of_type(&entries, "conversation.compressed");
    assert_eq!((compressed.len(), &compressed[0]["method"]), (1, &json!("model")));
    let last = of_type(&entries, "turn.requested").pop().unwrap();
    assert!(last["prompt"]["tokens"].as_u64().unwrap() < 20_000, "{last}");

    // Whoever undoes it has the originals, until a prompt would not fit.
    let seq =
        session.state().await.unwrap().threads.get(&"main".parse().unwrap()).unwrap().compression.newest().unwrap().seq;
    user(&session, UndoCompression { thread: "main".parse().unwrap(), seq }).await;
    let run = start(&session).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(of_type(&journal(&store).await, "conversation.compressed").len(), 1);
    user(&session, patch(json!({"prompt": {"budget": 45_000}}))).await;
    let run = start(&session).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(of_type(&journal(&store).await, "conversation.compressed").len(), 2);
}

#[tokio::test]
async fn i12_a_model_that_cannot_summarize_stops_no_run() {
    let store = memory();
    let session = session_on(&store).await;
    user(&session, patch(json!({"compression": {"compress_tokens": 6000, "target_tokens": 1500}}))).await;
    say(&session, "main", talk(9000, "It is node_77.")).await;
    let models = Models::new(|request, _| match is_summary(request) {
        true => Reply::error(400, "too long for me"),
        false => done("Done."),
    });
    let run = start(&session).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let compressed = of_type(&journal(&store).await, "conversation.compressed").pop().unwrap();
    assert_eq!(compressed["method"], "extractive");
    assert!(compressed["reason"].as_str().unwrap().contains("too long for me"), "{compressed}");
}

#[tokio::test]
async fn long_results_of_tools_are_cleared_first_where_the_session_wants_that() {
    let store = memory();
    let session = session_on(&store).await;
    let compression = json!({"compress_tokens": 6000, "target_tokens": 1500, "clear_tool_results_over": 500});
    user(&session, patch(json!({ "compression": compression }))).await;
    let call = ToolCall { id: "c1".into(), name: "look_up".into(), arguments: json!({}) };
    let calling = NewMessage { tool_calls: vec![call], ..NewMessage::text(Role::Ai, "Let me look.") };
    let long = "The tide turns twice a day. ".repeat(1000);
    let result = NewMessage { tool_call_id: Some("c1".to_owned()), ..NewMessage::text(Role::Tool, long) };
    let seqs = say(&session, "main", vec![calling, result]).await;
    say(&session, "main", talk(1000, "It is node_77.")).await;
    let models = Models::new(|_, _| done("Done."));
    let run = start(&session).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let entries = journal(&store).await;
    assert_eq!(of_type(&entries, "conversation.tool_results_cleared")[0]["results"], 1);
    assert!(of_type(&entries, "conversation.compressed").is_empty());
    let sent = prompt(models.endpoint.requests().last().unwrap());
    assert!(sent.contains(&format!("is not shown any more; it is message m{} of thread main", seqs[1])), "{sent}");
    assert_eq!(models.asked(), ["directive"]);
}

#[tokio::test]
async fn a_history_that_does_not_fit_the_window_is_read_in_pieces() {
    let session = session_on(&memory()).await;
    say(&session, "main", talk(20_000, "It is node_77.")).await;
    let models = Models::new(|request, nth| {
        let asked = prompt(request);
        assert_eq!(asked.contains("SUMMARY OF WHAT WAS SAID BEFORE"), nth > 0);
        Reply::text(format!("Summary {nth} of tides, after node_77."))
    });
    // Its window is 8,192 tokens.
    let wanted = compressing(1000, Some("openai:gpt-4"));
    let done = compressor(&models, &session).compress(wanted).await.unwrap();
    assert!(done.spent.requests >= 3 && done.model.as_deref() == Some("openai:gpt-4"), "{done:?}");
    let asked: String = models.endpoint.requests().iter().map(prompt).collect();
    for part in 0..60 {
        assert!(asked.contains(&format!("Part {part}. ")), "part {part} was read by nobody");
    }
    assert!(shown(&session).await.contains(&format!("Summary {} of tides", done.spent.requests - 1)));
}

#[tokio::test]
async fn in_a_small_window_a_large_summary_leaves_room_for_what_is_read() {
    let session = session_on(&memory()).await;
    say(&session, "main", talk(12_000, "It is node_77.")).await;
    let models = Models::new(|_, nth| Reply::text(format!("Summary {nth} of tides, after node_77.")));
    // Nearly half of the model's window of 8,192 tokens.
    let wanted = compressing(3500, Some("openai:gpt-4"));
    let done = compressor(&models, &session).compress(wanted).await.unwrap();
    assert!(done.spent.requests <= 6 && done.model.as_deref() == Some("openai:gpt-4"), "{done:?}");
}

#[tokio::test]
async fn i6_a_model_that_summarizes_is_told_no_secret_that_was_said_before_it_was_known() {
    let keys = Arc::new(vec![MasterKey::new([7; 32])]);
    let session = session_with_keys(&memory(), keys).await;
    let mut said = talk(9000, "The password is hunter2-hunter2, at #loginForm.");
    // One that stands where the history is cut into pieces is not cut in two.
    said.extend((0..40).map(|n| NewMessage::text(Role::User, format!("{n} hunter2-hunter2 ").repeat(40))));
    say(&session, "main", said).await;
    let secret = SetVariable::new("password".parse().unwrap(), json!("hunter2-hunter2"), None, "needed".into());
    user(&session, secret.unwrap()).await;
    let models = Models::new(|_, _| Reply::text("They talk of tides, at #loginForm."));
    let wanted = compressing(1000, Some("openai:gpt-4"));
    let done = compressor(&models, &session).compress(wanted).await.unwrap();
    assert!(done.spent.requests >= 3 && done.model.is_some(), "{done:?}");
    let requests = models.endpoint.requests();
    assert!(requests.iter().any(|request| request.to_string().contains("[hidden]")));
    for request in requests {
        assert!(!request.to_string().contains("hunter2"), "{request}");
    }
}

#[tokio::test]
async fn a_run_compresses_however_much_is_pinned() {
    let store = memory();
    let session = session_on(&store).await;
    user(&session, patch(json!({"prompt": {"budget": 16_000}}))).await;
    let said = say(&session, "main", talk(30_000, "It is node_77.")).await;
    // Half of what a thread is compressed to where nobody says otherwise is 10,000; at this budget it is 800.
    for seq in &said[1..16] {
        let (thread, message) = ("main".parse().unwrap(), format!("m{seq}").parse().unwrap());
        user(&session, PinMessage { thread, message, seq: *seq }).await;
    }
    let models = Models::new(|request, _| match is_summary(request) {
        true => Reply::text("They talk of tides and node_77."),
        false => done("Done."),
    });
    let run = start(&session).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let compressed = of_type(&journal(&store).await, "conversation.compressed").pop().unwrap();
    assert_eq!(compressed["pins"].as_array().unwrap().len(), 15, "{compressed}");
}

/// Undoes what stands in `main`.
async fn undo(session: &Session) {
    let thread: ThreadId = "main".parse().unwrap();
    let seq = session.state().await.unwrap().threads.get(&thread).unwrap().compression.newest().unwrap().seq;
    user(session, UndoCompression { thread, seq }).await;
}

#[tokio::test]
async fn what_is_said_behind_a_compression_that_was_undone_is_compressed_and_what_was_put_back_is_not() {
    let store = memory();
    let session = session_on(&store).await;
    let sizes = json!({"compression": {"compress_tokens": 40_000, "target_tokens": 4000}});
    user(&session, patch(sizes)).await;
    let back = say(&session, "main", talk(6000, "It is node_77.")).await;
    let models = Models::new(|request, _| match is_summary(request) {
        true => Reply::text("They talk of tides and node_78."),
        false => done("Done.").without_usage(),
    });
    assert!(compressor(&models, &session).compress(compressing(4000, None)).await.unwrap().seq.is_some());
    undo(&session).await;
    for _ in 0..2 {
        say(&session, "main", talk(60_000, "It is node_78.")).await;
        let run = start(&session).await;
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
        let entries = journal(&store).await;
        let compressed = of_type(&entries, "conversation.compressed").pop().unwrap();
        assert_eq!(compressed["method"], "model", "{compressed}");
        assert!(compressed["from"].as_u64().unwrap() > back[20].0, "what was put back is left alone: {compressed}");
        let last = of_type(&entries, "turn.requested").pop().unwrap();
        assert!(last["prompt"]["tokens"].as_u64().unwrap() < 40_000, "{last}");
        assert!(shown(&session).await.contains("It is node_77."), "what was put back is shown word for word");
        assert_eq!(shown(&session).await.matches("<CONVERSATION_SUMMARY").count(), 1);
    }
    // Where that is not enough, all of it is compressed.
    user(&session, patch(json!({"prompt": {"budget": 9000}}))).await;
    say(&session, "main", talk(4000, "It is node_79.")).await;
    let run = start(&session).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let compressed = of_type(&journal(&store).await, "conversation.compressed").pop().unwrap();
    assert!(compressed["from"].as_u64().unwrap() <= back[0].0, "{compressed}");
    assert!(!shown(&session).await.contains("Part 25. "), "only the task of it stands beside the summary");
}

#[tokio::test]
async fn a_history_that_only_has_a_share_of_the_prompt_is_compressed_and_not_only_cut() {
    let store = memory();
    let session = session_on(&store).await;
    let share = json!({"prompt": {"budget": 20_000, "parts": {"history": {"max": "20%"}}}, "compression": {"target_tokens": 4000}});
    user(&session, patch(share)).await;
    say(&session, "main", talk(40_000, "It is node_77.")).await;
    let models = Models::new(|request, _| match is_summary(request) {
        true => Reply::text("They talk of tides and node_77."),
        false => done("Done.").without_usage(),
    });
    let run = start(&session).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let entries = journal(&store).await;
    assert_eq!(of_type(&entries, "context.warned").len(), 1);
    let compressed = of_type(&entries, "conversation.compressed");
    assert_eq!((compressed.len(), &compressed[0]["method"]), (1, &json!("model")));
    let sent = prompt(models.endpoint.requests().last().unwrap());
    assert!(sent.contains("They talk of tides and node_77."), "{sent}");
    // What a share keeps short and is not much is only cut.
    say(&session, "main", talk(800, "It is node_78.")).await;
    let run = start(&session).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(of_type(&journal(&store).await, "conversation.compressed").len(), 1);
}

#[tokio::test]
async fn a_model_that_summarizes_is_told_what_the_director_is_told_and_the_instructions_of_the_thread() {
    let session = session_with_keys(&memory(), Arc::new(Vec::new())).await;
    user(&session, patch(json!({"prompt": {"layout": "director"}}))).await;
    let thread: ThreadId = "main".parse().unwrap();
    let patch = ThreadPatch { instructions: Some(Some("Speak of tides alone.".into())), ..ThreadPatch::default() };
    user(&session, PutThread { thread: thread.clone(), patch }).await;
    say(&session, "main", talk(40_000, "It is node_77.")).await;
    let models = Models::new(|_, _| Reply::text("They talk of tides and node_77."));
    let done = compress(&compressor(&models, &session), Some("openai:scripted")).await;
    assert!(done.model.is_some(), "{done:?}");
    let sent = prompt(&models.endpoint.requests()[0]);
    let context = sent.split("CONTEXT").nth(2).unwrap().split("MESSAGES").next().unwrap().to_owned();
    let told = session.prompt(&PromptSpec::default()).await.unwrap();
    let own = told.text().split("CONVERSATION HISTORY:").next().unwrap().to_owned();
    let first = own.lines().find(|line| line.len() > 60).unwrap();
    let quoted = json!(first).to_string();
    assert!(context.contains(quoted.trim_matches('"')), "{first} is not in {context}");
    assert!(context.contains("Speak of tides alone."), "{context}");
    assert!(done.tokens_after <= Tokens(20_000));
}

#[tokio::test]
async fn what_a_compression_aims_at_is_counted_as_the_readers_model_counts() {
    for model in ["anthropic:claude-sonnet-4-5", "openai:nobody-knows-it", "openai:gpt-4o"] {
        let session = session_on(&memory()).await;
        let agents = json!([{"name": "lead", "role": "manager", "model": model}]);
        user(&session, patch(json!({ "agents": agents }))).await;
        say(&session, "main", talk(20_000, "It is node_77.")).await;
        let models = Models::new(|_, _| panic!("nobody is to be asked"));
        let preview = Compressing { extent: Extent::Preview, ..compressing(5000, None) };
        let previewed = compressor(&models, &session).compress(preview).await.unwrap();
        let done = compressor(&models, &session).compress(compressing(5000, None)).await.unwrap();
        assert_eq!((previewed.tokens_before, previewed.tokens_after), (done.tokens_before, done.tokens_after));
        let spec = PromptSpec { budget: Some(Tokens(1 << 40)), ..PromptSpec::default() };
        let prompt = session.prompt(&spec).await.unwrap();
        let history = prompt.parts.iter().find(|part| part.name == "history").unwrap();
        assert_eq!(history.tokens, done.tokens_after, "{model}");
        assert!((2500..=5000).contains(&done.tokens_after.0), "{model}: {done:?}");
    }
}

#[tokio::test]
async fn what_a_manager_that_is_alone_said_last_is_compressed_and_with_a_worker_it_stays() {
    let lead = json!({"name": "lead", "role": "manager", "model": "openai:gpt-4o"});
    let writer = json!({"name": "writer", "role": "worker", "model": "openai:gpt-4o"});
    for (agents, is_alone) in [(json!([lead]), true), (json!([lead, writer]), false)] {
        let session = session_on(&memory()).await;
        user(&session, patch(json!({ "agents": agents }))).await;
        say(&session, "main", talk(40_000, "It is node_77.")).await;
        let words = "The tide turns twice a day, and nobody stops it. ".repeat(600);
        let (thread, messages) = ("main".parse().unwrap(), vec![NewMessage::text(Role::Ai, words)]);
        let own = session.execute(Actor::Agent("lead".parse().unwrap()), AddMessages { thread, messages }).await;
        let last = own.unwrap().answer[0].seq;
        let models = Models::new(|_, _| panic!("nobody is to be asked"));
        let plan = Compressing { extent: Extent::Plan, ..compressing(20_000, None) };
        let planned = compressor(&models, &session).compress(plan).await.unwrap();
        let done = compress(&compressor(&models, &session), None).await;
        assert_eq!(done.through == last, is_alone, "{agents}: {done:?}");
        assert_eq!((planned.through, planned.messages), (done.through, done.messages), "{agents}");
        assert!(planned.seq.is_none() && done.tokens_after <= planned.tokens_after, "{planned:?} {done:?}");
    }
}

#[tokio::test]
async fn a_prompt_that_is_too_large_without_its_history_is_noted_once_and_little_is_not_compressed() {
    let store = memory();
    let session = session_on(&store).await;
    let agents = json!([{"name": "lead", "role": "manager", "model": "openai:gpt-4o"}]);
    user(&session, patch(json!({"agents": agents, "compression": {"compress_tokens": 6000}}))).await;
    user(&session, PutSet::new("Tides".parse().unwrap(), "The tide turns twice a day. ".repeat(1200))).await;
    let models = Models::new(|_, _| done("Done."));
    for _ in 0..4 {
        say(&session, "main", talk(800, "It is node_77.")).await;
        let run = start(&session).await;
        assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    }
    let entries = journal(&store).await;
    let crowded = of_type(&entries, "context.crowded");
    assert_eq!((crowded.len(), &crowded[0]["agent"], &crowded[0]["compress_at"]), (1, &json!("lead"), &json!(6000)));
    assert!(crowded[0]["fixed_tokens"].as_u64().unwrap() > 6000, "{crowded:?}");
    assert!(of_type(&entries, "conversation.compressed").is_empty());
}

#[tokio::test]
async fn a_session_says_who_writes_summaries_and_what_they_are_to_hold() {
    let session = session_on(&memory()).await;
    let compression = json!({"compress_tokens": 6000, "model": "openai:scribe", "instructions": "Name every boat."});
    user(&session, patch(json!({ "compression": compression }))).await;
    say(&session, "main", talk(9000, "It is node_77.")).await;
    let models = Models::new(|request, _| match is_summary(request) {
        true => Reply::text("They talk of tides and node_77."),
        false => done("Done."),
    });
    let run = start(&session).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let requests = models.endpoint.requests();
    let asked = requests.iter().find(|request| is_summary(request)).unwrap();
    assert_eq!(asked["model"], "scribe");
    assert!(prompt(asked).contains("Name every boat."), "{asked}");
}
