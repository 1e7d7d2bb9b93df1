//! The part that names the members of the team.

use callboard_core::{
    agent::{Agent, AgentRole},
    prompt::escape::escape,
    view::View,
};

use crate::{
    Lacking,
    parts::{Changes, Content, Part, Source, tagged},
};

pub(crate) struct Members;

const TAG: &str = "TEAM_MEMBERS";

impl Part for Members {
    fn name(&self) -> &'static str {
        "team"
    }

    fn changes(&self) -> Changes {
        Changes::Seldom
    }

    fn subjects(&self, view: &View<'_>, _: &Agent) -> Vec<String> {
        view.state.team.names().map(|name| format!("agent:{name}")).collect()
    }

    fn gather<'a>(&self, from: &mut Source<'a>) -> Result<Option<Box<dyn Content + 'a>>, Lacking> {
        let lines: Vec<_> = from.view.state.team.agents().map(|agent| line(agent, from.agent)).collect();
        Ok(from.whole(tagged(TAG, &lines.join("\n"))))
    }
}

fn line(agent: &Agent, reader: &Agent) -> String {
    let role = match agent.role {
        AgentRole::Manager => "manager",
        AgentRole::Worker => "worker",
    };
    let title = agent.title.as_ref().map(|title| format!(": {}", escape(title))).unwrap_or_default();
    let you = if agent.name == reader.name { " (you)" } else { "" };
    format!("- {} ({role}){you}{title}", agent.name)
}
