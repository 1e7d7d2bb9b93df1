//! The masks of a session: one for texts, and one for names.

use std::sync::Arc;

use super::{
    layer::{Hidden, TooMany},
    mask::Mask,
};

/// How many bytes the beginnings of all forms of the values have at most that were found in calls. A tool may give new ones each time
/// that it is called: those for which there is no room are hidden in their places alone.
const MOST_OF_CALLS: usize = 8 * 1024 * 1024;

/// What finds the secrets of a session.
#[derive(Clone, Default)]
pub(crate) struct Masks {
    /// Finds all of them.
    pub(crate) all: Arc<Mask>,
    /// Finds those that were not found in calls. Names are searched for these alone: in calls any word may stand under a key that says
    /// that it is a secret, also one that is a name, such as `{"token": "claude-sonnet-4-5"}`.
    pub(crate) names: Arc<Mask>,
    /// Finds those that were found in calls, as far as there is room for them.
    calls: Mask,
}

impl Masks {
    /// Masks that hide these values too: those that were found in `calls`, as far as there is room, and the `others`, which are refused
    /// where there is none.
    pub(crate) fn with(
        &self,
        others: impl IntoIterator<Item = Arc<Hidden>>,
        calls: impl IntoIterator<Item = Arc<Hidden>>,
    ) -> Result<Self, TooMany> {
        let (names, calls) = (self.names.with(others)?, self.calls.with_some(MOST_OF_CALLS, calls));
        Ok(Self { all: Arc::new(names.and(&calls)), names: Arc::new(names), calls })
    }
}
