//! The commands, a module a noun: what can be written, and what it does. Each makes calls, at a server or on the store at
//! hand.

mod completion;
mod directive;
mod doctor;
pub(crate) mod files;
mod form;
mod journal;
mod messages;
mod prompt;
mod run;
mod runs;
mod say;
mod serve;
mod session;
mod set;
mod steps;
mod store;
mod thread;
mod token;
mod transfer;
mod why;

use std::{process::ExitCode, sync::Arc};

use callboard_api as api;
use callboard_engine::{
    Board,
    store::{Durability, Lease},
};
use callboard_server::{Drive, Limits, Local, Settings};
use clap::{Parser, Subcommand};
use clap_complete::Shell;
use http::Method;

use crate::{
    cli::{Global, Which},
    client::{Client, OnSession, Remote},
    config::{self, Place},
    failure::Failure,
    output::Output,
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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Let a team work on a task, and watch it
    Run(run::Run),
    /// Sessions: new, list, show, update, delete, fork, journal
    #[command(subcommand)]
    Session(session::Session),
    /// Context sets: named texts that the team shares
    #[command(subcommand)]
    Set(set::Set),
    /// Apply a manager's directive and print what came of it
    Directive(directive::Directive),
    /// Forms: what the user is asked
    #[command(subcommand)]
    Form(form::Form),
    /// Add a message to a thread
    Say(say::Say),
    /// Threads: conversations, each with those who see it
    #[command(subcommand)]
    Thread(thread::Thread),
    /// Read the messages of a thread
    Messages(messages::Messages),
    /// Build the prompt of an agent, now or as of an entry
    Prompt(prompt::Prompt),
    /// Say where a text came from, who was shown it, and what became of it
    Why(why::Why),
    /// Runs: list, show, pause, resume, cancel, tool-result
    #[command(subcommand)]
    Runs(runs::Runs),
    /// Steps: where the team is in its work, and which tools it may use: show, use, advance, set, reset, usage, allowed
    #[command(subcommand)]
    Steps(steps::Steps),
    /// Context files: folders in which agents leave each other what they must know; they need no server and no store: new, add, list, search, delegate, remove, touch, end, clean, check, should-create, instructions
    Files(files::Files),
    /// Write a whole session as lines of JSON
    Export(transfer::Export),
    /// Take in a session that was exported
    Import(transfer::Import),
    /// Tokens: who may do and see what one agent, or one role, may
    #[command(subcommand)]
    Token(token::Token),
    /// Stores: check all that one holds, or copy it into another one
    #[command(subcommand)]
    Store(store::Store),
    /// Serve sessions over HTTP
    Serve(serve::Serve),
    /// Check the store and the model, and say what is wrong
    Doctor(doctor::Doctor),
    /// Print what a shell needs to complete commands
    #[command(
        after_help = "Example:\n  callboard completion bash > ~/.local/share/bash-completion/completions/callboard"
    )]
    Completion {
        /// The shell
        shell: Shell,
    },
}

/// What a command works with.
struct Context {
    client: Client,
    output: Output,
    /// What was said on the command line about where sessions are, to say it again in commands that are suggested.
    place: Option<String>,
}

