//! Executing a workflow, and what became of it.

use std::path::Path;

use callboard_api as api;
use callboard_engine::core::id::Seq;
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    super::{Context, variable::read_value},
    args::{Execution, Run},
    show,
};
use crate::{
    cli::On,
    client::{Answer, Follow, Followed, OnSession},
    failure::Failure,
    output::Output,
    signals::Signals,
};

/// What tells of an execution.
const TYPES: [&str; 3] = ["node.started", "node.result_recorded", "execution.finished"];

/// What an entry says of a node or of an execution.
#[derive(Deserialize)]
struct Told {
    id: Option<api::NodeId>,
    execution: Option<api::ExecutionId>,
    status: Option<Value>,
}

/// Executes the workflow, shows its nodes as they come, and waits for its end. Ctrl-C cancels it.
pub(super) async fn run(context: &Context, args: Run) -> Result<(), Failure> {
    let Run { on, from, nodes, inputs, node_runs, seconds, browsers: _ } = args;
    let read = |(name, value): (String, String)| Ok((name, read_value(value, false)?));
    let inputs = inputs.into_iter().map(read).collect::<Result<Map<_, _>, Failure>>()?;
    let default = api::ExecutionLimits::default();
    let limits = api::ExecutionLimits {
        node_runs: node_runs.unwrap_or(default.node_runs),
        seconds: seconds.unwrap_or(default.seconds),
        ..default
    };
    let nodes = (!nodes.is_empty()).then_some(nodes);
    let body = api::RunWorkflow { from, nodes, inputs, limits: Some(limits) };
    let session = context.session_on(&on).await?;
    let call = session.post(&["workflow", "run"], &body);
    let signals = Signals::listen()?;
    let begun = call.answer::<api::WorkflowExecution>().await?.it;
    tokio::select! {
        biased;
        () = signals.sent(1) => {
            let path = ["workflow", "executions", begun.id.as_str(), "cancel"];
            session.call(Method::POST, &path).done().await?;
        }
        ended = watch(&session, &begun.id, context.output) => ended?,
    }
    let ended = read_one(&session, &begun.id).await?;
    match ended.it.status {
        api::ExecutionStatus::Completed => {
            context.output.answer(&ended.json, |output| show::execution(&ended.it, output));
            Ok(())
        }
        status => {
            let reason = ended.it.reason.as_deref().unwrap_or_default();
            let detail = format!("the execution {} is {}: {reason}", ended.it.id, status.as_str());
            let failure = Failure::failed("execution_failed", detail);
            Err(match ended.it.failed {
                Some(node) => failure.hint(format!("callboard workflow result {node} shows the whole of it")),
                None => failure,
            })
        }
    }
}

/// Shows the nodes of an execution as they are started and end, until it has ended.
async fn watch(session: &OnSession<'_>, id: &api::ExecutionId, output: Output) -> Result<(), Failure> {
    let after = Seq(id.as_str().trim_start_matches('x').parse().unwrap_or_default());
    let types = TYPES.map(str::to_owned).to_vec();
    let mut follow = Follow::start(session, types, after, output).await?;
    loop {
        let Followed::Entry(entry) = follow.next().await? else { continue };
        let Ok(told) = serde_json::from_str::<Told>(&entry.data) else { continue };
        match (&*entry.kind, told) {
            ("execution.finished", Told { execution: Some(ended), .. }) if ended == *id => return Ok(()),
            ("node.started", Told { id: Some(node), .. }) if !output.json => output.note(format!("{node} …")),
            ("node.result_recorded", Told { id: Some(node), status: Some(Value::String(status)), .. })
                if !output.json && status != "running" =>
            {
                output.note(format!("{node} {status}"));
            }
            _ => {}
        }
    }
}

async fn read_one(session: &OnSession<'_>, id: &api::ExecutionId) -> Result<Answer<api::WorkflowExecution>, Failure> {
    session.get(&["workflow", "executions", id.as_str()]).answer().await
}

/// Shows an execution that is named, or all of them.
pub(super) async fn status(context: &Context, args: Execution) -> Result<(), Failure> {
    let session = context.session_on(&args.on).await?;
    if let Some(id) = &args.execution {
        let one = read_one(&session, id).await?;
        context.output.answer(&one.json, |output| show::execution(&one.it, output));
        return Ok(());
    }
    let all = list(&session).await?;
    context.output.answer(&all.json, |output| show::executions(&all.it.executions, output));
    Ok(())
}

/// Cancels an execution that is named, or the newest.
pub(super) async fn cancel(context: &Context, args: Execution) -> Result<(), Failure> {
    let session = context.session_on(&args.on).await?;
    let newest = match args.execution {
        Some(id) => Some(id),
        None => list(&session).await?.it.executions.first().map(|execution| execution.id.clone()),
    };
    let none = || Failure::failed("not_found", "the workflow was never executed");
    let id = newest.ok_or_else(none)?;
    let call = session.call(Method::POST, &["workflow", "executions", id.as_str(), "cancel"]);
    let cancelled = call.answer::<api::WorkflowExecution>().await?;
    context.output.answer(&cancelled.json, |output| show::execution(&cancelled.it, output));
    Ok(())
}

async fn list(session: &OnSession<'_>) -> Result<Answer<api::ExecutionList>, Failure> {
    session.get(&["workflow", "executions"]).answer().await
}

/// Writes the whole workflow to a file that can be imported elsewhere: without what happened to it here.
pub(super) async fn export(context: &Context, on: &On, file: &Path) -> Result<(), Failure> {
    let session = context.session_on(on).await?;
    let workflow = session.get(&["workflow"]).answer::<api::Workflow>().await?.it;
    let api::Workflow { workflow: about, nodes, .. } = workflow;
    let count = nodes.len();
    let node = |node: api::WorkflowNode| json!({"id": node.id, "type": node.kind, "config": node.config, "description": node.description});
    let nodes: Vec<_> = nodes.into_iter().map(node).collect();
    let whole = json!({"workflow": {"name": about.name, "description": about.description}, "nodes": nodes});
    let text = format!("{}\n", show::pretty(&whole));
    if file == Path::new("-") {
        context.output.write(&text);
        return Ok(());
    }
    std::fs::write(file, text)
        .map_err(|error| Failure::failed("unwritable", format!("cannot write {}: {error}", file.display())))?;
    let answer = json!({"file": file, "nodes": count});
    let nodes = crate::output::counted(count, "node");
    context.output.answer(&answer, |output| output.line(format!("exported {nodes} to {}", file.display())));
    Ok(())
}
