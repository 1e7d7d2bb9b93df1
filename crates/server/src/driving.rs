//! The work of sessions that a server takes up, and what it does that with.

use std::sync::Arc;

use callboard_engine::Board;
use callboard_model::ChatModel;
use callboard_tasks::Supervisor;
use tokio_util::sync::CancellationToken;

/// Which runs a server drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driving {
    /// All running ones that no other server drives.
    All,
    /// Only those that are started or resumed here.
    Started,
    /// None: other servers drive them.
    None,
}

/// The most abandoned runs that are taken over in one call, so that several servers share them.
pub(crate) const TAKEN_AT_ONCE: usize = 16;

/// What runs are driven and workflows are executed with.
pub(crate) struct Means {
    pub(crate) board: Board,
    pub(crate) models: Arc<dyn ChatModel>,
    pub(crate) settings: callboard_run::Settings,
    pub(crate) driving: Driving,
    /// Cancelled once the server is closing.
    pub(crate) closing: CancellationToken,
}

impl Means {
    /// Whether nothing is begun here, or not any more.
    pub(crate) fn is_idle(&self) -> bool {
        self.driving == Driving::None || self.closing.is_cancelled()
    }

    pub(crate) fn supervisor(&self) -> &Supervisor {
        &self.board.settings().supervisor
    }
}
