//! Which master key wraps the data keys of a store: a record, so that no other one is made or taken while that is missed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{error::Error, fact::Sentence, id::SessionId, idempotency::record};

/// From now on data keys are wrapped by this master key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MasterKeyUsed {
    /// What tells it from other keys. It says nothing of its bytes.
    pub id: Arc<str>,
}

/// Where it is recorded.
pub fn place() -> Result<SessionId, Error> {
    record::place_of("master keys")
}

const MASTER_KEY_USED: Sentence = |it| format!("data keys are wrapped by the master key {}", it.text("id"));
record::record_fact!(MasterKeyUsed, "master_key.used", MASTER_KEY_USED, "secrets", []);
