//! The context sets with which a new session begins because another session has them.

use callboard_core::{
    agent::{Agent, AgentRole},
    audience::Audience,
    context_set::{ContextSet, PutSet, SetView, is_process_steps},
    error::{ConflictKind, Error as Refusal},
    view::View,
    viewer::Viewer,
};

use crate::{error::Error, session::Session};

/// The field in which a request names the session whose sets it wants.
const FIELD: &str = "/context_sets_from";

impl Session {
    /// The context sets that `viewer` sees here, for a new session with the agents `team`: each in its latest version,
    /// and for the same agents. Process Steps goes to the manager of the new team. Forms that wait for
    /// the user are left out. A set for an agent that the new team does not have is refused.
    pub async fn sets_for(&self, viewer: &Viewer, team: &[Agent]) -> Result<Vec<PutSet>, Error> {
        let seen = |view: View<'_>| {
            let whole = view.sets().filter_map(|set| match set {
                SetView::Whole(held) if !held.set.is_open_form() => Some(held.set.clone()),
                _ => None,
            });
            Ok(whole.collect::<Vec<_>>())
        };
        let sets = self.view(viewer, seen).await?;
        let mut copies = Vec::with_capacity(sets.len());
        for set in sets {
            let visible_to = audience(&set, team)?;
            let content = self.text(&set.content).await?;
            copies.push(PutSet { name: set.name.clone(), content, visible_to, enabled: Some(set.enabled) });
        }
        Ok(copies)
    }
}

/// Who is to see the copy of a set; `None` is the default.
fn audience(set: &ContextSet, team: &[Agent]) -> Result<Option<Audience>, Refusal> {
    let has_manager = team.iter().any(|agent| agent.role == AgentRole::Manager);
    if is_process_steps(&set.name) && has_manager {
        return Ok(None);
    }
    match set.visible_to.names().find(|name| team.iter().all(|agent| agent.name != **name)) {
        Some(name) => {
            let problem = format!(
                "the set {} is for the agent {name}, which the new team does not have: add it to the agents",
                set.name
            );
            Err(Refusal::contradicting(ConflictKind::NoAgent, FIELD, problem))
        }
        None => Ok(Some(set.visible_to.clone())),
    }
}
