//! Forks: a session whose journal is the beginning of another's.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    state::State,
};
use callboard_store::{Append, Work};

use crate::{
    Board, Error, Session,
    append::append_surely,
    create::{exists, is_in_use},
    expiry,
    texts::stored,
};

/// How many entries are appended at once. A shorter fork is made whole or not at all.
const AT_ONCE: usize = 8192;

impl Board {
    /// Makes a session whose journal is the first `at` entries of `session`, or all of them, with the long texts that
    /// they speak of. An id in use is a conflict; where none is given, one is found that nobody has.
    pub async fn fork(&self, session: &Session, at: Option<Seq>, id: Option<SessionId>) -> Result<Session, Error> {
        let state = match at {
            Some(seq) => session.state_at(seq).await?,
            None => session.state().await?,
        };
        let mut in_use = None;
        for id in self.ids(id) {
            let mut head = Head::default();
            match self.copy(session, &state, &id, &mut head).await {
                Ok(()) => return self.session(&id).await,
                Err(error) if is_in_use(&error) && head.seq == Seq::ZERO => in_use = Some(id),
                Err(error) => {
                    if head.seq > Seq::ZERO {
                        // Nobody knows of it yet. What is left where this fails, too, is a fork at an earlier entry.
                        let _ = self.delete(&id).await;
                    }
                    return Err(error);
                }
            }
        }
        Err(exists(in_use))
    }

    /// Copies the journal of `session` as far as `state`; `head` is how far that has come.
    async fn copy(&self, session: &Session, state: &State, id: &SessionId, head: &mut Head) -> Result<(), Error> {
        while head.seq < state.head.seq {
            let entries = session.page(head.seq, state.head.seq, AT_ONCE).await?;
            let last = entries.last().map(Entry::head).ok_or_else(|| session.live.gone())?;
            session.live.confirm(state).await?;
            let append = Append {
                session: id.clone(),
                expected: *head,
                values: self.values(session, &entries).await?,
                entries,
                expires_at: expiry::lives_until(state, expiry::now(&**self.store(), &*self.settings().clock).await?),
                work: Work::AsBefore,
            };
            append_surely(&**self.store(), append).await?;
            *head = last;
        }
        Ok(())
    }

    async fn values(&self, session: &Session, entries: &[Entry]) -> Result<Vec<(Hash, Arc<str>)>, Error> {
        let mut values = Vec::new();
        for hash in entries.iter().flat_map(|entry| stored(&entry.data)) {
            // What only looks like a long text, in somebody's metadata for instance, is not there.
            let text = session.live.store.value(session.id(), hash).await?;
            values.extend(text.map(|text| (hash, text)));
        }
        Ok(values)
    }
}
