//! `callboard say`.

use callboard_api as api;
use callboard_engine::core::{
    conversation::{NewMessage, Role},
    id::{MessageId, ThreadId},
};

use super::Context;
use crate::{
    cli::{self, Eyes},
    client::{Answer, OnSession},
    failure::Failure,
    terminal::{self, Lines},
};

pub(super) async fn say(context: &Context, args: cli::Say) -> Result<(), Failure> {
    let session = context.session(&args.which).await?;
    let role = args.role.unwrap_or(if args.eyes.agent.is_none() { Role::User } else { Role::Ai });
    let speaker = Speaker { session, eyes: args.eyes, thread: args.thread, role };
    let Some(text) = args.text else { return lines(context, &speaker, args.id).await };
    let added = speaker.say(terminal::text(&text)?, args.id).await?;
    context.output.answer(&added.json, |output| {
        added
            .it
            .messages
            .iter()
            .for_each(|message| output.line(format!("{} is entry {}", message.message_id, message.seq)));
    });
    Ok(())
}

/// Who says something where.
struct Speaker<'a> {
    session: OnSession<'a>,
    eyes: Eyes,
    thread: ThreadId,
    role: Role,
}

impl Speaker<'_> {
    async fn say(&self, text: String, id: Option<MessageId>) -> Result<Answer<api::Added>, Failure> {
        let message = NewMessage { message_id: id, ..NewMessage::text(self.role, text) };
        let path = ["threads", self.thread.as_str(), "messages"];
        self.session.post(&path, &api::NewMessages { messages: vec![message] }).eyes(&self.eyes).answer().await
    }
}

/// Says each line that comes in, and tells each as soon as it is durable. With an id, the lines have that and their
/// number: whoever was cut off says all of them again, and each is there once.
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
