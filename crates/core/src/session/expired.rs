//! What is kept of a session that expired: its id and the time, in a record.

use serde::{Deserialize, Serialize};

use crate::{
    entry::Hash, error::Error, fact::Sentence, id::SessionId, idempotency::record::record_fact, time::Timestamp,
};

/// A session expired.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expired {
    /// The session.
    pub session: SessionId,
    /// When.
    pub at: Timestamp,
}

/// What the names of these records begin with.
const PLACE: &str = "expired-";

/// Whether this may be the record of an expired session.
pub fn is_place(id: &SessionId) -> bool {
    id.as_str().strip_prefix(PLACE).is_some_and(|hash| hash.len() == 32)
}

/// Where it is recorded that a session expired.
pub fn place(session: &SessionId) -> Result<SessionId, Error> {
    let hash = Hash::of(session.as_str().as_bytes()).to_string();
    Ok(format!("{PLACE}{hash:.32}").parse()?)
}

const EXPIRED: Sentence = |_| "the session expired".to_owned();
record_fact!(Expired, "session.expired", EXPIRED, "session", []);
