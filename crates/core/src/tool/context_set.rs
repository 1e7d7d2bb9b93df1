//! The tools of models for context sets.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    command::{Command, DecisionBuilder, Undecided},
    context_set::{Outcome, PutSet, SetView},
    id::SetName,
    rights::Grant,
    tool::{OwnTool, Read, ToolExecution, parse, text},
};

/// Reads a context set.
pub(crate) static READ_CONTEXT_SET: OwnTool = OwnTool {
    name: "read_context_set",
    description: "Reads a context set by its name, whole.",
    idempotent: true,
    execution: ToolExecution::Read(|view, arguments| {
        let NamedSet { name } = parse(arguments)?;
        Ok(match view.set(&name)? {
            SetView::Whole(held) => Read::Text(held.set.content.clone(), Some(held.seq)),
            SetView::Outline(_) => Read::Text(format!("[{name} is hidden from you]").as_str().into(), None),
        })
    }),
    is_for: |_| true,
    arguments: || (json!({"name": text("The name of the set.")}), json!(["name"])),
};

/// Writes a context set.
pub(crate) static WRITE_CONTEXT_SET: OwnTool = OwnTool {
    name: "write_context_set",
    description: "Replaces all that a context set says.",
    idempotent: true,
    execution: ToolExecution::Command(write),
    is_for: |view| view.is_in_charge() || view.state.session.settings.grant.contains(&Grant::ContextSets),
    arguments: || {
        let properties = json!({"name": text("The name of the set."), "content": text("All that it is to say.")});
        (properties, json!(["name", "content"]))
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedSet {
    name: SetName,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewSet {
    name: SetName,
    content: String,
}

fn write(decision: &mut DecisionBuilder<'_>, arguments: &Value) -> Result<String, Undecided> {
    let NewSet { name, content } = parse(arguments)?;
    let put = PutSet { name, content: content.into(), visible_to: None, enabled: None };
    let outcome = put.perform(decision)?;
    let done = match outcome.outcome {
        Outcome::Created => "made",
        Outcome::Unchanged => "as it was",
        _ => "changed",
    };
    Ok(format!("The context set {} is {done}.", outcome.name))
}
