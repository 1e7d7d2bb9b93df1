//! Prompts: what is wanted, and how it comes about.

mod erased;
mod last;
mod make;
mod measure;
mod recalled;

use std::sync::Arc;

use callboard_core::{
    agent::Agent,
    count::{TokenCounter, Tokens},
    error::Error as Refusal,
    id::{AgentName, Seq, ThreadId},
    prompt::{self, Layout, Prompt, PromptSpec, ResolvedSpec},
    state::State,
    text::Values,
    view::View,
    viewer::Viewer,
};
use callboard_tokens::context_window;

use crate::{
    error::Error,
    prompt_memory::MemoryKey,
    session::Session,
    sizes::{Measure, sizes},
};

/// The window of a model of which none is known, in tokens.
pub const DEFAULT_WINDOW: Tokens = Tokens(128_000);

impl Session {
    /// The prompt of an agent, now or as of an entry: the same bytes on every store, at any time.
    pub async fn prompt(&self, spec: &PromptSpec) -> Result<Prompt, Error> {
        let wanted = self.wanted(spec).await?;
        let (mut prompt, pieces, mut remembered) = self.make(&wanted).await?;
        prompt.answer_tokens = wanted.answer_tokens;
        prompt.reusable_prefix_tokens = self.reusable(&wanted, &pieces, &mut remembered.made).await?;
        self.live.prompts.remember(wanted.memory_key(), remembered);
        prompt.erased = self.erased_in(&wanted, &prompt).await?;
        // What was said before it was known as a secret may take more room now.
        let measure = Measure { counter: wanted.count, factor: wanted.spec.factor };
        match self.hide_in_prompt(&mut prompt, &wanted.viewer, measure).await? {
            Tokens(0) => Ok(prompt),
            Tokens(excess) => {
                let budget = Tokens(prompt.budget.0.saturating_sub(excess));
                let smaller = PromptSpec { budget: Some(budget), ..spec.clone() };
                Ok(Prompt { budget: prompt.budget, ..Box::pin(self.prompt(&smaller)).await? })
            }
        }
    }

    /// Whose prompt is meant by `spec`.
    pub async fn whose_prompt(&self, spec: &PromptSpec) -> Result<WhosePrompt, Error> {
        let state = self.state().await?;
        let model = |agent: &Agent| spec.model.clone().or(agent.model.clone()).or(spec.default_model.clone());
        let wanted = Wanted::new(state.clone(), state.erased, spec)?;
        let model = model(state.team.agent(&wanted.spec.agent)?);
        Ok(WhosePrompt { agent: wanted.spec.agent, thread: wanted.spec.thread, model })
    }

    async fn wanted(&self, spec: &PromptSpec) -> Result<Arc<Wanted>, Error> {
        let now = self.state().await?;
        let (erased, head) = (now.erased, now.head);
        let state = match spec.at {
            Some(seq) => self.state_at(seq).await?,
            None => now,
        };
        let mut wanted = Wanted::new(state, erased, spec)?;
        // As of an earlier entry, a prompt is the same whatever was learned elsewhere since.
        if spec.counted.is_none() && wanted.state.head == head {
            self.calibrate(&mut wanted).await?;
        }
        self.add_recalled(&mut wanted, spec).await?;
        Ok(Arc::new(wanted))
    }
}

/// Whose prompt a wish means, with what it leaves out filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhosePrompt {
    /// The agent.
    pub agent: AgentName,
    /// The thread in which it speaks.
    pub thread: ThreadId,
    /// The model that reads it, where one is known.
    pub model: Option<String>,
}

/// A prompt that is to be built, and what it is built from.
#[derive(Clone)]
struct Wanted {
    state: Arc<State>,
    viewer: Viewer,
    model: Option<String>,
    count: &'static dyn TokenCounter,
    spec: ResolvedSpec,
    /// How much of the model's window is kept for its answer.
    answer_tokens: Tokens,
    /// The entry that had last erased something when it was asked for.
    erased: Seq,
    /// The texts of what was found for it.
    recalled: Values,
}

impl Wanted {
    /// Fills in what a spec leaves out.
    fn new(state: Arc<State>, erased: Seq, spec: &PromptSpec) -> Result<Self, Refusal> {
        let agent = match &spec.agent {
            Some(name) => state.team.agent(name)?,
            None => prompt::default_agent(&state.team)?,
        };
        let viewer = Viewer::Agent(agent.name.clone());
        let model = spec.model.as_ref().or(agent.model.as_ref()).or(spec.default_model.as_ref());
        let window = model.and_then(|model| context_window(model)).map_or(DEFAULT_WINDOW, Tokens);
        let learned = |model: &String| state.calibrations.all.factor(model);
        let of_model = || model.map_or_else(Measure::default, |model| Measure::of(model, learned(model)));
        let Measure { counter: count, factor } =
            spec.counted.as_ref().and_then(Measure::named).unwrap_or_else(of_model);
        let thread = match &spec.thread {
            Some(thread) => thread.clone(),
            None => prompt::default_thread(&View::new(&state, &viewer, sizes())?),
        };
        let profile = spec.profile.as_ref().unwrap_or(&state.session.settings.prompt);
        let answer_tokens = profile.room_for_answer(window);
        if spec.budget.or(profile.budget).is_none() && answer_tokens >= window {
            let problem = format!("the model's window has {window} tokens: keep fewer of them for the answer");
            return Err(Refusal::contradiction("/prompt/answer_tokens", problem));
        }
        let spec = ResolvedSpec {
            agent: agent.name.clone(),
            thread,
            layout: Layout::of(spec.layout.or(profile.layout), &profile.layout_parts),
            format: spec.format,
            budget: spec.budget.unwrap_or_else(|| profile.budget_in(window)),
            profile: spec.profile.clone(),
            task: spec.task.clone(),
            vocabulary: count.vocabulary().to_owned(),
            factor,
            observed: spec.observed.clone(),
            tools: spec.tools.clone(),
        };
        let model = model.cloned();
        Ok(Self { viewer, model, count, spec, answer_tokens, erased, recalled: Values::new(), state })
    }

    /// Under which key something is remembered of it.
    fn memory_key(&self) -> MemoryKey {
        MemoryKey::of(&self.spec, self.erased)
    }

    fn view(&self) -> Result<View<'_>, Refusal> {
        View::new(&self.state, &self.viewer, sizes())
    }
}

/// The window of a model, in tokens, where it is known.
pub fn window_of(model: &str) -> Option<Tokens> {
    context_window(model).map(Tokens)
}
