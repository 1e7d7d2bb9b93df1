//! Callboard over HTTP: every call, event streams, WebSocket, who may do what.
//!
//! [`serve`] takes a board and a listener and serves until it is told to stop; [`Local`] answers the same calls within the
//! process, for who has the board at hand. What can be called is declared where it
//! is answered, in `controllers/RESOURCE.rs`; [`openapi`] puts the declarations together. Before a call looks
//! anything up, `rights` says whether its caller may make it, and whatever goes wrong leaves as a `problem`.

mod error;
mod settings;

mod local;
mod serve;
mod tls;
mod turns;

mod app;
mod guard;
mod openapi;
mod router;

mod calls;
mod secret;

mod answer;
mod body;
mod caller;
mod json;
mod params;
mod problem;
mod strict;
mod write_options;

mod controllers;
mod drivers;
mod files;
mod masking;
mod metrics;

pub use error::Error;
pub use local::{Drive, Local, Pieces};
pub use openapi::openapi;
pub use serve::{Server, serve};
pub use settings::{Limits, ProjectFolder, Settings, Tls};
