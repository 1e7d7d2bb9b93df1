//! Context files: notes of an agent for the agents to which it delegates. Each session has a folder for them.
//!
//! ```text
//! .tmp/sessions/20250118-143022-a4f2/.manifest.json
//!                                    features/user-auth-context.md
//!                                    tasks/user-auth-tasks.md
//! ```
//!
//! Many processes share these folders without a server. The manifest is the truth: it lists every file of the session with
//! the keywords by which agents find it. Four rules make sharing safe:
//!
//! - A process that changes a session locks its folder. The system releases the lock when the process ends in any way.
//! - A file is written under a temporary name and flushed, then renamed. So nobody sees half of it.
//! - The manifest lists a file before the file exists. So everything that a killed process leaves behind can be cleaned up.
//! - Folders are opened one by one, each within its parent, and no symbolic link is followed. So nothing outside is read,
//!   written or deleted, even while somebody replaces folders by links.
//!
//! This crate reads no clock, no random numbers and no environment. Callers pass these in.

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

pub use callboard_core::{
    file::{Category, FoundFile, Keyword, Match, Recipient, TaskName},
    tool::file::{AddFile as NewFile, FindFiles as FileQuery},
};

pub use crate::{
    check::FolderProblem,
    clean::{Cleaned, Kept},
    delegation::{Advice, Task, message, should_create},
    disk::Stamp,
    document::{Parts, Template},
    error::Error,
    manifest::{Entry, Manifest},
    path::ContextPath,
    project::{Project, SESSIONS},
    search::{FoundAnywhere, Skipped},
    session::Session,
};

/// A text for the rules of a coding agent, which explains these files to it.
pub const INSTRUCTIONS: &str = include_str!("instructions.md");
