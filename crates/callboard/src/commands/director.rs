//! `callboard director`: a chat with a director, who builds a workflow with the user.
//!
//! Each message of the user begins a run of the director, which ends when the director has nothing more to do. Without a
//! terminal there is one message, and the command ends with its run.

mod show;

use std::process::ExitCode;

use callboard_api as api;
use callboard_engine::core::{
    agent::{Agent, AgentRole},
    id::RunId,
    prompt::LayoutName,
    run::{RunKind, Status},
};
use clap::Args;
use http::Method;
use serde_json::json;

use self::show::Show;
use super::{
    Context,
    run::{end::Over, has_ended, models, say},
    watch::Watch,
};
use crate::{
    cli::{BrowserArgs, On, RunLimits},
    client::OnSession,
    failure::Failure,
    output::{self, Style, counted, joined},
    signals::Signals,
    terminal::{self, Lines},
};

const DIRECTOR_EXAMPLES: &str = "\
Examples:
  callboard director                                  talk with the director at the terminal
  callboard director \"Copy new invoices into the ledger\"
  callboard director --session mails - < task.txt     say one thing, and end when it is done
  callboard director --session mails --json \"Go on\"   the entries of the run, one a line
  callboard director --new --limit-turns 40           in a session of its own

Without a terminal the message is read from the standard input. A director uses a browser where \
there is one: on a store this process starts it, at a server the server does.

Ctrl-C cancels what the director does; a second one, or Ctrl-D, ends the chat. The session stays: \
`callboard director --session ID` goes on with it, also after a crash.";

/// Talk with a director, who plans, builds and tests a workflow with you
#[derive(Args, Debug)]
#[command(after_help = DIRECTOR_EXAMPLES)]
pub(crate) struct Director {
    /// What to say to it, or - for the standard input
    #[arg(value_name = "MESSAGE")]
    pub(crate) message: Option<String>,
    #[command(flatten)]
    pub(crate) on: On,
    /// Begin in a new session
    #[arg(long, conflicts_with = "session")]
    pub(crate) new: bool,
    #[command(flatten)]
    pub(crate) limits: RunLimits,
    #[command(flatten)]
    pub(crate) browsers: BrowserArgs,
}

/// A chat with the director of a session.
struct Chat<'a> {
    context: &'a Context,
    session: &'a OnSession<'a>,
    limits: &'a RunLimits,
}

pub(super) async fn director(context: &Context, args: Director) -> Result<ExitCode, Failure> {
    let output = context.output;
    let is_chat = !output.json && output::is_interactive();
    let mut next = match &args.message {
        Some(word) => Some(terminal::text(word)?),
        None if is_chat => None,
        None => Some(terminal::all()?),
    };
    let session = session(context, &args).await?;
    let known = session.get(&[]).answer::<api::Session>().await?.it;
    let directors: Vec<Agent> = known.agents.iter().filter(|agent| agent.role == AgentRole::Manager).cloned().collect();
    models::check(context, &directors, &session.get(&["threads"]).answer::<api::ThreadList>().await?.it.threads)?;
    let signals = Signals::listen()?;
    let show = Show::new(output);
    let mut watch = Watch::start(&session, show, known.head, &signals, output).await?;
    let chat = Chat { context, session: &session, limits: &args.limits };
    let mut lines = is_chat.then(Lines::start);
    if is_chat {
        output.note(format!("session {}; Ctrl-D ends the chat", session.id));
    }
    loop {
        let text = match (next.take(), &mut lines) {
            (Some(text), _) => text,
            (None, Some(lines)) => {
                output.ask("you: ");
                match watch.until(async { Ok(lines.next().await) }).await?.flatten() {
                    Some(line) if line.trim().is_empty() => continue,
                    Some(line) => line,
                    None => break,
                }
            }
            (None, None) => break,
        };
        let run = chat.start(text).await?;
        if watch.until_it_waits(&run).await?.is_none() {
            chat.cancel(&run).await?;
        }
        watch.catch_up().await?;
        let over = Over::of(&session, &run).await?;
        if output.json {
            over.print(&session.id, output);
        } else {
            chat.tell(&over.run.it).await?;
        }
        if lines.is_none() {
            return Ok(over.status());
        }
    }
    output.note(format!("\nto go on: {}", context.suggestion(&format!("director --session {}", session.id))));
    Ok(ExitCode::SUCCESS)
}

