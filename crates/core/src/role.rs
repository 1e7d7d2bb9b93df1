//! The role of a message's author.

use serde::{Deserialize, Serialize};

/// The role of a message's author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Role {
    /// By the user.
    #[serde(alias = "user")]
    User,
    /// By an agent.
    #[serde(alias = "assistant", alias = "ai", alias = "ASSISTANT")]
    Ai,
    /// By the program around the agents.
    #[serde(alias = "system")]
    System,
    /// By a tool: the result of a call.
    #[serde(alias = "tool")]
    Tool,
}

#[cfg(feature = "schema")]
#[allow(dead_code, reason = "these types are read by the OpenAPI document alone")]
pub(crate) mod schema {
    use utoipa::ToSchema;

    /// The role of a message's author, as requests may write it.
    #[derive(ToSchema)]
    pub(crate) enum SaidRole {
        #[schema(rename = "USER")]
        User,
        #[schema(rename = "AI")]
        Ai,
        #[schema(rename = "SYSTEM")]
        System,
        #[schema(rename = "TOOL")]
        Tool,
        #[schema(rename = "user")]
        OpenAiUser,
        #[schema(rename = "assistant")]
        Assistant,
        #[schema(rename = "system")]
        OpenAiSystem,
        #[schema(rename = "developer")]
        Developer,
        #[schema(rename = "tool")]
        OpenAiTool,
    }
}
