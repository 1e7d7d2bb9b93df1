//! `callboard thread`.

use callboard_api as api;
use callboard_engine::core::{audience::Audience, id::ThreadId};
use clap::Subcommand;
use http::Method;

use super::Context;
use crate::{
    cli::{ActingAs, SessionArg},
    failure::Failure,
    parse,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Thread {
    /// List the threads
    #[command(after_help = "Example:\n  callboard thread list --as critic")]
    List {
        #[command(flatten)]
        session_arg: SessionArg,
        #[command(flatten)]
        acting_as: ActingAs,
    },
    /// Set who sees a thread
    #[command(after_help = "Example:\n  callboard thread put review --visible-to lead,critic")]
    Put {
        #[command(flatten)]
        session_arg: SessionArg,
        #[command(flatten)]
        acting_as: ActingAs,
        /// The thread
        name: ThreadId,
        /// Who sees it: all, none, or names separated by commas
        #[arg(long, value_name = "WHO", value_parser = parse::audience)]
        visible_to: Audience,
    },
}

pub(super) async fn execute(context: &Context, command: Thread) -> Result<(), Failure> {
    match command {
        Thread::List { session_arg, acting_as } => {
            let session = context.session(&session_arg).await?;
            let threads = session.get(&["threads"]).acting_as(&acting_as).answer::<api::ThreadList>().await?;
            context.output.answer(&threads.json, |output| {
                let rows: Vec<_> = threads.it.threads.iter().map(row).collect();
                output.table(&["THREAD", "MESSAGES", "TOKENS", "VISIBLE TO"], &rows);
            });
        }
        Thread::Put { session_arg, acting_as, name, visible_to } => {
            let session = context.session(&session_arg).await?;
            let call = session.call(Method::PUT, &["threads", name.as_str()]).json(&api::PutThread { visible_to });
            let thread = call.acting_as(&acting_as).answer::<api::Thread>().await?;
            context.output.answer(&thread.json, |output| {
                output.line(format!("set {}: visible to {}", thread.it.name, thread.it.visible_to));
            });
        }
    }
    Ok(())
}

fn row(thread: &api::Thread) -> Vec<String> {
    let api::Thread { name, visible_to, messages, tokens, .. } = thread;
    vec![name.to_string(), messages.to_string(), tokens.to_string(), visible_to.to_string()]
}
