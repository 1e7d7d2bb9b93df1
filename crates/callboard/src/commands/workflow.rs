//! `callboard workflow`.

mod show;

use std::path::{Path, PathBuf};

use callboard_api as api;
use clap::{Args, Subcommand, ValueEnum};
use http::Method;
use serde_json::{Map, Value, json};

use super::{
    Context,
    variable::{read_value, without_line_end},
};
use crate::{
    cli::{ActingAs, SessionArg},
    failure::Failure,
    terminal,
};

/// The workflow: the nodes that the team builds, in their order
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  callboard workflow\n  callboard workflow add browser_action --config '{\"action\": \"navigate\"}' --description \"Open the page\"\n  callboard workflow change node_2 --position 1\n  callboard workflow result node_2"
)]
pub(crate) struct Workflow {
    #[command(subcommand)]
    pub(crate) command: Option<WorkflowCommand>,
    #[command(flatten)]
    pub(crate) session_arg: SessionArg,
    #[command(flatten)]
    pub(crate) acting_as: ActingAs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Replace the whole workflow
    #[command(
        after_help = "Example:\n  callboard workflow --json > workflow.json   # the workflow as it is, for a change\n  callboard workflow set workflow.json --reason \"in another order\""
    )]
    Set {
        #[command(flatten)]
        on: On,
        /// A file with the workflow as JSON, or - for the standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        change: Change,
    },
    /// Name or describe the workflow
    #[command(after_help = "Example:\n  callboard workflow name \"Gmail to Airtable Sync\"")]
    Name {
        #[command(flatten)]
        on: On,
        /// What it is called; an empty text removes the name
        #[arg(value_name = "NAME", required_unless_present = "description")]
        name: Option<String>,
        /// What it is for; an empty text removes the description
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        #[command(flatten)]
        change: Change,
    },
    /// Add a node
    #[command(
        after_help = "Examples:\n  callboard workflow add browser_action --config '{\"action\": \"navigate\"}'\n  callboard workflow add router --position 1 --config - < config.json"
    )]
    Add {
        #[command(flatten)]
        on: On,
        /// What kind of work the node does
        #[arg(value_name = "TYPE")]
        kind: String,
        #[command(flatten)]
        content: Content,
        #[command(flatten)]
        change: Change,
    },
    /// Change or move a node
    #[command(
        after_help = "Examples:\n  callboard workflow change node_2 --position 1\n  callboard workflow change node_2 --config '{\"action\": \"click\"}' --reason \"the page has changed\""
    )]
    Change {
        #[command(flatten)]
        on: On,
        /// The id of the node
        #[arg(value_name = "NODE")]
        node: api::NodeId,
        /// What kind of work it does
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
        #[command(flatten)]
        content: Content,
        #[command(flatten)]
        change: Change,
    },
    /// Delete a node and its variables
    #[command(after_help = "Example:\n  callboard workflow delete node_2 --reason \"no longer needed\"")]
    Delete {
        #[command(flatten)]
        on: On,
        /// The id of the node
        #[arg(value_name = "NODE")]
        node: api::NodeId,
        #[command(flatten)]
        change: Change,
    },
    /// Print a node as JSON
    #[command(after_help = "Example:\n  callboard workflow node node_2")]
    Node {
        #[command(flatten)]
        on: On,
        /// The id of the node
        #[arg(value_name = "NODE")]
        node: api::NodeId,
    },
    /// Print what the last execution of a node gave, as JSON
    #[command(after_help = "Example:\n  callboard workflow result node_2")]
    Result {
        #[command(flatten)]
        on: On,
        /// The id of the node
        #[arg(value_name = "NODE")]
        node: api::NodeId,
    },
    /// Record what the execution of a node gave
    #[command(
        after_help = "Examples:\n  callboard workflow record node_2 success '{\"count\": 3}' --variables '{\"emails\": []}'\n  callboard workflow record node_2 failed \"no such element\"\n  callboard workflow record node_2 success --file result.json"
    )]
    Record(Record),
}

