//! `callboard say` and `callboard messages`.

use callboard_api as api;
use callboard_engine::core::{
    conversation::Role,
    id::{AgentName, MessageId, ThreadId},
    time::Timestamp,
};
use clap::Args;
use serde_json::{Value, json};

use super::Context;
use crate::{
    cli::{On, ThreadArg},
    client::{Answer, OnSession},
    failure::Failure,
    output::{Output, Style, indented},
    parse,
    terminal::{self, Lines},
};

/// Add a message to a thread
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard say \"Make it shorter\"\n  callboard say --thread agent:critic --as critic \"It is too long\"\n  callboard say --lines --id log < lines.txt      each line is a message: log-1, log-2, …"
)]
pub(crate) struct Say {
    #[command(flatten)]
    pub(crate) on: On,
    /// The text, or - for the standard input
    #[arg(required_unless_present = "lines")]
    pub(crate) text: Option<String>,
    /// The thread
    #[arg(short, long, value_name = "THREAD", default_value = "main")]
    pub(crate) thread: ThreadId,
    /// The role: user, assistant, system or tool (default: user; with --as, assistant)
    #[arg(long, value_parser = parse::message_role)]
    pub(crate) role: Option<Role>,
    /// The id of the message; a repeated command with the same id adds it only once
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<MessageId>,
    /// Add each line of the standard input as a message, and print its entry number once it is durable
    #[arg(long, conflicts_with = "text")]
    pub(crate) lines: bool,
}

pub(super) async fn say(context: &Context, args: Say) -> Result<(), Failure> {
    let Say { on, text, thread, role, id, lines: _ } = args;
    let session = context.session_on(&on).await?;
    let role = role.unwrap_or(if on.acting_as.agent.is_none() { Role::User } else { Role::Ai });
    let message = |text: String, id: Option<MessageId>| json!({"role": role, "content": text, "message_id": id});
    if let Some(text) = text {
        let text = terminal::text(&text)?;
        if text.trim().is_empty() {
            return Err(Failure::usage("invalid", "the message has no text").hint("callboard say \"Make it shorter\""));
        }
        let added = add(&session, &thread, message(text, id)).await?;
        added.print(context.output, |added, output| {
            for message in &added.messages {
                output.line(format!("added {} (entry {})", message.message_id, message.seq));
            }
        });
        return Ok(());
    }
    // Each line is a message, whose entry is printed as soon as it is durable. With `--id`, its id is that and the number of
    // its line, so that the whole input can be sent again after an interruption without duplicates.
    let mut lines = Lines::start();
    let mut number: u64 = 0;
    while let Some(line) = lines.next().await {
        number += 1;
        let id = id.as_ref().map(|id| format!("{id}-{number}").parse::<MessageId>()).transpose();
        let id = id.map_err(|error| Failure::failed("invalid", error.to_string()))?;
        for message in add(&session, &thread, message(line, id)).await?.it.messages {
            context.output.answer(&message, |output| output.line(message.seq.to_string()));
        }
    }
    Ok(())
}

/// Adds a message to a thread.
pub(super) async fn add(
    session: &OnSession<'_>,
    thread: &ThreadId,
    message: Value,
) -> Result<Answer<api::Added>, Failure> {
    session.post(&["threads", thread.as_str(), "messages"], &json!({"messages": [message]})).answer().await
}

/// Whose message objects are printed.
const SHAPES: [(&str, &str); 2] =
    [("openai", "Those of OpenAI's chat completions"), ("anthropic", "Those of Anthropic's Messages API")];

