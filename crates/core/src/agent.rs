//! Agents, and the team that they form.

pub mod facts;

use std::{collections::BTreeSet, fmt, sync::Arc};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Map, Value};

use crate::{
    audience::{Audience, VisibilitySpan},
    error::{ConflictKind, Error, Fault},
    id::{AgentName, is_control, words},
    input::InputVisitor,
    json,
    prompt::look_alike,
    text::INLINE_BYTES,
};

/// What the names of Callboard's own tools begin with in a team. Models call them without it.
pub const PREFIX: &str = "callboard:";

/// The bundle of the tools that a director works with.
pub const DIRECTOR: &str = "director";

/// A member of the team.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// Its name, unique in its session.
    pub name: AgentName,
    /// Its role in the team.
    pub role: AgentRole,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<crate::schema::Line>))]
    pub title: Option<String>,
    /// Instructions at the start of each of its prompts. No other worker sees them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Arc<str>>,
    /// Its model: `openai:NAME` or `anthropic:NAME`. If absent: the default model of the server or the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<crate::schema::Line>))]
    pub model: Option<String>,
    /// The tools it may call. For Callboard's own tools, the name is enough.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schema(value_type = Vec<schema::ToolOrName>))]
    pub tools: Vec<Tool>,
}

words! {
    /// The role of an agent in its team, which has at most one manager.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = AgentRole))]
    #[serde(rename_all = "snake_case")]
    pub enum AgentRole {
        /// Keeps the shared state and directs the others. A session has at most one.
        Manager = "manager",
        /// Does what the manager asks.
        Worker = "worker",
    }
}

/// A function that an agent's model may call. The caller of the run executes it.
// Unless it is one of Callboard's own, `callboard:NAME`: see `tool`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields, remote = "Self")]
pub struct Tool {
    /// Its name.
    #[cfg_attr(feature = "schema", schema(value_type = crate::schema::ToolName))]
    pub name: String,
    /// What it does, for the model.
    #[serde(default)]
    pub description: String,
    /// The JSON Schema of its arguments.
    #[serde(default)]
    pub parameters: Map<String, Value>,
    /// Whether calling it twice has the same effect as calling it once.
    #[serde(default)]
    pub idempotent: bool,
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// A tool as an object, or one of Callboard's own by its name, with `callboard:` before it or without.
impl<'de> Deserialize<'de> for Tool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameOrTool;

        impl<'de> Visitor<'de> for NameOrTool {
            type Value = Tool;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a tool, or the name of one of Callboard's own")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Tool, E> {
                let name = name.strip_prefix(PREFIX).unwrap_or(name);
                Ok(Tool { name: format!("{PREFIX}{name}"), ..Tool::default() })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Tool, A::Error> {
                Tool::deserialize(MapAccessDeserializer::new(map))
            }
        }

        deserializer.deserialize_any(NameOrTool)
    }
}

/// See [`Command::input`](crate::command::Command::input).
pub(crate) fn input(agents: &mut [Agent], visitor: &mut dyn InputVisitor) {
    for (at, agent) in agents.iter_mut().enumerate() {
        let Agent { name, role: _, title, instructions, model, tools } = agent;
        visitor.name(format_args!("/agents/{at}/name"), name.as_str());
        visitor.text_if_any(title);
        visitor.text_if_any(instructions);
        if let Some(model) = model {
            visitor.name(format_args!("/agents/{at}/model"), model);
        }
        tools_input(tools, &format!("/agents/{at}"), visitor);
    }
}

