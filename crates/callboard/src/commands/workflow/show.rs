//! Workflows as people read them: a list of nodes.

use callboard_api as api;
use serde_json::Value;

use crate::output::{Output, Style, counted, joined};

/// A workflow as a list of its nodes.
pub(super) fn workflow(shown: &api::Workflow, output: Output) {
    about(&shown.workflow, output);
    if shown.nodes.is_empty() {
        return output.line("no nodes yet");
    }
    output.line("");
    let row = |node: &api::WorkflowNode| {
        let description = node.description.as_deref().unwrap_or_default().replace('\n', " ");
        let status = node.status.as_str().to_owned();
        vec![node.position.to_string(), node.id.to_string(), node.kind.to_string(), status, description]
    };
    output.table(&["POSITION", "NODE", "TYPE", "STATUS", "DESCRIPTION"], shown.nodes.iter().map(row));
    let special: Vec<_> = shown.edges.iter().filter(|edge| edge.kind != api::WorkflowEdgeKind::Next).collect();
    if !special.is_empty() {
        output.line("");
    }
    for api::WorkflowEdge { from, to, kind } in special {
        let does = if *kind == api::WorkflowEdgeKind::Reads { "reads" } else { "may go on at" };
        output.line(format!("{from} {does} {to}"));
    }
}

/// What is known of a workflow as a whole.
pub(super) fn about(about: &api::AboutWorkflow, output: Output) {
    let api::AboutWorkflow { name, description, version, updated_at, .. } = about;
    output.painted(Style::Name, name.as_deref().unwrap_or("The workflow"));
    output.painted(Style::Quiet, format!("version {version} of {updated_at}"));
    if let Some(description) = description {
        output.line(description);
    }
}

/// A changed node in a line.
pub(super) fn changed(changed: &api::ChangedWorkflowNode, output: Output) {
    let node = &changed.node;
    let fields = counted(node.config.len(), "field");
    output.line(format!("{} at position {}: {}, {fields} of configuration", node.id, node.position, node.kind));
}

/// JSON for people.
pub(super) fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

/// Executions as a list.
pub(super) fn executions(list: &api::ExecutionList, output: Output) {
    if list.executions.is_empty() {
        return output.line("the workflow was never executed");
    }
    let row = |execution: &api::WorkflowExecution| {
        let (status, reason) = (execution.status.as_str().to_owned(), execution.reason.as_deref().unwrap_or_default());
        let (runs, reason) = (execution.node_runs.to_string(), reason.replace('\n', " "));
        vec![execution.id.to_string(), status, execution.started_at.to_string(), runs, reason]
    };
    output.table(&["EXECUTION", "STATUS", "STARTED", "NODES", ""], list.executions.iter().map(row));
}

/// An execution in a few lines.
pub(super) fn execution(execution: &api::WorkflowExecution, output: Output) {
    let api::WorkflowExecution { id, status, reason, node_runs, running, .. } = execution;
    let nodes = counted(*node_runs, "node");
    output.line(format!("{id} {}: {nodes} started", status.as_str()));
    if !running.is_empty() {
        output.line(format!("under way: {}", joined(running)));
    }
    if let Some(reason) = reason {
        output.line(&**reason);
    }
}
