//! The engine, over real stores and over one that fails when it is told to.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod faulty;
mod fixture;

mod cached_messages;
mod call_secrets;
mod close;
mod collections;
mod cut_texts;
mod erasure;
mod expiry;
mod faults;
mod forks;
mod growth;
mod history;
mod message_ids;
mod prompts;
mod recall;
mod recall_collections;
mod recall_file;
mod recall_prompts;
mod recall_sight;
mod remembered;
mod reusable;
mod runs;
mod secrets;
mod sessions;
mod sight;
mod sizes;
mod snapshots;
mod streams;
mod vectors;
mod writers;
