//! `callboard say`, `thread`, `messages` and `prompt`.

use callboard_engine::core::{
    audience::Audience,
    conversation::Role,
    id::{AgentName, MessageId, Seq, ThreadId},
    time::Timestamp,
};
use clap::{Args, Subcommand, ValueEnum};

use super::{Eyes, Which};
use crate::parse;

/// Add a message to a thread
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard say \"Make it shorter\"\n  callboard say --thread agent:critic --as critic \"It is too long\"\n  callboard say --lines --id log < lines.txt      each line is a message: log-1, log-2, …"
)]
pub(crate) struct Say {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// What is said, or - for the standard input
    #[arg(required_unless_present = "lines")]
    pub(crate) text: Option<String>,
    /// In which thread
    #[arg(long, value_name = "THREAD", default_value = "main")]
    pub(crate) thread: ThreadId,
    /// In which role: user, assistant, system or tool; user, or assistant with --as, where it is left out
    #[arg(long, value_parser = parse::message_role)]
    pub(crate) role: Option<Role>,
    /// The message's id: said twice, it is there once
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<MessageId>,
    /// Add each line of the standard input, and print the number of its entry once it is durable
    #[arg(long, conflicts_with = "text")]
    pub(crate) lines: bool,
}

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

/// Read the messages of a thread
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard messages --limit 10\n  callboard messages --thread agent:critic --as critic --roles assistant"
)]
pub(crate) struct Messages {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// The thread
    #[arg(long, value_name = "THREAD", default_value = "main")]
    pub(crate) thread: ThreadId,
    /// The most recent ones, at most so many
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Only earlier ones
    #[arg(long, value_name = "TIME")]
    pub(crate) before: Option<Timestamp>,
    /// Only later ones
    #[arg(long, value_name = "TIME")]
    pub(crate) after: Option<Timestamp>,
    /// Only those in these roles
    #[arg(long, value_name = "ROLES", value_delimiter = ',', value_parser = parse::message_role)]
    pub(crate) roles: Vec<Role>,
}

/// Build the prompt of an agent, now or as of an entry
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard prompt --agent critic\n  callboard prompt --agent critic --at 12 --format openai\n  callboard prompt --budget 4000 --model openai:gpt-4o-mini\n\nThe prompt goes to the standard output, the table of its parts to the standard error."
)]
pub(crate) struct Prompt {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Whose; the manager's or the only agent's, where it is left out
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<AgentName>,
    /// In which thread; main, or the agent's own
    #[arg(long, value_name = "THREAD")]
    pub(crate) thread: Option<ThreadId>,
    /// As of this entry
    #[arg(long, value_name = "SEQ", value_parser = parse::seq)]
    pub(crate) at: Option<Seq>,
    /// How many tokens it may have
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u64>,
    /// The model that reads it, whose vocabulary counts
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// As one text, or as what a provider's API takes
    #[arg(long, default_value = "text")]
    pub(crate) format: PromptFormat,
}

/// The form of a prompt.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PromptFormat {
    /// One text
    Text,
    /// The messages of an OpenAI chat completion
    Openai,
    /// The messages of Anthropic's Messages API, with its system
    Anthropic,
}

/// Say where a text came from, who was shown it, and what became of it
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  callboard why \"for sailors\"\n  callboard why --as critic \"the second claim\" --json"
)]
pub(crate) struct Why {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) eyes: Eyes,
    /// The text, as it stands somewhere
    #[arg(value_name = "TEXT")]
    pub(crate) text: String,
}
