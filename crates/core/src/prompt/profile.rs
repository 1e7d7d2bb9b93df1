//! Profiles.
use serde::{Deserialize, Serialize};
use crate::error::Error;
/// x
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Profile {}
impl Profile {
    /// x
    pub fn is_default(&self) -> bool { *self == Self::default() }
    /// x
    pub fn check(&self, _pointer: &str) -> Result<(), Error> { Ok(()) }
}
