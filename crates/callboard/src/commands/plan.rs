//! `callboard plan`.

pub(super) mod show;

use std::path::PathBuf;

use callboard_api as api;
use callboard_engine::core::{id::Seq, json::in_words};
use clap::{Args, Subcommand};
use http::Method;
use serde_json::Value;

use super::Context;
use crate::{
    cli::On,
    client::{Answer, Follow, Followed, OnSession},
    failure::Failure,
    output::Output,
    parse, terminal,
};

/// The plan: its phases and tasks, in versions (set, history, show, diff, task)
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  callboard plan\n  callboard plan --follow\n  callboard plan task 3 --status completed\n  callboard plan diff 4 6"
)]
pub(crate) struct Plan {
    #[command(subcommand)]
    pub(crate) command: Option<PlanCommand>,
    #[command(flatten)]
    pub(crate) on: On,
    /// Keep showing the plan as it changes until Ctrl-C
    #[arg(short, long)]
    pub(crate) follow: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Replace the plan
    #[command(
        alias = "put",
        after_help = "Examples:\n  callboard plan set plan.json --reason \"the first draft\"\n  callboard plan --json | jq .plan > plan.json   # the plan as it is, for a change"
    )]
    Set {
        #[command(flatten)]
        on: On,
        /// A file with the plan as JSON, or - for the standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Why the plan is changed
        #[arg(long, value_name = "TEXT", default_value = "changed by hand")]
        reason: String,
        /// Replace this version only (0: only if there is no plan)
        #[arg(long, value_name = "N", value_parser = parse::number, allow_negative_numbers = true)]
        expected_version: Option<u64>,
    },
    /// List the versions of the plan, the newest first
    #[command(after_help = "Example:\n  callboard plan history --limit 10")]
    History {
        #[command(flatten)]
        on: On,
        /// At most this many versions (default: 100)
        #[arg(short = 'n', long, value_name = "N", value_parser = parse::limit, allow_negative_numbers = true)]
        limit: Option<usize>,
    },
    /// Show a version of the plan
    #[command(after_help = "Example:\n  callboard plan show 2")]
    Show {
        #[command(flatten)]
        on: On,
        /// The number of the version
        #[arg(value_name = "N", value_parser = parse::number)]
        version: u64,
    },
    /// Compare two versions of the plan
    #[command(
        after_help = "Examples:\n  callboard plan diff          # what the last change did\n  callboard plan diff 4 6"
    )]
    Diff {
        #[command(flatten)]
        on: On,
        /// The older version (default: the one before the newer)
        from: Option<u64>,
        /// The newer version (default: the newest)
        to: Option<u64>,
    },
    /// Change the status or the notes of a task
    #[command(
        after_help = "Examples:\n  callboard plan task 3 --status completed\n  callboard plan task 3 --status failed --notes \"no login\" --reason \"tried twice\""
    )]
    Task {
        #[command(flatten)]
        on: On,
        /// The number of the task
        #[arg(value_name = "ID", value_parser = parse::number)]
        task: u64,
        /// Its status
        #[arg(long, value_name = "STATUS", required_unless_present = "notes", value_parser = parse::one_of::<api::PlanStatus>(api::PlanStatus::ALL.map(api::PlanStatus::as_str).into()))]
        status: Option<api::PlanStatus>,
        /// Its notes; an empty text removes them
        #[arg(long, value_name = "TEXT")]
        notes: Option<String>,
        /// Why it is changed
        #[arg(long, value_name = "TEXT", default_value = "changed by hand")]
        reason: String,
    },
}

/// The entries that change the plan.
const CHANGES: &str = "plan.updated";

pub(super) async fn execute(context: &Context, args: Plan) -> Result<(), Failure> {
    let output = context.output;
    let Some(command) = args.command else {
        let session = context.session_on(&args.on).await?;
        if !args.follow {
            return session.get(&["plan"]).print(output, show::plan).await;
        }
        return tokio::select! {
            ended = follow(&session, output) => ended,
            _ = tokio::signal::ctrl_c() => Ok(()),
        };
    };
    match command {
        PlanCommand::Set { on, file, reason, expected_version } => {
            let put = api::PutPlan { plan: plan_in(&file)?, reason: reason.into(), expected_version };
            context.call(&on, Method::PUT, &["plan"]).await?.json(&put).print(output, changed).await
        }
        PlanCommand::History { on, limit } => {
            let call = context.get(&on, &["plan", "versions"]).await?.maybe("limit", limit);
            call.print(output, show::history).await
        }
        PlanCommand::Show { on, version } => {
            context.get(&on, &["plan", "versions", &version.to_string()]).await?.print(output, show::plan).await
        }
        PlanCommand::Diff { on, from, to } => {
            let call = context.get(&on, &["plan", "diff"]).await?.maybe("from", from).maybe("to", to);
            call.print(output, show::diff).await
        }
        PlanCommand::Task { on, task, status, notes, reason } => {
            let patch = api::PlanTaskPatch { status, notes: notes.map(Into::into), reason: reason.into() };
            let call = context.call(&on, Method::PATCH, &["plan", "tasks", &task.to_string()]).await?.json(&patch);
            call.print(output, changed).await
        }
    }
}

async fn read(session: &OnSession<'_>) -> Result<Answer<api::Plan>, Failure> {
    session.get(&["plan"]).answer().await
}

fn changed(changed: &api::PlanChanged, output: Output) {
    output.line(format!("the plan has version {}", changed.version));
}

/// The plan in a file: the plan itself, or what `callboard plan --json` prints.
fn plan_in(file: &std::path::Path) -> Result<Value, Failure> {
    let mut value: Value = serde_json::from_str(&terminal::input(file)?).map_err(|error| {
        Failure::failed("invalid", format!("{} is not JSON: {}", file.display(), in_words(&error.to_string())))
            .hint("`callboard plan --json` shows what a plan looks like")
    })?;
    let is_answer = value.get("overall_goal").is_none() && value.get("plan").is_some_and(Value::is_object);
    Ok(match value.get_mut("plan") {
        Some(plan) if is_answer => plan.take(),
        _ => value,
    })
}

/// Shows the plan, and each version that follows. A terminal is cleared before each.
async fn follow(session: &OnSession<'_>, output: Output) -> Result<(), Failure> {
    let head = session.get(&[]).answer::<api::Session>().await?.it.head;
    match read(session).await {
        Ok(plan) => show_again(&plan, output),
        Err(failure) if failure.problem.resource.as_deref() == Some("plan") => output.note("no plan yet"),
        Err(failure) => return Err(failure),
    }
    let mut follow = Follow::start(session, vec![CHANGES.to_owned()], Seq(head.0), output).await?;
    while output.is_writable() {
        if let Followed::Entry(_) = follow.next().await? {
            show_again(&read(session).await?, output);
        }
    }
    Ok(())
}

fn show_again(plan: &Answer<api::Plan>, output: Output) {
    output.clear();
    plan.print(output, show::plan);
}