/// Record what the execution of a node gave
#[derive(Args, Debug)]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) on: On,
    /// The id of the node
    #[arg(value_name = "NODE")]
    pub(crate) node: api::NodeId,
    /// How it went
    #[arg(value_name = "STATUS")]
    pub(crate) status: StatusChoice,
    /// What it gave: JSON, or else a text; - for the standard input (default: null)
    #[arg(value_name = "RESULT", allow_hyphen_values = true)]
    pub(crate) result: Option<String>,
    /// A file with what it gave
    #[arg(long, value_name = "PATH", conflicts_with = "result")]
    pub(crate) file: Option<PathBuf>,
    /// The variables that it set, as a JSON object: `emails` of node_7 is node7.emails
    #[arg(long, value_name = "JSON")]
    pub(crate) variables: Option<String>,
}

/// Where a command works, and as whom.
#[derive(Args, Clone, Debug)]
pub(crate) struct On {
    #[command(flatten)]
    pub(crate) session_arg: SessionArg,
    #[command(flatten)]
    pub(crate) acting_as: ActingAs,
}

/// What all changes have.
#[derive(Args, Clone, Debug)]
pub(crate) struct Change {
    /// Why it is changed
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Change this version of the workflow only
    #[arg(long, value_name = "N")]
    pub(crate) expected_version: Option<u64>,
}

/// What a node is made of.
#[derive(Args, Clone, Debug)]
pub(crate) struct Content {
    /// How it does its work: a JSON object, or - for the standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) config: Option<String>,
    /// What it is for; an empty text removes the description
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Its place among the nodes, from 1
    #[arg(long, value_name = "N")]
    pub(crate) position: Option<u64>,
}

/// How the execution of a node went.
#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum StatusChoice {
    Running,
    Success,
    Failed,
    Skipped,
}

impl From<StatusChoice> for api::NodeStatus {
    fn from(choice: StatusChoice) -> Self {
        match choice {
            StatusChoice::Running => Self::Running,
            StatusChoice::Success => Self::Success,
            StatusChoice::Failed => Self::Failed,
            StatusChoice::Skipped => Self::Skipped,
        }
    }
}