/// Read the messages of a thread
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard messages --limit 10\n  callboard messages agent:critic --as critic --roles assistant"
)]
pub(crate) struct Messages {
    #[command(flatten)]
    pub(crate) thread: ThreadArg,
    /// At most this many, the most recent ones
    #[arg(short = 'n', long, value_name = "N", value_parser = parse::limit, allow_negative_numbers = true)]
    pub(crate) limit: Option<usize>,
    /// Only messages before this time: RFC 3339, or milliseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = parse::time, allow_negative_numbers = true)]
    pub(crate) before: Option<Timestamp>,
    /// Only messages after this time: RFC 3339, or milliseconds since 1970
    #[arg(long, value_name = "TIME", value_parser = parse::time, allow_negative_numbers = true)]
    pub(crate) after: Option<Timestamp>,
    /// Only messages in these roles, separated by commas
    #[arg(long, value_name = "ROLES", value_delimiter = ',', value_parser = parse::message_role)]
    pub(crate) roles: Vec<Role>,
    /// Print message objects of this provider, as JSON
    #[arg(long, value_name = "SHAPE", value_parser = parse::explained(SHAPES))]
    pub(crate) shape: Option<String>,
}

pub(super) async fn messages(context: &Context, args: Messages) -> Result<(), Failure> {
    let session = context.session_on(&args.thread.on).await?;
    let thread = args.thread.thread();
    let roles: Vec<_> = args.roles.iter().map(|role| role.as_str()).collect();
    let is_whole = args.before.is_none() && args.after.is_none() && roles.is_empty() && args.limit != Some(0);
    let call = session.get(&["threads", thread.as_str(), "messages"]);
    let call = call.maybe("limit", args.limit).maybe("before", args.before).maybe("after", args.after);
    let call = call.maybe("roles", (!roles.is_empty()).then(|| roles.join(",")));
    if let Some(shape) = args.shape {
        let messages = |page: &Value| page.get("messages").cloned().unwrap_or_default();
        let people = |page: &Value, output: Output| output.line(format!("{:#}", messages(page)));
        return call.query("shape", shape).print(context.output, people).await;
    }
    call.print(context.output, |page: &api::MessageList, output| {
        page.messages.iter().for_each(|message| show(message, session.acting_as.as_ref(), output));
        if page.messages.is_empty() {
            output.note(if is_whole { "there are no messages" } else { "there are no such messages" });
        }
    })
    .await
}

fn show(message: &api::Message, reader: Option<&AgentName>, output: Output) {
    let speaker = message.said_by(reader).map_or(message.role.as_str(), AgentName::as_str);
    let time = output.paint(Style::Quiet, format!("{}, entry {}", message.timestamp, message.seq));
    output.line(format!("{} ({time})", output.paint(Style::Name, speaker)));
    let text = words(&message.content);
    for block in &message.reasoning {
        let thought = ["thinking", "reasoning_content", "reasoning"].iter().find_map(|name| block.get(*name)?.as_str());
        let summary = block.get("summary").map(words).filter(|summary| !summary.is_empty());
        let thought = thought.map(str::to_owned).or(summary).unwrap_or_else(|| "(not readable)".to_owned());
        let thought = indented(&thought, "    ");
        output.line(output.paint(Style::Quiet, format!("    thought:\n{thought}")));
    }
    output.line(indented(&text, "    "));
    for call in &message.tool_calls {
        output.line(format!("    calls {} as {}: {}", call.name, call.id, call.arguments_text()));
    }
}

/// A text, or parts: the texts of those that have one, and the others as JSON.
fn words(content: &Value) -> String {
    let part = |part: &Value| match part.get("text").and_then(Value::as_str) {
        Some(text) => text.to_owned(),
        None => part.to_string(),
    };
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part).collect::<Vec<_>>().join("\n"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::words;

    #[test]
    fn parts_that_are_texts_are_shown_as_texts() {
        assert_eq!(words(&json!("High.")), "High.");
        let picture = json!({"type": "image_url", "image_url": {"url": "https://a.example/b.png"}});
        let parts = json!([{"type": "input_text", "text": "See:"}, picture, {"type": "text", "text": "Well?"}]);
        assert_eq!(words(&parts), format!("See:\n{picture}\nWell?"));
    }
}
