//! The server over real HTTP: each resource by each actor, with the unhappy paths.

mod fixtures;

mod bad_input;
mod document;
mod everyone;
mod keyed;
mod people;
mod resources;
mod runs;
mod streams;
mod transfer;
