//! The tools of models for the plan.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::plan::{PutPlan, Status};
use crate::{
    command::{Command, DecisionBuilder, Undecided},
    error::Error,
    rights::Share,
    text::Text,
    tool::{OwnTool, Read, ToolExecution, parse},
};

/// Replaces the plan.
pub(crate) static UPDATE_PLAN: OwnTool = OwnTool {
    name: "update_plan",
    description: "Update the current workflow plan. It replaces the whole plan: give all of it.",
    idempotent: false,
    execution: ToolExecution::Command(update),
    is_for: |view| view.is_in_charge(),
    arguments: || {
        let reason = json!({"type": "string", "description": "Why the plan is being updated."});
        (json!({"plan": schema(), "reason": reason}), json!(["plan", "reason"]))
    },
};

/// Reads the plan.
pub(crate) static GET_CURRENT_PLAN: OwnTool = OwnTool {
    name: "get_current_plan",
    description: "Retrieve the current plan.",
    idempotent: true,
    execution: ToolExecution::Read(|view, arguments| {
        let Nothing {} = parse(arguments)?;
        if view.may_see(Share::Plan) && view.state.plan.is_none() {
            return Ok(Read::Text("There is no plan yet.".into(), None));
        }
        let plan = serde_json::to_string_pretty(&view.plan_document()?);
        let plan = plan.map_err(|error| Error::invalid("", error.to_string()))?;
        Ok(Read::Text(Text::Inline(plan.into()), view.state.plan.as_ref().map(|held| held.seq)))
    }),
    is_for: |view| view.may_see(Share::Plan),
    arguments: || (json!({}), json!([])),
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewPlan {
    plan: Value,
    reason: String,
}

fn update(decision: &mut DecisionBuilder<'_>, arguments: &Value) -> Result<String, Undecided> {
    let NewPlan { plan, reason } = parse(arguments)?;
    PutPlan { plan, reason: reason.into(), expected_version: None }.perform(decision)?;
    Ok(crate::plan::UPDATED.to_owned())
}

/// What a plan is, for models.
fn schema() -> Value {
    let text = || json!({"type": "string"});
    let texts = || json!({"type": "array", "items": text()});
    let status = || json!({"enum": Status::ALL});
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    let node_ids = json!({"type": "array", "items": {"type": "string", "pattern": "^node_[0-9]+$"}});
    let task = json!({"task_id": {"type": "integer", "minimum": 0}, "description": text(), "status": status(),
        "notes": text(), "node_ids": node_ids});
    let task = object(task, json!(["task_id", "description", "status"]));
    let phase = json!({"phase_name": text(), "status": status(), "tasks": {"type": "array", "items": task}});
    let phase = object(phase, json!(["phase_name", "status", "tasks"]));
    let current = json!({"type": "string", "description": "The name of one of the phases."});
    let plan = json!({"overall_goal": text(), "current_phase": current, "phases": {"type": "array", "items": phase},
        "next_actions": texts(), "blockers": texts(), "notes": text()});
    let mut plan = object(plan, json!(["overall_goal", "current_phase", "phases"]));
    if let Some(fields) = plan.as_object_mut() {
        fields.insert("description".to_owned(), "The complete plan, which replaces the one that is there.".into());
    }
    plan
}
