//! What follows from an answer, in every kind of run.

use crate::{conversation::ToolCall, json, run::Due};

/// What follows from an answer.
pub(crate) struct Outcome {
    pub(super) due: Due,
    /// Whether the answer became a message, so that it need not be stored twice.
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

/// The call, with arguments that can be read back: arguments that are nested too deeply are stored as text.
pub(super) fn readable(call: &ToolCall) -> ToolCall {
    let arguments = match &call.arguments {
        deep if !json::is_shallow(deep) => deep.to_string().into(),
        arguments => arguments.clone(),
    };
    ToolCall { arguments, ..call.clone() }
}
