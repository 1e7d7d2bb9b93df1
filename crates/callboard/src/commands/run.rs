//! `callboard run`: runs a team on a task and shows the run.
//!
//! On a store, this process drives the run; on a server, the server does. The output and the questions are the same.

pub(super) mod end;
pub(super) mod models;
mod reply;
mod show;

use std::{path::Path, process::ExitCode};

use callboard_api as api;
use callboard_engine::core::{
    id::{RunId, Seq, SessionId, ThreadId},
    run::{RunKind, Status},
};
use clap::Args;
use serde_json::json;

use self::{end::Over, reply::Replies, show::Show};
use super::{Context, session::role_and_title, watch::Watch};
use crate::{
    cli::{ActingAs, On, RunLimits},
    client::OnSession,
    failure::Failure,
    output::Style,
    signals::Signals,
    team_file, terminal,
};

const RUN_EXAMPLES: &str = r#"Examples:
  callboard run TEAM.toml "Review the article"
  callboard run TEAM.toml - < task.txt
  callboard run --session 20250118-143022-a4f2        continue the unfinished run
  callboard run --session 20250118-143022-a4f2 "And now in German"

A team file:
  title = "Review"
  input = "Improve the article."
  [prompt]                     # budget, answer_tokens, parts
  budget = 12000
  [limits]                     # turns, tokens, seconds
  turns = 20
  [[agent]]                    # name, role, title, instructions, model, tools
  name = "lead"
  role = "manager"
  [[agent]]
  name = "critic"
  role = "worker"
  instructions = "Name the three worst faults."
  [[set]]                      # name, content or file, visible_to
  name = "Article"
  file = "article.md"
  visible_to = ["lead", "critic"]
  [[step]]                     # also description, conditions, available_tools
  name = "research"
  is_default = true
  sequence = ["look_up"]

Also: tools (for every agent), default_visibility, share, grant, ttl_seconds.
An agent without a model uses CALLBOARD_MODEL.

Without a terminal the command ends when the team asks the user, and says how to answer and go on.
Ctrl-C pauses the run; `callboard run --session ID` continues it."#;

/// Run a team on a task and watch it
#[derive(Args, Debug)]
#[command(
    override_usage = "callboard run [OPTIONS] TEAM.toml [INPUT]\n       callboard run [OPTIONS] --session ID [INPUT]",
    after_help = RUN_EXAMPLES
)]
pub(crate) struct Run {
    /// The team file, and the task: a text, or - for the standard input
    #[arg(num_args = 0..=2, value_names = ["TEAM.toml", "INPUT"])]
    pub(crate) words: Vec<String>,
    /// Continue this session and its unfinished run
    #[arg(short, long, value_name = "ID")]
    pub(crate) session: Option<SessionId>,
    #[command(flatten)]
    pub(crate) acting_as: ActingAs,
    /// The id of the new session
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub(crate) id: Option<SessionId>,
    /// Begin with the context sets of this session
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub(crate) sets_from: Option<SessionId>,
    #[command(flatten)]
    pub(crate) limits: RunLimits,
    /// Answer forms and questions automatically, also without a terminal
    #[arg(long)]
    pub(crate) yes: bool,
    /// Do not answer at a terminal either: end when the team asks the user
    #[arg(long, conflicts_with = "yes")]
    pub(crate) no_answers: bool,
}

/// A run that is being watched.
struct WatchedRun<'a> {
    context: &'a Context,
    session: OnSession<'a>,
    run: RunId,
    /// The entry after which there is something to watch.
    after: Seq,
    /// They are listened to from before the run was set going.
    signals: Signals,
}

pub(super) async fn run(context: &Context, args: Run) -> Result<ExitCode, Failure> {
    let work = match (&args.session, args.words.as_slice()) {
        (None, [team]) => WatchedRun::new(context, &args, team, None).await?,
        (None, [team, input]) => WatchedRun::new(context, &args, team, Some(input)).await?,
        (Some(_), []) => WatchedRun::go_on(context, &args, None).await?,
        (Some(_), [input]) if !is_file(input) => WatchedRun::go_on(context, &args, Some(input)).await?,
        (Some(_), _) => {
            let problem = "a session has its team already: leave the team file out with --session";
            return Err(Failure::usage("usage", problem).hint("callboard run --session ID [INPUT]"));
        }
        (None, _) => {
            return Err(Failure::usage("usage", "give a team file, or a session to continue")
                .hint("callboard run TEAM.toml [INPUT], or callboard run --session ID"));
        }
    };
    let signals = work.signals.clone();
    tokio::select! {
        ended = work.watch(&args) => ended,
        // The first signal pauses the run; a second one does not wait for that.
        () = signals.sent(2) => Ok(ExitCode::FAILURE),
    }
}

/// Whether a word in the place of the input is the path of a team file.
fn is_file(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "toml") && Path::new(word).is_file()
}

