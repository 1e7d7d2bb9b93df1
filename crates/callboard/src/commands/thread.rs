//! `callboard thread`.

use callboard_api as api;
use callboard_engine::core::{audience::Audience, id::ThreadId};
use clap::Subcommand;
use http::Method;

use super::Context;
use crate::{
    cli::{Eyes, Which},
    failure::Failure,
    parse,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Thread {
    /// List the threads
    #[command(after_help = "Example:\n  callboard thread list --as critic")]
    List {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
    },
    /// Say who sees a thread
    #[command(after_help = "Example:\n  callboard thread put review --visible-to lead,critic")]
    Put {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        eyes: Eyes,
        /// Its name
        name: ThreadId,
        /// Who sees it: all, none, or names with commas between them
        #[arg(long, value_name = "WHO", value_parser = parse::audience)]
        visible_to: Audience,
    },
}

pub(super) async fn execute(context: &Context, command: Thread) -> Result<(), Failure> {
    match command {
        Thread::List { which, eyes } => {
            let session = context.session(&which).await?;
            let threads = session.get(&["threads"]).eyes(&eyes).answer::<api::ThreadList>().await?;
            context.output.answer(&threads.json, |output| {
                let rows: Vec<_> = threads.it.threads.iter().map(row).collect();
                output.table(&["THREAD", "MESSAGES", "TOKENS", "VISIBLE TO"], &rows);
            });
        }
        Thread::Put { which, eyes, name, visible_to } => {
            let session = context.session(&which).await?;
            let call = session.call(Method::PUT, &["threads", name.as_str()]).json(&api::PutThread { visible_to });
            let thread = call.eyes(&eyes).answer::<api::Thread>().await?;
            context.output.answer(&thread.json, |output| {
                output.line(format!("{} is visible to {}", thread.it.name, thread.it.visible_to));
            });
        }
    }
    Ok(())
}

fn row(thread: &api::Thread) -> Vec<String> {
    let api::Thread { name, visible_to, messages, tokens, .. } = thread;
    vec![name.to_string(), messages.to_string(), tokens.to_string(), visible_to.to_string()]
}
