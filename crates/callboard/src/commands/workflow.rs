//! `callboard workflow`.

mod args;
mod execution;
mod show;

use std::path::Path;

use callboard_api as api;
use callboard_engine::core::json::in_words;
use http::Method;
use serde_json::{Map, Value, json};

use super::{Context, variable::given_value};
use crate::{failure::Failure, output::Output, terminal};

use self::args::{Content, NamedNode, Record, Version};
pub(crate) use self::args::{Workflow, WorkflowCommand};

pub(super) async fn execute(context: &Context, args: Workflow) -> Result<(), Failure> {
    let output = context.output;
    let Some(command) = args.command else {
        return context.get(&args.on, &["workflow"]).await?.print(output, show::workflow).await;
    };
    match command {
        WorkflowCommand::Set { on, file, change: Version { reason, expected_version } } => {
            let put = whole(&file)?;
            let put = api::PutWorkflow { reason: reason.map(Into::into), expected_version, ..put };
            context.call(&on, Method::PUT, &["workflow"]).await?.json(&put).print(output, show::workflow).await
        }
        WorkflowCommand::Name { on, name, description, change: Version { reason, expected_version } } => {
            let [name, description, reason] = [name, description, reason].map(|text| text.map(Into::into));
            let patch = api::WorkflowPatch { name, description, reason, expected_version };
            context.call(&on, Method::PATCH, &["workflow"]).await?.json(&patch).print(output, show::about).await
        }
        WorkflowCommand::Add { on, kind, content, change: Version { reason, expected_version } } => {
            let Content { config, description, position } = content;
            let config = config.map(object).transpose()?.unwrap_or_default().into();
            let [description, reason] = [description, reason].map(|text| text.map(Into::into));
            let kind = kind.into();
            let node = api::NewWorkflowNode { kind, config, description, position, reason, expected_version };
            context.post(&on, &["workflow", "nodes"], &node).await?.print(output, show::changed).await
        }
        WorkflowCommand::Change {
            node: NamedNode { on, node },
            kind,
            content,
            change: Version { reason, expected_version },
        } => {
            let Content { config, description, position } = content;
            let config = config.map(object).transpose()?.map(Into::into);
            let [kind, description, reason] = [kind, description, reason].map(|text| text.map(Into::into));
            let patch = api::WorkflowNodePatch { kind, config, description, position, reason, expected_version };
            let path = ["workflow", "nodes", &node.to_string()];
            context.call(&on, Method::PATCH, &path).await?.json(&patch).print(output, show::changed).await
        }
        WorkflowCommand::Delete { node: NamedNode { on, node }, change: Version { reason, expected_version } } => {
            let call = context.call(&on, Method::DELETE, &["workflow", "nodes", &node.to_string()]).await?;
            call.maybe("reason", reason).maybe("expected_version", expected_version).done().await?;
            output.done("deleted", &node);
            Ok(())
        }
        WorkflowCommand::Node(NamedNode { on, node }) => {
            let people = |node: &api::WorkflowNode, output: Output| output.line(show::pretty(&json!(node)));
            context.get(&on, &["workflow", "nodes", &node.to_string()]).await?.print(output, people).await
        }
        WorkflowCommand::Result(NamedNode { on, node }) => {
            let people = |result: &api::NodeResult, output: Output| output.line(result.result.get());
            context.get(&on, &["workflow", "nodes", &node.to_string(), "result"]).await?.print(output, people).await
        }
        WorkflowCommand::Record(args) => record(context, args).await,
        WorkflowCommand::Run(args) => execution::run(context, args).await,
        WorkflowCommand::Status(args) => execution::status(context, args).await,
        WorkflowCommand::Cancel(args) => execution::cancel(context, args).await,
        WorkflowCommand::Export { on, file } => execution::export(context, &on, &file).await,
    }
}

async fn record(context: &Context, args: Record) -> Result<(), Failure> {
    let Record { node: NamedNode { on, node }, status, result, file, variables } = args;
    let result = given_value(result, file, false)?.unwrap_or_default();
    let variables = variables.map(object).transpose()?.unwrap_or_default();
    let put = api::PutNodeResult { status, result, variables };
    let path = ["workflow", "nodes", &node.to_string(), "result"];
    context.call(&on, Method::PUT, &path).await?.json(&put).done().await?;
    let recorded = json!({"node": node, "status": status});
    context.output.answer(&recorded, |output| output.line(format!("{node}: {}", status.as_str())));
    Ok(())
}

/// A JSON object that somebody typed.
fn object(text: String) -> Result<Map<String, Value>, Failure> {
    let text = terminal::text(&text)?;
    serde_json::from_str(&text).map_err(|error| {
        Failure::usage("invalid", format!("{} is not a JSON object: {}", text.trim(), in_words(&error.to_string())))
            .hint("write it like {\"action\": \"click\"}")
    })
}

/// The workflow in a file: what `callboard workflow --json` prints, or a list of nodes.
fn whole(file: &Path) -> Result<api::PutWorkflow, Failure> {
    let text = terminal::text_in(file)?;
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
