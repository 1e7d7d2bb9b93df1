//! Agents and the team they make up.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    audience::Audience,
    command::Deciding,
    context_set, conversation,
    entry::Header,
    error::{Error, Fault},
    fact::{Fact, Seen},
    id::{AgentName, is_control},
    json,
    state::State,
    text::INLINE_BYTES,
    view::View,
};

/// One of the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its name, unique in its session.
    pub name: AgentName,
    /// What it is in the team.
    pub role: Role,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is told at the start of each of its prompts. No other worker sees them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Arc<str>>,
    /// The model it speaks through, for instance `openai:gpt-4o-mini`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tools it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Tool>,
}

/// What an agent is in its team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It keeps the shared state and directs the others. A session has at most one.
    Manager,
    /// It does what the manager asks.
    Worker,
}

/// A function that an agent's model may call; the caller of the run executes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments.
    #[serde(default)]
    pub parameters: Map<String, Value>,
    /// Whether doing it twice does no harm.
    #[serde(default)]
    pub idempotent: bool,
}

/// The agents of a session, in the order in which they joined.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Team(Vec<Agent>);

impl Team {
    /// All agents, in the order in which they joined.
    pub fn agents(&self) -> impl ExactSizeIterator<Item = &Agent> {
        self.0.iter()
    }

    /// All names, in the order in which the agents joined.
    pub fn names(&self) -> impl Iterator<Item = &AgentName> {
        self.0.iter().map(|agent| &agent.name)
    }

    /// The agent with this name.
    pub fn agent(&self, name: &AgentName) -> Result<&Agent, Error> {
        self.0.iter().find(|agent| agent.name == *name).ok_or_else(|| Error::not_found("agent", name))
    }

    /// The manager, if there is one.
    pub fn manager(&self) -> Option<&Agent> {
        self.0.iter().find(|agent| agent.role == Role::Manager)
    }

    /// All workers, in the order in which they joined.
    pub fn workers(&self) -> impl Iterator<Item = &Agent> {
        self.0.iter().filter(|agent| agent.role == Role::Worker)
    }

    /// The audience of what is for the user and the manager.
    pub fn managers(&self) -> Audience {
        Audience::of(self.manager().map(|agent| agent.name.clone()))
    }

    /// The agents that are not in `audience`.
    pub fn hidden_from<'a>(&'a self, audience: &'a Audience) -> impl Iterator<Item = &'a AgentName> {
        self.names().filter(|name| !audience.contains(name))
    }

    /// Refuses an audience that names agents which are not here; `pointer` says where it was given.
    pub fn check_audience(&self, audience: &Audience, pointer: &str) -> Result<(), Error> {
        let unknown: Vec<_> =
            audience.names().filter(|name| self.agent(name).is_err()).map(AgentName::as_str).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let known = self.names().map(AgentName::as_str).collect::<Vec<_>>().join(", ");
        let problem = format!("there is no agent {}; the team is: {known}", unknown.join(", "));
        Err(Error::invalid(pointer, problem))
    }

    /// Refuses what cannot be a team: doubled names, two managers, texts that are too long.
    pub fn check(agents: &[Agent]) -> Result<(), Error> {
        let mut faults = Vec::new();
        let mut names = BTreeSet::new();
        let mut manager = None;
        for (at, agent) in agents.iter().enumerate() {
            let mut fault =
                |field: &str, problem: String| faults.push(Fault { pointer: format!("/agents/{at}{field}"), problem });
            if !names.insert(&agent.name) {
                fault("/name", format!("the name {} is taken by another agent of the team", agent.name));
            }
            if agent.role == Role::Manager {
                match manager {
                    Some(first) => fault("/role", format!("a team has at most one manager, and {first} is it")),
                    None => manager = Some(&agent.name),
                }
            }
            agent.check(&mut fault);
        }
        if faults.is_empty() { Ok(()) } else { Err(Error::Invalid(faults)) }
    }
}

