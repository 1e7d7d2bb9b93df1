//! What can be written behind `callboard workflow`.

use std::path::PathBuf;

use callboard_api as api;
use clap::{Args, Subcommand};

use crate::{
    cli::{BrowserArgs, On},
    parse,
};

/// How the execution of a node may have gone.
const STATUSES: [&str; 4] = ["running", "success", "failed", "skipped"];

/// The workflow: its nodes, their results and its executions (run, status, cancel, export, import, set, name, add, change, delete, node, result, record)
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  callboard workflow\n  callboard workflow add browser_action --config '{\"url\": \"https://example.com\"}'\n  callboard workflow change node_2 --position 1\n  callboard workflow result node_2"
)]
pub(crate) struct Workflow {
    #[command(subcommand)]
    pub(crate) command: Option<WorkflowCommand>,
    #[command(flatten)]
    pub(crate) on: On,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Execute the workflow, and wait until it has ended
    #[command(
        after_help = "Examples:\n  callboard workflow run --input city=Rome\n  callboard workflow run --from node_4\n  callboard workflow run --node node_2   # this node alone"
    )]
    Run(Run),
    /// Show the executions of the workflow, or one of them
    #[command(after_help = "Examples:\n  callboard workflow status\n  callboard workflow status x12")]
    Status(Execution),
    /// Cancel an execution of the workflow
    #[command(after_help = "Example:\n  callboard workflow cancel")]
    Cancel(Execution),
    /// Write the whole workflow to a file
    #[command(
        after_help = "Examples:\n  callboard workflow export mails.json --session mails\n  callboard workflow import mails.json --session other"
    )]
    Export {
        #[command(flatten)]
        on: On,
        /// The file, or - for the standard output
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Replace the whole workflow
    #[command(
        alias = "put",
        visible_alias = "import",
        after_help = "Example:\n  callboard workflow --json > workflow.json   # the workflow as it is, for a change\n  callboard workflow set workflow.json --reason \"in another order\""
    )]
    Set {
        #[command(flatten)]
        on: On,
        /// A file with the workflow as JSON, or - for the standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
        #[command(flatten)]
        change: Version,
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
        change: Version,
    },
    /// Add a node
    #[command(
        after_help = "Examples:\n  callboard workflow add browser_action --config '{\"url\": \"https://example.com\"}'\n  callboard workflow add note --position 1 --config - < config.json"
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
        change: Version,
    },
    /// Change or move a node
    #[command(
        alias = "update",
        after_help = "Examples:\n  callboard workflow change node_2 --position 1\n  callboard workflow change node_2 --config '{\"url\": \"https://example.org\"}' --reason \"it moved\""
    )]
    Change {
        #[command(flatten)]
        node: NamedNode,
        /// What kind of work it does
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
        #[command(flatten)]
        content: Content,
        #[command(flatten)]
        change: Version,
    },
    /// Delete a node and its variables
    #[command(after_help = "Example:\n  callboard workflow delete node_2 --reason \"no longer needed\"")]
    Delete {
        #[command(flatten)]
        node: NamedNode,
        #[command(flatten)]
        change: Version,
    },
    /// Print a node as JSON
    #[command(after_help = "Example:\n  callboard workflow node node_2")]
    Node(NamedNode),
    /// Print the result of a node's last run, as JSON
    #[command(after_help = "Example:\n  callboard workflow result node_2")]
    Result(NamedNode),
    /// Record the result of a node's run
    #[command(
        after_help = "Examples:\n  callboard workflow record node_2 success '{\"count\": 3}' --variables '{\"emails\": []}'\n  callboard workflow record node_2 failed \"no such element\"\n  callboard workflow record node_2 success --file result.json"
    )]
    Record(Record),
}

/// The node that a command is about.
#[derive(Args, Debug)]
pub(crate) struct NamedNode {
    #[command(flatten)]
    pub(crate) on: On,
    /// The id of the node
    #[arg(value_name = "NODE")]
    pub(crate) node: api::NodeId,
}

/// Execute the workflow
#[derive(Args, Debug)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) on: On,
    /// Execute it from this node on
    #[arg(long, value_name = "NODE", conflicts_with = "nodes")]
    pub(crate) from: Option<api::NodeId>,
    /// Execute this node alone; can be given several times
    #[arg(long = "node", value_name = "NODE")]
    pub(crate) nodes: Vec<api::NodeId>,
    /// Set a variable first: JSON, or else a text; can be given several times
    #[arg(long = "input", value_name = "NAME=VALUE", value_parser = parse::pair)]
    pub(crate) inputs: Vec<(String, String)>,
    /// Start nodes at most so many times (default: 1000)
    #[arg(long, value_name = "N", value_parser = parse::number)]
    pub(crate) node_runs: Option<u64>,
    /// Take at most so many seconds (default: 3600)
    #[arg(long, value_name = "N", value_parser = parse::number)]
    pub(crate) seconds: Option<u64>,
    #[command(flatten)]
    pub(crate) browsers: BrowserArgs,
}

/// An execution of the workflow.
#[derive(Args, Debug)]
pub(crate) struct Execution {
    #[command(flatten)]
    pub(crate) on: On,
    /// The id of the execution
    #[arg(value_name = "EXECUTION")]
    pub(crate) execution: Option<api::ExecutionId>,
}

/// Record the result of a node's run
#[derive(Args, Debug)]
pub(crate) struct Record {
    #[command(flatten)]
    pub(crate) node: NamedNode,
    /// How it went
    #[arg(value_name = "STATUS", value_parser = parse::one_of::<api::NodeStatus>(STATUSES.into()))]
    pub(crate) status: api::NodeStatus,
    /// The result: JSON, or else a text; - for the standard input (default: null)
    #[arg(value_name = "RESULT", allow_hyphen_values = true)]
    pub(crate) result: Option<String>,
    /// A file with the result
    #[arg(long, value_name = "PATH", conflicts_with = "result")]
    pub(crate) file: Option<PathBuf>,
    /// The variables that it set, as a JSON object: `emails` of node_7 is node7.emails
    #[arg(long, value_name = "JSON")]
    pub(crate) variables: Option<String>,
}

/// Why the workflow is changed, and which version of it.
#[derive(Args, Clone, Debug)]
pub(crate) struct Version {
    /// Why it is changed
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Change this version of the workflow only
    #[arg(long, value_name = "N", value_parser = parse::number, allow_negative_numbers = true)]
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
    #[arg(long, value_name = "N", value_parser = parse::number, allow_negative_numbers = true)]
    pub(crate) position: Option<u64>,
}