/// Shows tools to a visitor; `pointer` is the place of what has them in the request.
pub(crate) fn tools_input(tools: &mut [Tool], pointer: &str, visitor: &mut dyn InputVisitor) {
    for (number, tool) in tools.iter_mut().enumerate() {
        visitor.name(format_args!("{pointer}/tools/{number}/name"), &tool.name);
        visitor.text(&mut tool.description);
        visitor.named_fields(format_args!("{pointer}/tools/{number}/parameters"), &mut tool.parameters);
    }
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
        self.0.iter().find(|agent| agent.role == AgentRole::Manager)
    }

    /// All workers, in the order in which they joined.
    pub fn workers(&self) -> impl Iterator<Item = &Agent> {
        self.0.iter().filter(|agent| agent.role == AgentRole::Worker)
    }

    /// The audience of what only the user and the manager see.
    pub fn managers(&self) -> Audience {
        Audience::of(self.manager().map(|agent| agent.name.clone()))
    }

    /// The audience of an entry that makes a thing visible to `now`: those agents, and those that lose sight of it and must
    /// be told. What was visible to `all` was seen by the agents in the team today, not by later ones.
    pub(crate) fn passing(&self, before: Option<&VisibilitySpan>, now: Audience) -> Audience {
        match before {
            Some(sight) if now != Audience::All => sight.audience.among(self.names()).or(&now),
            _ => now,
        }
    }

    /// The agents that are not in `audience`.
    pub fn hidden_from<'a>(&'a self, audience: &'a Audience) -> impl Iterator<Item = &'a AgentName> {
        self.names().filter(|name| !audience.contains(name))
    }

    /// Refuses an audience that names agents outside of the team. `pointer` is the place of the audience in the request.
    pub fn check_audience(&self, audience: &Audience, pointer: &str) -> Result<(), Error> {
        let unknown: Vec<_> =
            audience.names().filter(|name| self.agent(name).is_err()).map(AgentName::as_str).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let known = self.names().map(AgentName::as_str).collect::<Vec<_>>().join(", ");
        let problem = format!("there is no agent {}; the team is: {known}", unknown.join(", "));
        Err(Error::contradicting(ConflictKind::NoAgent, pointer, problem))
    }

    /// Refuses an invalid team: repeated names, two managers, texts that are too long.
    pub fn check(agents: &[Agent]) -> Result<(), Error> {
        let (mut invalid, mut contradictions) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        let mut manager = None;
        for (at, agent) in agents.iter().enumerate() {
            let fault = |field: &str, problem: String| Fault { pointer: format!("/agents/{at}{field}"), problem };
            if !names.insert(&agent.name) {
                let problem = format!("the name {} is taken by another agent of the team", agent.name);
                contradictions.push(fault("/name", problem));
            }
            let looks_like = agents.iter().take(at).find(|other| {
                other.name != agent.name && look_alike::are_alike(other.name.as_str(), agent.name.as_str())
            });
            if let Some(other) = looks_like {
                let problem = format!("the name looks like that of another agent, {}", other.name);
                contradictions.push(fault("/name", problem));
            }
            if agent.role == AgentRole::Manager {
                match manager {
                    Some(first) => {
                        let problem = format!("a team has at most one manager, and {first} is it");
                        contradictions.push(fault("/role", problem));
                    }
                    None => manager = Some(&agent.name),
                }
            }
            let mut note = |field: &str, problem: String| invalid.push(fault(field, problem));
            check_line("/title", agent.title.as_deref(), &mut note);
            check_means(agent.instructions.as_deref(), agent.model.as_deref(), &agent.tools, &mut note);
            let doubled = doubled_tools(&agent.tools)
                .map(|(at, name)| fault(&format!("/tools/{at}/name"), format!("the agent has another tool {name}")));
            contradictions.extend(doubled);
        }
        Error::of(invalid, contradictions)
    }
}

fn check_line(field: &str, text: Option<&str>, fault: &mut impl FnMut(&str, String)) {
    if text.is_some_and(|text| text.chars().count() > 200 || text.chars().any(is_control)) {
        fault(field, "use one line of at most 200 characters".to_owned());
    }
}

/// Finds the faults of what an agent works with: its own, or that of a thread in which it speaks.
pub(crate) fn check_means(
    instructions: Option<&str>,
    model: Option<&str>,
    tools: &[Tool],
    fault: &mut impl FnMut(&str, String),
) {
    check_line("/model", model, fault);
    if instructions.is_some_and(|text| text.len() > INLINE_BYTES) {
        fault("/instructions", format!("use at most {INLINE_BYTES} bytes; put longer texts in context sets"));
    }
    check_tools(tools, INLINE_BYTES, fault);
    for (at, tool) in tools.iter().enumerate().filter(|(_, tool)| is_tool_name(&tool.name)) {
        provider_faults(tool).into_iter().for_each(|(field, problem)| fault(&format!("/tools/{at}{field}"), problem));
    }
}

