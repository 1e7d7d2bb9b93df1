//! The key of a history cache: what has to be the same for it to be used again.

use callboard_core::{
    audience::VisibilitySpan,
    compression::ShownAs,
    count::TokenCounter,
    error::Error,
    id::{AgentName, Seq, ThreadId},
    prompt::{Format, Style},
    view::View,
};

use crate::{Provider, ResolvedSpec, fetch::Reads, media, offered, reader, replaced::PlanPlace, tail::Source};

/// All that decides what a reader is shown of entries, and how it is written. Where one of these changes, the cache is of
/// no use.
#[derive(Clone, PartialEq)]
pub(super) struct HistoryKey {
    pub(super) reader: AgentName,
    pub(super) thread: ThreadId,
    is_in_charge: bool,
    /// The threads that are read, who has them in sight since when, and what summaries stand for.
    threads: Vec<(ThreadId, Option<(VisibilitySpan, ShownAs)>)>,
    /// The entry that last erased something.
    erased: Seq,
    pub(super) format: Format,
    pub(super) provider: Provider,
    pub(super) style: Style,
    /// Where the plan stands in the prompt.
    pub(super) plan: Option<PlanPlace>,
    /// The names of the agents, which no line of what was said may begin with.
    pub(super) names: Vec<AgentName>,
    pub(super) manager: Option<AgentName>,
    /// Which of the tools that read what was said are on offer, for notes name them.
    pub(super) reads: Reads,
    /// How many pictures are shown at the most.
    pub(super) media: usize,
    /// The model, which gets back what it thought itself.
    pub(super) model: Option<String>,
    /// Before which entries the reader's models in these threads may be forgotten.
    models_forgotten: Vec<Option<Seq>>,
    vocabulary: String,
}

impl HistoryKey {
    /// The key for the agent that looks, if it may speak in the thread of the prompt.
    pub(super) fn of(view: &View<'_>, spec: &ResolvedSpec, count: &dyn TokenCounter) -> Result<Self, Error> {
        let agent = reader(view, &spec.thread)?;
        let sight = |thread: &ThreadId| {
            view.state.threads.get(thread).map(|thread| (thread.sight.clone(), thread.compression.shown()))
        };
        let forgotten = |thread: &ThreadId| view.state.runs.models_forgotten_before(&agent.name, thread);
        let threads = Source::of(view, &spec.thread).threads;
        Ok(Self {
            reader: agent.name.clone(),
            reads: Reads::of(&offered(view, agent, spec)),
            thread: spec.thread.clone(),
            is_in_charge: view.is_in_charge(),
            models_forgotten: threads.iter().map(forgotten).collect(),
            // A text shows nothing of what was thought.
            model: spec.model.clone().filter(|_| spec.format != Format::Text),
            threads: threads.into_iter().map(|thread| (thread.clone(), sight(&thread))).collect(),
            erased: view.state.erased,
            format: spec.format,
            provider: spec.provider,
            style: spec.layout.style(),
            plan: PlanPlace::of(view, spec),
            names: view.state.team.names().cloned().collect(),
            manager: view.state.team.manager().map(|manager| manager.name.clone()),
            media: media::most(spec, view.state),
            vocabulary: count.vocabulary().to_owned(),
        })
    }

    /// Whether the reader is the only agent.
    pub(super) fn is_alone(&self) -> bool {
        self.names.len() == 1
    }
}
