//! Every store passes the same suite.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests, their helpers too"
)]

#[allow(dead_code, reason = "shared with the other suites")]
mod fixtures;

mod memory {
    use super::fixtures::Memory;

    callboard_store::conformance!(Memory);
}

mod sqlite {
    use super::fixtures::Sqlite;

    callboard_store::conformance!(Sqlite);
    callboard_store::conformance_of_durable!(Sqlite);
}
