//! The promises of `core`, held against random sessions. Each test is named after the invariant that it guards.
//! `PROPTEST_CASES=2000 cargo test -p callboard-core --test invariants` looks further than every test run does.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "in tests a surprise is a failure")]

mod anthropic;
mod budget;
mod compression;
mod cut;
mod directive;
mod filled;
mod folding;
mod hiding;
mod kept;
mod pieces;
mod plan;
mod providers;
mod recall;
mod rules;
mod rules_of_claude;
mod shapes;
mod sight;
mod speakers;
mod story;
mod texts;
mod workflow;

/// As many cases as `PROPTEST_CASES` says, or else `few`.
fn cases(few: u32) -> proptest::test_runner::Config {
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => proptest::test_runner::Config::default(),
        None => proptest::test_runner::Config::with_cases(few),
    }
}
