//! `callboard say`.

use callboard_api as api;
use callboard_engine::core::{
    conversation::Role,
    id::{MessageId, ThreadId},
};
use clap::Args;
use serde_json::json;

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
    let session = context.session_on(&args.on).await?;
    let role = args.role.unwrap_or(if args.on.acting_as.agent.is_none() { Role::User } else { Role::Ai });
    let speaker = Speaker { session, thread: args.thread, role };
    let Some(text) = args.text else { return lines(context, &speaker, args.id).await };
    let text = terminal::text(&text)?;
    if text.trim().is_empty() {
        return Err(Failure::usage("invalid", "the message has no text").hint("callboard say \"Make it shorter\""));
    }
    let added = speaker.say(text, args.id).await?;
    context.output.answer(&added.json, |output| {
        added
            .it
            .messages
            .iter()
            .for_each(|message| output.line(format!("added {} (entry {})", message.message_id, message.seq)));
    });
    Ok(())
}

/// The author, role and thread of messages.
struct Speaker<'a> {
    session: OnSession<'a>,
    thread: ThreadId,
    role: Role,
}

impl Speaker<'_> {
    async fn say(&self, text: String, id: Option<MessageId>) -> Result<Answer<api::Added>, Failure> {
        let message = json!({"role": self.role, "content": text, "message_id": id});
        let path = ["threads", self.thread.as_str(), "messages"];
        self.session.post(&path, &json!({"messages": [message]})).answer().await
    }
}

/// Adds each line of the input and prints its entry number as soon as it is durable. With `--id`, a message's id is that
/// and the number of its line, so that the whole input can be sent again after an interruption without duplicates.
async fn lines(context: &Context, speaker: &Speaker<'_>, id: Option<MessageId>) -> Result<(), Failure> {
    let mut lines = Lines::start();
    let mut number: u64 = 0;
    while let Some(line) = lines.next().await {
        number += 1;
        let id = id.as_ref().map(|id| format!("{id}-{number}").parse::<MessageId>()).transpose();
        let id = id.map_err(|error| Failure::failed("invalid", error.to_string()))?;
        for message in speaker.say(line, id).await?.it.messages {
            context.output.answer(&message, |output| output.line(message.seq.to_string()));
        }
    }
    Ok(())
}
