//! Who may do what. What one may not is refused before anything is looked up, whatever it names.

use crate::{deciding::Deciding, entry::Actor, error::Error, session::Grant, state::State};

/// Lets the user and the manager through.
pub(crate) fn in_charge(deciding: &Deciding<'_>, what: &'static str) -> Result<(), Error> {
    if is_in_charge(&deciding.state, &deciding.by) {
        return Ok(());
    }
    Err(forbidden(&deciding.by, what, "ask the manager or the user"))
}

/// Lets the user through.
pub(crate) fn user(deciding: &Deciding<'_>, what: &'static str) -> Result<(), Error> {
    match &deciding.by {
        Actor::User | Actor::System => Ok(()),
        Actor::Agent(_) => Err(forbidden(&deciding.by, what, "ask the user")),
    }
}

/// Lets Callboard itself through: what only the driver of a run does.
pub(crate) fn system(deciding: &Deciding<'_>, what: &'static str) -> Result<(), Error> {
    match &deciding.by {
        Actor::System => Ok(()),
        by => Err(forbidden(by, what, "only the driver of the run does")),
    }
}

/// Lets through who may write context sets: the user, the manager, and workers where the session grants it.
pub(crate) fn write_sets(deciding: &Deciding<'_>) -> Result<(), Error> {
    if deciding.state.session.settings.grant.contains(&Grant::ContextSets) {
        return Ok(());
    }
    in_charge(deciding, "write context sets")
}

/// Whether whoever asks is a worker: neither the user nor the manager.
pub(crate) fn is_worker(deciding: &Deciding<'_>) -> bool {
    !is_in_charge(&deciding.state, &deciding.by)
}

fn forbidden(by: &Actor, what: &'static str, hint: &'static str) -> Error {
    Error::Forbidden { who: by.to_string(), what, hint }
}

/// Whether `actor` may do what is for the user and the manager only.
fn is_in_charge(state: &State, actor: &Actor) -> bool {
    match actor {
        Actor::User | Actor::System => true,
        Actor::Agent(name) => state.team.manager().is_some_and(|manager| manager.name == *name),
    }
}
