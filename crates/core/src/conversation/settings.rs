//! Settings of threads: what holds for every agent that speaks in one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Threads;
use crate::{
    agent::{self, Agent, Tool},
    count::Tokens,
    error::{Error, Fault},
    id::ThreadId,
    input::InputVisitor,
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

/// A change of a thread's settings. An absent field stays as it is, and `None` in one takes it away.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThreadPatch {
    /// Instructions that stand in prompts behind the agent's own.
    pub instructions: Option<Option<Arc<str>>>,
    /// The model in the place of the agent's.
    pub model: Option<Option<String>>,
    /// The tools in the place of the agent's.
    pub tools: Option<Option<Vec<Tool>>>,
    /// The most tokens of what was said before the task, in prompts.
    pub history_tokens: Option<Option<Tokens>>,
}

impl ThreadSettings {
    /// Whether they say nothing.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// These settings after a change.
    pub(crate) fn with(&self, patch: &ThreadPatch) -> Self {
        let ThreadPatch { instructions, model, tools, history_tokens } = patch.clone();
        Self {
            instructions: instructions.unwrap_or_else(|| self.instructions.clone()),
            model: model.unwrap_or_else(|| self.model.clone()),
            tools: tools.unwrap_or_else(|| self.tools.clone()),
            history_tokens: history_tokens.unwrap_or(self.history_tokens),
        }
    }

    /// Refuses what an agent could not have either.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let mut faults = Vec::new();
        let tools = self.tools.as_deref().unwrap_or_default();
        agent::check_means(self.instructions.as_deref(), self.model.as_deref(), tools, &mut |pointer, problem| {
            faults.push(Fault { pointer: pointer.to_owned(), problem });
        });
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
        let Self { instructions, model, tools, history_tokens: _ } = self;
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
