//! Callboard's own tools.

use callboard_core::{id::AgentName, prompt::Format};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// Selects tools and their format.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ToolsQuery {
    /// The agent that uses them. If absent: the calling agent; for the user the manager or the only agent.
    pub agent: Option<AgentName>,
    /// The model API whose format is used.
    #[serde(default)]
    pub format: ToolFormat,
}

/// The model API whose format a list of tools has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolFormat {
    /// OpenAI's: `{type: "function", function: {name, description, parameters}}`.
    #[default]
    OpenAi,
    /// Anthropic's: `{name, description, input_schema}`.
    Anthropic,
}

impl From<ToolFormat> for Format {
    fn from(format: ToolFormat) -> Self {
        match format {
            ToolFormat::OpenAi => Self::OpenAi,
            ToolFormat::Anthropic => Self::Anthropic,
        }
    }
}

/// Tools that Callboard executes.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolList {
    /// The tools in the requested format.
    pub tools: Vec<Value>,
}

/// A call of a tool, as a model makes it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolCallBody {
    /// The agent that calls the tool. If absent: the calling agent; for the user the manager or the only agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// The arguments: an object, or the text of one.
    #[serde(default)]
    #[schema(value_type = Object)]
    pub arguments: Value,
}

/// The result of a tool.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ToolCallResult {
    /// The result, as the model is to read it. Where the tool failed, it says why.
    pub result: String,
    /// Whether the tool failed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}
