//! Prompts: what is wanted, and how it comes about.

mod changed;
mod last;
mod make;
mod recalled;

use std::sync::Arc;

use callboard_core::{
    command::{Command, DecisionContext, Lookups, Undecided, decide},
    count::{TokenCounter, Tokens},
    entry::{Actor, Entry},
    error::Error as Refusal,
    id::Seq,
    prompt::{Layout, PartName, PromptSpec},
    rights::Share,
    sealed::SealedInput,
    state::State,
    text::Values,
    view::View,
    viewer::Viewer,
};
use callboard_prompt::{Prompt, PromptPieces, Provider, ResolvedSpec, has_part};

use crate::{
    error::Error,
    outside::Outside,
    prompt_memory::{MemoryKey, Remembered},
    session::Session,
    sizes::{DEFAULT_WINDOW, Measure, sizes, window_of},
};

impl Session {
    /// The prompt of an agent, now or as of an entry: the same bytes on every store, at any time.
    pub async fn prompt(&self, spec: &PromptSpec) -> Result<Prompt, Error> {
        let (wanted, made) = self.wanted(spec).await?;
        let (mut prompt, pieces, mut remembered) = match made {
            Some(made) => made,
            None => self.make(&wanted).await?,
        };
        (prompt.model, prompt.answer_tokens) = (wanted.spec.model.clone(), wanted.answer_tokens);
        prompt.reusable_prefix_tokens = self.reusable(&wanted, &pieces, &mut remembered.made).await?;
        if !remembered.has_damage {
            self.live.prompts.remember(wanted.memory_key(), remembered);
        }
        (prompt.erased, prompt.rewritten) = self.changed_in(&wanted, &prompt).await?;
        Ok(prompt)
    }

    /// The prompt as it would be after `command`, which is not executed.
    pub async fn prompt_after<C: Command>(&self, command: &C, spec: &PromptSpec) -> Result<Prompt, Error> {
        let state = self.state().await?;
        let (by, at, lookups, sealed) = (&Actor::System, state.last_at, &Lookups::default(), SealedInput::NOTHING);
        let context = DecisionContext { by, at, nonce: None, salt: None, count: sizes(), lookups, sealed, hide: None };
        let decision = decide(&state, command, context).map_err(|undecided| match undecided {
            Undecided::Refused(refusal) => Error::from(refusal),
            Undecided::MissingEntry(_) => Error::Closed,
        })?;
        let mut wanted = Wanted::new(Arc::new(decision.state), state.erased, spec)?;
        (wanted.recalled, wanted.drafts) = (decision.values, decision.entries);
        Ok(self.make(&Arc::new(wanted)).await?.0)
    }

    /// How the tokens of a model are counted, going by what its provider has told this session.
    pub async fn measure(&self, model: &str) -> Result<Measure, Error> {
        Ok(Measure::of(model, self.state().await?.calibration.factor(model)))
    }

    /// Notes in `spec` what can be seen of the browser now, where its prompt shows that.
    pub async fn observe(&self, spec: &mut PromptSpec, outside: &Outside) -> Result<(), Error> {
        let Some(browsers) = &outside.browsers else { return Ok(()) };
        let state = self.state().await?;
        let erased = state.erased;
        let wanted = Wanted::new(state, erased, spec)?;
        let shows_tabs =
            has_part(&wanted.spec.layout, PartName::BROWSER_STATE) && wanted.view()?.may_see(Share::Browser);
        if shows_tabs {
            spec.observed.tabs = browsers.tabs(self).await;
        }
        Ok(())
    }

    /// What is wanted by `spec`, and the prompt, where it had to be made to find out what else belongs in it, and nothing does.
    async fn wanted(&self, spec: &PromptSpec) -> Result<(Arc<Wanted>, Option<Made>), Error> {
        let now = self.state().await?;
        let erased = now.erased;
        let state = match spec.at {
            Some(seq) => self.state_at(seq).await?,
            None => now,
        };
        let mut wanted = Wanted::new(state, erased, spec)?;
        wanted.spec.task = match wanted.spec.task.take() {
            Some(task) => Some(self.mask_of_input().await?.mask(&task).unwrap_or(task)),
            None => None,
        };
        let made = self.add_recalled(&mut wanted, spec).await?;
        Ok((Arc::new(wanted), made))
    }
}

/// A prompt with its pieces, and what is to be remembered of it.
type Made = (Prompt, Arc<PromptPieces>, Remembered);

/// What a prompt is built from: a [`ResolvedSpec`], the state, and what was found for it.
#[derive(Clone)]
struct Wanted {
    state: Arc<State>,
    viewer: Viewer,
    count: &'static dyn TokenCounter,
    spec: ResolvedSpec,
    /// How much of the model's window is kept for its answer.
    answer_tokens: Tokens,
    /// The entry that had last changed what older ones say when it was asked for.
    erased: Seq,
    /// The texts of what was found for it.
    recalled: Values,
    /// Entries of the state that are not in the journal.
    drafts: Vec<Entry>,
}

impl Wanted {
    /// Fills in what a spec leaves out.
    fn new(state: Arc<State>, erased: Seq, spec: &PromptSpec) -> Result<Self, Refusal> {
        let agent = match &spec.agent {
            Some(name) => state.team.agent(name)?,
            None => callboard_prompt::default_agent(&state.team)?,
        };
        let viewer = Viewer::Agent(agent.name.clone());
        let thread = match &spec.thread {
            Some(thread) => thread.clone(),
            None => callboard_prompt::default_thread(&View::new(&state, &viewer, sizes())?),
        };
        let named = spec.model.as_deref().or_else(|| state.threads.model_of(agent, &thread));
        let model = named.or(spec.default_model.as_deref());
        let window = model.and_then(window_of).unwrap_or(DEFAULT_WINDOW);
        let of_model =
            || model.map_or_else(Measure::default, |model| Measure::of(model, state.calibration.factor(model)));
        let Measure { counter: count, factor } =
            spec.counted.as_ref().and_then(Measure::named).unwrap_or_else(of_model);
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
            provider: Provider::of(model),
            model: model.map(str::to_owned),
            budget: spec.budget.unwrap_or_else(|| profile.budget_in(window)),
            profile: spec.profile.clone(),
            task: spec.task.clone(),
            vocabulary: count.vocabulary().to_owned(),
            factor,
            observed: spec.observed.clone(),
            tools: spec.tools.clone(),
        };
        let (recalled, drafts) = Default::default();
        Ok(Self { viewer, count, spec, answer_tokens, erased, recalled, drafts, state })
    }

    /// Under which key something is remembered of it.
    fn memory_key(&self) -> MemoryKey {
        MemoryKey::of(&self.spec, self.erased)
    }

    fn view(&self) -> Result<View<'_>, Refusal> {
        View::new(&self.state, &self.viewer, sizes())
    }
}
