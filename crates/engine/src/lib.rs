//! Live Callboard sessions: open, decide, append, publish, read.
//!
//! A [`Board`] keeps sessions in a store. A [`Session`] takes commands, whose entries are on disk before they are
//! answered, and gives prompts, histories and streams, each through the eyes of one viewer.

mod append;
mod board;
mod check;
mod error;
mod fork;
mod history;
mod info;
mod live;
mod problem;
mod prompt;
mod session;
mod settings;
mod snapshot;
mod subscribe;

pub use board::{Board, NewBoardSession};
pub use check::Checked;
pub use error::Error;
pub use history::{MessagePage, MessageQuery, MessageView};
pub use info::{PromptInfo, RunInfo, SetInfo, ThreadInfo};
pub use live::{Ephemeral, Receipt};
pub use problem::Problem;
pub use prompt::{PromptQuery, counter_of};
pub use session::{Session, SessionInfo};
pub use settings::{Random, Settings, SystemRandom};
pub use subscribe::{Filter, Subscription};

pub use callboard_core as core;
pub use callboard_store as store;
