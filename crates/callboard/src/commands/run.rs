//! `callboard run`: a team works on a task, and whoever started it watches.

mod end;
mod reply;
mod show;
mod watch;

use std::{path::Path, process::ExitCode, sync::Arc};

use callboard_engine::{
    Session,
    core::{
        agent::Role,
        command::{Answer, Command},
        conversation::{NewMessage, Role as MessageRole},
        entry::Actor,
        id::{AgentName, RunId, Seq, ThreadId},
        run::{Kind, Limits, NewRun, Status},
        state::State,
    },
};
use callboard_model::{Endpoints, ModelName};
use callboard_run::Driver;

use self::{
    reply::Replies,
    watch::{Watch, Watched},
};
use super::Context;
use crate::{cli, config, failure::Failure, output::Style, team_file, terminal};

/// A run that is being watched.
struct Work<'a> {
    context: &'a Context,
    session: Session,
    run: RunId,
    /// The entry after which there is something to watch.
    after: Seq,
}

pub(super) async fn run(context: &Context, args: cli::Run) -> Result<ExitCode, Failure> {
    let endpoints = config::endpoints();
    let work = match (&args.session, args.words.as_slice()) {
        (None, [team]) => Work::new(context, &args, team, None, &endpoints).await?,
        (None, [team, input]) => Work::new(context, &args, team, Some(input), &endpoints).await?,
        (Some(_), []) => Work::go_on(context, &args, None, &endpoints).await?,
        (Some(_), [input]) if !is_file(input) => Work::go_on(context, &args, Some(input), &endpoints).await?,
        (Some(_), _) => {
            return Err(Failure::usage("usage", "a session has its team: with --session, give no team file")
                .hint("callboard run --session ID [INPUT]"));
        }
        (None, _) => {
            return Err(Failure::usage("usage", "name a team file, or a session to go on with")
                .hint("callboard run TEAM.toml [INPUT], or callboard run --session ID"));
        }
    };
    work.drive(&args, endpoints).await
}

/// Whether a word that may be an input is rather meant as a team file.
fn is_file(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "toml") && Path::new(word).is_file()
}

impl<'a> Work<'a> {
    /// Makes a session of a team's file and starts a run in it.
    async fn new(
        context: &'a Context,
        args: &cli::Run,
        team: &str,
        input: Option<&String>,
        endpoints: &Endpoints,
    ) -> Result<Self, Failure> {
        let file = team_file::read(Path::new(team))?;
        let input = input.map(|word| terminal::text(word)).transpose()?.or_else(|| file.input.clone());
        let input = input.ok_or_else(|| {
            Failure::usage("usage", format!("{team} has no input, so say what the team is to do"))
                .hint(format!("callboard run {team} \"what to do\""))
        })?;
        check_models(file.agents.iter().map(|agent| (&agent.name, agent.model.as_deref())), endpoints)?;
        let session = file.create(&context.board, args.id.clone()).await?;
        match Self::start(context, session.clone(), args, input).await {
            Ok(work) => Ok(work),
            Err(failure) => {
                context.board.delete(session.id()).await?;
                Err(failure)
            }
        }
    }

    async fn start(context: &'a Context, session: Session, args: &cli::Run, input: String) -> Result<Self, Failure> {
        let state = session.state().await?;
        let limits = limits(args, &state.session.settings.limits);
        let new = NewRun { kind: Kind::Team, input: input.into(), limits: Some(limits) };
        match session.execute(Actor::User, Command::StartRun(new)).await?.answer {
            Answer::Run(run) => Ok(Self { context, session, run, after: state.head.seq }),
            _ => Err(Failure::failed("no_run", "the run was not started")),
        }
    }

