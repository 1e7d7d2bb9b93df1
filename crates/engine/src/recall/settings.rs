//! Where the indices of recall are, and what they may take.

use std::{path::PathBuf, sync::Arc, time::Duration};

/// Where the indices of recall are, and what they may take.
#[derive(Clone, Debug)]
pub struct RecallSettings {
    /// Their file, which can be deleted at any time; in memory where it is absent.
    pub file: Option<PathBuf>,
    /// What sets the sessions of this store apart in a file that several stores share.
    pub store: Arc<str>,
    /// How much of them is kept in memory at the most, in bytes.
    pub memory_bytes: u64,
    /// How long a question waits for what was written before it, at the most.
    pub patience: Duration,
    /// How long nothing must be written to a session before it is read in the background; absent, it is read only when
    /// somebody asks.
    pub quiet: Option<Duration>,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self {
            file: None,
            store: "".into(),
            memory_bytes: 64 << 20,
            patience: Duration::from_secs(2),
            quiet: Some(Duration::from_secs(1)),
        }
    }
}
