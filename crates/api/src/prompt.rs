//! Prompts.

use callboard_core::{
    count::{Counting, Tokens},
    id::{AgentName, Seq, ThreadId},
    prompt::{Format, Layout, PartReport},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Which prompt is wanted.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptBody {
    /// Whose; the caller's, the manager's or the only agent's where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// In which thread; `main`, or the agent's own, where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// How it is laid out.
    #[serde(default)]
    pub layout: Layout,
    /// The model that reads it; the agent's, or that of agents that name none, where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it has to fit in, in tokens; the model's window where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 0)]
    pub budget: Option<Tokens>,
    /// As of which entry; the head where it is left out. For the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 1)]
    pub at: Option<Seq>,
    /// In which form it is given.
    #[serde(default)]
    pub format: Format,
}

/// A prompt.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Prompt {
    /// The last entry that it was made from.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// What it had to fit in.
    #[schema(value_type = u64)]
    pub budget: Tokens,
    /// Its size.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// How much of it, from its beginning, the agent's last turn in a run was asked with too: a provider may have so much in
    /// its cache.
    #[schema(value_type = u64)]
    pub reusable_prefix_tokens: Tokens,
    /// How far the size can be trusted: `exact` or `upper_bound`.
    #[schema(value_type = String)]
    pub counting: Counting,
    /// What it was counted in.
    pub vocabulary: String,
    /// Its parts, in order.
    pub parts: Vec<PartReport>,
    /// In the format `text`: what the model gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// In the formats `openai` and `anthropic`: what was said, as their APIs take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Value>>,
    /// In the format `anthropic`: the blocks of text before the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Vec<Value>>,
    /// In the formats `openai` and `anthropic`: the tools that are offered with it, as their APIs take them. They are
    /// those of the agent that may be used now, and count as a part of the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Value>,
}
