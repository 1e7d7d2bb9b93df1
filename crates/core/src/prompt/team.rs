//! The layout `team`: what is always in it.

use super::{
    escape::{attribute, escape},
    files,
};
use crate::{
    agent::{Agent, Role},
    view::View,
};

/// A part that is always there in full.
pub(super) struct Fixed {
    pub(super) name: &'static str,
    /// It begins with a tag and ends with a line end, so that its tokens add up with those of its neighbours.
    pub(super) text: String,
}

/// The parts that do not change from turn to turn, in order.
pub(super) fn fixed(view: &View<'_>, agent: &Agent) -> Vec<Fixed> {
    let mut parts = who(view, agent);
    parts.extend(files::files(view, agent).map(|text| Fixed { name: "files", text }));
    parts
}

/// Who the reader is, who else there is, and what it is to do.
fn who(view: &View<'_>, agent: &Agent) -> Vec<Fixed> {
    let instructions = Fixed { name: "instructions", text: instructions(agent) };
    let team = Fixed { name: "team", text: team(view, agent) };
    let duties = match (agent.role, view.state.team.manager()) {
        (Role::Manager, _) => section("AGENT_DUTIES", MANAGER),
        (Role::Worker, Some(manager)) => section("AGENT_DUTIES", &worker(manager)),
        (Role::Worker, None) => return vec![instructions, team],
    };
    vec![instructions, team, Fixed { name: "duties", text: duties }]
}

fn section(tag: &str, text: &str) -> String {
    format!("<{tag}>\n{}\n</{tag}>\n", text.trim_end())
}

fn instructions(agent: &Agent) -> String {
    let who = match &agent.title {
        Some(title) => format!("You are {}, {}.", agent.name, escape(title)),
        None => format!("You are {}.", agent.name),
    };
    let own = agent.instructions.as_deref().map(|text| format!("\n{}", escape(text))).unwrap_or_default();
    section("AGENT_INSTRUCTIONS", &(who + &own))
}

fn team(view: &View<'_>, reader: &Agent) -> String {
    let line = |agent: &Agent| {
        let role = match agent.role {
            Role::Manager => "manager",
            Role::Worker => "worker",
        };
        let title = agent.title.as_ref().map(|title| format!(": {}", escape(title))).unwrap_or_default();
        let you = if agent.name == reader.name { " (you)" } else { "" };
        format!("- {} ({role}){you}{title}", agent.name)
    };
    section("TEAM_MEMBERS", &view.state.team.agents().map(line).collect::<Vec<_>>().join("\n"))
}

const MANAGER: &str = "\
You direct the team. In each turn you give one directive: a JSON object whose fields may all be left out.
- messageTo and message: whom you speak to, a worker or \"user\", and what you say. A worker sees nothing of what you and \
the user say: tell it all it needs, or share it in context sets.
- expectedOutput: what a good answer to your message has in it. The answer is held against it.
- contextSetUpdate: {\"contextSets\": [{\"name\", \"context\", \"newOrUpdate\": \"new\" or \"update\", \
\"visibleToAgents\": \"all\", \"none\", a name or a list of names}]}. An update replaces the whole content; an empty \
context deletes the set.
- isInfoRequest: true if your message asks the user for information. The work waits for the answer.
- workflowComplete: true when the user's task is done; your message then goes to the user and is the result.
Speak to one worker at a time, and wait for its answer. Share a context set only with the agents that need it, and \
avoid \"all\": what is shared costs each of them tokens.
Keep the context set \"Process Steps\": the steps of the work, numbered, each marked [Pending], [In Progress] or \
[Completed]. It is yours alone. Steps that are there already are suggestions: adapt them.";

fn worker(manager: &Agent) -> String {
    format!(
        "Do what {} asks of you. What you answer goes to {} as it is: give the result itself, and nothing else.",
        manager.name, manager.name,
    )
}

/// The beginning of the tag that holds a context set.
pub(super) fn set_tag(name: &str, attributes: &[(&str, String)]) -> String {
    let attributes: String = attributes.iter().map(|(key, value)| format!(" {key}=\"{}\"", attribute(value))).collect();
    format!("<CONTEXT_SET name=\"{}\"{attributes}>", attribute(name))
}
