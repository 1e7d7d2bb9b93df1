//! `callboard context`.

use callboard_api as api;
use clap::Args;

use super::Context as CommandContext;
use crate::{
    cli::{On, ThreadArg},
    failure::Failure,
    output::{Output, counted},
};

/// Show how large the agents' prompts are, and when they are compressed
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  callboard context agent:writer")]
pub(crate) struct Context {
    #[command(flatten)]
    pub(crate) on: On,
    #[command(flatten)]
    pub(crate) thread: ThreadArg,
}

pub(super) async fn context(context: &CommandContext, args: Context) -> Result<(), Failure> {
    let thread = args.thread.thread();
    context.get(&args.on, &["threads", thread.as_str(), "context"]).await?.print(context.output, show).await
}

fn show(size: &api::ContextSize, output: Output) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for agent in &size.agents {
        let api::AgentContext { tokens, window, warn_at, compress_at, last_turn, .. } = agent;
        let read = last_turn.as_ref().and_then(|turn| turn.prompt_tokens);
        let read = read.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string());
        let numbers = [tokens, warn_at, compress_at, window].map(ToString::to_string);
        rows.push([vec![agent.agent.to_string()], numbers.to_vec(), vec![read]].concat());
        rows.extend(agent.parts.iter().map(|part| vec![format!("  {}", part.name), part.tokens.to_string()]));
    }
    for row in &mut rows {
        row.resize(6, String::new());
    }
    let head = ["AGENT", "TOKENS", "WARNS AT", "COMPRESSES AT", "BUDGET", "LAST TURN READ"];
    output.table(&head, rows.into_iter());
    if let Some(possible) = &size.compression {
        let api::PossibleCompression { messages, tokens_before, tokens_after, newest } = possible;
        match messages {
            0 => output.line(format!("nothing to compress: the history has {}", counted(tokens_before, "token"))),
            messages => output.line(format!(
                "compressing {} would leave at most {} of {tokens_before}",
                counted(messages, "message"),
                counted(tokens_after, "token"),
            )),
        }
        if let Some(newest) = newest {
            output.line(format!("entry {newest} has the newest summary"));
        }
    }
}
