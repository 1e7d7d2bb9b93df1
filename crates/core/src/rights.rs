//! Rights. A caller without the right is refused before anything is looked up, whatever it names.

use crate::{decision::DecisionBuilder, entry::Actor, error::Error, session::Grant, state::State};

/// Allows the user and the manager.
pub(crate) fn in_charge(decision: &DecisionBuilder<'_>, what: &'static str) -> Result<(), Error> {
    if is_in_charge(&decision.state, &decision.by) {
        return Ok(());
    }
    Err(forbidden(&decision.by, what, "ask the manager or the user"))
}

/// Allows the user.
pub(crate) fn user(decision: &DecisionBuilder<'_>, what: &'static str) -> Result<(), Error> {
    match &decision.by {
        Actor::User | Actor::System => Ok(()),
        Actor::Agent(_) => Err(forbidden(&decision.by, what, "ask the user")),
    }
}

/// Allows Callboard itself: the driver of a run.
pub(crate) fn system(decision: &DecisionBuilder<'_>, what: &'static str) -> Result<(), Error> {
    match &decision.by {
        Actor::System => Ok(()),
        by => Err(forbidden(by, what, "only the driver of the run does")),
    }
}

/// Allows who may write context sets: the user, the manager, and workers if the session grants it.
pub(crate) fn write_sets(decision: &DecisionBuilder<'_>) -> Result<(), Error> {
    if decision.state.session.settings.grant.contains(&Grant::ContextSets) {
        return Ok(());
    }
    in_charge(decision, "write context sets")
}

/// Allows who may write documents: the user, the manager, and workers if the session grants it.
pub(crate) fn write_documents(decision: &DecisionBuilder<'_>) -> Result<(), Error> {
    if decision.state.session.settings.grant.contains(&Grant::Documents) {
        return Ok(());
    }
    in_charge(decision, "write documents")
}

/// Whether the caller is a worker: neither the user nor the manager.
pub(crate) fn is_worker(decision: &DecisionBuilder<'_>) -> bool {
    !is_in_charge(&decision.state, &decision.by)
}

fn forbidden(by: &Actor, what: &'static str, hint: &'static str) -> Error {
    Error::Forbidden { who: by.to_string(), what, hint }
}

/// Whether `actor` has the rights of the user or the manager.
fn is_in_charge(state: &State, actor: &Actor) -> bool {
    match actor {
        Actor::User | Actor::System => true,
        Actor::Agent(name) => state.team.manager().is_some_and(|manager| manager.name == *name),
    }
}
