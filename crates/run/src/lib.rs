//! Runs that call models: the driver of teams and directors. And executions of workflows.
//!
//! [`callboard_core::run`] decides what comes next in a run; this crate does it. A [`Driver`] asks the models whose turn it is
//! until the run waits for somebody, is paused, or has ended. The same call resumes a run after a crash. An [`Executor`] executes the
//! nodes of a workflow.

mod compress;
mod driver;
mod error;
mod execute;
mod own;
mod room;
mod scout;
mod tool;
mod turn;

pub use compress::{Compressing, Compressor, Extent};
pub use driver::{Driver, Settings};
pub use error::Error;
pub use execute::Executor;