pub(super) async fn execute(context: &Context, args: Workflow) -> Result<(), Failure> {
    let output = context.output;
    let Some(command) = args.command else {
        let session = context.session(&args.session_arg).await?;
        let workflow = session.get(&["workflow"]).acting_as(&args.acting_as).answer::<api::Workflow>().await?;
        output.answer(&workflow.json, |output| show::workflow(&workflow.it, output));
        return Ok(());
    };
    match command {
        WorkflowCommand::Set { on, file, change: Change { reason, expected_version } } => {
            let put = whole(&file)?;
            let put = api::PutWorkflow { reason: reason.map(Into::into), expected_version, ..put };
            let session = context.session(&on.session_arg).await?;
            let call = session.call(Method::PUT, &["workflow"]).json(&put).acting_as(&on.acting_as);
            let workflow = call.answer::<api::Workflow>().await?;
            output.answer(&workflow.json, |output| show::workflow(&workflow.it, output));
        }
        WorkflowCommand::Name { on, name, description, change: Change { reason, expected_version } } => {
            let [name, description, reason] = [name, description, reason].map(|text| text.map(Into::into));
            let patch = api::WorkflowPatch { name, description, reason, expected_version };
            let session = context.session(&on.session_arg).await?;
            let call = session.call(Method::PATCH, &["workflow"]).json(&patch).acting_as(&on.acting_as);
            let about = call.answer::<api::AboutWorkflow>().await?;
            output.answer(&about.json, |output| show::about(&about.it, output));
        }
        WorkflowCommand::Add { on, kind, content, change: Change { reason, expected_version } } => {
            let Content { config, description, position } = content;
            let config = config.map(object).transpose()?.unwrap_or_default();
            let [description, reason] = [description, reason].map(|text| text.map(Into::into));
            let kind = kind.into();
            let node = api::NewWorkflowNode { kind, config, description, position, reason, expected_version };
            changed(context, &on, Method::POST, &["workflow", "nodes"], &json!(node)).await?;
        }
        WorkflowCommand::Change { on, node, kind, content, change: Change { reason, expected_version } } => {
            let Content { config, description, position } = content;
            let config = config.map(object).transpose()?;
            let [kind, description, reason] = [kind, description, reason].map(|text| text.map(Into::into));
            let patch = api::WorkflowNodePatch { kind, config, description, position, reason, expected_version };
            let path = ["workflow", "nodes", &node.to_string()];
            changed(context, &on, Method::PATCH, &path, &json!(patch)).await?;
        }
        WorkflowCommand::Delete { on, node, change: Change { reason, expected_version } } => {
            let session = context.session(&on.session_arg).await?;
            let call = session.call(Method::DELETE, &["workflow", "nodes", &node.to_string()]);
            let call = call.maybe("reason", reason).maybe("expected_version", expected_version);
            call.acting_as(&on.acting_as).done().await?;
            output.answer(&json!({"deleted": node}), |output| output.line(format!("deleted {node}")));
        }
        WorkflowCommand::Node { on, node } => {
            let session = context.session(&on.session_arg).await?;
            let call = session.get(&["workflow", "nodes", &node.to_string()]).acting_as(&on.acting_as);
            let node = call.answer::<api::WorkflowNode>().await?;
            output.answer(&node.json, |output| output.line(show::pretty(&json!(node.it))));
        }
        WorkflowCommand::Result { on, node } => {
            let session = context.session(&on.session_arg).await?;
            let path = ["workflow", "nodes", &node.to_string(), "result"];
            let result = session.get(&path).acting_as(&on.acting_as).answer::<api::NodeResult>().await?;
            output.answer(&result.json, |output| output.line(result.it.result.get()));
        }
        WorkflowCommand::Record(args) => record(context, args).await?,
    }
    Ok(())
}

async fn changed(context: &Context, on: &On, method: Method, path: &[&str], body: &Value) -> Result<(), Failure> {
    let session = context.session(&on.session_arg).await?;
    let call = session.call(method, path).json(body).acting_as(&on.acting_as);
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
    let status = api::NodeStatus::from(status);
    let put = api::PutNodeResult { status, result, variables };
    let session = context.session(&on.session_arg).await?;
    let path = ["workflow", "nodes", &node.to_string(), "result"];
    session.call(Method::PUT, &path).json(&put).acting_as(&on.acting_as).done().await?;
    let recorded = json!({"node": node, "status": status});
    context.output.answer(&recorded, |output| output.line(format!("{node}: {}", status.as_str())));
    Ok(())
}

/// A JSON object that somebody typed.
fn object(text: String) -> Result<Map<String, Value>, Failure> {
    let text = if text == "-" { terminal::all()? } else { text };
    serde_json::from_str(&text).map_err(|error| {
        Failure::usage("invalid", format!("{} is not a JSON object: {error}", text.trim()))
            .hint("write it like {\"action\": \"click\"}")
    })
}

/// The workflow in a file: what `callboard workflow --json` prints, or a list of nodes.
fn whole(file: &Path) -> Result<api::PutWorkflow, Failure> {
    let text = if file.as_os_str() == "-" { terminal::all()? } else { terminal::file(file)? };
    let wrong = |error: String| {
        Failure::failed("invalid", format!("{} is no workflow: {error}", file.display()))
            .hint("`callboard workflow --json` shows what a workflow looks like")
    };
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    match value {
        nodes @ Value::Array(_) => Ok(api::PutWorkflow { nodes, ..api::PutWorkflow::default() }),
        value => serde_json::from_value(value).map_err(|error| wrong(error.to_string())),
    }
}
