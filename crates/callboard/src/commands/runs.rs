//! `callboard runs`.

use callboard_engine::{
    RunInfo, Session,
    core::{
        command::Command,
        entry::Actor,
        error::Error as Refusal,
        id::RunId,
        run::{Due, Status},
        viewer::Viewer,
    },
};
use serde_json::json;

use super::Context;
use crate::{
    cli::{Runs, WhichRun},
    failure::Failure,
    output::Output,
    terminal,
};

pub(super) async fn execute(context: &Context, command: Runs) -> Result<(), Failure> {
    let (run, change): (WhichRun, Option<fn(RunId) -> Command>) = match command {
        Runs::List(which) => return list(context, &context.session(&which).await?).await,
        Runs::ToolResult { run, call, result } => return tool_result(context, &run, call, &result).await,
        Runs::Pause { run, reason } => {
            let (session, run) = find(context, &run).await?;
            session.execute(Actor::User, Command::PauseRun(run.id.clone(), reason)).await?;
            return show(context, &session.run(&Viewer::User, &run.id).await?);
        }
        Runs::Show(run) => (run, None),
        Runs::Resume(run) => (run, Some(Command::ResumeRun)),
        Runs::Cancel(run) => (run, Some(Command::CancelRun)),
    };
    let (session, run) = find(context, &run).await?;
    if let Some(change) = change {
        session.execute(Actor::User, change(run.id.clone())).await?;
    }
    show(context, &session.run(&Viewer::User, &run.id).await?)
}

async fn list(context: &Context, session: &Session) -> Result<(), Failure> {
    let mut runs = session.runs(&Viewer::User).await?;
    runs.sort_by_key(|run| run.started_at);
    context.output.answer(&json!({"runs": runs}), |output| {
        let row = |run: &RunInfo| {
            let tokens = run.used.prompt_tokens + run.used.completion_tokens;
            let (turns, reason) = (run.used.turns.to_string(), run.reason.clone().unwrap_or_default());
            vec![run.id.to_string(), status(run.status).to_owned(), turns, tokens.to_string(), reason]
        };
        output.table(&["RUN", "STATUS", "TURNS", "TOKENS", ""], &runs.iter().map(row).collect::<Vec<_>>());
    });
    Ok(())
}

async fn tool_result(context: &Context, run: &WhichRun, call: String, result: &str) -> Result<(), Failure> {
    let (session, run) = find(context, run).await?;
    let results = vec![(call, terminal::text(result)?)];
    session.execute(Actor::User, Command::ToolResults(run.id.clone(), results)).await?;
    show(context, &session.run(&Viewer::User, &run.id).await?)
}

/// The run that is meant: the newest, where none is named.
async fn find(context: &Context, which: &WhichRun) -> Result<(Session, RunInfo), Failure> {
    let session = context.session(&which.which).await?;
    let runs = session.runs(&Viewer::User).await?;
    let run = match &which.run {
        Some(id) => runs.into_iter().find(|run| run.id == *id).ok_or_else(|| Refusal::not_found("run", id))?,
        None => runs.into_iter().max_by_key(|run| (run.started_at, run.id.clone())).ok_or_else(|| {
            Failure::failed("not_found", format!("the session {} has no run", session.id()))
                .hint("start one with `callboard run --session ID INPUT`")
        })?,
    };
    Ok((session, run))
}

fn show(context: &Context, run: &RunInfo) -> Result<(), Failure> {
    context.output.answer(run, |output| lines(run, output));
    Ok(())
}

fn lines(run: &RunInfo, output: Output) {
    output.line(format!("run      {}", run.id));
    let reason = run.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    output.line(format!("status   {}{reason}", status(run.status)));
    output.line(format!("started  {}", run.started_at));
    let used = run.used;
    output.line(format!(
        "used     {} turns, {} + {} tokens, {:.1} s",
        used.turns,
        used.prompt_tokens,
        used.completion_tokens,
        seconds(used.milliseconds),
    ));
    match &run.due {
        Some(Due::User { form: Some(form) }) => output.line(format!("waits    for the form {form}")),
        Some(Due::User { form: None }) => output.line("waits    for a message of the user in main"),
        Some(Due::Tools { agent, calls }) => {
            for call in calls {
                let arguments = call.arguments_text();
                output.line(format!("waits    for {} as {}, called by {agent}: {arguments}", call.name, call.id));
            }
        }
        _ => {}
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
