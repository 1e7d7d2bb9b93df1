//! What everyone who sees a thread may see besides it.

use callboard_core::{audience::Audience, json::text_of, rights::Share, state::State, text::INLINE_BYTES};

/// The plan, as JSON, if everyone in `audience` may see it.
pub(super) fn plan_for(state: &State, audience: &Audience) -> Option<String> {
    let held = state.plan.as_ref().filter(|_| is_for(state, Share::Plan, audience))?;
    Some(text_of(&held.plan))
}

/// The workflow, as JSON, if everyone in `audience` may see it. Of a long one the configuration is left out.
pub(super) fn workflow_for(state: &State, audience: &Audience) -> Option<String> {
    let workflow = Some(&state.workflow).filter(|workflow| !workflow.nodes.is_empty());
    let workflow = workflow.filter(|_| is_for(state, Share::Workflow, audience))?;
    let pieces = workflow.pieces(&state.session);
    let whole = pieces.snapshot(usize::MAX, 0);
    let is_long = whole.json.len() > INLINE_BYTES;
    Some(if is_long { pieces.snapshot(0, usize::MAX).json } else { whole.json })
}

/// The variables, each in one line, if everyone in `audience` may see them.
pub(super) fn variables_for<'a>(state: &'a State, audience: &Audience) -> impl Iterator<Item = String> + 'a {
    let is_shown = is_for(state, Share::Variables, audience);
    state.variables.iter().filter(move |_| is_shown).map(|variable| format!("{} = {}", variable.name, variable.display))
}

/// Whether everyone in `audience` may see it who is in the team today: a manager that is alone is told of its plan also in a
/// thread that those who join later will see.
fn is_for(state: &State, share: Share, audience: &Audience) -> bool {
    state.audience_of(share).covers(&audience.among(state.team.names()))
}
