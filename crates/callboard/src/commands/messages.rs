//! `callboard messages`.

use callboard_api as api;
use callboard_engine::core::conversation::Role;
use serde_json::Value;

use super::Context;
use crate::{
    cli,
    failure::Failure,
    output::{Output, Style, indented},
};

pub(super) async fn messages(context: &Context, args: cli::Messages) -> Result<(), Failure> {
    let session = context.session(&args.which).await?;
    let roles: Vec<_> = args.roles.iter().map(|role| word(*role)).collect();
    let call = session.get(&["threads", args.thread.as_str(), "messages"]).eyes(&args.eyes);
    let call = call.maybe("limit", args.limit).maybe("before", args.before).maybe("after", args.after);
    let call = call.maybe("roles", (!roles.is_empty()).then(|| roles.join(",")));
    let page = call.answer::<api::MessageList>().await?;
    context.output.answer(&page.json, |output| page.it.messages.iter().for_each(|message| show(message, output)));
    Ok(())
}

/// A role, as calls name it.
fn word(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Ai => "assistant",
        Role::System => "system",
        Role::Tool => "tool",
    }
}

fn show(message: &api::Message, output: Output) {
    let speaker = match (&message.agent, message.role) {
        (Some(agent), _) => agent.to_string(),
        (None, role) => word(role).to_owned(),
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
