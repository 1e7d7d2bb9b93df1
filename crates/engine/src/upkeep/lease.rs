//! Leases: the server that drives the run of a session, or executes its workflow, has a lease on it. Another server takes the run over only when the
//! lease has expired.
//!
//! The append in which a run begins, goes on or is taken over sets the lease. The append in which the run waits or ends
//! removes it. The lease says which server *should* drive; the epoch in the journal says which one *may*.

use std::time::Duration;

use callboard_core::{
    id::{ExecutionId, RunId},
    run::Status,
    state::State,
};
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

/// What is going on: a run in its epoch, an execution of the workflow, or both.
#[derive(PartialEq, Eq)]
struct GoingOn<'a> {
    run: Option<(&'a RunId, u64)>,
    execution: Option<&'a ExecutionId>,
}

fn going_on(state: &State) -> Option<GoingOn<'_>> {
    let run = state.runs.unfinished().filter(|run| run.status() == Status::Running);
    let run = run.map(|run| (&run.id, run.epoch));
    let execution = state.workflow.at_work().map(|execution| &execution.id);
    (run.is_some() || execution.is_some()).then_some(GoingOn { run, execution })
}
