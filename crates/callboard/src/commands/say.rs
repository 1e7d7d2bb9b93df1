//! `callboard say`.

use callboard_api as api;
use callboard_engine::core::{
    conversation::{Role, given::GivenMessage},
    id::{MessageId, ThreadId},
};
use clap::Args;

use super::Context;
use crate::{
    cli::On,
    client::{Answer, OnSession},
    failure::Failure,
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
    let message =
        |text: String, message_id: Option<MessageId>| GivenMessage { message_id, ..GivenMessage::text(role, text) };
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
    message: GivenMessage,
) -> Result<Answer<api::Added>, Failure> {
    let path = ["threads", thread.as_str(), "messages"];
    session.post(&path, &api::NewMessages { messages: vec![message] }).answer().await
}
