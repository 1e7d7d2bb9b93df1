//! How long a prompt takes that is asked for again and again, and whether a long history, calls or pictures make it longer.

use std::time::{Duration, Instant};

use callboard_core::{
    conversation::{AddMessages, NewMessage, Role, ToolCall},
    count::{Counted, Tokens},
    entry::Actor,
    id::ThreadId,
    prompt::Format,
};
use callboard_engine::{PromptSpec, Session};
use callboard_store::Durability;
use serde_json::json;

use crate::{
    Scale, board,
    report::{Goal, Report},
    timing::{median, millis, ms, percentile},
};

/// How large a large prompt is, in tokens.
const LARGE: u64 = 180_000;

/// How large a prompt of every day is.
const USUAL: u64 = 20_000;

pub(crate) async fn measure(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    large(scale, report).await?;
    long_history(scale, report).await?;
    calls(scale, report).await?;
    pictures(report).await
}

/// A large prompt out of many messages: the first time, and in the loop of an agent.
async fn large(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("callboard.db");
    let messages = scale.of(100_000);
    let budget = Tokens(if scale.quick { USUAL } else { LARGE });
    let board = board::sqlite(&path, Durability::Normal)?;
    board::fill(&board::session(&board, "large").await?, messages).await?;
    board.close().await;
    for (model, format, name) in [
        ("gpt-4o", Format::Text, "text"),
        ("gpt-4o", Format::OpenAi, "openai"),
        ("qwen2.5", Format::Text, "text"),
        ("qwen2.5", Format::OpenAi, "openai"),
    ] {
        let board = board::sqlite(&path, Durability::Normal)?;
        let session = board.session(&"large".parse()?).await?;
        let query = query(model, format, budget);
        // What loads a vocabulary is done once in a process.
        let _ = session.prompt(&PromptSpec { budget: Some(Tokens(2_000)), ..query.clone() }).await?;
        drop(session);
        board.close().await;
        // Another board knows nothing of the session.
        let board = board::sqlite(&path, Durability::Normal)?;
        let session = board.session(&"large".parse()?).await?;
        let start = Instant::now();
        let prompt = session.prompt(&query).await?;
        let cold = start.elapsed();
        let times = asked_again(&session, &query, messages, 60).await?;
        let what = format!("{budget} tokens of {messages} messages, {name}, {}", prompt.vocabulary);
        report.noted(format!("{what}: the first time"), format!("{} ms, {} tokens", millis(cold), prompt.tokens));
        let measured = format!("median of {}; 95 of 100 within {} ms", times.len(), millis(percentile(&times, 95)));
        report.promised(format!("{what}: again, in ms"), ms(median(&times)), Goal::AtMost(2.0), measured);
    }
    Ok(())
}

/// A prompt of every day, with a short history and with a long one.
async fn long_history(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let (_folder, board) = board::temporary()?;
    let (few, many) = (1_000, scale.of(1_000_000).max(1_000));
    let [short, long] = [board::session(&board, "short").await?, board::session(&board, "long").await?];
    board::fill(&short, few).await?;
    board::fill(&long, many).await?;
    for (format, name) in [(Format::Text, "text"), (Format::OpenAi, "openai")] {
        let query = query("gpt-4o", format, Tokens(USUAL));
        let [short, long] = in_turns([(&short, &query), (&long, &query)], many, 40, 10).await?;
        let measured = format!("{} ms ÷ {} ms, {name}, after a message more each time", millis(long), millis(short));
        let ratio = long.as_secs_f64() / short.as_secs_f64();
        report.promised(
            format!("prompt of {USUAL} tokens: {many} messages ÷ {few}"),
            ratio,
            Goal::AtMost(1.3),
            measured,
        );
    }
    board.close().await;
    Ok(())
}

