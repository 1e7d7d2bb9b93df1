//! Callboard over HTTP: calls, event streams, WebSocket, access rights.
//!
//! A [`Server`] serves a board on a listener until it is told to stop. [`Local`] answers the same calls within the process.
//!
//! `resources/` has a file for each resource: each call with its right, its OpenAPI and what it does. [`openapi`] collects
//! the declarations. `problem.rs` gives errors their HTTP status.

mod error;
mod header;
mod prices;
mod public_url;
mod server_sent;
mod settings;

mod direct;
mod keyed_lock;
mod local;
mod serve;
mod tls;

mod app;
mod guard;
mod login;
mod openapi;
mod page;
mod router;

mod call_error;
mod cursor;
mod feed;
mod idempotency;
mod rights;
mod secret;

mod answer;
mod body;
mod caller;
mod json;
mod params;
mod problem;
mod received;
mod strict;
mod surrogates;
mod write_options;

mod call;

mod asking;
mod browsers;
mod drivers;
mod driving;
mod elsewhere;
mod executions;
mod files;
mod gateway;
mod mcp;
mod metrics;
mod resources;
mod watch;

pub use browsers::BrowserSettings;
pub use callboard_browser::{HostPort, Rules};
pub use callboard_mcp::Pieces;
pub use elsewhere::{Prefixes, embedder, passage_source};
pub use error::Error;
pub use local::{Drive, Local};
pub use openapi::openapi;
pub use prices::{Price, Prices};
pub use public_url::PublicUrl;
pub use secret::session_of;
pub use serve::Server;
pub use settings::{Limits, ProjectFolder, Settings, Tls};
