//! The tools of models for the workflow.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value, json};

use crate::workflow::{CreateNode, DeleteNode, NodePatch, PatchNode, seal::in_config};
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    error::Error,
    id::NodeId,
    input::InputVisitor,
    number,
    rights::Share,
    text::Text,
    tool::{OwnTool, REASON, Read, ToolExecution, forbidden, parse, text},
};

/// What the argument is that names a node.
const NODE_ID: &str = "The id of the node, such as `node_4`.";

/// Makes a node.
pub(crate) static CREATE_NODE: OwnTool = OwnTool {
    name: "create_node",
    description: "Creates a node of the workflow. Its id is in the answer.",
    idempotent: false,
    execution: ToolExecution::Command(create),
    is_for: |view| view.is_in_charge(),
    arguments: || (content("The last where it is left out."), json!(["type"])),
};

/// Changes or moves a node.
pub(crate) static UPDATE_NODE: OwnTool = OwnTool {
    name: "update_node",
    description: "Changes or moves a node of the workflow. What is left out stays as it is; `config` is replaced as a whole.",
    idempotent: true,
    execution: ToolExecution::Command(update),
    is_for: |view| view.is_in_charge(),
    arguments: || {
        let mut properties = json!({"nodeId": text(NODE_ID)});
        if let (Some(all), Value::Object(content)) =
            (properties.as_object_mut(), content("As before where it is left out."))
        {
            all.extend(content);
        }
        (properties, json!(["nodeId"]))
    },
};

/// Deletes a node.
pub(crate) static DELETE_NODE: OwnTool = OwnTool {
    name: "delete_node",
    description: "Deletes a node of the workflow and its variables. A node that others refer to is not deleted.",
    idempotent: false,
    execution: ToolExecution::Command(delete),
    is_for: |view| view.is_in_charge(),
    arguments: || (json!({"nodeId": text(NODE_ID), "reason": text(REASON)}), json!(["nodeId"])),
};

/// Reads a node.
pub(crate) static GET_NODE: OwnTool = OwnTool {
    name: "get_node",
    description: "Reads a node of the workflow with its whole configuration. Secrets stay hidden.",
    idempotent: true,
    execution: ToolExecution::Read(|view, arguments| {
        let Which { node_id } = parse(arguments)?;
        let node = serde_json::to_string_pretty(&view.node(node_id)?);
        let node = node.map_err(|error| Error::invalid("", error.to_string()))?;
        let seq = view.state.workflow.get(node_id).map(|held| held.seq);
        Ok(Read::Text(Text::Inline(node.into()), seq))
    }),
    is_for: |view| view.may_see(Share::Workflow),
    arguments: || (json!({"nodeId": text(NODE_ID)}), json!(["nodeId"])),
};

/// Reads the result of a node.
pub(crate) static GET_NODE_RESULT: OwnTool = OwnTool {
    name: "get_node_result",
    description: "Reads the whole result of the last execution of a node. Secrets stay hidden.",
    idempotent: true,
    execution: ToolExecution::Read(|view, arguments| {
        let Which { node_id } = parse(arguments)?;
        view.node(node_id)?;
        Ok(view.node_result(node_id).map_or_else(
            |_| Read::Text(Text::Inline(format!("{node_id} has no result yet.").into()), None),
            |seq| Read::NodeResult(node_id, seq),
        ))
    }),
    is_for: |view| view.may_see(Share::Workflow),
    arguments: || (json!({"nodeId": text(NODE_ID)}), json!(["nodeId"])),
};

