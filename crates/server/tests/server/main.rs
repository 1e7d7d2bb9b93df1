//! The server over real HTTP: each resource by each actor, with the unhappy paths.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests")]

#[path = "../../../engine/tests/engine/faulty.rs"]
mod faulty;
mod fixtures;
mod pages;

mod as_given;
mod bad_input;
mod browser;
mod collections;
mod compression;
mod counting;
mod document;
mod documents;
mod elsewhere;
mod erasure;
mod everyone;
mod executions;
mod files;
mod gateway;
mod keyed;
mod local;
mod login;
mod mcp;
mod mcp_streams;
mod overview;
mod people;
mod pieces;
mod plan;
mod recall;
mod resources;
mod runs;
mod several;
mod shapes;
mod steps;
mod streams;
mod tasks;
mod threads;
mod timeline;
mod tools;
mod transfer;
mod turns;
mod variables;
mod words;
mod workflow;
