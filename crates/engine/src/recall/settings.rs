//! Where the indices of recall are, and what they may take.

use std::{path::PathBuf, sync::Arc, time::Duration};

use super::elsewhere::{Embedder, PassageSource};

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
    /// The model that gives texts their vectors, if there is one.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The sources of passages elsewhere.
    pub sources: Vec<Arc<dyn PassageSource>>,
}

impl Default for RecallSettings {
    fn default() -> Self {
        Self {
            file: None,
            store: "".into(),
            memory_bytes: 64 << 20,
            patience: Duration::from_secs(2),
            quiet: Some(Duration::from_secs(1)),
            embedder: None,
            sources: Vec::new(),
        }
    }
}
