//! `callboard messages`.

use callboard_engine::{MessageQuery, MessageView, core::conversation::Role};
use serde_json::Value;

use super::Context;
use crate::{
    cli,
    failure::Failure,
    output::{Output, Style, indented},
};

pub(super) async fn messages(context: &Context, args: cli::Messages) -> Result<(), Failure> {
    let session = context.session(&args.which).await?;
    let query = MessageQuery {
        limit: args.limit,
        before: args.before,
        after: args.after,
        roles: args.roles,
        ..MessageQuery::default()
    };
    let page = session.messages(&args.eyes.viewer(), &args.thread, query).await?;
    context.output.answer(&page, |output| page.messages.iter().for_each(|message| show(message, output)));
    Ok(())
}

fn show(message: &MessageView, output: Output) {
    let speaker = match (&message.agent, message.role) {
        (Some(agent), _) => agent.to_string(),
        (None, Role::User) => "user".to_owned(),
        (None, Role::Ai) => "assistant".to_owned(),
        (None, Role::System) => "system".to_owned(),
        (None, Role::Tool) => "tool".to_owned(),
    };
    let place = output.paint(Style::Quiet, format!("{}, entry {}", message.timestamp, message.seq));
    output.line(format!("{} ({place})", output.paint(Style::Name, speaker)));
    let text = match &message.content {
        Value::String(text) => text.clone(),
        parts => parts.to_string(),
    };
    output.line(indented(&text, "    "));
    for call in &message.tool_calls {
        output.line(format!("    calls {} as {}: {}", call.name, call.id, call.arguments_text()));
    }
}