/// Executes a node alone.
pub(crate) static TEST_SINGLE_NODE: OwnTool = OwnTool {
    name: "test_single_node",
    description: "Executes one node of the workflow and answers with its result. Its variables are set as in an execution of \
        the whole.",
    idempotent: false,
    execution: ToolExecution::Read(|view, arguments| {
        let Which { node_id } = parse(arguments)?;
        if !view.is_in_charge() {
            return Err(forbidden(view, "execute the workflow"));
        }
        view.node(node_id)?;
        Ok(Read::TestNode(node_id))
    }),
    is_for: |view| view.is_in_charge(),
    arguments: || (json!({"nodeId": text(NODE_ID)}), json!(["nodeId"])),
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Which {
    #[serde(deserialize_with = "node")]
    node_id: NodeId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewNode {
    #[serde(rename = "type")]
    kind: Arc<str>,
    #[serde(default)]
    config: Map<String, Value>,
    description: Option<Arc<str>>,
    #[serde(default, deserialize_with = "number::whole_or_none")]
    position: Option<u64>,
    reason: Option<Arc<str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Update {
    #[serde(deserialize_with = "node")]
    node_id: NodeId,
    #[serde(rename = "type")]
    kind: Option<Arc<str>>,
    config: Option<Map<String, Value>>,
    description: Option<Arc<str>>,
    #[serde(default, deserialize_with = "number::whole_or_none")]
    position: Option<u64>,
    reason: Option<Arc<str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Deletion {
    #[serde(deserialize_with = "node")]
    node_id: NodeId,
    reason: Option<Arc<str>>,
}

/// Reads a node as models name it: `node_4`, or its number alone.
fn node<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NodeId, D::Error> {
    node_in(&Value::deserialize(deserializer)?)
        .ok_or_else(|| de::Error::custom("`nodeId` is the id of a node, such as \"node_4\""))
}

/// The node that a value names.
pub(crate) fn node_in(value: &Value) -> Option<NodeId> {
    match value {
        Value::String(text) => text.trim().parse().ok().or_else(|| text.trim().parse().ok().map(NodeId)),
        value => number::whole(value).ok().map(NodeId),
    }
}

/// What a node is made of, for models.
fn content(position: &str) -> Value {
    let kind = json!({"type": "string", "description": "What kind of work it does: `browser_action`, `browser_query`, `transform`, `model`, `route` or `iterate` can be executed; any other type is a note."});
    let config = json!({"type": "object", "description": "How it does it. To read what another node left, name its variable, such as `node4.loginRequired` or `{{node4.loginRequired}}`; to go on at another node, give its id."});
    let description = text("What it is for, so that a person understands it.");
    let position = format!("Its place among the nodes, from 1. {position}");
    let position = json!({"type": "integer", "minimum": 1, "description": position});
    json!({"type": kind, "config": config, "description": description, "position": position, "reason": text(REASON)})
}

fn create(decision: &mut DecisionBuilder<'_>, arguments: &Value) -> Result<String, Undecided> {
    decision.allow(CreateNode::RIGHT)?;
    let NewNode { kind, config, description, position, reason } = parse(arguments)?;
    let node = CreateNode { kind, config: config.into(), description, position, reason, expected_version: None };
    let id = node.perform(decision)?;
    Ok(format!("Node created with ID {id}"))
}

fn update(decision: &mut DecisionBuilder<'_>, arguments: &Value) -> Result<String, Undecided> {
    decision.allow(PatchNode::RIGHT)?;
    let Update { node_id: id, kind, config, description, position, reason } = parse(arguments)?;
    let config = config.map(Into::into);
    let patch = NodePatch { kind, config, description, position, reason, expected_version: None };
    PatchNode { id, patch }.perform(decision)?;
    Ok(format!("Node {id} updated successfully"))
}

fn delete(decision: &mut DecisionBuilder<'_>, arguments: &Value) -> Result<String, Undecided> {
    decision.allow(DeleteNode::RIGHT)?;
    let Deletion { node_id: id, reason } = parse(arguments)?;
    DeleteNode { id, reason, expected_version: None }.perform(decision)?;
    Ok(format!("Node {id} deleted successfully"))
}

/// Shows the configuration, in which there may be secrets.
pub(super) fn show(arguments: &mut Value, visitor: &mut dyn InputVisitor) {
    let id = arguments.get("nodeId").and_then(node_in);
    if let Some(config) = arguments.get_mut("config") {
        visitor.variable(&in_config(id), None, config);
    }
}
