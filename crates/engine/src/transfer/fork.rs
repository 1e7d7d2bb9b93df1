//! Forks: a session whose journal is the beginning of another's.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Hash},
    error::ConflictKind,
    id::{Seq, SessionId},
    state::State,
};

use crate::{
    asker::end_copied_turns,
    board::Board,
    error::Error,
    session::Session,
    texts::stored_values,
    transfer::{create::exists, session_copy::SessionCopy},
};

/// How many entries are appended at once.
const AT_ONCE: usize = 8192;

impl Board {
    /// Creates a session whose journal is the first `at` entries of `session`, or all of them, with their long texts. An id in
    /// use is a conflict. Without an id, a free one is chosen.
    pub async fn fork(&self, session: &Session, at: Option<Seq>, id: Option<SessionId>) -> Result<Session, Error> {
        let state = match at {
            Some(seq) => session.state_at(seq).await?,
            None => session.state().await?,
        };
        let mut in_use = None;
        for id in self.ids(id) {
            match self.fork_to(session, &state, &id, false).await {
                Err(error) if error.is(ConflictKind::SessionExists) => in_use = Some(id),
                made => return made,
            }
        }
        Err(exists(in_use))
    }

    /// Continues a fork at entry `at` that was begun under this id and may have been interrupted. A complete fork is returned as
    /// it is, whatever was added to it since.
    pub async fn fork_again(&self, session: &Session, at: Seq, id: &SessionId) -> Result<Session, Error> {
        let state = session.state_at(at).await?;
        self.fork_to(session, &state, id, true).await
    }

    async fn fork_to(&self, session: &Session, state: &State, id: &SessionId, again: bool) -> Result<Session, Error> {
        let mut copy = SessionCopy::begin(self, id, state, again).await?;
        let copied = self.copy(session, state, &mut copy).await;
        copy.finish(copied).await?;
        let fork = self.session(id).await?;
        fork.take_key(session, state).await?;
        end_copied_turns(&fork, state).await;
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
            let values = self.values(session, &entries).await?;
            copy.append(entries, values).await?;
        }
        Ok(())
    }

    async fn values(&self, session: &Session, entries: &[Entry]) -> Result<Vec<(Hash, Arc<str>)>, Error> {
        let mut values = Vec::new();
        for hash in entries.iter().flat_map(stored_values) {
            // Something that only looks like a long text, for instance in metadata, has no value.
            let text = session.live.store.value(session.id(), hash).await?;
            values.extend(text.map(|text| (hash, text)));
        }
        Ok(values)
    }
}
