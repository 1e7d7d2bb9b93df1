//! Turns: what is asked of a run's models, and what they answer.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Kind, Limits};
use crate::{
    conversation::ToolCall,
    count::{Counting, Tokens},
    entry::Hash,
    id::{RunId, Seq},
};

/// What a model counted for one answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
}

/// A run that is to be started.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRun {
    /// What kind of run.
    pub kind: Kind,
    /// The user's task.
    pub input: Arc<str>,
    /// How far it goes; the session's limits, where it is absent.
    pub limits: Option<Limits>,
}

/// What is noted before a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnRequest {
    /// The run.
    pub run: RunId,
    /// The epoch under which the run was taken over.
    pub epoch: u64,
    /// The model that is asked.
    pub model: String,
    /// The prompt that it gets.
    pub prompt: PromptRecord,
}

/// What is kept of a prompt, so that it can be rendered again and checked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PromptRecord {
    /// The last entry that it was made from.
    pub at: Seq,
    /// Its layout.
    pub layout: String,
    /// The version of its layout.
    pub layout_version: u32,
    /// The vocabulary that it was counted in.
    pub vocabulary: String,
    /// How far the count can be trusted.
    pub counting: Counting,
    /// What it had to fit in.
    pub budget: Tokens,
    /// Its size.
    pub tokens: Tokens,
    /// The hash of its rendered form.
    pub sha256: Hash,
    /// The entries that it shows, as ranges with both ends.
    pub shows: Vec<(Seq, Seq)>,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnReply {
    /// The run.
    pub run: RunId,
    /// The epoch under which the run was taken over.
    pub epoch: u64,
    /// The turn.
    pub turn: u64,
    /// What it said.
    pub text: Arc<str>,
    /// What it calls.
    pub tool_calls: Vec<ToolCall>,
    /// What it used.
    pub usage: Usage,
    /// Whether it was cut off at the length it may have.
    pub cut_off: bool,
}

/// That a model gave no answer.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnFailure {
    /// The run.
    pub run: RunId,
    /// The epoch under which the run was taken over.
    pub epoch: u64,
    /// The turn.
    pub turn: u64,
    /// Why.
    pub error: String,
}
