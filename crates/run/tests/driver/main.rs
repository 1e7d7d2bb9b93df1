//! The driver of runs, with real sessions, and models that answer from a script over real HTTP.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../../engine/tests/engine/faulty.rs"]
mod faulty;
mod fixture;
#[path = "../../../prompt/tests/invariants/rules.rs"]
#[allow(dead_code, reason = "no run asks for responses")]
mod rules;
#[path = "../../../prompt/tests/invariants/rules_of_claude.rs"]
mod rules_of_claude;

mod compression;
mod course;
mod director;
mod interruptions;
mod providers;
mod recovery;
mod steps;
mod tools;
mod trouble;
