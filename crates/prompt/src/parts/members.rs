//! The part that names the members of the team.

use callboard_core::{agent::Agent, prompt::escape::escape};

use crate::parts::{Changes, Gathered, Part, Source, tagged};

pub(crate) const PART: Part<'static> = Part {
    subjects: |view, _| view.state.team.names().map(|name| format!("agent:{name}")).collect(),
    ..Part::new("team", Changes::Seldom, gather)
};

const TAG: &str = "TEAM_MEMBERS";

fn gather<'a>(from: &mut Source<'a>) -> Gathered<'a> {
    let lines: Vec<_> = from.view.state.team.agents().map(|agent| line(agent, from.agent)).collect();
    Ok(from.whole(tagged(TAG, &lines.join("\n"))))
}

fn line(agent: &Agent, reader: &Agent) -> String {
    let role = agent.role.as_str();
    let title = agent.title.as_ref().map(|title| format!(": {}", escape(title))).unwrap_or_default();
    let you = if agent.name == reader.name { " (you)" } else { "" };
    format!("- {} ({role}){you}{title}", agent.name)
}
