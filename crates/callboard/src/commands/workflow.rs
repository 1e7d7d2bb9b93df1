//! `callboard workflow`.

mod args;
mod execution;
mod show;

use std::path::Path;

use callboard_api as api;
use callboard_engine::core::json::in_words;
use http::Method;
use serde_json::{Map, Value, json};

use super::{
    Context,
    variable::{read_value, without_line_end},
};
use crate::{
    cli::{BrowserArgs, On},
    failure::Failure,
    terminal,
};

pub(crate) use self::args::Workflow;
use self::args::{Content, Record, Version, WorkflowCommand};

pub(super) async fn execute(context: &Context, args: Workflow) -> Result<(), Failure> {
    let output = context.output;
    let Some(command) = args.command else {
        let session = context.session_on(&args.on).await?;
        let workflow = session.get(&["workflow"]).answer::<api::Workflow>().await?;
        output.answer(&workflow.json, |output| show::workflow(&workflow.it, output));
        return Ok(());
    };
    match command {
        WorkflowCommand::Set { on, file, change: Version { reason, expected_version } } => {
            let put = whole(&file)?;
            let put = api::PutWorkflow { reason: reason.map(Into::into), expected_version, ..put };
            let session = context.session_on(&on).await?;
            let call = session.call(Method::PUT, &["workflow"]).json(&put);
            let workflow = call.answer::<api::Workflow>().await?;
            output.answer(&workflow.json, |output| show::workflow(&workflow.it, output));
        }
        WorkflowCommand::Name { on, name, description, change: Version { reason, expected_version } } => {
            let [name, description, reason] = [name, description, reason].map(|text| text.map(Into::into));
            let patch = api::WorkflowPatch { name, description, reason, expected_version };
            let session = context.session_on(&on).await?;
            let call = session.call(Method::PATCH, &["workflow"]).json(&patch);
            let about = call.answer::<api::AboutWorkflow>().await?;
            output.answer(&about.json, |output| show::about(&about.it, output));
        }
        WorkflowCommand::Add { on, kind, content, change: Version { reason, expected_version } } => {
            let Content { config, description, position } = content;
            let config = config.map(object).transpose()?.unwrap_or_default().into();
            let [description, reason] = [description, reason].map(|text| text.map(Into::into));
            let kind = kind.into();
            let node = api::NewWorkflowNode { kind, config, description, position, reason, expected_version };
            changed(context, &on, Method::POST, &["workflow", "nodes"], &json!(node)).await?;
        }
        WorkflowCommand::Change { on, node, kind, content, change: Version { reason, expected_version } } => {
            let Content { config, description, position } = content;
            let config = config.map(object).transpose()?.map(Into::into);
            let [kind, description, reason] = [kind, description, reason].map(|text| text.map(Into::into));
            let patch = api::WorkflowNodePatch { kind, config, description, position, reason, expected_version };
            let path = ["workflow", "nodes", &node.to_string()];
            changed(context, &on, Method::PATCH, &path, &json!(patch)).await?;
        }
        WorkflowCommand::Delete { on, node, change: Version { reason, expected_version } } => {
            let session = context.session_on(&on).await?;
            let call = session.call(Method::DELETE, &["workflow", "nodes", &node.to_string()]);
            let call = call.maybe("reason", reason).maybe("expected_version", expected_version);
            call.done().await?;
            output.answer(&json!({"deleted": node}), |output| output.line(format!("deleted {node}")));
        }
        WorkflowCommand::Node { on, node } => {
            let session = context.session_on(&on).await?;
            let call = session.get(&["workflow", "nodes", &node.to_string()]);
            let node = call.answer::<api::WorkflowNode>().await?;
            output.answer(&node.json, |output| output.line(show::pretty(&json!(node.it))));
        }
        WorkflowCommand::Result { on, node } => {
            let session = context.session_on(&on).await?;
            let path = ["workflow", "nodes", &node.to_string(), "result"];
            let result = session.get(&path).answer::<api::NodeResult>().await?;
            output.answer(&result.json, |output| output.line(result.it.result.get()));
        }
        WorkflowCommand::Record(args) => record(context, args).await?,
        WorkflowCommand::Run(args) => execution::run(context, args).await?,
        WorkflowCommand::Status(args) => execution::status(context, args).await?,
        WorkflowCommand::Cancel(args) => execution::cancel(context, args).await?,
        WorkflowCommand::Export { on, file } => execution::export(context, &on, &file).await?,
    }
    Ok(())
}

impl Workflow {
    /// Whether it executes the workflow, and so needs models and browsers.
    pub(super) fn executes(&self) -> bool {
        matches!(self.command, Some(WorkflowCommand::Run(_)))
    }

    /// How the browsers of its execution are started.
    pub(super) fn browsers(&self) -> BrowserArgs {
        match &self.command {
            Some(WorkflowCommand::Run(run)) => run.browsers.clone(),
            _ => BrowserArgs::default(),
        }
    }
}

async fn changed(context: &Context, on: &On, method: Method, path: &[&str], body: &Value) -> Result<(), Failure> {
    let session = context.session_on(on).await?;
    let call = session.call(method, path).json(body);
    let node = call.answer::<api::ChangedWorkflowNode>().await?;
    context.output.answer(&node.json, |output| show::node(&node.it.node, output));
    Ok(())
}

async fn record(context: &Context, args: Record) -> Result<(), Failure> {
    let Record { on, node, status, result, file, variables } = args;
    let result = match (result, file) {
        (_, Some(path)) => read_value(without_line_end(terminal::file(&path)?), false)?,
        (Some(text), None) if text == "-" => read_value(without_line_end(terminal::all()?), false)?,
        (Some(text), None) => read_value(text, false)?,
        (None, None) => Value::Null,
    };
    let variables = variables.map(object).transpose()?.unwrap_or_default();
    let put = api::PutNodeResult { status, result, variables };
    let session = context.session_on(&on).await?;
    let path = ["workflow", "nodes", &node.to_string(), "result"];
    session.call(Method::PUT, &path).json(&put).done().await?;
    let recorded = json!({"node": node, "status": status});
    context.output.answer(&recorded, |output| output.line(format!("{node}: {}", status.as_str())));
    Ok(())
}

/// A JSON object that somebody typed.
fn object(text: String) -> Result<Map<String, Value>, Failure> {
    let text = if text == "-" { terminal::all()? } else { text };
    serde_json::from_str(&text).map_err(|error| {
        Failure::usage("invalid", format!("{} is not a JSON object: {}", text.trim(), in_words(&error.to_string())))
            .hint("write it like {\"action\": \"click\"}")
    })
}

/// The workflow in a file: what `callboard workflow --json` prints, or a list of nodes.
fn whole(file: &Path) -> Result<api::PutWorkflow, Failure> {
    let text =
        if file.as_os_str() == "-" { terminal::all()? } else { terminal::file(file).map_err(terminal::not_a_text)? };
    let wrong = |error: String| {
        Failure::failed("invalid", format!("{} is no workflow: {}", file.display(), in_words(&error)))
            .hint("`callboard workflow --json` shows what a workflow looks like")
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match value {
        nodes @ Value::Array(_) => Ok(api::PutWorkflow { nodes, ..api::PutWorkflow::default() }),
        value => serde_json::from_value(value).map_err(|error| wrong(error.to_string())),
    }
}