/// Does what the command line says.
pub(crate) async fn execute(global: &Global, command: Command, output: Output) -> Result<ExitCode, Failure> {
    match command {
        Command::Completion { shell } => completion::print(shell, output),
        Command::Serve(args) => return serve::serve(global, args, output).await,
        Command::Doctor(args) => return doctor::doctor(global, &args, output).await,
        Command::Store(command) => return store::execute(global, command, output).await,
        Command::Run(args) => {
            let context = Context::open(global, output, Drive::Runs).await?;
            let ended = run::run(&context, args).await;
            context.client.close().await;
            return ended;
        }
        command => {
            let context = Context::open(global, output, Drive::Nothing).await?;
            let done = context.execute(command).await;
            context.client.close().await;
            done?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

impl Context {
    async fn open(global: &Global, output: Output, drive: Drive) -> Result<Self, Failure> {
        let client = match config::place(global)? {
            Place::Server(url) => Client::There(Remote::new(&url, config::token(global)?.as_deref())?),
            Place::Store(url) => Client::Here(local(board(global, &url, drive).await?, drive)?),
        };
        let said = |option: &str, url: &Option<String>| url.as_ref().map(|url| format!(" --{option} {url}"));
        let place = said("store", &global.store).or_else(|| said("url", &global.url));
        Ok(Self { client, output, place })
    }

    async fn execute(&self, command: Command) -> Result<(), Failure> {
        match command {
            Command::Session(command) => session::execute(self, command).await,
            Command::Set(command) => set::execute(self, command).await,
            Command::Directive(args) => directive::directive(self, args).await,
            Command::Form(command) => form::execute(self, command).await,
            Command::Say(args) => say::say(self, args).await,
            Command::Thread(command) => thread::execute(self, command).await,
            Command::Messages(args) => messages::messages(self, args).await,
            Command::Prompt(args) => prompt::prompt(self, args).await,
            Command::Why(args) => why::why(self, args).await,
            Command::Runs(command) => runs::execute(self, command).await,
            Command::Steps(command) => steps::execute(self, command).await,
            Command::Export(args) => transfer::export(self, args).await,
            Command::Import(args) => transfer::import(self, args).await,
            Command::Token(command) => token::execute(self, command).await,
            Command::Run(_)
            | Command::Serve(_)
            | Command::Doctor(_)
            | Command::Files(_)
            | Command::Store(_)
            | Command::Completion { .. } => Ok(()),
        }
    }

    /// The session that is meant: the one used last, where none is named.
    async fn session(&self, which: &Which) -> Result<OnSession<'_>, Failure> {
        let client = &self.client;
        if let Some(id) = &which.session {
            return Ok(OnSession { client, id: id.clone() });
        }
        let last = client.call(Method::GET, &["v1", "sessions"]).query("order", "recent").query("limit", 1);
        let last: api::SessionList = last.answer().await?.it;
        let id = last.sessions.into_iter().next().map(|session| session.id).ok_or_else(|| {
            Failure::failed("not_found", "there is no session yet")
                .hint("make one with `callboard session new` or `callboard run TEAM.toml`")
        })?;
        self.output.note(format!("session {id}"));
        Ok(OnSession { client, id })
    }

    /// A command that goes on where this one ended.
    fn suggestion(&self, command: &str) -> String {
        format!("callboard {command}{}", self.place.as_deref().unwrap_or_default())
    }
}

/// The board over the store with this URL. Where no run is driven here, one that goes on is left to whoever looks for it.
async fn board(global: &Global, url: &str, drive: Drive) -> Result<Board, Failure> {
    let store = callboard_store::open(url, config::store_settings(global)).await?;
    let mut settings = callboard_engine::Settings { ttl: config::ttl()?, ..callboard_engine::Settings::default() };
    if drive == Drive::Nothing {
        settings.lease = Lease::of_nobody();
    }
    Ok(Board::new(store, settings))
}

/// What answers calls on a board in this process.
fn local(board: Board, drive: Drive) -> Result<Local, Failure> {
    // Where no run is driven, no model is asked.
    let models = match drive {
        Drive::Runs => config::endpoints(),
        Drive::Nothing => callboard_model::Settings::default().into(),
    };
    let node = board.settings().lease.holder.clone();
    let settings = Settings {
        user_tokens: Vec::new(),
        token_secret: None,
        tls: None,
        hosts: Vec::new(),
        origins: Vec::new(),
        project: None,
        limits: Limits::default(),
        models: Arc::new(models),
        runs: config::runs(node),
    };
    Ok(Local::new(board, settings, drive)?)
}

/// What a change has survived once it is answered, for people.
fn durability(durability: Durability) -> &'static str {
    match durability {
        Durability::Process => "keeps nothing beyond this process",
        Durability::Normal => "what is answered survives kill -9, the last moments not a loss of power",
        Durability::Full => "what is answered survives a loss of power",
    }
}
