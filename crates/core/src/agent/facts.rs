//! What can happen to agents.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    agent::{Agent, Team},
    audience::Audience,
    entry::Header,
    fact::{Description, Fact, MeantFor, Repeats, Seen, Sentence, TextField, json, text},
    id::AgentName,
    json::value_of,
    state::State,
    view::View,
};

/// An agent joined the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Added {
    pub(crate) agent: Agent,
}

/// What is known of an agent changed. It carries all of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Updated {
    pub(crate) agent: Agent,
}

/// An agent left the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Removed {
    pub(crate) name: AgentName,
}

/// The words in what is known of an agent.
const TEXTS: &[TextField] =
    &[text("title"), text("instructions"), text("tools.*.description"), json("tools.*.parameters")];

impl Fact for Added {
    const TYPE: &'static str = "agent.added";

    const SENTENCE: Sentence = |it| format!("{} added {} to the team", it.by, it.name());

    const DESCRIPTION: Description = Description::of(TEXTS);

    const MEANT_FOR: MeantFor = MeantFor::All;

    fn subject(&self) -> String {
        format!("agent:{}", self.agent.name)
    }

    fn apply(self, state: &mut State, _: &Header) {
        let Team(agents) = Arc::make_mut(&mut state.team);
        // Teams are small, change seldom, and every session in memory has one.
        agents.reserve_exact(1);
        agents.push(self.agent);
        state.runs.hear_team(&state.team);
    }

    fn project(self, view: &View<'_>, _: &Header) -> Option<Seen> {
        Some(Seen { kind: Self::TYPE, data: seen(&self.agent, view) })
    }
}

impl Fact for Updated {
    const TYPE: &'static str = "agent.updated";

    const SENTENCE: Sentence = |it| format!("{} changed {}", it.by, it.name());

    const DESCRIPTION: Description = Description { repeats: Repeats::Unchanged, ..Description::of(TEXTS) };

    fn subject(&self) -> String {
        format!("agent:{}", self.agent.name)
    }

    fn audience(&self, before: &State) -> Audience {
        // A change of what other workers do not see is nothing that they are told of.
        let public = |agent: &Agent| (agent.role, agent.title.clone());
        match before.team.agent(&self.agent.name) {
            Ok(known) if public(known) == public(&self.agent) => {
                before.team.managers().or(&Audience::of([self.agent.name.clone()]))
            }
            _ => Audience::All,
        }
    }

    fn apply(self, state: &mut State, _: &Header) {
        let team = Arc::make_mut(&mut state.team);
        if let Some(agent) = team.0.iter_mut().find(|agent| agent.name == self.agent.name) {
            *agent = self.agent;
        }
        state.runs.hear_team(&state.team);
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        view.was_meant(header).then(|| Seen { kind: Self::TYPE, data: seen(&self.agent, view) })
    }
}

impl Fact for Removed {
    const TYPE: &'static str = "agent.removed";

    const SENTENCE: Sentence = |it| format!("{} removed {} from the team", it.by, it.name());

    const DESCRIPTION: Description = Description::of(&[]);

    const MEANT_FOR: MeantFor = MeantFor::All;

    fn subject(&self) -> String {
        format!("agent:{}", self.name)
    }

    fn apply(self, state: &mut State, _: &Header) {
        Arc::make_mut(&mut state.team).0.retain(|agent| agent.name != self.name);
        state.runs.hear_leave(&self.name);
        state.runs.hear_team(&state.team);
    }
}

/// What a viewer sees of an agent: a worker sees of others only who they are.
fn seen(agent: &Agent, view: &View<'_>) -> Value {
    let whole = view.is_in_charge() || view.agent() == Some(&agent.name);
    let public = || Agent { instructions: None, model: None, tools: Vec::new(), ..agent.clone() };
    value_of(&if whole { agent.clone() } else { public() })
}
