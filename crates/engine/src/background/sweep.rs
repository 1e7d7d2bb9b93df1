//! Sweeps: removing what has expired. First a session is archived, where that is asked for, and it is recorded when it
//! expired. So a sweep that is interrupted loses neither.

use std::{collections::HashSet, time::Duration};

use callboard_core::{id::SessionId, time::Timestamp};
use tokio::time::Instant;

use crate::{
    error::Error,
    expired::{is_unlisted, record},
    live::open::OpenSessions,
};

/// How many sessions one call removes: few, so that a large sweep delays nobody for long.
const AT_ONCE: usize = 50;

/// How long a sweep lasts at most, but for the archiving of its last sessions. The next one goes on.
const AT_MOST: Duration = Duration::from_secs(600);

/// Removes expired sessions and returns their ids. One that cannot be archived or recorded stays, and the log says why.
pub(crate) async fn sweep(board: &OpenSessions) -> Result<Vec<SessionId>, Error> {
    let (mut swept, mut stuck) = (Vec::new(), HashSet::new());
    let began = Instant::now();
    loop {
        let mut expired = board.store.expired(AT_ONCE + stuck.len()).await?;
        expired.retain(|(id, _)| !stuck.contains(id));
        let is_last = expired.len() < AT_ONCE;
        let mut ready = Vec::new();
        for (id, at) in expired {
            match prepare(board, &id, at).await {
                Ok(()) => ready.push(id),
                Err(error) => {
                    tracing::warn!(session = %id, %error, "an expired session is kept; trying again at the next sweep");
                    stuck.insert(id);
                }
            }
        }
        let gone = board.store.remove_expired(&ready).await?;
        for id in &gone {
            board.indices.remove(id).await;
        }
        stuck.extend(ready.into_iter().filter(|id| !gone.contains(id)));
        swept.extend(gone);
        if is_last || began.elapsed() > AT_MOST {
            return Ok(swept);
        }
    }
}

/// Does what has to be done before a session goes.
async fn prepare(board: &OpenSessions, id: &SessionId, at: Timestamp) -> Result<(), Error> {
    if is_unlisted(id) {
        return Ok(());
    }
    if let Some(archive) = &board.settings.archive {
        archive.keep(id).await?;
    }
    record(board, id, at).await
}
