//! What is known of a session without reading its journal.

use callboard_core::{
    id::{Seq, SessionId},
    overview::LastEntry,
    session::Settings as SessionSettings,
    state::State,
    time::Timestamp,
};
use callboard_store::Row;

use crate::overview::Overview;

/// What is known of a session without reading its journal.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionInfo {
    /// Its name.
    pub id: SessionId,
    /// The number of its last entry.
    pub head: Seq,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last used.
    pub last_activity: Timestamp,
    /// When it expires; `None` is never.
    pub expires_at: Option<Timestamp>,
    /// Its agents.
    pub agents: Vec<callboard_core::agent::Agent>,
    /// Its settings.
    pub settings: SessionSettings,
    /// What is known of it at a glance.
    pub overview: Overview,
    /// Its last entry, where it was asked for.
    pub last: Option<LastEntry>,
}

impl SessionInfo {
    pub(crate) fn of(id: SessionId, state: &State, row: Row) -> Self {
        Self {
            id,
            head: state.head.seq,
            created_at: state.session.created_at,
            last_activity: row.last_activity,
            expires_at: row.expires_at,
            agents: state.team.agents().cloned().collect(),
            settings: state.session.settings.clone(),
            overview: Overview::of(state),
            last: None,
        }
    }
}
