//! What the commands do, a module a noun. Each makes calls, at a server or on the store at hand.

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
use http::Method;

use crate::{
    cli::{Command, Global, Which},
    client::{Client, OnSession, Remote},
    config::{self, Place},
    failure::Failure,
    output::Output,
};

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
