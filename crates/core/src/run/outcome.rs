//! What an answer leads to, whatever the kind of run.

use crate::{
    conversation::{self, NewMessage, Role, ToolCall},
    decision::{DecisionBuilder, Undecided},
    id::{AgentName, ThreadId},
    json,
    run::{Due, Wait},
    step,
};

/// What an answer leads to.
pub(crate) struct Outcome {
    pub(super) due: Due,
    /// Whether what was said became a message, so that it need not be kept twice.
    pub(super) is_message: bool,
    /// Whether nothing came of it.
    pub(super) idle: bool,
    /// Whether the work is done.
    pub(super) completed: bool,
}

impl Outcome {
    pub(super) fn due(due: impl Into<Due>) -> Self {
        Self { due: due.into(), is_message: false, idle: false, completed: false }
    }
}

/// Notes the calls of tools that the steps allow, each as a use of its tool; the others get their refusal as result. Says
/// for which results the run has to wait, if for any.
pub(super) fn call_tools(
    decision: &mut DecisionBuilder<'_>,
    thread: &ThreadId,
    agent: &AgentName,
    calls: Vec<ToolCall>,
) -> Result<Option<Wait>, Undecided> {
    if decision.state.session.settings.steps.is_empty() {
        return Ok(Some(Wait::Tools { agent: agent.clone(), calls }));
    }
    let (mut allowed, mut refused) = (Vec::new(), Vec::new());
    for call in calls {
        match step::decide::call(decision, &call.name.as_str().into()) {
            Ok(()) => allowed.push(call),
            Err(reason) => refused.push(NewMessage {
                tool_call_id: Some(call.id),
                ..NewMessage::text(Role::Tool, format!("[not done: {reason}]"))
            }),
        }
    }
    conversation::decide::say(decision, thread, &refused)?;
    Ok((!allowed.is_empty()).then(|| Wait::Tools { agent: agent.clone(), calls: allowed }))
}

/// The call, with arguments that can be read back: those that are nested too deep are kept as the text that they are.
pub(super) fn readable(call: &ToolCall) -> ToolCall {
    let arguments = match &call.arguments {
        deep if !json::is_shallow(deep) => deep.to_string().into(),
        arguments => arguments.clone(),
    };
    ToolCall { arguments, ..call.clone() }
}
