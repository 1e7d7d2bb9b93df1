//! Which prompt is wanted, with everything filled in that was left out.

use std::{collections::BTreeSet, sync::Arc};

use callboard_core::{
    count::{Factor, TokenCounter, Tokens},
    id::{AgentName, ThreadId},
    prompt::{Format, Layout, LayoutName, observed::Observations, profile::Profile},
    state::State,
};

use crate::provider::Provider;

/// A [`PromptSpec`](callboard_core::prompt::PromptSpec) with nothing left out. With the state as of an entry, it decides every byte of the prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedSpec {
    /// Whose prompt it is.
    pub agent: AgentName,
    /// The thread in which the agent speaks.
    pub thread: ThreadId,
    /// How it is laid out.
    pub layout: Layout,
    /// In which form it is wanted.
    pub format: Format,
    /// Whose model reads it.
    pub provider: Provider,
    /// The model that reads it, where that is known.
    pub model: Option<String>,
    /// How its parts share the budget, where that is not as the session says.
    pub profile: Option<Profile>,
    /// What it has to fit in.
    pub budget: Tokens,
    /// What is to be done, where it is not the last message of the thread.
    pub task: Option<String>,
    /// The vocabulary that it is counted in.
    pub vocabulary: String,
    /// What its tokens come to for the model, where the vocabulary is not the model's own.
    pub factor: Option<Factor>,
    /// What was observed outside of the session.
    pub observed: Observations,
    /// Callboard's own tools that are offered besides those of the agent.
    pub tools: BTreeSet<Arc<str>>,
}

impl ResolvedSpec {
    /// The prompt of `agent` in `thread`, as text in the layout `team`.
    pub fn new(agent: AgentName, thread: ThreadId, budget: Tokens, count: &dyn TokenCounter) -> Self {
        Self {
            agent,
            thread,
            layout: Layout::Named(LayoutName::Team),
            format: Format::Text,
            provider: Provider::default(),
            model: None,
            profile: None,
            budget,
            task: None,
            vocabulary: count.vocabulary().to_owned(),
            factor: None,
            observed: Observations::default(),
            tools: BTreeSet::new(),
        }
    }

    /// How its parts share the budget, in a session with this state.
    pub(super) fn profile<'a>(&'a self, state: &'a State) -> &'a Profile {
        self.profile.as_ref().unwrap_or(&state.session.settings.prompt)
    }

    /// How much fits in, in tokens of the vocabulary.
    pub(super) fn room(&self) -> Tokens {
        self.factor().fitting(self.budget)
    }

    /// What tokens of the vocabulary come to.
    pub(super) fn factor(&self) -> Factor {
        self.factor.unwrap_or(Factor::ONE)
    }
}
