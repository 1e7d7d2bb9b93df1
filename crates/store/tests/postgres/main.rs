//! What Postgres must pass: the suite of all stores, the comparison with memory, and what is particular to a server.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests, their helpers too"
)]

mod fixture;

use fixture::Postgres;

callboard_store::conformance!(Postgres);
callboard_store::conformance_of_durable!(Postgres);
