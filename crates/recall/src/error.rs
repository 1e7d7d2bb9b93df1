//! What can go wrong with an index. None of it is lost: an index is made from the journals again.

use thiserror::Error;

/// Why an index cannot be read or written.
#[derive(Debug, Error)]
pub enum Error {
    /// What stands in the file is not what was written.
    #[error("the recall index is damaged: {detail}")]
    Damaged {
        /// What is wrong.
        detail: String,
    },
    /// The file cannot be read or written.
    #[error("the recall index cannot be read or written: {source}")]
    File {
        /// What the database says.
        #[from]
        source: rusqlite::Error,
    },
    /// A damaged file cannot be removed.
    #[error("the damaged recall index cannot be removed; remove it yourself: {source}")]
    Remove {
        /// What the system says.
        source: std::io::Error,
    },
    /// Another process has written the index since it was read.
    #[error("another process has written the recall index meanwhile; read it again")]
    Stale,
}

impl Error {
    pub(crate) fn damaged(detail: impl Into<String>) -> Self {
        Self::Damaged { detail: detail.into() }
    }
}
