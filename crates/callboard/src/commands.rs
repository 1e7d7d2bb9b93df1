//! What the commands do, a module a noun.

mod completion;
mod directive;
mod doctor;
mod form;
mod messages;
mod prompt;
mod run;
mod runs;
mod say;
mod serve;
mod session;
mod set;
mod thread;
mod why;

use std::{process::ExitCode, sync::Arc};

use callboard_engine::{
    Board, Session,
    core::{id::SessionId, viewer::Viewer},
    store::Durability,
};

use crate::{
    cli::{Command, Eyes, Global, Which},
    config,
    failure::Failure,
    output::Output,
};

/// What a command works with.
struct Context {
    board: Board,
    output: Output,
    /// What was said about the store on the command line, to say it again in commands that are suggested.
    store: Option<String>,
}

/// How many sessions are looked at at once.
const PAGE: usize = 256;

/// Does what the command line says.
pub(crate) async fn execute(global: &Global, command: Command, output: Output) -> Result<ExitCode, Failure> {
    match command {
        Command::Completion { shell } => completion::print(shell, output),
        Command::Doctor(args) => return doctor::doctor(global, &args, output).await,
        Command::Serve(args) => return serve::serve(global, args, output).await,
        Command::Run(args) => return run::run(&Context::open(global, output).await?, args).await,
        command => Context::open(global, output).await?.execute(command).await?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Context {
    async fn open(global: &Global, output: Output) -> Result<Self, Failure> {
        let store = callboard_store::open(&config::store_url(global)?, config::store_settings(global)).await?;
        let settings = callboard_engine::Settings { ttl: config::ttl()?, ..callboard_engine::Settings::default() };
        Ok(Self { board: Board::new(Arc::clone(&store), settings), output, store: global.store.clone() })
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
            Command::Run(_) | Command::Serve(_) | Command::Doctor(_) | Command::Completion { .. } => Ok(()),
        }
    }

    /// The session that is meant: the one used last, where none is named.
    async fn session(&self, which: &Which) -> Result<Session, Failure> {
        let id = match &which.session {
            Some(id) => id.clone(),
            None => {
                let last = self.last_used().await?.ok_or_else(|| {
                    Failure::failed("not_found", "there is no session yet")
                        .hint("make one with `callboard session new` or `callboard run TEAM.toml`")
                })?;
                self.output.note(format!("session {last}"));
                last
            }
        };
        Ok(self.board.session(&id).await?)
    }

    async fn last_used(&self) -> Result<Option<SessionId>, Failure> {
        let mut last = None;
        let mut after = None;
        loop {
            let page = self.board.store().sessions(after.as_ref(), PAGE).await?;
            let Some((id, _)) = page.last() else { return Ok(last.map(|(_, _, id)| id)) };
            after = Some(id.clone());
            let used = page.into_iter().map(|(id, row)| (row.last_activity, row.head.seq, id));
            last = used.chain(last.take()).max();
        }
    }

    /// A command that goes on where this one ended.
    fn suggestion(&self, command: &str) -> String {
        match &self.store {
            Some(store) => format!("callboard {command} --store {store}"),
            None => format!("callboard {command}"),
        }
    }
}

/// What a change has survived once it is answered, for people.
fn durability(durability: Durability) -> &'static str {
    match durability {
        Durability::Process => "keeps nothing beyond this process",
        Durability::Normal => "what is answered survives kill -9, the last moments not a loss of power",
        Durability::Full => "what is answered survives a loss of power",
    }
}

impl Eyes {
    /// Whose eyes these are.
    pub(crate) fn viewer(&self) -> Viewer {
        self.agent.clone().map_or(Viewer::User, Viewer::Agent)
    }
}
