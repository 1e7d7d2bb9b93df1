//! A real browser: Chromium over the DevTools protocol, with named tabs, a live state, snapshots and actions.
//!
//! A [`Browser`] starts Chromium, or attaches to a running one ([`Settings`]). Its tabs have names that callers give;
//! what is in them is known from DevTools events ([`Browser::tabs`], [`Browser::changes`]). Pages are read as bounded
//! text ([`Browser::snapshot`], [`Browser::look`]) with selectors that [`Browser::act`] takes.
//!
//! The only way out of a started Chromium is a forward proxy in this process, which resolves each name, checks each address
//! against [`Rules`] and connects to that very address. An attached browser has no such guard: only the addresses
//! that callers open are checked.
//!
//! What comes from a page is data: nothing in it is interpreted, and secrets are hidden in all of it ([`Settings::mask`]).

mod actions;
mod browser;
mod chromium;
mod devtools;
mod dialogs;
mod error;
mod keys;
mod look;
mod mask;
mod navigate;
mod page;
mod proxy;
mod query;
mod rules;
mod screenshot;
mod selectors;
mod settings;
mod snapshot;
mod tabs;
mod watch;

pub use actions::{Action, Piece, Secret, WaitFor};
pub use browser::{Browser, BrowserStatus};
pub use dialogs::{DialogKind, Notice};
pub use error::BrowserError;
pub use look::{Control, Look, LooksLike, PageForm};
pub use mask::MaskFn;
pub use navigate::Arrived;
pub use query::{QueryField, Taken, Wanted};
pub use rules::{HostPort, ReservedPorts, Rules};
pub use screenshot::Screenshot;
pub use settings::{Limits, Profile, Settings, Timeouts, Way};
pub use snapshot::{PageSnapshot, SnapshotLimits, TokenLimit};
pub use tabs::{BrowserChange, TabState};
