//! Prompts.

use callboard_core::{
    count::{Counting, Factor, Tokens},
    id::{AgentName, Seq, ThreadId},
    prompt::{Format, LayoutName},
};
use callboard_prompt::PartReport;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Selects a prompt.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"agent": "writer", "budget": 8000, "format": "openai"}))]
pub struct PromptBody {
    /// The agent that reads the prompt. If absent: the calling agent; for the user the manager or the only agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The thread whose messages are the history. If absent: `main`, or the agent's own thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// The layout: which parts the prompt has, in which order. If absent: the parts that the session lists, else `team`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutName>,
    /// The model that reads the prompt, such as `openai:gpt-4o`. If absent: the agent's, else the server's default model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The most tokens that the prompt may have. If absent: the model's window less room for the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 0)]
    pub budget: Option<Tokens>,
    /// Build the prompt as of this entry. If absent: as of now. Only the user may set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>, minimum = 1)]
    pub at: Option<Seq>,
    /// Whether the prompt shows passages that recall finds. If absent: as the session's settings say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recall: Option<bool>,
    /// The question for recall. If absent: the task, and what the newest messages name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The format of the prompt.
    #[serde(default)]
    pub format: Format,
    /// Whether to record the prompt as a turn, because a model is about to be asked with it. Where it would pass the size at
    /// which threads are compressed, they are compressed first. `POST …/turns/{turn}` takes the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub record: bool,
    /// Whether the answer says of which pieces the prompt is made, where each of them stands, and which entry it came from.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pieces: bool,
    /// Callboard's own tools to offer besides those of the agent, such as `callboard:read_messages`; `callboard:read` stands
    /// for all that read. Notes in the prompt name only tools that are offered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// A piece of a prompt: what one entry says in it, such as a message or a context set, or what stands around that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PromptPiece {
    /// The part that it belongs to.
    pub part: String,
    /// The entry that it came from, where it is a single one: that of the message, the one that last wrote the context set, the
    /// plan or the variable, or the compression that wrote the summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub seq: Option<Seq>,
    /// Its size in tokens. The sizes of the pieces of a part add up to that of the part.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// In which of `messages`, or of `input`, it stands, from 0. Absent for what stands in `text`, `instructions` or `system`, and for what has no text, such
    /// as the tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<usize>,
    /// Where it begins, in characters (Unicode code points): in `text`; or in the content of its message, in the format
    /// `anthropic` in the texts and results of its blocks, joined; or in the texts of `system`, joined.
    pub start: u64,
    /// Where it ends. What has no text, such as a call of a tool, ends where it begins.
    pub end: u64,
    /// Whether something in it was shortened or left out.
    pub shortened: bool,
}

/// A prompt.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Prompt {
    /// The number of the newest entry that went into it.
    #[schema(value_type = u64)]
    pub seq: Seq,
    /// The number of the turn, if it was recorded as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<u64>)]
    pub turn: Option<Seq>,
    /// The most tokens that it was allowed to have.
    #[schema(value_type = u64)]
    pub budget: Tokens,
    /// How many tokens the answer may have. So many of the model's window are kept for it if no budget is given.
    #[schema(value_type = u64)]
    #[serde(default)]
    pub answer_tokens: Tokens,
    /// Its size in tokens.
    #[schema(value_type = u64)]
    pub tokens: Tokens,
    /// How many tokens at its beginning equal those of the agent's last turn. A provider may have them in its
    /// cache.
    #[schema(value_type = u64)]
    pub reusable_prefix_tokens: Tokens,
    /// How far `tokens` can be trusted: `exact`; `estimated`, which is another vocabulary times `factor`; or `upper_bound`.
    #[schema(value_type = String)]
    pub counting: Counting,
    /// The vocabulary in which tokens are counted, such as `o200k_base`.
    pub vocabulary: String,
    /// What one token of the vocabulary comes to for the model, such as 1.35, where the vocabulary is not the model's own. It is learned
    /// from what providers report.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>)]
    pub factor: Option<Factor>,
    /// Its parts, in order.
    pub parts: Vec<PartReport>,
    /// The pieces that it is made of, in order and without gaps. Only if `pieces` was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pieces: Option<Vec<PromptPiece>>,
    /// The prompt in the format `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What comes before all that was said, in the format `responses`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The items of the format `responses`, as that API takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Vec<Value>>,
    /// The messages in the formats `openai` and `anthropic`, as those APIs take them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<Vec<Value>>,
    /// The blocks of the system prompt in the format `anthropic`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<Vec<Value>>,
    /// The tools to offer with the prompt in the formats `openai`, `responses` and `anthropic`, as those APIs take them: the agent's
    /// tools that may be used now. They are counted as a part of the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Value>,
    /// The entries shown in it whose words were erased. The prompt no longer shows these words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<u64>)]
    pub erased: Vec<Seq>,
    /// The entries shown in it in whose words a secret was hidden later: the prompt shows `[hidden]` there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<u64>)]
    pub rewritten: Vec<Seq>,
}
