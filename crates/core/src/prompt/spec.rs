//! Which prompt is wanted, as it is asked for.

use std::{collections::BTreeSet, sync::Arc};

use super::{Format, layout::LayoutName, observed::Observations, profile::Profile};
use crate::{
    count::{Counted, Tokens},
    id::{AgentName, Seq, ThreadId},
};

/// Which prompt is wanted. What is left out is filled in when the prompt is built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptSpec {
    /// The agent; the manager or the only agent where it is absent.
    pub agent: Option<AgentName>,
    /// The thread; `main`, or the agent's own where it does not see that, if it is absent.
    pub thread: Option<ThreadId>,
    /// The layout; the session's own, or `team` where it has none, if it is absent.
    pub layout: Option<LayoutName>,
    /// The model that reads it, whose vocabulary counts; the agent's where it is absent.
    pub model: Option<String>,
    /// The model of an agent that names none.
    pub default_model: Option<String>,
    /// What it has to fit in; the model's window less the room for its answer where it is absent.
    pub budget: Option<Tokens>,
    /// How it is counted; as the model is where it is absent.
    pub counted: Option<Counted>,
    /// As of which entry; the head where it is absent.
    pub at: Option<Seq>,
    /// In which form.
    pub format: Format,
    /// What is to be done, where it is not the last message of the thread.
    pub task: Option<String>,
    /// How the parts share the budget; as the session says where it is absent.
    pub profile: Option<Profile>,
    /// Whether it shows what is found in all that was ever said; as the session says where it is absent.
    pub recall: Option<bool>,
    /// What is looked for then; the task and what the newest messages name where it is absent.
    pub query: Option<String>,
    /// What was observed outside of the session.
    pub observed: Observations,
    /// Callboard's own tools that are offered besides those of the agent, by the names that models know.
    pub tools: BTreeSet<Arc<str>>,
}
