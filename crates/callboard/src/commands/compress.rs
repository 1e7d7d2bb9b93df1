//! `callboard compress`, `callboard pin` and `callboard context`.

use callboard_api as api;
use callboard_engine::core::{
    count::Tokens,
    id::{MessageId, Seq, ThreadId},
};
use clap::Args;
use http::Method;

use super::Context;
use crate::{
    cli::{On, ThreadArg},
    failure::Failure,
    output::{Output, counted},
    parse,
};

/// Replace the older messages of a thread with a summary in prompts
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard compress\n  callboard compress agent:writer --target 4000 --no-model\n  callboard compress --undo 345\n\nThe messages stay in the journal. Without a model, or if it writes no usable summary, the summary is made of excerpts."
)]
pub(crate) struct Compress {
    #[command(flatten)]
    pub(crate) thread: ThreadArg,
    /// The largest size of the history afterwards, in tokens (default: as the session says, or 20,000)
    #[arg(long, value_name = "TOKENS", value_parser = parse::number, allow_negative_numbers = true)]
    pub(crate) target: Option<u64>,
    /// How much of that the newest messages may take, word for word (default: a quarter)
    #[arg(long, value_name = "TOKENS", value_parser = parse::number, allow_negative_numbers = true)]
    pub(crate) keep_recent: Option<u64>,
    /// The model that writes the summary (default: the manager's, or CALLBOARD_MODEL)
    #[arg(long, value_name = "MODEL", conflicts_with = "no_model")]
    pub(crate) model: Option<String>,
    /// Make the summary of excerpts, without a model
    #[arg(long)]
    pub(crate) no_model: bool,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) preview: bool,
    /// Undo the compression in this entry: the newest one
    #[arg(long, value_name = "SEQ", value_parser = parse::seq, conflicts_with_all = ["target", "keep_recent", "model", "no_model", "preview"])]
    pub(crate) undo: Option<Seq>,
}

/// Pin a message: compression keeps it word for word
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  callboard pin m12\n  callboard pin m12 --remove")]
pub(crate) struct Pin {
    #[command(flatten)]
    pub(crate) on: On,
    /// The message
    #[arg(value_name = "MESSAGE")]
    pub(crate) message: MessageId,
    /// Its thread
    #[arg(short, long, value_name = "THREAD", default_value = "main")]
    pub(crate) thread: ThreadId,
    /// Unpin it
    #[arg(long)]
    pub(crate) remove: bool,
}

pub(super) async fn compress(context: &Context, args: Compress) -> Result<(), Failure> {
    let session = context.session_on(&args.thread.on).await?;
    let thread = args.thread.thread();
    let thread = thread.as_str();
    if let Some(seq) = args.undo {
        let path = ["threads", thread, "compressions", &seq.to_string(), "undo"];
        let call = session.call(Method::POST, &path);
        let people = |_: &api::UndoneCompression, output: Output| {
            output.line(format!("undone: prompts show the messages again that entry {seq} summarized"));
        };
        return call.print(context.output, people).await;
    }
    let body = api::Compress {
        target_tokens: args.target.map(Tokens),
        keep_recent_tokens: args.keep_recent.map(Tokens),
        model: args.model,
        method: args.no_model.then_some(api::WantedMethod::Extractive),
        preview: args.preview,
    };
    session.post(&["threads", thread, "compress"], &body).print(context.output, show).await
}

fn show(done: &api::CompressAnswer, output: Output) {
    let api::CompressAnswer { seq, through, messages, tokens_before, tokens_after, method, model, reason, .. } = done;
    let how = match (method, model) {
        (api::CompressionMethod::None, _) => {
            return output.line(format!("nothing to compress: the history has {}", counted(tokens_before, "token")));
        }
        (_, Some(model)) => format!("by {model}"),
        (_, None) => "of excerpts".to_owned(),
    };
    let messages = counted(messages, "message");
    let what = format!("{messages} up to entry {through}: {tokens_before} tokens become {tokens_after}");
    match seq {
        Some(seq) => output.line(format!("compressed {what}, summary {how} in entry {seq}")),
        None => output.line(format!("would compress {what}, summary {how}")),
    }
    if let Some(reason) = reason {
        output.line(format!("  without a model: {reason}"));
    }
}

pub(super) async fn pin(context: &Context, args: Pin) -> Result<(), Failure> {
    let method = if args.remove { Method::DELETE } else { Method::PUT };
    let path = ["threads", args.thread.as_str(), "messages", args.message.as_str(), "pin"];
    let call = context.call(&args.on, method, &path).await?;
    call.print(context.output, |api::Pinned { pinned, message_id, seq, .. }: &api::Pinned, output| {
        let what = if *pinned { "pinned" } else { "unpinned" };
        output.line(format!("{what} {message_id} (entry {seq})"));
    })
    .await
}

/// Show how large the agents' prompts are, and when they are compressed
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  callboard context agent:writer")]
pub(crate) struct HistorySize {
    #[command(flatten)]
    pub(crate) thread: ThreadArg,
}

pub(super) async fn context(context: &Context, args: HistorySize) -> Result<(), Failure> {
    let thread = args.thread.thread();
    context
        .get(&args.thread.on, &["threads", thread.as_str(), "context"])
        .await?
        .print(context.output, show_sizes)
        .await
}

fn show_sizes(size: &api::ContextSize, output: Output) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for agent in &size.agents {
        let api::AgentContext { tokens, window, warn_at, compress_at, last_turn, .. } = agent;
        let read = last_turn.as_ref().and_then(|turn| turn.prompt_tokens);
        let read = read.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string());
        let numbers = [tokens, warn_at, compress_at, window].map(ToString::to_string);
        rows.push([vec![agent.agent.to_string()], numbers.to_vec(), vec![read]].concat());
        rows.extend(agent.parts.iter().map(|part| vec![format!("  {}", part.name), part.tokens.to_string()]));
    }
    let head = ["AGENT", "TOKENS", "WARNS AT", "COMPRESSES AT", "BUDGET", "LAST TURN READ"];
    output.table(&head, rows.into_iter());
    if let Some(possible) = &size.compression {
        let api::PossibleCompression { messages, tokens_before, tokens_after, newest } = possible;
        match messages {
            0 => output.line(format!("nothing to compress: the history has {}", counted(tokens_before, "token"))),
            messages => {
                let (messages, left) = (counted(messages, "message"), counted(tokens_after, "token"));
                output.line(format!("compressing {messages} would leave at most {left} of {tokens_before}"));
            }
        }
        if let Some(newest) = newest {
            output.line(format!("entry {newest} has the newest summary"));
        }
    }
}