    /// Goes on with the run of a session that has not ended, or starts another one.
    async fn go_on(
        context: &'a Context,
        args: &cli::Run,
        input: Option<&String>,
        endpoints: &Endpoints,
    ) -> Result<Self, Failure> {
        let session = context.session(&cli::Which { session: args.session.clone() }).await?;
        let input = input.map(|word| terminal::text(word)).transpose()?;
        let state = session.state().await?;
        check_models(state.team.agents().map(|agent| (&agent.name, agent.model.as_deref())), endpoints)?;
        let Some(run) = state.runs.unfinished().map(|run| run.id.clone()) else {
            let input = input.ok_or_else(|| {
                Failure::failed("no_run", format!("no run of the session {} waits to go on", session.id()))
                    .hint("say what the team is to do next: callboard run --session ID INPUT")
            })?;
            return Self::start(context, session, args, input).await;
        };
        if args.limit_turns.or(args.limit_tokens).or(args.limit_seconds).is_some() {
            return Err(Failure::usage("usage", format!("the run {run} has its limits from when it was started"))
                .hint("going on with it, it may use as much again; leave the limits out"));
        }
        if let Some(input) = input {
            let message = NewMessage::text(MessageRole::User, input);
            session.execute(Actor::User, Command::AddMessages(ThreadId::main(), vec![message])).await?;
        }
        session.execute(Actor::User, Command::ResumeRun(run.clone())).await?;
        Ok(Self { context, session, run, after: state.head.seq })
    }

    /// Drives the run, shows what happens in it and answers what the user is asked, until there is no more to do here.
    async fn drive(self, args: &cli::Run, endpoints: Endpoints) -> Result<ExitCode, Failure> {
        let output = self.context.output;
        let state = self.session.state().await?;
        if !output.json {
            self.introduce(&state);
        }
        let driver = Driver::new(self.session.clone(), Arc::new(endpoints), config::runs());
        let mut watch = Watch::start(&self.session, &state, self.after, output).await?;
        let mut replies = Replies::new(args.yes, output);
        loop {
            let watched = watch.until(self.drive_or_watch(&driver)).await?;
            match watched {
                Watched::Done(Status::AwaitingUser) if !args.no_answers => {}
                Watched::Done(_) => break,
                Watched::Interrupted => {
                    self.hold().await?;
                    break;
                }
            }
            match watch.until(replies.reply(&self.session, &self.run)).await? {
                Watched::Done(true) => {}
                Watched::Done(false) => break,
                Watched::Interrupted => {
                    self.hold().await?;
                    break;
                }
            }
        }
        watch.catch_up().await?;
        self.conclude().await
    }

    /// Drives the run until it needs somebody. Where another process takes it over, that one is watched.
    async fn drive_or_watch(&self, driver: &Driver) -> Result<Status, callboard_run::Error> {
        match driver.drive(&self.run).await {
            Err(callboard_run::Error::TakenOver) => {
                self.context.output.note("another process drives the run now; watching it");
                let status = self.session.when(|state| {
                    let status = state.runs.get(&self.run).ok()?.status();
                    (status != Status::Running).then_some(status)
                });
                status.await.ok_or(callboard_run::Error::TakenOver)
            }
            driven => driven,
        }
    }

    /// Holds the run, since whoever watched it leaves.
    async fn hold(&self) -> Result<(), Failure> {
        let command = Command::PauseRun(self.run.clone(), "held by the user".to_owned());
        self.session.execute(Actor::User, command).await?;
        Ok(())
    }

    fn introduce(&self, state: &State) {
        let output = self.context.output;
        let title = state.session.settings.title.as_ref().map(|title| format!(": {title}")).unwrap_or_default();
        output.line(format!("session {}, run {}{title}", self.session.id(), self.run));
        for agent in state.team.agents() {
            let role = match agent.role {
                Role::Manager => "manager",
                Role::Worker => "worker",
            };
            let title = agent.title.as_ref().map(|title| format!(": {title}")).unwrap_or_default();
            output.line(format!("  {} ({role}){title}", output.paint(Style::Name, agent.name.as_str())));
        }
    }
}

/// The session's limits, but for those that the command line names.
fn limits(args: &cli::Run, session: &Limits) -> Limits {
    Limits {
        turns: args.limit_turns.or(session.turns),
        tokens: args.limit_tokens.or(session.tokens),
        seconds: args.limit_seconds.or(session.seconds),
    }
}

/// Refuses a team that has nobody to speak through, before anything is made of it.
fn check_models<'a>(
    agents: impl Iterator<Item = (&'a AgentName, Option<&'a str>)>,
    endpoints: &Endpoints,
) -> Result<(), Failure> {
    let default = config::default_model();
    for (agent, model) in agents {
        let model = model.or(default.as_deref()).ok_or_else(|| {
            Failure::failed("no_model", format!("no model is named for {agent}"))
                .hint("set CALLBOARD_MODEL=openai:NAME, and OPENAI_BASE_URL or OPENAI_API_KEY")
        })?;
        let model: ModelName = model.parse()?;
        endpoints.check(model.provider())?;
    }
    Ok(())
}
