//! Executing a workflow, and what became of it.

use std::path::Path;

use callboard_api as api;
use callboard_engine::core::id::Seq;
use http::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    super::{Context, transfer::unwritable, variable::read_value},
    args::{Execution, Run},
    show,
};
use crate::{
    cli::On,
    client::{Call, Follow, Followed, OnSession},
    failure::Failure,
    output::{Output, counted},
    signals::Signals,
};

/// What tells of an execution.
const TYPES: [&str; 3] = ["node.started", "node.result_recorded", "execution.finished"];

/// The path of the executions below a session.
const EXECUTIONS: [&str; 2] = ["workflow", "executions"];

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
            cancelling(&session, &begun.id).done().await?;
        }
        ended = watch(&session, &begun.id, context.output) => ended?,
    }
    let ended = read_one(&session, &begun.id).answer::<api::WorkflowExecution>().await?;
    match ended.it.status {
        api::ExecutionStatus::Completed => {
            ended.print(context.output, show::execution);
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

fn read_one<'a>(session: &OnSession<'a>, id: &api::ExecutionId) -> Call<'a> {
    session.get(&["workflow", "executions", id.as_str()])
}

fn cancelling<'a>(session: &OnSession<'a>, id: &api::ExecutionId) -> Call<'a> {
    session.call(Method::POST, &["workflow", "executions", id.as_str(), "cancel"])
}

/// Shows an execution that is named, or all of them.
pub(super) async fn status(context: &Context, args: Execution) -> Result<(), Failure> {
    let session = context.session_on(&args.on).await?;
    match &args.execution {
        Some(id) => read_one(&session, id).print(context.output, show::execution).await,
        None => session.get(&EXECUTIONS).print(context.output, show::executions).await,
    }
}

/// Cancels an execution that is named, or the newest.
pub(super) async fn cancel(context: &Context, args: Execution) -> Result<(), Failure> {
    let session = context.session_on(&args.on).await?;
    let newest = match args.execution {
        Some(id) => Some(id),
        None => {
            let list = session.get(&EXECUTIONS).answer::<api::ExecutionList>().await?.it;
            list.executions.first().map(|execution| execution.id.clone())
        }
    };
    let none = || Failure::failed("not_found", "the workflow was never executed");
    cancelling(&session, &newest.ok_or_else(none)?).print(context.output, show::execution).await
}

/// Writes the whole workflow to a file that can be imported elsewhere: without what happened to it here.
pub(super) async fn export(context: &Context, on: &On, file: &Path) -> Result<(), Failure> {
    let workflow = context.get(on, &["workflow"]).await?.answer::<api::Workflow>().await?.it;
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
    std::fs::write(file, text).map_err(|error| unwritable(file, &error))?;
    let answer = json!({"file": file, "nodes": count});
    let nodes = counted(count, "node");
    context.output.answer(&answer, |output| output.line(format!("exported {nodes} to {}", file.display())));
    Ok(())
}
