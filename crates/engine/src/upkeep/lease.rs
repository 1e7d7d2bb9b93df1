//! Leases: whoever drives the run of a session has a lease on it, so that somebody else takes it up where that one has
//! died, and nobody does before.
//!
//! A lease begins in the append in which a run begins, goes on or is taken over, and ends in the one in which it waits or
//! has ended. It says who *should* drive; who *may* is said by the epoch in the journal.

use std::time::Duration;

use callboard_core::{id::RunId, run::Status, state::State};
use callboard_store::{Lease, Work};

/// For how long a lease lasts by itself. It is renewed five times as often, so that a bad moment loses none.
pub const LEASE: Duration = Duration::from_secs(7);

/// What becomes of the work in a session: whoever begins a run, lets it go on or takes it over has the lease.
pub(crate) fn work(before: &State, after: &State, lease: &Lease) -> Work {
    match (going_on(before), going_on(after)) {
        (before, after) if before == after => Work::AsBefore,
        (_, Some(_)) => Work::Due(lease.clone()),
        (_, None) => Work::Done,
    }
}

/// What is to become of the work in a session that is copied: a run that goes on is for whoever asks first.
pub(crate) fn work_of_nobody(state: &State) -> Work {
    if going_on(state).is_some() { Work::Due(Lease::of_nobody()) } else { Work::Done }
}

/// The run that goes on, and under which epoch.
fn going_on(state: &State) -> Option<(&RunId, u64)> {
    let run = state.runs.unfinished().filter(|run| run.status() == Status::Running)?;
    Some((&run.id, run.epoch))
}
