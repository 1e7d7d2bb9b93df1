//! Following which sessions there are, and how they are.

use std::{sync::Arc, time::Duration};

use callboard_core::id::SessionId;
use tokio::{sync::broadcast, time::Instant};

use crate::{board::Board, error::Error, expired::is_unlisted, live::changes::next_changes, session_info::SessionInfo};

/// The changes of a board's sessions, by whomever they are made.
pub struct SessionChanges {
    board: Board,
    changes: broadcast::Receiver<SessionId>,
    /// When to look again at the earliest.
    due: Instant,
}

/// What became of a session.
#[derive(Clone, Debug)]
pub enum SessionChange {
    /// It is new, or it was changed or used; this is what a list says of it now.
    Is(Arc<SessionInfo>),
    /// It was deleted, it expired, or it cannot be read.
    Gone(SessionId),
    /// Too much changed at once: whoever needs to know of all sessions reads the list again.
    Any,
}

/// The least time between two looks at the sessions. What changes within it is read once.
const APART: Duration = Duration::from_millis(50);

/// Reading changed sessions takes at most one part in so many of the time.
const SHARE: u32 = 4;

impl Board {
    /// Follows which sessions are made, changed, used and gone from now on.
    pub fn follow_sessions(&self) -> SessionChanges {
        SessionChanges { board: self.clone(), changes: self.store().watch(), due: Instant::now() }
    }
}

impl SessionChanges {
    /// What changed since the last call (at first: since this was made), as soon as anything has; `None` once the store is
    /// closed. To be told of a session is no use of it.
    pub async fn next(&mut self) -> Result<Option<Vec<SessionChange>>, Error> {
        loop {
            tokio::time::sleep_until(self.due).await;
            let Some(changed) = next_changes(&mut self.changes, false).await else { return Ok(None) };
            let begun = Instant::now();
            let mut all = Vec::new();
            if changed.all {
                all.push(SessionChange::Any);
            } else {
                for id in changed.sessions.into_iter().filter(|id| !is_unlisted(id)) {
                    all.push(match self.board.listed_now(&id).await? {
                        Some(info) => SessionChange::Is(info),
                        None => SessionChange::Gone(id),
                    });
                }
            }
            self.due = Instant::now() + APART.max(begun.elapsed() * (SHARE - 1));
            if !all.is_empty() {
                return Ok(Some(all));
            }
        }
    }
}
