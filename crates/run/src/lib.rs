//! Runs that call models: the driver of a team.
//!
//! [`callboard_core::run`] decides what comes next in a run; this crate does it. A [`Driver`] asks the models whose turn it is
//! until the run waits for somebody, is paused, or has ended. The same call resumes a run after a crash.

mod compress;
mod driver;
mod error;
mod own;
mod room;
mod tool;
mod turn;

pub use compress::{Compressing, Compression, Compressor};
pub use driver::{Driver, Settings};
pub use error::Error;
