//! Prompts: what is wanted, and how it comes about.

mod last;
mod make;

use std::sync::Arc;

use callboard_core::{
    count::{TokenCounter, Tokens},
    error::Error as Refusal,
    id::{AgentName, Seq, ThreadId},
    prompt::{self, Format, Layout, Prompt, Request, profile::Profile},
    state::State,
    view::View,
    viewer::Viewer,
};
use callboard_tokens::context_window;

use crate::{
    error::Error,
    prompt_memory::ResolvedSpec,
    session::Session,
    sizes::{counter_for, sizes},
};

/// Which prompt is wanted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptQuery {
    /// Whose; the manager's or the only agent's where it is absent.
    pub agent: Option<AgentName>,
    /// In which thread; `main`, or the agent's own, where it is absent.
    pub thread: Option<ThreadId>,
    /// How it is laid out.
    pub layout: Layout,
    /// The model that reads it, whose vocabulary counts; the agent's where it is absent.
    pub model: Option<String>,
    /// The model of an agent that names none.
    pub default_model: Option<String>,
    /// What it has to fit in; the model's window where it is absent.
    pub budget: Option<Tokens>,
    /// As of which entry; the head where it is absent.
    pub at: Option<Seq>,
    /// In which form.
    pub format: Format,
    /// What is to be done, where it is not the last message of the thread.
    pub task: Option<String>,
    /// How the parts share the budget; as the session says where it is absent.
    pub profile: Option<Profile>,
}

/// The window of a model of which none is known, in tokens.
pub const DEFAULT_WINDOW: Tokens = Tokens(128_000);

impl Session {
    /// The prompt of an agent, now or as of an entry: the same bytes on every store, at any time.
    pub async fn prompt(&self, query: &PromptQuery) -> Result<Prompt, Error> {
        let wanted = self.wanted(query).await?;
        let (mut prompt, pieces, mut remembered) = self.make(&wanted).await?;
        prompt.reusable_prefix_tokens = self.reusable(&wanted, &pieces, &mut remembered.made).await?;
        self.live.prompts.remember(wanted.spec.memory_key(), remembered);
        Ok(prompt)
    }

    async fn wanted(&self, query: &PromptQuery) -> Result<Arc<Wanted>, Error> {
        let state = match query.at {
            Some(seq) => self.state_at(seq).await?,
            None => self.state().await?,
        };
        Ok(Arc::new(Wanted::new(state, query)?))
    }
}

/// A prompt that is wanted, and of what.
struct Wanted {
    state: Arc<State>,
    viewer: Viewer,
    count: &'static dyn TokenCounter,
    profile: Profile,
    /// Whether the profile is not the session's.
    has_own_profile: bool,
    spec: ResolvedSpec,
}

impl Wanted {
    fn new(state: Arc<State>, query: &PromptQuery) -> Result<Self, Refusal> {
        let agent = match &query.agent {
            Some(name) => state.team.agent(name)?,
            None => prompt::default_agent(&state.team)?,
        };
        let viewer = Viewer::Agent(agent.name.clone());
        let model = query.model.as_ref().or(agent.model.as_ref()).or(query.default_model.as_ref());
        let window = model.and_then(|model| context_window(model)).map_or(DEFAULT_WINDOW, Tokens);
        let count = model.map_or_else(sizes, |model| counter_for(model));
        let thread = match &query.thread {
            Some(thread) => thread.clone(),
            None => prompt::default_thread(&View::new(&state, &viewer, sizes())?),
        };
        let profile = query.profile.clone().unwrap_or_else(|| state.session.settings.prompt.clone());
        let spec = ResolvedSpec {
            reader: agent.name.clone(),
            thread,
            layout: query.layout,
            format: query.format,
            budget: query.budget.or(profile.budget).unwrap_or(window),
            task: query.task.clone(),
            vocabulary: count.vocabulary().to_owned(),
        };
        Ok(Self { viewer, count, profile, has_own_profile: query.profile.is_some(), spec, state })
    }

    fn view(&self) -> Result<View<'_>, Refusal> {
        View::new(&self.state, &self.viewer, sizes())
    }

    fn request(&self) -> Request<'_> {
        let ResolvedSpec { thread, layout, format, budget, task, .. } = &self.spec;
        Request {
            thread,
            layout: *layout,
            format: *format,
            profile: &self.profile,
            budget: *budget,
            task: task.as_deref(),
        }
    }
}

/// What counts the tokens of a model: its vocabulary where it is known, an upper bound where not.
pub fn counter_of(model: &str) -> &'static dyn TokenCounter {
    counter_for(model)
}
