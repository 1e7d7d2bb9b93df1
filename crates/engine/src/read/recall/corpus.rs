//! What a question is asked of: the journal of the session, and those of the collections that it names.

use std::{iter::once, sync::Arc};

use callboard_core::{
    id::{CollectionName, Seq, SessionId},
    state::State,
    time::Timestamp,
};
use futures::future::try_join_all;

use crate::{error::Error, session::Session};

/// All journals in which something may be found, each as of the same moment.
pub(crate) struct Corpus {
    /// That of the session.
    pub(crate) own: SearchedJournal,
    collections: Vec<SearchedJournal>,
}

/// A journal in which something may be found.
pub(crate) struct SearchedJournal {
    pub(crate) session: Session,
    /// As of when something is looked for in it.
    pub(super) state: Arc<State>,
    /// As it is now.
    now: Arc<State>,
    /// The collection that it is.
    pub(crate) collection: Option<CollectionName>,
}

impl Corpus {
    /// The session first: the numbers of the scopes of a search.
    pub(super) fn all(&self) -> impl Iterator<Item = &SearchedJournal> {
        once(&self.own).chain(&self.collections)
    }

    /// The journal with this number.
    pub(crate) fn journal(&self, number: usize) -> Option<&SearchedJournal> {
        self.all().nth(number)
    }

    pub(super) fn ids(&self) -> Vec<SessionId> {
        self.all().map(|journal| journal.session.id().clone()).collect()
    }

    /// Has all journals read. Says how many entries are missing after a moment.
    pub(super) async fn followed(&self) -> Result<Option<u64>, Error> {
        let behind = try_join_all(self.all().map(|journal| journal.session.followed(journal.now.head))).await?;
        Ok(behind.into_iter().flatten().reduce(|sum, more| sum + more))
    }

    /// An error if the session was replaced since it was read.
    pub(super) async fn confirm(&self) -> Result<(), Error> {
        self.own.session.live.confirm(&self.own.now).await
    }
}

impl Session {
    /// The session and the collections that it names: now, or as they were when the entry `at` was the newest.
    pub(super) async fn corpus(&self, at: Option<Seq>) -> Result<Corpus, Error> {
        let now = self.state().await?;
        let (state, until) = match at.filter(|at| *at != now.head.seq) {
            Some(at) => (self.state_at(at).await?, self.entry(at.next()).await?.map(|next| next.header.at)),
            None => (now.clone(), None),
        };
        let mut collections = Vec::new();
        for (name, session) in self.collections_of(&state).await? {
            let now = session.state().await?;
            let state = match until {
                Some(until) => session.state_until(&now, until).await?,
                None => Some(now.clone()),
            };
            collections.extend(state.map(|state| SearchedJournal { session, state, now, collection: Some(name) }));
        }
        Ok(Corpus { own: SearchedJournal { session: self.clone(), state, now, collection: None }, collections })
    }

    /// The state at a moment; `None` where nothing was written by then.
    async fn state_until(&self, now: &Arc<State>, moment: Timestamp) -> Result<Option<Arc<State>>, Error> {
        if now.last_at <= moment {
            return Ok(Some(now.clone()));
        }
        // The last entry that was written by then is at or behind `first`, and before `end`.
        let (mut first, mut end) = (Seq::ZERO, now.head.seq);
        while first.next() < end {
            let middle = Seq(u64::midpoint(first.0, end.0));
            let entry = self.entry(middle).await?.ok_or_else(|| self.live.gone())?;
            if entry.header.at <= moment { first = middle } else { end = middle }
        }
        if first == Seq::ZERO { Ok(None) } else { self.state_at(first).await.map(Some) }
    }
}
