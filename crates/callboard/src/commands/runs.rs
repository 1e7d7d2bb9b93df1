//! `callboard runs`.

use callboard_api as api;
use callboard_engine::core::{id::RunId, run::Status};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;

use super::Context;
use crate::{
    cli::On,
    client::OnSession,
    failure::Failure,
    output::{Output, counted},
    terminal,
};

/// The run that a command works on.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunArg {
    #[command(flatten)]
    pub(crate) on: On,
    /// The run (default: the newest)
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<RunId>,
}

/// The run that a command is about: named behind the command, or with --run.
#[derive(Args, Clone, Debug)]
pub(crate) struct NamedRun {
    /// The run (default: the newest)
    #[arg(value_name = "RUN", conflicts_with = "run")]
    pub(crate) named: Option<RunId>,
    #[command(flatten)]
    pub(crate) run_arg: RunArg,
}

impl From<NamedRun> for RunArg {
    fn from(named: NamedRun) -> Self {
        Self { run: named.named.or(named.run_arg.run), on: named.run_arg.on }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Runs {
    /// List the runs of a session
    #[command(after_help = "Example:\n  callboard runs list")]
    List(On),
    /// Show a run
    #[command(after_help = "Example:\n  callboard runs show r4")]
    Show(NamedRun),
    /// Pause a run; a model's answer that is under way is still recorded
    #[command(after_help = "Example:\n  callboard runs pause --reason \"waiting for the figures\"")]
    Pause {
        #[command(flatten)]
        run: NamedRun,
        /// The reason
        #[arg(long, default_value = "paused by the user")]
        reason: String,
    },
    /// Resume a paused run; `callboard run --session ID` then drives it
    #[command(after_help = "Example:\n  callboard runs resume && callboard run --session 20250118-143022-a4f2")]
    Resume(NamedRun),
    /// Cancel a run
    #[command(after_help = "Example:\n  callboard runs cancel")]
    Cancel(NamedRun),
    /// Give the result of a tool call that a run waits for
    #[command(after_help = "Example:\n  callboard runs tool-result call_1 '{\"celsius\": 21}'")]
    ToolResult {
        #[command(flatten)]
        run: RunArg,
        /// The id of the tool call
        #[arg(value_name = "CALL")]
        call: String,
        /// The result, or - for the standard input
        result: String,
    },
}

pub(super) async fn execute(context: &Context, command: Runs) -> Result<(), Failure> {
    match command {
        Runs::List(on) => context.get(&on, &["runs"]).await?.print(context.output, table).await,
        Runs::Show(run) => {
            let (session, run) = find(context, &run.into()).await?;
            session.get(&["runs", run.as_str()]).print(context.output, lines).await
        }
        Runs::Pause { run, reason } => {
            change(context, &run.into(), "pause", &api::Pause { reason: Some(reason) }).await
        }
        Runs::Resume(run) => change(context, &run.into(), "resume", &json!({})).await,
        Runs::Cancel(run) => change(context, &run.into(), "cancel", &json!({})).await,
        Runs::ToolResult { run, call, result } => {
            let result = api::ToolResult { tool_call_id: call, content: terminal::text(&result)? };
            change(context, &run, "tool-results", &api::ToolResults { results: vec![result] }).await
        }
    }
}

async fn change(context: &Context, run_arg: &RunArg, verb: &str, body: &impl Serialize) -> Result<(), Failure> {
    let (session, run) = find(context, run_arg).await?;
    session.post(&["runs", run.as_str(), verb], body).print(context.output, lines).await
}

fn table(list: &api::RunList, output: Output) {
    let mut runs: Vec<_> = list.runs.iter().collect();
    runs.sort_by_key(|run| run.started_at);
    let row = |run: &api::Run| {
        let tokens = run.used.prompt_tokens + run.used.completion_tokens;
        let (turns, reason) = (run.used.turns.to_string(), run.reason.clone().unwrap_or_default());
        vec![run.id.to_string(), status(run.status).to_owned(), turns, tokens.to_string(), reason]
    };
    output.list(&["RUN", "STATUS", "TURNS", "TOKENS", ""], runs.into_iter().map(row), "runs");
}

/// The run that is named, or the newest.
async fn find<'a>(context: &'a Context, run_arg: &RunArg) -> Result<(OnSession<'a>, RunId), Failure> {
    let session = context.session_on(&run_arg.on).await?;
    if let Some(run) = &run_arg.run {
        return Ok((session, run.clone()));
    }
    let runs = session.get(&["runs"]).answer::<api::RunList>().await?.it.runs;
    let newest = runs.into_iter().max_by_key(|run| (run.started_at, run.id.clone())).ok_or_else(|| {
        Failure::failed("not_found", format!("the session {} has no run", session.id))
            .hint(format!("start one: {}", context.suggestion(&format!("run --session {} INPUT", session.id))))
    })?;
    Ok((session, newest.id))
}

fn lines(run: &api::Run, output: Output) {
    output.line(format!("run      {}", run.id));
    let reason = run.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    output.line(format!("status   {}{reason}", status(run.status)));
    output.line(format!("started  {}", output.time(run.started_at)));
    let used = run.used;
    output.line(format!(
        "used     {}, {} + {} tokens, {:.1} s",
        counted(used.turns, "turn"),
        used.prompt_tokens,
        used.completion_tokens,
        seconds(used.milliseconds),
    ));
    match (&run.form, run.status) {
        (Some(form), _) => output.line(format!("waits    for the form {form}")),
        (None, Status::AwaitingUser) => output.line("waits    for a message of the user in main"),
        _ => {}
    }
    let agent = run.agent.as_ref().map(|agent| format!(", called by {agent}")).unwrap_or_default();
    for call in &run.tool_calls {
        output.line(format!("waits    for {} as {}{agent}: {}", call.name, call.id, call.arguments_text()));
    }
}

/// Where a run is, for people.
pub(super) fn status(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::AwaitingUser => "waits for the user",
        Status::AwaitingTool => "waits for tools",
        Status::Paused => "paused",
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Cancelled => "cancelled",
    }
}

/// Seconds, for people.
pub(super) fn seconds(milliseconds: u64) -> f64 {
    std::time::Duration::from_millis(milliseconds).as_secs_f64()
}