/// The most bytes of a client's instructions, and of its tools altogether.
const CLIENT_BYTES: usize = INLINE_BYTES * 16;

/// Finds the faults of what a program works with that asks models itself. Whether its provider takes its tools, the provider says.
pub(crate) fn check_means_of_client(instructions: Option<&str>, tools: &[Tool], fault: &mut impl FnMut(&str, String)) {
    if instructions.is_some_and(|text| text.len() > CLIENT_BYTES) {
        fault("/instructions", format!("use at most {CLIENT_BYTES} bytes"));
    }
    check_tools(tools, CLIENT_BYTES, fault);
}

/// Finds the faults of tools that have at most `most_bytes` altogether.
fn check_tools(tools: &[Tool], most_bytes: usize, fault: &mut impl FnMut(&str, String)) {
    for (at, tool) in tools.iter().enumerate() {
        if !is_tool_name(&tool.name) {
            fault(&format!("/tools/{at}/name"), TOOL_NAME.to_owned());
        }
        if let Some((field, problem)) = tool.fault() {
            fault(&format!("/tools/{at}{field}"), problem);
        }
        if !json::are_shallow(tool.parameters.values()) {
            fault(&format!("/tools/{at}/parameters"), format!("nest at most {} levels", json::MAX_DEPTH));
        }
    }
    if json::size_bytes(&tools) > most_bytes {
        fault("/tools", format!("describe them in at most {most_bytes} bytes altogether"));
    }
}

/// The tools that repeat an earlier tool's name, with their places.
pub(crate) fn doubled_tools(tools: &[Tool]) -> impl Iterator<Item = (usize, &str)> {
    let mut there = BTreeSet::new();
    tools.iter().map(Tool::bare_name).enumerate().filter(move |(_, name)| !there.insert(*name))
}

/// The most characters of the description of a tool.
const MAX_DESCRIPTION: usize = 1024;

/// What of a tool providers refuse: the field, and why. Callboard's own tools are described by Callboard.
fn provider_faults(tool: &Tool) -> Vec<(&'static str, String)> {
    let name = tool.name.strip_prefix(PREFIX).unwrap_or(&tool.name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let mut faults = Vec::new();
    if !(1..=64).contains(&name.len()) || !name.chars().all(is_plain) {
        faults.push(("/name", "use 1 to 64 letters, digits, `_` and `-`: providers take no other names".to_owned()));
    }
    let length = tool.description.chars().count();
    if length > MAX_DESCRIPTION {
        let problem = format!("it has {length} characters: describe a tool in at most {MAX_DESCRIPTION}");
        faults.push(("/description", problem));
    }
    if !tool.parameters.is_empty() && tool.parameters.get("type") != Some(&"object".into()) {
        let problem =
            "providers take the schema of an object alone: say `\"type\": \"object\"`, or leave `parameters` out";
        faults.push(("/parameters", problem.to_owned()));
    }
    faults
}

/// What names of tools are.
pub(crate) const TOOL_NAME: &str = "use 1 to 128 characters in one line";

/// Whether `name` can be the name of a tool.
pub(crate) fn is_tool_name(name: &str) -> bool {
    !name.trim().is_empty() && name.chars().count() <= 128 && !name.chars().any(is_control)
}

#[cfg(feature = "schema")]
#[allow(dead_code, reason = "these types are read by the OpenAPI document alone")]
pub mod schema {
    //! Schemas of lists of tools.

    use utoipa::ToSchema;

    use super::Tool;
    use crate::schema::ToolName;

    /// A tool, or the name of one of Callboard's own, with `callboard:` before it or without.
    #[derive(ToSchema)]
    #[serde(untagged)]
    pub enum ToolOrName {
        /// A name.
        #[schema(value_type = ToolName)]
        Name(String),
        /// A tool.
        Tool(Tool),
    }
}
