//! `callboard thread`.

use http::Method;
use serde_json::json;

use super::Context;
use crate::{answers, cli::Thread, failure::Failure};

pub(super) async fn execute(context: &Context, command: Thread) -> Result<(), Failure> {
    match command {
        Thread::List { which, eyes } => {
            let session = context.session(&which).await?;
            let threads = session.get(&["threads"]).eyes(&eyes).answer::<answers::Threads>().await?;
            context.output.answer(&threads.json, |output| {
                let rows: Vec<_> = threads.it.threads.iter().map(row).collect();
                output.table(&["THREAD", "MESSAGES", "TOKENS", "VISIBLE TO"], &rows);
            });
        }
        Thread::Put { which, eyes, name, visible_to } => {
            let session = context.session(&which).await?;
            let call =
                session.call(Method::PUT, &["threads", name.as_str()]).json(&json!({ "visible_to": visible_to }));
            let thread = call.eyes(&eyes).answer::<answers::Thread>().await?;
            context.output.answer(&thread.json, |output| {
                output.line(format!("{} is visible to {}", thread.it.name, thread.it.visible_to));
            });
        }
    }
    Ok(())
}

fn row(thread: &answers::Thread) -> Vec<String> {
    let answers::Thread { name, visible_to, messages, tokens } = thread;
    vec![name.to_string(), messages.to_string(), tokens.to_string(), visible_to.to_string()]
}
