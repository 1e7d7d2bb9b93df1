//! What can be written on the command line.

mod conversation;
mod directive;
mod files;
mod run;
mod runs;
mod serve;
mod session;
mod set;
mod steps;
mod store;
mod token;
mod transfer;

use std::path::PathBuf;

use callboard_engine::core::id::{AgentName, SessionId};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub(crate) use self::{
    conversation::{Messages, Prompt, PromptFormat, Say, Thread, Why},
    directive::{Directive, Form},
    files::{Files, FilesAdd, FilesCommand, FilesQuery, MatchChoice},
    run::Run,
    runs::{Runs, WhichRun},
    serve::Serve,
    session::{Journal, Session, SessionNew, SessionUpdate},
    set::{Set, SetPut},
    steps::{Steps, StepsSet},
    store::{Store, StoreCheck, StoreCopy},
    token::{Token, TokenHolder, TokenRole},
    transfer::{Export, Import},
};

const EXAMPLES: &str = "\
Examples:
  callboard run TEAM.toml \"Review the article\"     a team works on a task
  callboard session journal                         what happened, entry by entry
  callboard prompt --agent critic --at 12           what an agent was shown";

/// The context engine for teams of AI agents: one durable journal a session, and from it each agent's prompt.
#[derive(Debug, Parser)]
#[command(name = "callboard", version, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What every command takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// Where sessions are kept: sqlite:PATH, postgres://…, redis://… or memory:. By default CALLBOARD_STORE, or a file in the user's data folder
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) store: Option<String>,
    /// The server that has the sessions, as `callboard serve` prints it. By default CALLBOARD_URL, or none but the store
    #[arg(long, global = true, value_name = "URL", conflicts_with = "store")]
    pub(crate) url: Option<String>,
    /// A file with the token that the server wants. By default CALLBOARD_TOKEN
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// What a change has survived once it is answered: the end of the process, or a loss of power too
    #[arg(long, global = true, value_name = "normal|full", default_value = "normal", hide_possible_values = true)]
    pub(crate) durability: DurabilityChoice,
    /// Print JSON for programs
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What a change has survived once it is answered.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DurabilityChoice {
    /// The end of the process by any means.
    Normal,
    /// A loss of power too.
    Full,
}

/// Which session is meant.
#[derive(Args, Clone, Debug)]
pub(crate) struct Which {
    /// The session; the one used last, where it is left out
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
}

/// Through whose eyes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Eyes {
    /// Look and write through this agent's eyes
    #[arg(long = "as", value_name = "AGENT")]
    pub(crate) agent: Option<AgentName>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Let a team work on a task, and watch it
    Run(Run),
    /// Sessions: new, list, show, update, delete, fork, journal
    #[command(subcommand)]
    Session(Session),
    /// Context sets: named texts that the team shares
    #[command(subcommand)]
    Set(Set),
    /// Apply a manager's directive and print what came of it
    Directive(Directive),
    /// Forms: what the user is asked
    #[command(subcommand)]
    Form(Form),
    /// Add a message to a thread
    Say(Say),
    /// Threads: conversations, each with those who see it
    #[command(subcommand)]
    Thread(Thread),
    /// Read the messages of a thread
    Messages(Messages),
    /// Build the prompt of an agent, now or as of an entry
    Prompt(Prompt),
    /// Say where a text came from, who was shown it, and what became of it
    Why(Why),
    /// Runs: list, show, pause, resume, cancel, tool-result
    #[command(subcommand)]
    Runs(Runs),
    /// Steps: where the team is in its work, and which tools it may use: show, use, advance, set, reset, usage, allowed
    #[command(subcommand)]
    Steps(Steps),
    /// Context files: folders in which agents leave each other what they must know; they need no server and no store: new, add, list, search, delegate, remove, touch, end, clean, check, should-create, instructions
    Files(Files),
    /// Write a whole session as lines of JSON
    Export(Export),
    /// Take in a session that was exported
    Import(Import),
    /// Tokens: who may do and see what one agent, or one role, may
    #[command(subcommand)]
    Token(Token),
    /// Stores: check all that one holds, or copy it into another one
    #[command(subcommand)]
    Store(Store),
    /// Serve sessions over HTTP
    Serve(Serve),
    /// Check the store and the model, and say what is wrong
    Doctor(Doctor),
    /// Print what a shell needs to complete commands
    #[command(
        after_help = "Example:\n  callboard completion bash > ~/.local/share/bash-completion/completions/callboard"
    )]
    Completion {
        /// The shell
        shell: Shell,
    },
}

/// Check the store and the model, and say what is wrong
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  callboard doctor\n  callboard doctor --no-model --store sqlite:team.db")]
pub(crate) struct Doctor {
    /// Leave the model out
    #[arg(long)]
    pub(crate) no_model: bool,
}
