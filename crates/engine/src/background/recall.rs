//! Reading sessions in the background, once nothing was written to them for a moment: so appends never wait for an index, and
//! questions seldom do.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
    time::Duration,
};

use callboard_core::{id::SessionId, idempotency::record};
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, sleep, timeout_at},
};

use crate::{live::open::OpenSessions, recall::Indices};

/// How often is looked whether a session is quiet.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How many pages are read before others are let through.
const PAGES_AT_ONCE: usize = 1;

/// How many times as long as it works it rests while others write.
const RESTS: u32 = 19;

/// A session to which is written without a pause is read after so long all the same.
const AT_LATEST: Duration = Duration::from_secs(30);

/// How often is looked for sessions that have gone, at the least.
const LOOK_FOR_GONE: Duration = Duration::from_secs(60);

/// How many sessions in the file are looked for in the store at once.
const LOOKED_FOR: usize = 100;

/// When something was first and last written to a session since it was read.
struct Written {
    first: Instant,
    last: Instant,
}

/// Follows what is written, as long as the board is there.
pub(super) async fn read_quiet(
    board: Weak<OpenSessions>,
    changes: Option<broadcast::Receiver<SessionId>>,
    quiet: Duration,
) {
    let Some(mut changes) = changes.or_else(|| board.upgrade().map(|board| board.store.watch())) else { return };
    let mut written: HashMap<SessionId, Written> = HashMap::new();
    // What has gone while no board was there is found at once.
    let (mut looked, mut at) = (None::<Instant>, 0);
    loop {
        if !hear(&mut changes, &mut written).await {
            return;
        }
        let Some(board) = board.upgrade() else { return };
        let indices = board.indices.clone();
        let idle = board.settings.idle;
        drop(board);
        let is_due = |it: &Written| it.last.elapsed() >= quiet || it.first.elapsed() >= AT_LATEST;
        let due = written.iter().find(|(_, it)| is_due(it)).map(|(id, _)| id.clone());
        if let Some(id) = due {
            let began = Instant::now();
            if read_on(&indices, &id).await {
                written.remove(&id);
            }
            if !written.is_empty() {
                sleep(began.elapsed() * RESTS).await;
            }
        }
        if looked.is_none_or(|looked| looked.elapsed() >= idle.min(LOOK_FOR_GONE)) {
            looked = Some(Instant::now());
            at = forget_gone(&indices, at).await;
        }
    }
}

/// Takes in what is written until it is time to look; false once the store is closed.
async fn hear(changes: &mut broadcast::Receiver<SessionId>, written: &mut HashMap<SessionId, Written>) -> bool {
    let until = Instant::now() + LOOK_EVERY;
    loop {
        match timeout_at(until, changes.recv()).await {
            // The record of a keyed request is no session.
            Ok(Ok(id)) if record::is_place(&id) => {}
            Ok(Ok(id)) => {
                let now = Instant::now();
                written.entry(id).or_insert(Written { first: now, last: now }).last = now;
            }
            // A question reads what was missed here.
            Ok(Err(RecvError::Lagged(_))) => {}
            Ok(Err(RecvError::Closed)) => return false,
            Err(_) => return true,
        }
    }
}

/// Reads a session on. Says whether all of it is read.
async fn read_on(indices: &Arc<Indices>, id: &SessionId) -> bool {
    let read = async {
        let Some(row) = indices.store.row(id).await? else {
            indices.remove(id).await;
            return Ok(true);
        };
        Ok(indices.follow(id, row.head, PAGES_AT_ONCE).await? >= row.head.seq)
    };
    read.await.unwrap_or_else(|error: crate::error::Error| {
        tracing::debug!(session = %id, %error, "a session could not be read for recall");
        true
    })
}

/// Removes what is in the file of sessions that have gone, some at a time. Returns where to go on.
async fn forget_gone(indices: &Arc<Indices>, at: usize) -> usize {
    let sessions = indices.sessions().await;
    for id in sessions.iter().skip(at).take(LOOKED_FOR) {
        if matches!(indices.store.row(id).await, Ok(None)) {
            indices.remove(id).await;
        }
    }
    if sessions.len() > at + LOOKED_FOR { at + LOOKED_FOR } else { 0 }
}