impl<'a> WatchedRun<'a> {
    /// Creates a session from a team file and starts a run in it.
    async fn new(context: &'a Context, args: &Run, team: &str, input: Option<&String>) -> Result<Self, Failure> {
        let file = team_file::read(Path::new(team))?;
        let input = input.map(|word| terminal::text(word)).transpose()?.or_else(|| file.input.clone());
        let input = input.ok_or_else(|| {
            Failure::usage("usage", format!("{team} has no input: give the task"))
                .hint(format!("callboard run {team} \"the task\""))
        })?;
        models::check(context, &file.agents, &[])?;
        let made = file.create(&context.client, args.id.clone(), args.sets_from.clone()).await?.it;
        let session = OnSession::named(&context.client, made.id.clone(), args.acting_as.agent.clone());
        let started = Self::start(context, session, &made, args, input).await;
        if started.is_err() {
            OnSession::named(&context.client, made.id, None).delete().await?;
        }
        started
    }

    async fn start(
        context: &'a Context,
        session: OnSession<'a>,
        known: &api::Session,
        args: &Run,
        input: String,
    ) -> Result<Self, Failure> {
        let limits = args.limits.over(&known.settings.clone().unwrap_or_default().limits);
        let new = api::NewRun { kind: RunKind::Team, input: input.into(), limits };
        let signals = Signals::listen()?;
        let run = session.post(&["runs"], &new).answer::<api::Run>().await?.it;
        Ok(Self { context, session, run: run.id, after: known.head, signals })
    }

    /// Continues the unfinished run of a session, or starts another one.
    async fn go_on(context: &'a Context, args: &Run, input: Option<&String>) -> Result<Self, Failure> {
        let on = On { session: args.session.clone(), acting_as: args.acting_as.clone() };
        let session = context.session_on(&on).await?;
        let input = input.map(|word| terminal::text(word)).transpose()?;
        let known = session.get(&[]).answer::<api::Session>().await?.it;
        let threads = session.get(&["threads"]).answer::<api::ThreadList>().await?.it.threads;
        models::check(context, &known.agents, &threads)?;
        let runs = session.get(&["runs"]).answer::<api::RunList>().await?.it.runs;
        let Some(unfinished) = runs.into_iter().find(|run| !has_ended(run.status)) else {
            let input = input.ok_or_else(|| {
                let next = context.suggestion(&format!("run --session {} INPUT", session.id));
                Failure::failed("no_run", format!("the session {} has no unfinished run", session.id))
                    .hint(format!("give the next task: {next}"))
            })?;
            return Self::start(context, session, &known, args, input).await;
        };
        let run = unfinished.id;
        args.limits.check_new(&run)?;
        let (before, after) = match input {
            // The answer makes the run continue, and it may end before anything else is asked of it: resume it first.
            Some(answer) if unfinished.status == Status::AwaitingUser => (None, Some(answer)),
            // A message added before the run is resumed is part of its next turn.
            input => (input, None),
        };
        if let Some(text) = before {
            say(&session, text).await?;
        }
        let signals = Signals::listen()?;
        session.post(&["runs", run.as_str(), "resume"], &json!({})).done().await?;
        if let Some(text) = after {
            say(&session, text).await?;
        }
        Ok(Self { context, session, run, after: known.head, signals })
    }

    /// Shows the run and answers its questions until it ends, is paused, or is left unanswered.
    async fn watch(self, args: &Run) -> Result<ExitCode, Failure> {
        let output = self.context.output;
        let known = self.session.get(&[]).answer::<api::Session>().await?.it;
        if !output.json {
            self.introduce(&known);
        }
        let show = Show::new(&known, output);
        let mut watch = Watch::start(&self.session, show, self.after, &self.signals, output).await?;
        let mut replies = Replies::new(args.yes, output);
        let is_interrupted = loop {
            let Some(run) = watch.until_it_waits(&self.run).await? else { break true };
            // An agent does not answer for the user.
            if run.status != Status::AwaitingUser || args.no_answers || args.acting_as.agent.is_some() {
                break false;
            }
            match watch.until(replies.reply(&self.session, &run)).await? {
                Some(true) => {}
                Some(false) => break false,
                None => break true,
            }
        };
        if is_interrupted {
            self.pause().await?;
        }
        watch.catch_up().await?;
        self.conclude(&known, &Over::of(&self.session, &self.run).await?).await
    }

    /// Pauses the run, since the user leaves.
    async fn pause(&self) -> Result<(), Failure> {
        let why = api::Pause { reason: Some("paused by the user".to_owned()) };
        self.session.post(&["runs", self.run.as_str(), "pause"], &why).done().await
    }

    fn introduce(&self, session: &api::Session) {
        let output = self.context.output;
        let title = session.title.as_ref().map(|title| format!(": {title}")).unwrap_or_default();
        output.line(format!("session {}, run {}{title}", session.id, self.run));
        for agent in &session.agents {
            let name = output.paint(Style::Name, agent.name.as_str());
            output.line(format!("  {name} {}", role_and_title(agent)));
        }
    }
}

/// Adds a message of the user in main, the thread that runs read.
pub(super) async fn say(session: &OnSession<'_>, text: String) -> Result<(), Failure> {
    super::messages::add(session, &ThreadId::main(), json!({"role": "user", "content": text})).await.map(drop)
}

pub(super) fn has_ended(status: Status) -> bool {
    matches!(status, Status::Completed | Status::Failed | Status::Cancelled)
}
