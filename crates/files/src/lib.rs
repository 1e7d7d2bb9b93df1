//! Context files: what an agent writes down for those to whom it delegates, in a folder a session.
//!
//! ```text
//! .tmp/sessions/20250118-143022-a4f2/.manifest.json
//!                                    features/user-auth-context.md
//!                                    tasks/user-auth-tasks.md
//! ```
//!
//! Many processes share these folders without a server. The manifest is the truth: it lists every file that belongs to
//! the session, with the keywords under which agents find it. Four rules keep that harmless:
//!
//! - Whoever changes a session has its folder locked. The system lifts the lock when a process ends, by any means.
//! - What is written is written beside and flushed, then renamed: nobody ever sees half of it.
//! - The manifest names a file before it is there. So whatever a process that is killed leaves behind can be cleaned up.
//! - Folders are opened one by one, each in the one above, and no symbolic link is followed. So nothing outside is
//!   read, written or deleted, also while somebody replaces folders by links.
//!
//! Nothing here asks for the time, for random numbers or for the environment: whoever calls passes them in.

mod check;
mod clean;
mod delegation;
mod disk;
mod document;
mod error;
mod manifest;
mod path;
mod project;
mod search;
mod session;

pub use callboard_core::file::{Category, Keyword, Match, Recipient, TaskName};

pub use crate::{
    check::Problem,
    clean::{Cleaned, Kept},
    delegation::{Advice, Task, message, should_create},
    disk::Stamp,
    document::{Parts, Template},
    error::Error,
    manifest::{Entry, Manifest},
    path::ContextPath,
    project::{Project, SESSIONS},
    search::{Found, FoundAnywhere, Query, Skipped},
    session::{NewFile, Session},
};

/// A text that a user pastes into the rules of a coding agent, so that it works with these files.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");
