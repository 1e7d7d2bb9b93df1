//! Runs that call models: the driver of a team.
//!
//! What comes next in a run is a rule of [`callboard_core::run`]; this crate does it. A [`Driver`] asks the models whose
//! turn it is until the run waits for somebody, is held, or has ended. Picking up a run after a crash is the same call.

mod driver;
mod error;
mod tool;
mod turn;

pub use driver::{Driver, Settings};
pub use error::Error;