/// The session that is meant, or a new one where there is none.
async fn session<'a>(context: &'a Context, args: &Director) -> Result<OnSession<'a>, Failure> {
    if !args.new {
        match context.session_on(&args.on).await {
            Err(failure) if failure.problem.code == "not_found" => {}
            session => return session,
        }
    }
    let agents = json!([{"name": "director", "role": "manager"}]);
    let new = json!({"agents": agents, "prompt": {"layout": LayoutName::Director}});
    let made = context.client.call(Method::POST, &["v1", "sessions"]).json(&new).answer::<api::Session>().await?.it;
    if !context.output.json {
        context.output.note(format!("made the session {}", made.id));
    }
    Ok(OnSession::named(&context.client, made.id, args.on.acting_as.agent.clone()))
}

impl Chat<'_> {
    /// Starts a run with what the user says, or goes on with one that has not ended.
    async fn start(&self, text: String) -> Result<RunId, Failure> {
        let runs = self.session.get(&["runs"]).answer::<api::RunList>().await?.it.runs;
        let is_blank = text.trim().is_empty();
        let Some(unfinished) = runs.into_iter().find(|run| !has_ended(run.status)) else {
            if is_blank {
                return Err(Failure::usage("usage", "say something to the director")
                    .hint("callboard director \"what the workflow is to do\""));
            }
            let known = self.session.get(&[]).answer::<api::Session>().await?.it;
            let limits = self.limits.over(&known.settings.unwrap_or_default().limits);
            let new = api::NewRun { kind: RunKind::Director, input: text.into(), limits };
            return Ok(self.session.post(&["runs"], &new).answer::<api::Run>().await?.it.id);
        };
        let run = unfinished.id;
        if unfinished.kind != RunKind::Director {
            return Err(Failure::failed("run_unfinished", format!("the team's run {run} has not ended"))
                .hint("go on with it: `callboard run --session ID`, or end it: `callboard runs cancel`"));
        }
        self.limits.check_new(&run)?;
        if !is_blank {
            say(self.session, text).await?;
        }
        self.session.post(&["runs", run.as_str(), "resume"], &json!({})).done().await?;
        Ok(run)
    }

    /// Cancels the run, since the user wants that. It may have ended meanwhile.
    async fn cancel(&self, run: &RunId) -> Result<(), Failure> {
        match self.session.post(&["runs", run.as_str(), "cancel"], &json!({})).done().await {
            Err(failure) if failure.problem.code == "run_ended" => Ok(()),
            done => done,
        }
    }

    /// How the run ended, and how large the context is by now.
    async fn tell(&self, run: &api::Run) -> Result<(), Failure> {
        let output = self.context.output;
        let reason = run.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        match run.status {
            Status::Completed => {}
            Status::AwaitingTool => {
                let ids = joined(run.tool_calls.iter().map(|call| format!("{} ({})", call.id, call.name)));
                output.painted(Style::Bad, format!("the director waits for the results of {ids}"));
                output.line(format!("  {}", self.context.suggestion("runs tool-result ID RESULT")));
            }
            Status::Paused => output.painted(Style::Bad, format!("paused{reason}; say something to go on")),
            status => output.painted(Style::Bad, format!("{}{reason}", super::runs::status(status))),
        }
        let size = self.session.get(&["threads", "main", "context"]).answer::<api::ContextSize>().await?.it;
        let Some(agent) = size.agents.first() else { return Ok(()) };
        let api::AgentContext { tokens, window, warn_at, compress_at, .. } = agent;
        let size = counted(tokens, "token");
        let told = format!("context: {size} of {window}; warned at {warn_at}, compressed at {compress_at}");
        output.painted(Style::Quiet, told);
        Ok(())
    }
}
