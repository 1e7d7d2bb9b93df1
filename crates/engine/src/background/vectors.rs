//! Giving passages their vectors in the background.

use std::sync::Weak;

use tokio::time::{sleep, timeout};

use crate::{live::open::OpenSessions, lock::lock, recall::vectors::REST};

/// Gives passages their vectors, as long as the board is there.
pub(super) async fn keep_filled(board: Weak<OpenSessions>) {
    loop {
        let Some(open) = board.upgrade() else { return };
        let indices = open.indices.clone();
        let Some(id) = lock(&indices.vectors.wanting).pop_first() else {
            let vectors = indices.vectors.clone();
            drop((open, indices));
            // The board may go meanwhile.
            let _ = timeout(REST, vectors.wanted.notified()).await;
            continue;
        };
        // A question brings the session back into memory, and wants them again.
        if open.alive(&id).is_none() {
            continue;
        }
        drop(open);
        match indices.fill(&id).await {
            Ok(true) => {}
            Ok(false) => {
                indices.vectors.want(&id);
                drop(indices);
                sleep(REST).await;
            }
            // A question wants them again.
            Err(error) => tracing::debug!(session = %id, %error, "passages of a session got no vectors"),
        }
    }
}
