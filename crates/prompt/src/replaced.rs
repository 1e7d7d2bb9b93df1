//! What of a conversation the other parts of a prompt, or later messages, have replaced: it is only noted in its place.
//! It is found by the tool that was called, never by what a text looks like.

use serde_json::{Value, json};

use callboard_core::{
    conversation::ToolCall,
    plan::UPDATED,
    prompt::{Layout, LayoutName, PartName, Style},
    rights::Share,
    view::View,
};

use crate::ResolvedSpec;

/// A look at a page that gives its outline, as one does that does not say how closely.
const OUTLINE: &str = "lightweight_exploration";

/// A look at a page that gives all of it.
const SNAPSHOT: &str = "dom_snapshot";

/// Where the plan stands as it is now, seen from what was said, as a note says it: above or below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlanPlace(&'static str);

impl PlanPlace {
    /// The place in a prompt; none where it does not show the plan, or the reader may not see it. Where what changes stands
    /// last, the plan does.
    pub(super) fn of(view: &View<'_>, spec: &ResolvedSpec) -> Option<Self> {
        let is_before_history = match &spec.layout {
            Layout::Named(LayoutName::Team | LayoutName::Plain) => return None,
            Layout::Named(LayoutName::Director) => true,
            Layout::OfSession(listed) => {
                let place = |name: PartName| listed.iter().position(|part| part.is(name));
                let said = [PartName::HISTORY, PartName::CONVERSATION_HISTORY].into_iter().filter_map(place).min();
                let plan = place(PartName::CURRENT_PLAN)?;
                said.is_none_or(|said| plan < said)
            }
        };
        let is_above = is_before_history && !spec.profile(view.state).changing_parts_last;
        view.may_see(Share::Plan).then_some(Self(if is_above { "above" } else { "below" }))
    }

    /// The note in the place of a plan that was read.
    pub(super) fn note(self) -> String {
        format!("left out: it stands {} as it is now", self.0)
    }

    /// Leaves the plan out of a call, and says whether there was one.
    pub(super) fn leave_out_of(self, call: &mut ToolCall) -> bool {
        let mut arguments = call.arguments_json();
        let Some(plan) = arguments.get_mut("plan").filter(|_| updates_plan(call)) else { return false };
        *plan = json!(format!("[left out: the plan as it is now stands {}]", self.0));
        call.arguments = arguments;
        true
    }
}

/// Whether a call is one that updates the plan.
pub(super) fn updates_plan(call: &ToolCall) -> bool {
    call.name == "update_plan"
}

/// Whether the result of a call that updates the plan says that it was done.
pub(super) fn is_updated(result: &str) -> bool {
    result.trim() == UPDATED
}

/// Whether the result of a call says what came of it, and not why it was not done.
pub(super) fn is_done(result: &str) -> bool {
    !["[not done: ", "[interrupted: "].into_iter().any(|why| result.starts_with(why))
}

/// What becomes of the result of a call.
pub(super) enum Result {
    /// It stays.
    Stays,
    /// It is the plan, which another part of the prompt may show.
    Plan,
    /// It stays until there is a later one of the same key.
    UntilNext(String),
}

/// What becomes of the result of `call` where what was said is written in `style`. A look at a page is replaced in any
/// style, the plan and the variables only where they are the director's.
pub(super) fn result_of(call: &ToolCall, style: Style) -> Result {
    let arguments = call.arguments_json();
    let said = |name: &str| arguments.get(name).and_then(Value::as_str);
    let either = |name: &str, other: &str| said(name).or_else(|| said(other));
    let is_labelled = style == Style::Labelled;
    match call.name.as_str() {
        "inspect_tab" => {
            let tab = either("tabName", "tab_name").unwrap_or_default();
            match either("inspectionType", "inspection_type").unwrap_or(OUTLINE) {
                kind @ (OUTLINE | SNAPSHOT) => Result::UntilNext(format!("{kind} of the tab {tab}")),
                _ => Result::Stays,
            }
        }
        "get_current_plan" if is_labelled => Result::Plan,
        "get_workflow_variable"
            if is_labelled && (said("variableName") == Some("all") || said("nodeId") == Some("all")) =>
        {
            Result::UntilNext("variables".to_owned())
        }
        _ => Result::Stays,
    }
}
