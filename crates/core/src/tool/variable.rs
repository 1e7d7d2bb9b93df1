//! The tools of models for variables. Their names and arguments are those that directors know.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};

use crate::variable::{ClearVariables, SetVariable, Variable};
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    error::Error,
    exact::quote_inexact,
    id::{BadName, VariableName},
    input::InputVisitor,
    rights::Share,
    tool::{OwnTool, REASON, Read, ToolExecution, parse, text, workflow::node_in},
    view::View,
};

/// The name that stands for all variables.
const ALL: &str = "all";

/// Reads variables.
pub(crate) static GET_WORKFLOW_VARIABLE: OwnTool = OwnTool {
    name: "get_workflow_variable",
    description: "Reads the whole value of a variable, of all variables of a node, or of all variables. Secrets stay hidden.",
    idempotent: true,
    execution: ToolExecution::Read(read),
    is_for: |view| view.may_see(Share::Variables),
    arguments: || {
        let name = text("The name of the variable, such as `node7.emails`, or `all`.");
        let node = json!({"type": "integer", "minimum": 0,
            "description": "In place of a name: the number of the node whose variables are read."});
        (json!({"variableName": name, "nodeId": node}), json!([]))
    },
};

/// Sets a variable.
pub(crate) static SET_VARIABLE: OwnTool = OwnTool {
    name: "set_variable",
    description: "Sets a variable to a value of any JSON.",
    idempotent: true,
    execution: ToolExecution::Command(set),
    is_for: |view| view.is_in_charge(),
    arguments: || {
        let name = text("The name of the variable.");
        let properties = json!({"variableName": name, "value": {"description": "Its value."}, "reason": text(REASON)});
        (properties, json!(["variableName", "value", "reason"]))
    },
};

/// Clears a variable.
pub(crate) static CLEAR_VARIABLE: OwnTool = OwnTool {
    name: "clear_variable",
    description: "Clears a variable, so that it has no value any more.",
    idempotent: false,
    execution: ToolExecution::Command(clear),
    is_for: |view| view.is_in_charge(),
    arguments: || {
        let name = text("The name of the variable.");
        (json!({"variableName": name, "reason": text(REASON)}), json!(["variableName", "reason"]))
    },
};

/// Clears all variables.
pub(crate) static CLEAR_ALL_VARIABLES: OwnTool = OwnTool {
    name: "clear_all_variables",
    description: "Clears all variables of the workflow.",
    idempotent: true,
    execution: ToolExecution::Command(clear_all),
    is_for: |view| view.is_in_charge(),
    arguments: || (json!({"reason": text(REASON)}), json!(["reason"])),
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Which {
    variable_name: Option<String>,
    #[serde(default, deserialize_with = "node")]
    node_id: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct NewValue {
    variable_name: VariableName,
    value: Value,
    reason: Arc<str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Named {
    variable_name: VariableName,
    reason: Arc<str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    reason: Arc<str>,
}

/// Reads a node as models name it: by its number, or as `node_4`.
fn node<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let Some(value) = Option::<Value>::deserialize(deserializer)? else { return Ok(None) };
    let node = node_in(&value)
        .ok_or_else(|| de::Error::custom("`nodeId` is the number of a node, or its id, such as \"node_4\""))?;
    Ok(Some(node.0))
}

fn read(view: &View<'_>, arguments: &Value) -> Result<Read, Error> {
    let all = |is_wanted: &dyn Fn(&Variable) -> bool| {
        Read::Variables(view.variables().filter(|variable| is_wanted(variable)).cloned().collect())
    };
    match parse(arguments)? {
        Which { variable_name: Some(name), node_id: None } if name.trim() == ALL => Ok(all(&|_| true)),
        Which { variable_name: Some(name), node_id: None } => {
            let invalid = |error: BadName| Error::invalid("/arguments/variableName", error.to_string());
            Ok(Read::Variable(view.variable(&name.parse().map_err(invalid)?)?.clone()))
        }
        Which { variable_name: None, node_id: Some(node) } => Ok(all(&|variable| variable.name.node() == Some(node))),
        Which { .. } => Err(Error::invalid("/arguments", "give `variableName` or `nodeId`")),
    }
}

fn set(decision: &mut DecisionBuilder<'_>, arguments: &Value) -> Result<String, Undecided> {
    decision.allow(SetVariable::RIGHT)?;
    let NewValue { variable_name, value, reason } = parse(arguments)?;
    SetVariable::new(variable_name.clone(), value, None, reason)?.perform(decision)?;
    let set = decision.state.variables.get(&variable_name).map(|variable| (variable.seq, variable.display.clone()));
    let (seq, display) = set.unzip();
    decision.quoted.extend(seq);
    Ok(format!("The variable is set: {variable_name} = {}", display.unwrap_or_default()))
}

fn clear(decision: &mut DecisionBuilder<'_>, arguments: &Value) -> Result<String, Undecided> {
    decision.allow(ClearVariables::RIGHT)?;
    let Named { variable_name, reason } = parse(arguments)?;
    ClearVariables { name: Some(variable_name.clone()), reason }.perform(decision)?;
    Ok(format!("The variable {variable_name} is cleared."))
}

fn clear_all(decision: &mut DecisionBuilder<'_>, arguments: &Value) -> Result<String, Undecided> {
    decision.allow(ClearVariables::RIGHT)?;
    let Reason { reason } = parse(arguments)?;
    let number = decision.state.variables.iter().count();
    ClearVariables { name: None, reason }.perform(decision)?;
    Ok(match number {
        0 => "There were no variables.".to_owned(),
        1 => "The 1 variable is cleared.".to_owned(),
        number => format!("All {number} variables are cleared."),
    })
}

/// Shows the value that is set. Models give JSON as a text, too: where secrets are in it, the value is that JSON.
pub(super) fn show(arguments: &mut Value, visitor: &mut dyn InputVisitor) {
    let named = arguments.get("variableName").and_then(Value::as_str).unwrap_or_default();
    let name = named.parse::<VariableName>().map_or_else(|_| named.to_owned(), |name| name.to_string());
    let Some(value) = arguments.get_mut("value") else { return };
    let parsed = value.as_str().and_then(|text| serde_json::from_str::<Value>(&quote_inexact(text)).ok());
    let is_nested = |value: &Value| value.is_object() || value.is_array();
    if let Some(inner) = parsed.filter(is_nested) {
        let mut visited = inner.clone();
        visitor.variable(&name, None, &mut visited);
        // A text that is a secret as a whole stays one.
        if visited != inner && is_nested(&visited) {
            *value = visited;
            return;
        }
    }
    visitor.variable(&name, None, value);
}
