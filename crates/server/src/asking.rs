//! This server as one that asks models for programs: others know that it does, and end its turns where it has died.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use callboard_core::state::State;
use callboard_engine::{Board, Error, Random as _, Session, SystemRandom};

use crate::metrics::{Counted, Gauge};

/// The shortest time between two notes that this server is there.
const SHORTEST: Duration = Duration::from_millis(200);

/// What this server asks models for programs.
pub(crate) struct Asking {
    board: Board,
    /// A name that no other server has, nor this one once it was started again.
    name: Arc<str>,
    open: Gauge,
    /// When it was last noted that this server is there, in milliseconds since 1970; long ago if it never was.
    noted: AtomicI64,
}

impl Asking {
    pub(crate) fn new(board: Board) -> Self {
        let name = format!("{:016x}", SystemRandom.next()).into();
        Self { board, name, open: Gauge::default(), noted: AtomicI64::new(i64::MIN) }
    }

    /// The name of this server in turns.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Begins a request. Others know from now on that this server is there. Nothing is asked of the store before half of
    /// the time has passed for which they know it.
    pub(crate) async fn begin(&self) -> Result<Counted, Error> {
        let asked = self.open.open();
        let passed = self.now().saturating_sub(self.noted.load(Ordering::Relaxed));
        let half = i64::try_from(self.board.settings().lease.lasts.as_millis() / 2).unwrap_or(i64::MAX);
        // Where the clock was set back, nothing is known.
        if !(0..half).contains(&passed) {
            self.note().await?;
        }
        Ok(asked)
    }

    /// Notes that this server is there.
    async fn note(&self) -> Result<(), Error> {
        let now = self.now();
        self.board.note_asker(&self.name).await?;
        self.noted.store(now, Ordering::Relaxed);
        Ok(())
    }

    fn now(&self) -> i64 {
        self.board.settings().clock.now().as_millis()
    }

    /// Whether the server with this name is another one that is there.
    pub(crate) async fn is_another(&self, name: &str) -> Result<bool, Error> {
        Ok(*name != *self.name && self.board.is_asking(name).await?)
    }

    /// Notes again and again that this server is there, while requests are open.
    pub(crate) async fn keep(&self) {
        loop {
            if self.open.now() > 0
                && let Err(error) = self.note().await
            {
                tracing::warn!(%error, "it could not be noted that this server asks models; trying again");
            }
            tokio::time::sleep((self.board.settings().lease.lasts / 5).max(SHORTEST)).await;
        }
    }

    /// Ends the turns of a session that nobody answers any more: those of servers that are gone, and this server's own where it answers
    /// nothing, such as one whose client hung up before the model was asked. Where that fails, the next call tries again.
    pub(crate) async fn settle(&self, session: &Session, state: &State) {
        // The state was read before: what is in it was begun by a request that was counted.
        let busy = (self.open.now() > 0).then_some(&*self.name);
        if let Err(error) = self.board.end_left_turns(session, state, busy).await {
            tracing::warn!(session = %session.id(), %error, "a turn whose server is gone could not be ended");
        }
    }
}

#[cfg(test)]
mod tests;
