//! `callboard thread`.

use std::path::Path;

use callboard_api as api;
use callboard_engine::core::{agent::Tool, audience::Audience, count::Tokens, id::ThreadId};
use clap::{Args, Subcommand, ValueEnum};
use http::Method;

use super::Context;
use crate::{cli::On, failure::Failure, parse, terminal};

#[derive(Debug, Subcommand)]
pub(crate) enum Thread {
    /// List the threads
    #[command(after_help = "Example:\n  callboard thread list --as critic")]
    List {
        #[command(flatten)]
        on: On,
    },
    /// Create a thread, or change who sees it and its settings
    #[command(
        aliases = ["set", "add", "update"],
        after_help = "Examples:\n  callboard thread put review --visible-to lead,critic\n  callboard thread put review --instructions \"Argue both sides.\" --history-tokens 4000\n  callboard thread put review --tools callboard:read --unset model"
    )]
    Put(Box<ThreadPut>),
}

/// Create a thread, or change who sees it and its settings
#[derive(Args, Debug)]
pub(crate) struct ThreadPut {
    #[command(flatten)]
    pub(crate) on: On,
    /// The thread
    pub(crate) name: ThreadId,
    /// Who sees it: all, none, or names separated by commas (default: unchanged; all for a new thread)
    #[arg(long, value_name = "WHO", value_parser = parse::audience)]
    pub(crate) visible_to: Option<Audience>,
    /// Instructions for every agent that speaks in it, or - for the standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) instructions: Option<String>,
    /// The model that agents use in it instead of their own
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The tools that agents have in it instead of their own: names of Callboard's tools separated by commas, or a JSON file with a list of tools
    #[arg(long, value_name = "NAMES|FILE")]
    pub(crate) tools: Option<String>,
    /// The most tokens of history in its prompts
    #[arg(long, value_name = "N", value_parser = parse::number, allow_negative_numbers = true)]
    pub(crate) history_tokens: Option<u64>,
    /// Remove a setting
    #[arg(long, value_name = "SETTING", value_delimiter = ',')]
    pub(crate) unset: Vec<Setting>,
}

/// A setting that can be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Setting {
    Instructions,
    Model,
    Tools,
    HistoryTokens,
}

pub(super) async fn execute(context: &Context, command: Thread) -> Result<(), Failure> {
    match command {
        Thread::List { on } => {
            let session = context.session_on(&on).await?;
            let threads = session.get(&["threads"]).answer::<api::ThreadList>().await?;
            context.output.answer(&threads.json, |output| {
                let rows: Vec<_> = threads.it.threads.iter().map(row).collect();
                output.list(&["THREAD", "MESSAGES", "TOKENS", "VISIBLE TO", ""], &rows, "threads");
            });
        }
        Thread::Put(put) => {
            let session = context.session_on(&put.on).await?;
            let call = session.call(Method::PUT, &["threads", put.name.as_str()]).json(&put.body()?);
            let thread = call.answer::<api::Thread>().await?;
            context.output.answer(&thread.json, |output| {
                let settings = settings(&thread.it);
                let settings = if settings.is_empty() { settings } else { format!(", {settings}") };
                output.line(format!("set {}: visible to {}{settings}", thread.it.name, thread.it.visible_to));
            });
        }
    }
    Ok(())
}

impl ThreadPut {
    fn body(&self) -> Result<api::PutThread, Failure> {
        let instructions = self.instructions.as_deref().map(terminal::text).transpose()?;
        let tools = self.tools.as_deref().map(tools).transpose()?;
        Ok(api::PutThread {
            visible_to: self.visible_to.clone(),
            instructions: self.change(Setting::Instructions, instructions.map(Into::into)),
            model: self.change(Setting::Model, self.model.clone()),
            tools: self.change(Setting::Tools, tools),
            history_tokens: self.change(Setting::HistoryTokens, self.history_tokens.map(Tokens)),
        })
    }

    /// The new value of a setting: the one that is given, or none where it is to be removed.
    fn change<T>(&self, setting: Setting, given: Option<T>) -> Option<Option<T>> {
        given.map(Some).or(self.unset.contains(&setting).then_some(None))
    }
}

/// Tools by the names of Callboard's own, or as they are listed in a file.
fn tools(words: &str) -> Result<Vec<Tool>, Failure> {
    if Path::new(words).extension().is_some_and(|extension| extension == "json") {
        let text = terminal::file(Path::new(words))?;
        return serde_json::from_str(&text).map_err(|error| {
            Failure::failed("invalid", format!("{words} is not a list of tools: {error}"))
                .hint("use for instance [{\"name\": \"look_up\", \"description\": \"…\", \"parameters\": {}}]")
        });
    }
    let names = words.split(',').map(str::trim).filter(|name| !name.is_empty());
    Ok(names.map(|name| Tool { name: name.to_owned(), ..Tool::default() }).collect())
}

fn row(thread: &api::Thread) -> Vec<String> {
    let api::Thread { name, visible_to, messages, tokens, .. } = thread;
    vec![name.to_string(), messages.to_string(), tokens.to_string(), visible_to.to_string(), settings(thread)]
}

/// The settings of a thread in a few words.
fn settings(thread: &api::Thread) -> String {
    let api::Thread { instructions, model, tools, history_tokens, .. } = thread;
    let tools = tools.as_ref().map(|tools| match tools.as_slice() {
        [] => "no tools".to_owned(),
        tools => format!("tools {}", tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")),
    });
    let parts = [
        instructions.as_ref().map(|_| "with instructions".to_owned()),
        model.as_ref().map(|model| format!("model {model}")),
        tools,
        history_tokens.map(|most| format!("at most {most} tokens of history")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
}
