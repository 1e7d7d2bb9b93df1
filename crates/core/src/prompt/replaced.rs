//! What of a conversation the other parts of a prompt, or later messages, have replaced: it is only noted in its place.
//! It is found by the tool that was called, never by what a text looks like.

use serde_json::{Value, json};

use crate::conversation::ToolCall;

/// Leaves out of calls what stands in another part of the prompt.
pub(super) fn shorten_calls(calls: &mut [ToolCall]) {
    for call in calls.iter_mut().filter(|call| call.name == "update_plan") {
        let mut arguments = call.arguments_json();
        if let Some(plan) = arguments.get_mut("plan") {
            *plan = json!("[left out: the plan as it is now stands above]");
            call.arguments = arguments;
        }
    }
}

/// What becomes of the result of a call.
pub(super) enum Result {
    /// It stays.
    Stays,
    /// It stands in another part of the prompt.
    StandsAbove,
    /// It stays until there is a later one of the same key.
    UntilNext(String),
}

/// What becomes of the result of `call`.
pub(super) fn result_of(call: &ToolCall) -> Result {
    let arguments = call.arguments_json();
    let said = |name: &str| arguments.get(name).and_then(Value::as_str);
    match call.name.as_str() {
        "get_current_plan" => Result::StandsAbove,
        "get_workflow_variable" if said("variableName") == Some("all") || said("nodeId") == Some("all") => {
            Result::UntilNext("variables".to_owned())
        }
        "inspect_tab" if said("inspectionType") == Some("dom_snapshot") => {
            Result::UntilNext(format!("tab {}", said("tabName").unwrap_or_default()))
        }
        _ => Result::Stays,
    }
}
