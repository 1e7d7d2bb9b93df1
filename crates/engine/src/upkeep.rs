//! What keeps stored sessions right: expiry, leases, snapshots, and the check of a whole store.

pub(crate) mod archive;
pub(crate) mod check;
pub(crate) mod clock_trust;
pub(crate) mod expiry;
pub(crate) mod lease;
pub(crate) mod snapshot;
pub(crate) mod survey;
