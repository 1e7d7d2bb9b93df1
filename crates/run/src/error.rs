//! Why a run could not be driven.

/// Why a run could not be driven on. The run itself is as its journal says, and can be picked up again.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine did not take or give what the run needs.
    #[error(transparent)]
    Engine(#[from] callboard_engine::Error),
    /// Another driver has taken the run over.
    #[error("the run was taken over by another driver")]
    TakenOver,
    /// The run ended while its model was asked.
    #[error("the run ended meanwhile")]
    Ended,
}
