//! What is known of a session without reading its journal: what happened last, how large its prompts are, what it used, and whether
//! it waits for the user.

use callboard_core::{
    agent::Agent,
    count::Usage,
    id::{Seq, SessionId},
    overview::{LargestPrompt, LastEntry, RunOverview},
    run::{Run, Status},
    session::Settings as SessionSettings,
    state::State,
    time::Timestamp,
};
use callboard_store::Row;

use crate::sizes::{DEFAULT_WINDOW, window_of};

/// What is known of a session without reading its journal.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    /// Its name.
    pub id: SessionId,
    /// The number of its last entry.
    pub head: Seq,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_activity: Timestamp,
    /// When it expires; `None` is never.
    pub expires_at: Option<Timestamp>,
    /// Its agents.
    pub agents: Vec<Agent>,
    /// Its settings.
    pub settings: SessionSettings,
    /// What the largest of the prompts was with which the agents were asked last.
    pub largest_prompt: Option<LargestPrompt>,
    /// The run that was started last.
    pub run: Option<RunOverview>,
    /// Whether a run or a form waits for the user.
    pub needs_user: bool,
    /// What its turns used, by the model.
    pub used: Vec<(Option<String>, Usage)>,
    /// How large its entries are together, without the long texts beside them.
    pub size_bytes: u64,
    /// Its last entry, where it was asked for.
    pub last: Option<LastEntry>,
}

impl SessionInfo {
    /// What is known of the session with this state and this row.
    pub fn of(id: SessionId, state: &State, row: Row) -> Self {
        let run = state.runs.newest();
        let has_open_form = state.sets.iter().any(|held| held.set.is_open_form() && held.set.enabled);
        Self {
            id,
            head: state.head.seq,
            created_at: state.session.created_at,
            last_activity: row.last_activity,
            expires_at: row.expires_at,
            agents: state.team.agents().cloned().collect(),
            settings: state.session.settings.clone(),
            largest_prompt: largest_prompt(state),
            needs_user: has_open_form || run.is_some_and(|run| run.status() == Status::AwaitingUser),
            run: run.map(|run| overview_of(run)),
            used: state.runs.used().map(|(model, usage)| (model.map(str::to_owned), usage)).collect(),
            size_bytes: state.size_bytes,
            last: None,
        }
    }
}

fn overview_of(run: &Run) -> RunOverview {
    let reason = run.halt.as_ref().and_then(|halt| halt.reason.clone());
    RunOverview { id: run.id.clone(), kind: run.kind, status: run.status(), reason, started_at: run.started_at }
}

fn largest_prompt(state: &State) -> Option<LargestPrompt> {
    let asked = state.runs.asked().filter_map(|(name, asked)| Some((state.team.agent(name).ok()?, asked)));
    let (agent, asked) = asked.max_by_key(|(_, asked)| asked.tokens)?;
    let window = asked.model.as_deref().or(agent.model.as_deref()).and_then(window_of).unwrap_or(DEFAULT_WINDOW);
    let settings = &state.session.settings;
    let window = settings.prompt.budget_in(window);
    let warn_at = settings.compression.thresholds(window).warn;
    Some(LargestPrompt { agent: agent.name.clone(), tokens: asked.tokens, window, warn_at })
}
