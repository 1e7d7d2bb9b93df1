//! `callboard thread`.

use callboard_engine::{ThreadInfo, core::command::Command};
use serde_json::json;

use super::Context;
use crate::{cli::Thread, failure::Failure};

pub(super) async fn execute(context: &Context, command: Thread) -> Result<(), Failure> {
    match command {
        Thread::List { which, eyes } => {
            let threads = context.session(&which).await?.threads(&eyes.viewer()).await?;
            context.output.answer(&json!({"threads": threads}), |output| {
                output.table(
                    &["THREAD", "MESSAGES", "TOKENS", "VISIBLE TO"],
                    &threads.iter().map(row).collect::<Vec<_>>(),
                );
            });
        }
        Thread::Put { which, eyes, name, visible_to } => {
            let session = context.session(&which).await?;
            session.execute(eyes.viewer(), Command::PutThread(name.clone(), visible_to.clone())).await?;
            let answer = json!({"name": name, "visible_to": visible_to});
            context.output.answer(&answer, |output| output.line(format!("{name} is visible to {visible_to}")));
        }
    }
    Ok(())
}

fn row(thread: &ThreadInfo) -> Vec<String> {
    let messages = thread.messages.to_string();
    let tokens = thread.tokens.to_string();
    vec![thread.name.to_string(), messages, tokens, thread.visible_to.to_string()]
}
