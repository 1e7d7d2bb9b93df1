//! Leases: the server that drives the run of a session has a lease on it. Another server takes the run over only when the
//! lease has expired.
//!
//! The append in which a run begins, goes on or is taken over sets the lease. The append in which the run waits or ends
//! removes it. The lease says which server *should* drive; the epoch in the journal says which one *may*.

use std::time::Duration;

use callboard_core::{id::RunId, run::Status, state::State};
use callboard_store::{Lease, LeaseChange};

/// How long a lease lasts. It is renewed five times as often, so that one late renewal loses nothing.
pub const LEASE: Duration = Duration::from_secs(7);

/// What a change of the state does to the lease: the server that begins, continues or takes over a run gets it.
pub(crate) fn lease_change(before: &State, after: &State, lease: &Lease) -> LeaseChange {
    match (going_on(before), going_on(after)) {
        (before, after) if before == after => LeaseChange::Keep,
        (_, Some(_)) => LeaseChange::Set(lease.clone()),
        (_, None) => LeaseChange::Remove,
    }
}

/// The lease of a copied session: the first server that asks drives a run that is going on.
pub(crate) fn unheld_lease(state: &State) -> LeaseChange {
    if going_on(state).is_some() { LeaseChange::Set(Lease::unheld()) } else { LeaseChange::Remove }
}

/// The run that is going on, and its epoch.
fn going_on(state: &State) -> Option<(&RunId, u64)> {
    let run = state.runs.unfinished().filter(|run| run.status() == Status::Running)?;
    Some((&run.id, run.epoch))
}