/// A prompt with many calls and their results in the strict form of messages, and as OpenAI's models get it.
async fn calls(scale: Scale, report: &mut Report) -> anyhow::Result<()> {
    let (_folder, board) = board::temporary()?;
    let session = board::session(&board, "calls").await?;
    let count = scale.of(200);
    for number in 0..count {
        let id = format!("call_{number}");
        let call = ToolCall { id: id.clone(), name: "look".to_owned(), arguments: json!({"at": number}) };
        let calling = NewMessage { tool_calls: vec![call], ..NewMessage::text(Role::Ai, "I look.") };
        let result = NewMessage { tool_call_id: Some(id), ..NewMessage::text(Role::Tool, board::text(number)) };
        let messages = vec![calling, result];
        session.execute(Actor::Agent("writer".parse()?), AddMessages { thread: ThreadId::main(), messages }).await?;
    }
    // Nobody knows the second model, so that it gets the strict form. Both are counted alike.
    let counted = Some(Counted { vocabulary: "o200k_base".to_owned(), factor: None });
    let [openai, strict] = ["gpt-4o", "nobody-knows"]
        .map(|model| PromptSpec { counted: counted.clone(), ..query(model, Format::OpenAi, Tokens(LARGE)) });
    let [openai, strict] = in_turns([(&session, &openai), (&session, &strict)], count, 20, 2).await?;
    let measured = format!("{} ms ÷ {} ms as openai, after a message more each time", millis(strict), millis(openai));
    let ratio = strict.as_secs_f64() / openai.as_secs_f64();
    report.promised(
        format!("prompt with {count} calls in the strict form ÷ openai"),
        ratio,
        Goal::AtMost(1.1),
        measured,
    );
    board.close().await;
    Ok(())
}

/// What pictures add to a prompt.
async fn pictures(report: &mut Report) -> anyhow::Result<()> {
    /// The beginning of a picture of 1000 by 500 pixels.
    const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAA+gAAAH0";
    const BYTES: usize = 200_000;
    const SHOWN: usize = 4;
    let (_folder, board) = board::temporary()?;
    let [with, without] = [board::session(&board, "with").await?, board::session(&board, "without").await?];
    let url = format!("data:image/png;base64,{PICTURE}{}", "A".repeat(BYTES));
    let part = json!({"type": "image_url", "image_url": {"url": url}});
    let message = serde_json::from_value::<NewMessage>(json!({"role": "user", "content": [part]}))?;
    let messages = vec![message; SHOWN];
    with.execute(Actor::User, AddMessages { thread: ThreadId::main(), messages }).await?;
    let query = query("gpt-4o", Format::OpenAi, Tokens(USUAL));
    let [shown, bare] = [with.prompt(&query).await?.tokens, without.prompt(&query).await?.tokens];
    anyhow::ensure!(shown.0 > bare.0 + 1000 * SHOWN as u64, "the pictures are not in the prompt");
    let [with, without] = in_turns([(&with, &query), (&without, &query)], 0, 20, 2).await?;
    let measured = format!("{} ms with, {} ms without, after a message more each time", millis(with), millis(without));
    let what = format!("{SHOWN} pictures of {} kB in a prompt add, in ms", BYTES / 1000);
    report.promised(what, ms(with.saturating_sub(without)), Goal::AtMost(1.0), measured);
    board.close().await;
    Ok(())
}

fn query(model: &str, format: Format, budget: Tokens) -> PromptSpec {
    let agent = "writer".parse().ok();
    PromptSpec { agent, model: Some(model.to_owned()), budget: Some(budget), format, ..PromptSpec::default() }
}

/// The median of how long each of two prompts takes after a message more. They are asked for in turns, so that whatever else
/// the machine does falls on both.
async fn in_turns(
    prompts: [(&Session, &PromptSpec); 2],
    from: usize,
    rounds: usize,
    each: usize,
) -> anyhow::Result<[Duration; 2]> {
    for (session, query) in prompts {
        session.prompt(query).await?;
    }
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for ((session, query), times) in prompts.into_iter().zip(&mut times) {
            times.extend(asked_again(session, query, from + round * each, each).await?);
        }
    }
    Ok(times.map(|times| median(&times)))
}

/// How long a prompt takes each time a message was added.
async fn asked_again(
    session: &Session,
    query: &PromptSpec,
    from: usize,
    times: usize,
) -> anyhow::Result<Vec<Duration>> {
    let mut taken = Vec::new();
    for number in 0..times {
        session.execute(Actor::User, board::message(from + number)).await?;
        let start = Instant::now();
        let prompt = session.prompt(query).await?;
        taken.push(start.elapsed());
        anyhow::ensure!(prompt.tokens <= prompt.budget, "a prompt is larger than its budget");
    }
    Ok(taken)
}
