//! Forks: a session whose journal is the beginning of another's.

use callboard_core::{
    id::{Seq, SessionId},
    state::State,
};

use crate::{
    asker::end_copied_turns,
    board::Board,
    error::Error,
    session::Session,
    texts::{stored_values, there},
    transfer::session_copy::SessionCopy,
};

/// How many entries are appended at once.
const AT_ONCE: usize = 8192;

impl Board {
    /// Creates a session whose journal is the first `at` entries of `session`, or all of them, with their long texts. An id in
    /// use is a conflict. With `again` a fork that was begun under this id, and may have been interrupted, is continued; a
    /// complete one is returned as it is, whatever was added to it since.
    pub async fn fork(
        &self,
        session: &Session,
        at: Option<Seq>,
        id: &SessionId,
        again: bool,
    ) -> Result<Session, Error> {
        let state = match at {
            Some(seq) => session.state_at(seq).await?,
            None => session.state().await?,
        };
        let mut copy = SessionCopy::begin(self, id, &state, again).await?;
        let copied = self.copy(session, &state, &mut copy).await;
        let is_new = copy.finish(copied).await?;
        let fork = self.session(id).await?;
        fork.take_key(session, &state).await?;
        // What was there before may be the session in which they were begun.
        if is_new {
            end_copied_turns(&fork, &state).await;
        }
        Ok(fork)
    }

    /// Copies the missing entries of `session` up to `state`.
    async fn copy(&self, session: &Session, state: &State, copy: &mut SessionCopy<'_>) -> Result<(), Error> {
        while !copy.is_whole() {
            let entries = session.page(copy.head.seq, state.head.seq, AT_ONCE).await?;
            if entries.is_empty() {
                return Err(session.live.gone());
            }
            session.live.confirm(state).await?;
            let hashes = entries.iter().flat_map(stored_values).collect();
            let values = there(&*session.live.store, session.id(), hashes).await?;
            copy.append(entries, values.into_iter().collect()).await?;
        }
        Ok(())
    }
}
