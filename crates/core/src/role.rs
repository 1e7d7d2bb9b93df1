//! The role of a message's author, and who says a message.

use serde::{Deserialize, Serialize};

use crate::id::{AgentName, words};

words! {
    /// The role of a message's author.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
    #[serde(rename_all = "UPPERCASE")]
    pub enum Role {
        /// By the user.
        #[serde(alias = "user")]
        User = "user",
        /// By an agent.
        #[serde(alias = "assistant", alias = "ai", alias = "ASSISTANT")]
        Ai = "assistant",
        /// By the program around the agents.
        #[serde(alias = "system")]
        System = "system",
        /// By a tool: the result of a call.
        #[serde(alias = "tool")]
        Tool = "tool",
    }
}

/// Whether `reader` is told that the agent says it from which a message comes; no reader is the user. A program may tell it to the
/// agent as which it works, in the agent's own conversation at a base URL: that agent and the user are told that no agent says it,
/// and all other agents that this one does.
pub(crate) fn agent_says(agent: &str, role: Role, thread: &str, reader: Option<&AgentName>) -> bool {
    let is_told = matches!(role, Role::User | Role::System) && is_chat_of(agent, thread);
    !is_told || reader.is_some_and(|reader| reader.as_str() != agent)
}

/// Whether this thread is a conversation of `agent` at a base URL: `chat:NAME`, or `chat:NAME:NUMBER`.
pub(crate) fn is_chat_of(agent: &str, thread: &str) -> bool {
    let rest = thread.strip_prefix("chat:").and_then(|rest| rest.strip_prefix(agent));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
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
