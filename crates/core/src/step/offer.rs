//! Offers: which tools may be used now.

use serde::{Deserialize, Serialize};

use super::{AvailableTools, Progress, Steps};
use crate::{
    agent::Tool,
    error::{ConflictKind, Error},
    state::State,
};

/// Which of the given tools may be used now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Offer {
    /// The tools that may be used.
    pub allowed: Vec<String>,
    /// The tools that may not be used.
    pub denied: Vec<Denied>,
}

/// A tool that may not be used now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = DeniedTool))]
pub struct Denied {
    /// Its name.
    pub tool: String,
    /// Why.
    pub reason: String,
}

/// Says which of `tools` may be used now; all of them where the session has no steps.
///
/// Where a sequence is under way and the tool that is due is not among them, that is an error which names the tool:
/// with nothing on offer no agent would know how to go on.
pub fn offer<'a>(state: &State, tools: impl IntoIterator<Item = &'a str>) -> Result<Offer, Error> {
    let steps = &state.session.settings.steps;
    let mut offer = Offer::default();
    for tool in tools {
        match refusal(steps, &state.steps, tool) {
            None => offer.allowed.push(tool.to_owned()),
            Some(reason) => offer.denied.push(Denied { tool: tool.to_owned(), reason }),
        }
    }
    match state.steps.due(steps) {
        Some(due) if !offer.allowed.iter().any(|tool| **tool == **due) => Err(Error::Conflict {
            kind: ConflictKind::DueToolMissing,
            what: format!("the tool {due} is due and not among those that may be used"),
            hint: "offer and allow it, advance the sequence, or enter another step",
        }),
        _ => Ok(offer),
    }
}

/// Those of `tools` that may be used now, as models are told of them; none where the tool that is due is not among them.
pub fn open(state: &State, tools: &[Tool]) -> Vec<Tool> {
    let steps = &state.session.settings.steps;
    let is_open = |tool: &&Tool| refusal(steps, &state.steps, tool.bare_name()).is_none();
    tools.iter().filter(is_open).map(Tool::described).collect()
}

/// Why `tool` may not be used now, if so.
pub(super) fn refusal(steps: &Steps, progress: &Progress, tool: &str) -> Option<String> {
    let step = progress.active(steps)?;
    let AvailableTools { allowed, denied } = &step.available_tools;
    if let Some(pattern) = denied.iter().find(|pattern| matches(pattern, tool)) {
        return Some(format!("the step {} denies {pattern}", step.name));
    }
    if allowed.as_ref().is_some_and(|allowed| !allowed.iter().any(|pattern| matches(pattern, tool))) {
        return Some(format!("the step {} does not allow it", step.name));
    }
    let due = progress.due(steps).filter(|due| ***due != *tool)?;
    Some(format!("the tool {due} is due in the step {}", step.name))
}

/// Whether `tool` is what `pattern` says, in which `*` stands for any characters.
fn matches(pattern: &str, tool: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| tool.strip_prefix(first)) else { return false };
    let Some(last) = pieces.next_back() else { return rest.is_empty() };
    for piece in pieces {
        let Some((_, after)) = rest.split_once(piece) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}
