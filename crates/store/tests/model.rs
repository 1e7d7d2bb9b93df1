//! Random commands, given to a store and to the one in memory: every answer is the same.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "these are tests, their helpers too"
)]

#[allow(dead_code, reason = "shared with the other suites")]
mod fixtures;
mod model_of;

macro_rules! behaves_like_memory {
    ($name:ident, $fixture:ty) => {
        proptest::proptest! {
            #![proptest_config(model_of::config())]
            #[test]
            fn $name(commands in proptest::collection::vec(model_of::command(), 1..60)) {
                model_of::compare::<$fixture>(1, commands);
            }
        }
    };
}

behaves_like_memory!(sqlite_behaves_like_memory, fixtures::Sqlite);
