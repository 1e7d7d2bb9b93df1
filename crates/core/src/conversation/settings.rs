//! Settings of threads: what holds for every agent that speaks in one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Threads;
use crate::{
    agent::{self, Agent, Tool},
    audience::Audience,
    count::Tokens,
    error::{Error, Fault},
    id::ThreadId,
    input::InputVisitor,
    json,
};

/// What holds for every agent that speaks in a thread. Whoever sees the thread sees it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadSettings {
    /// Instructions that stand in prompts behind the agent's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Arc<str>>,
    /// The model in the place of the agent's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools in the place of the agent's. An empty list is no tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Tool>>,
    /// The most tokens of what was said before the task, in prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_tokens: Option<Tokens>,
}

/// What a thread is to be. Absent fields stay as they are, and `null` removes a setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = PutThread, example = json!({
    "visible_to": ["writer", "critic"], "instructions": "Argue both sides.", "history_tokens": 4000,
})))]
pub struct ThreadPatch {
    /// Which agents may see it from now on. A new thread whose request does not say is for all agents; one named
    /// `agent:NAME` is for that agent and the manager.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_to: Option<Audience>,
    /// Instructions for every agent that speaks in it. In prompts they follow the agent's own.
    #[serde(default, deserialize_with = "json::given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    pub instructions: Option<Option<Arc<str>>>,
    /// The model that agents use in it instead of their own: `openai:NAME` or `anthropic:NAME`.
    #[serde(default, deserialize_with = "json::given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<crate::schema::Line>))]
    pub model: Option<Option<String>>,
    /// The tools that agents have in it instead of their own. For Callboard's own tools, the name is enough. An empty
    /// list means no tools.
    #[serde(default, deserialize_with = "json::given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<agent::schema::ToolOrName>>))]
    pub tools: Option<Option<Vec<Tool>>>,
    /// The most tokens of history in its prompts.
    #[serde(default, deserialize_with = "json::given", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<u64>, minimum = 1))]
    pub history_tokens: Option<Option<Tokens>>,
}

/// Whose the settings of a thread are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// Those with which Callboard asks models for agents.
    Agents,
    /// Those of a program that asks models itself.
    Clients,
}

impl ThreadSettings {
    /// These settings after a change.
    pub(crate) fn with(&self, patch: &ThreadPatch) -> Self {
        let ThreadPatch { instructions, model, tools, history_tokens, .. } = patch.clone();
        Self {
            instructions: instructions.unwrap_or_else(|| self.instructions.clone()),
            model: model.unwrap_or_else(|| self.model.clone()),
            tools: tools.unwrap_or_else(|| self.tools.clone()),
            history_tokens: history_tokens.unwrap_or(self.history_tokens),
        }
    }

    /// Refuses what nobody could have there whose they are.
    pub(crate) fn check(&self, whose: Whose) -> Result<(), Error> {
        let mut faults = Vec::new();
        let tools = self.tools.as_deref().unwrap_or_default();
        let mut fault = |pointer: &str, problem| faults.push(Fault { pointer: pointer.to_owned(), problem });
        match whose {
            Whose::Agents => {
                agent::check_means(self.instructions.as_deref(), self.model.as_deref(), tools, &mut fault);
            }
            Whose::Clients => agent::check_means_of_client(self.instructions.as_deref(), tools, &mut fault),
        }
        if self.history_tokens == Some(Tokens(0)) {
            fault("/history_tokens", "give 1 or more, or `null` for no limit".to_owned());
        }
        let doubled = agent::doubled_tools(tools).map(|(at, name)| Fault {
            pointer: format!("/tools/{at}/name"),
            problem: format!("the thread has another tool {name}"),
        });
        Error::of(faults, doubled.collect())
    }
}

impl ThreadPatch {
    /// See [`Command::input`](crate::command::Command::input).
    pub(super) fn input(&mut self, visitor: &mut dyn InputVisitor) {
        let Self { visible_to: _, instructions, model, tools, history_tokens: _ } = self;
        if let Some(Some(instructions)) = instructions {
            visitor.text(instructions);
        }
        if let Some(Some(model)) = model {
            visitor.name(format_args!("/model"), model);
        }
        if let Some(Some(tools)) = tools {
            agent::tools_input(tools, "", visitor);
        }
    }
}

impl Threads {
    /// What holds in a thread; `None` where there is no such thread.
    pub fn settings(&self, thread: &ThreadId) -> Option<&ThreadSettings> {
        self.get(thread).map(|thread| &thread.settings)
    }

    /// The model that `agent` uses in `thread`, where one is named.
    pub fn model_of<'a>(&'a self, agent: &'a Agent, thread: &ThreadId) -> Option<&'a str> {
        let of_thread = self.settings(thread).and_then(|settings| settings.model.as_deref());
        of_thread.or(agent.model.as_deref())
    }

    /// The tools that `agent` may call in `thread`.
    pub fn tools_of<'a>(&'a self, agent: &'a Agent, thread: &ThreadId) -> &'a [Tool] {
        let of_thread = self.settings(thread).and_then(|settings| settings.tools.as_deref());
        of_thread.unwrap_or(&agent.tools)
    }
}
