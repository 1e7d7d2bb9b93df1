//! Why a run could not be driven.

/// Why a run could not be driven further. The run stays as recorded in the journal, and can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A call of the engine failed.
    #[error(transparent)]
    Engine(#[from] callboard_engine::Error),
    /// Another driver has taken the run over.
    #[error("the run was taken over by another driver")]
    TakenOver,
    /// The run ended while its model was asked.
    #[error("the run ended meanwhile")]
    Ended,
}
