//! Callboard as a server of the [Model Context Protocol](https://modelcontextprotocol.io).
//!
//! What it offers is what the API offers: each tool, resource and prompt is a call of it, made with the rights of whoever
//! asks. So a call by MCP has the same effect, and the same refusal, as over HTTP. [`Door`] answers clients that come over
//! HTTP, [`serve_stdio`] one that started this process.

mod api;
mod call;
mod connections;
mod door;
mod extra;
mod form;
mod offer;
mod place;
mod prompts;
mod resources;
mod server;
mod tools;
mod watch;

pub use self::{
    api::{Api, Pieces},
    call::{Scope, escaped},
    connections::Connections,
    door::Door,
    offer::Offer,
    server::{Server, serve_stdio},
};
