//! `callboard say`.

use callboard_engine::{
    Session,
    core::{
        command::{Answer, Command, Receipt},
        conversation::{NewMessage, Role},
        entry::Actor,
        id::{MessageId, Seq, ThreadId},
        viewer::Viewer,
    },
};
use serde_json::json;

use super::Context;
use crate::{
    cli,
    failure::Failure,
    terminal::{self, Lines},
};

pub(super) async fn say(context: &Context, args: cli::Say) -> Result<(), Failure> {
    let session = context.session(&args.which).await?;
    let viewer = args.eyes.viewer();
    let by_user = viewer == Viewer::User;
    let role = args.role.unwrap_or(if by_user { Role::User } else { Role::Ai });
    let speaker = Speaker { session, by: viewer.into(), thread: args.thread, role };
    let Some(text) = args.text else { return lines(context, &speaker, args.id).await };
    let (messages, head) = speaker.say(terminal::text(&text)?, args.id).await?;
    context.output.answer(&json!({"messages": messages, "head": head}), |output| {
        messages.iter().for_each(|message| output.line(format!("{} is entry {}", message.message_id, message.seq)));
    });
    Ok(())
}

/// Who says something where.
struct Speaker {
    session: Session,
    by: Actor,
    thread: ThreadId,
    role: Role,
}

impl Speaker {
    async fn say(&self, text: String, id: Option<MessageId>) -> Result<(Vec<Receipt>, Seq), Failure> {
        let message = NewMessage { message_id: id, ..NewMessage::text(self.role, text) };
        let command = Command::AddMessages(self.thread.clone(), vec![message]);
        let receipt = self.session.execute(self.by.clone(), command).await?;
        match receipt.answer {
            Answer::Messages(messages) => Ok((messages, receipt.head)),
            _ => Ok((Vec::new(), receipt.head)),
        }
    }
}

/// Says each line that comes in, and tells each as soon as it is durable. With an id, the lines have that and their
/// number: whoever was cut off says all of them again, and each is there once.
async fn lines(context: &Context, speaker: &Speaker, id: Option<MessageId>) -> Result<(), Failure> {
    let mut lines = Lines::start();
    let mut number: u64 = 0;
    while let Some(line) = lines.next().await {
        number += 1;
        let id = id.as_ref().map(|id| format!("{id}-{number}").parse()).transpose();
        let id: Option<MessageId> = id.map_err(callboard_engine::core::error::Error::from)?;
        let (messages, _) = speaker.say(line, id).await?;
        for message in &messages {
            context.output.answer(message, |output| output.line(message.seq.to_string()));
        }
    }
    Ok(())
}