impl Agent {
    fn check(&self, fault: &mut impl FnMut(&str, String)) {
        let one_line = |text: &Option<String>| {
            text.as_ref().is_none_or(|text| text.chars().count() <= 200 && !text.chars().any(is_control))
        };
        for (field, text) in [("/title", &self.title), ("/model", &self.model)] {
            if !one_line(text) {
                fault(field, "use one line of at most 200 characters".to_owned());
            }
        }
        if self.instructions.as_ref().is_some_and(|text| text.len() > INLINE_BYTES) {
            fault("/instructions", format!("use at most {INLINE_BYTES} bytes; put longer texts in context sets"));
        }
        for (at, tool) in self.tools.iter().enumerate() {
            if tool.name.is_empty() || tool.name.len() > 128 || tool.name.chars().any(is_control) {
                fault(&format!("/tools/{at}/name"), "use 1 to 128 characters in one line".to_owned());
            } else if self.tools.iter().take(at).any(|other| other.name == tool.name) {
                fault(&format!("/tools/{at}/name"), format!("the agent has another tool {}", tool.name));
            }
            if !json::are_shallow(tool.parameters.values()) {
                fault(&format!("/tools/{at}/parameters"), format!("nest at most {} levels", json::MAX_DEPTH));
            }
        }
        if json::size_bytes(&self.tools) > INLINE_BYTES {
            fault("/tools", format!("describe them in at most {INLINE_BYTES} bytes altogether"));
        }
    }
}

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
    agent: Agent,
}

/// An agent left the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Removed {
    name: AgentName,
}

impl Fact for Added {
    const TYPE: &'static str = "agent.added";

    fn subject(&self) -> String {
        format!("agent:{}", self.agent.name)
    }

    fn audience(&self, _: &State) -> Audience {
        Audience::All
    }

    fn apply(self, state: &mut State, _: &Header) {
        Arc::make_mut(&mut state.team).0.push(self.agent);
    }

    fn project(self, view: &View<'_>, _: &Header) -> Option<Seen> {
        Some(Seen { kind: Self::TYPE, data: seen(&self.agent, view)? })
    }
}

impl Fact for Updated {
    const TYPE: &'static str = "agent.updated";

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
    }

    fn project(self, view: &View<'_>, header: &Header) -> Option<Seen> {
        let data = seen(&self.agent, view).filter(|_| view.was_meant(header))?;
        Some(Seen { kind: Self::TYPE, data })
    }
}

impl Fact for Removed {
    const TYPE: &'static str = "agent.removed";

    fn subject(&self) -> String {
        format!("agent:{}", self.name)
    }

    fn audience(&self, _: &State) -> Audience {
        Audience::All
    }

    fn apply(self, state: &mut State, _: &Header) {
        Arc::make_mut(&mut state.team).0.retain(|agent| agent.name != self.name);
        state.runs.hear_leave(&self.name);
    }

    fn project(self, _: &View<'_>, _: &Header) -> Option<Seen> {
        Seen::fact(&self)
    }
}

/// What a viewer sees of an agent: a worker sees of others only who they are.
fn seen(agent: &Agent, view: &View<'_>) -> Option<Value> {
    let whole = view.is_in_charge() || view.agent() == Some(&agent.name);
    let public = || Agent { instructions: None, model: None, tools: Vec::new(), ..agent.clone() };
    serde_json::to_value(if whole { agent.clone() } else { public() }).ok()
}

/// Makes `agents` the team: those who are new join, others change or leave. A new manager gets what was the old one's.
pub(crate) fn replace_team(deciding: &mut Deciding<'_>, agents: Vec<Agent>) {
    let before = deciding.state.team.clone();
    change_team(deciding, &before, agents);
    let now = deciding.state.team.clone();
    if before.managers() != now.managers() {
        context_set::hand_over(deciding);
        if let (Some(old), Some(new)) = (before.manager(), now.manager()) {
            conversation::hand_over(deciding, &old.name, &new.name);
        }
    }
}

fn change_team(deciding: &mut Deciding<'_>, before: &Team, agents: Vec<Agent>) {
    let gone = before.names().filter(|name| agents.iter().all(|agent| agent.name != **name));
    for name in gone {
        deciding.record(Removed { name: name.clone() });
    }
    for agent in agents {
        match before.agent(&agent.name) {
            Ok(known) if *known == agent => {}
            Ok(_) => {
                deciding.record(Updated { agent });
            }
            Err(_) => {
                deciding.record(Added { agent });
            }
        }
    }
}
