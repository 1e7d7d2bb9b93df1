//! Changing the team.

use crate::{
    agent::facts::{Added, Removed, Updated},
    agent::{Agent, Team},
    context_set, conversation,
    decision::DecisionBuilder,
};

/// Makes `agents` the team: those who are new join, others change or leave. A new manager gets what was the old one's.
pub(super) fn replace_team(decision: &mut DecisionBuilder<'_>, agents: Vec<Agent>) {
    let before = decision.state.team.clone();
    change_team(decision, &before, agents);
    let now = decision.state.team.clone();
    if before.managers() != now.managers() {
        context_set::decide::hand_over(decision);
        if let (Some(old), Some(new)) = (before.manager(), now.manager()) {
            conversation::decide::hand_over(decision, &old.name, &new.name);
        }
    }
}

fn change_team(decision: &mut DecisionBuilder<'_>, before: &Team, agents: Vec<Agent>) {
    let gone = before.names().filter(|name| agents.iter().all(|agent| agent.name != **name));
    for name in gone {
        decision.record(Removed { name: name.clone() });
    }
    for agent in agents {
        match before.agent(&agent.name) {
            Ok(known) if *known == agent => {}
            Ok(_) => {
                decision.record(Updated { agent });
            }
            Err(_) => {
                decision.record(Added { agent });
            }
        }
    }
}
