//! Changing the team.

use crate::{
    agent::facts::{Added, Removed, Updated},
    agent::{Agent, Team},
    context_set, conversation,
    deciding::Deciding,
};

/// Makes `agents` the team: those who are new join, others change or leave. A new manager gets what was the old one's.
pub(crate) fn replace_team(deciding: &mut Deciding<'_>, agents: Vec<Agent>) {
    let before = deciding.state.team.clone();
    change_team(deciding, &before, agents);
    let now = deciding.state.team.clone();
    if before.managers() != now.managers() {
        context_set::decide::hand_over(deciding);
        if let (Some(old), Some(new)) = (before.manager(), now.manager()) {
            conversation::decide::hand_over(deciding, &old.name, &new.name);
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
