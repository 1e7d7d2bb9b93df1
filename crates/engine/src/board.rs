//! The board: all sessions of a store, loaded on demand and dropped when idle.

use std::{cmp::Reverse, sync::Arc, time::Duration};

use callboard_core::{
    entry::Head, error::Error as Refusal, id::SessionId, session::SessionKind, time::Timestamp, view::View,
    viewer::Viewer,
};
use callboard_store::{Lease, Row, Store};
use tokio::{task::JoinSet, time::Instant};

use crate::{
    background::{self, sweep},
    error::Error,
    expired,
    journal::PAGE,
    last::said,
    live::{
        job::Job,
        open::{OpenSession, OpenSessions},
        session::Live,
    },
    session::Session,
    session_info::SessionInfo,
    settings::Settings,
    sizes::sizes,
    upkeep::snapshot::{self, Loaded},
};

/// All sessions of a store. Its clones are the same board. It goes on until the last of them, and of the sessions and
/// streams that it gave out, is dropped; [`close`](Self::close) ends it in order before that.
#[derive(Clone)]
pub struct Board {
    inner: Arc<OpenSessions>,
}

/// How often a session is read anew that is replaced while it is read.
const LOAD_TRIES: u32 = 3;

impl Board {
    /// The board over `store`. It is called inside of a tokio runtime, on which its tasks run.
    pub fn new(store: Arc<dyn Store>, settings: Settings) -> Self {
        let inner = Arc::new(OpenSessions::new(store, settings));
        background::start(&inner, &mut inner.tasks());
        Self { inner }
    }

    /// The board that a session is of.
    pub(crate) fn of(session: &Session) -> Self {
        Self { inner: session._board.clone() }
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// The session with this id. To ask for it is a use of it.
    pub async fn session(&self, id: &SessionId) -> Result<Session, Error> {
        let session = self.open(id).await?;
        match session.known()?.session.kind {
            SessionKind::Session => Ok(session),
            SessionKind::Collection => Err(Error::NoSession { session: id.clone() }),
        }
    }

    /// The session or collection whose journal has this id.
    pub(crate) async fn open(&self, id: &SessionId) -> Result<Session, Error> {
        if let Some(live) = self.inner.alive(id) {
            match live.current().await {
                Ok(_) => return Ok(self.give(live)),
                // It has gone, and another one may have its name by now.
                Err(Error::NoSession { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let (loaded, row) = self.load(id).await?;
        let session = self.keep(id.clone(), loaded, row.last_activity).await?;
        session.live.current().await?;
        Ok(session)
    }

    /// The session with this id, where it is in memory, as this board saw it last. It is enough for a change, which is
    /// decided on what is true by then; where that says that there is no such session, [`session`](Self::session) knows
    /// whether there is another one under its name.
    pub fn known_session(&self, id: &SessionId) -> Option<Session> {
        let id = Some(id).filter(|id| id.as_collection().is_none())?;
        self.inner.alive(id).map(|live| self.give(live))
    }

    /// Reads a session from the store.
    pub(crate) async fn load(&self, id: &SessionId) -> Result<(Loaded, Row), Error> {
        for _ in 0..LOAD_TRIES {
            let row = self.inner.store.row(id).await?;
            let row = row.ok_or_else(|| Error::NoSession { session: id.clone() })?;
            if let Some(loaded) = self.load_at(id, row.head).await? {
                return Ok((loaded, row));
            }
        }
        Err(Error::damaged(format!("the journal of {id}"), "its entries do not follow on each other"))
    }

    /// Reads a session as of this head from the store; `None` if its journal was changed meanwhile.
    async fn load_at(&self, id: &SessionId, head: Head) -> Result<Option<Loaded>, Error> {
        match snapshot::load(&*self.inner.store, id, head.seq).await? {
            // The record of a keyed request is no session.
            Some(loaded) if loaded.state.session.id.is_none() => Err(Error::NoSession { session: id.clone() }),
            Some(loaded) if loaded.state.head == head => Ok(Some(loaded)),
            _ => {
                tracing::info!(session = %id, "the journal changed while it was read");
                Ok(None)
            }
        }
    }

    /// Takes a session into memory, unless somebody was faster. Its last use was noted at `used`.
    pub(crate) async fn keep(&self, id: SessionId, loaded: Loaded, used: Timestamp) -> Result<Session, Error> {
        loop {
            let there = {
                let mut sessions = self.inner.sessions();
                if sessions.is_closed {
                    return Err(Error::Closed);
                }
                let Some(live) = sessions.alive(&id) else {
                    let OpenSessions { store, settings, begun, messages, .. } = &*self.inner;
                    let live =
                        Live::new(id.clone(), store.clone(), settings.clone(), begun.clone(), messages, loaded, used);
                    sessions.by_id.insert(id, OpenSession { live: live.clone(), used: Instant::now() });
                    return Ok(self.give(live));
                };
                live
            };
            // It may be what was once there under this name, and has not noticed yet that it has gone.
            match there.refresh().await {
                Ok(_) => return Ok(self.give(there)),
                Err(Error::NoSession { .. }) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// The session, if it is in memory.
    pub(crate) fn alive(&self, id: &SessionId) -> Option<Arc<Live>> {
        self.inner.alive(id)
    }

    fn give(&self, live: Arc<Live>) -> Session {
        Session { live, _board: self.inner.clone() }
    }

    /// What is known of the sessions behind `after` that are `wanted`, in the order of the bytes of their ids, at most `limit`, as
    /// the user sees them. To be in the list is no use of a session. One that this program cannot read is left out, and the
    /// log says so.
    pub async fn sessions_that(
        &self,
        after: Option<&SessionId>,
        limit: usize,
        wanted: impl Fn(&SessionInfo) -> bool,
    ) -> Result<Vec<Arc<SessionInfo>>, Error> {
        let mut infos: Vec<Arc<SessionInfo>> = Vec::new();
        let mut after = after.cloned();
        while infos.len() < limit {
            let most = PAGE.max(limit - infos.len());
            let page = self.inner.store.sessions(after.as_ref(), most).await?;
            let is_last = page.len() < most;
            for (id, row) in page {
                if infos.len() < limit {
                    infos.extend(self.listed(&id, row).await?.filter(|info| wanted(info)));
                    after = Some(id);
                }
            }
            if is_last {
                break;
            }
        }
        Ok(infos)
    }

    /// What is known of the sessions that are `wanted` and were used last, the last one first, at most `limit`, as in
    /// [`sessions_that`](Self::sessions_that). `before` is the last use and the id of the session behind which they begin.
    pub async fn recent_sessions(
        &self,
        before: Option<&(Timestamp, SessionId)>,
        limit: usize,
        wanted: impl Fn(&SessionInfo) -> bool,
    ) -> Result<Vec<Arc<SessionInfo>>, Error> {
        let mut most = PAGE.max(limit);
        loop {
            let mut page = self.inner.store.recent_sessions(most).await?;
            let is_all = page.len() < most;
            let place = |(id, row): &(SessionId, Row)| (row.last_activity, id.clone());
            page.retain(|one| before.is_none_or(|before| place(one) < *before));
            page.sort_unstable_by_key(|one| Reverse(place(one)));
            // Others that were used in the same millisecond as the last one may not be on the page.
            if let Some((_, last)) = page.last().filter(|_| !is_all) {
                let last = last.last_activity;
                page.retain(|(_, row)| row.last_activity > last);
            }
            let mut infos = Vec::with_capacity(limit.min(page.len()));
            for (id, row) in page {
                if infos.len() < limit {
                    infos.extend(self.listed(&id, row).await?.filter(|info| wanted(info)));
                }
            }
            if is_all || infos.len() == limit {
                return Ok(infos);
            }
            most = most.saturating_mul(2);
        }
    }

    /// What a list says of a session now; nothing where there is no such session, or it cannot be read.
    pub(crate) async fn listed_now(&self, id: &SessionId) -> Result<Option<Arc<SessionInfo>>, Error> {
        match self.inner.store.row(id).await? {
            Some(row) => self.listed(id, row).await,
            None => Ok(None),
        }
    }

    /// What a list says of a session; nothing where it has gone meanwhile, or cannot be read.
    async fn listed(&self, id: &SessionId, row: Row) -> Result<Option<Arc<SessionInfo>>, Error> {
        let Row { head, last_activity, expires_at } = row;
        if let Some(known) = self.inner.overviews.at(id, head) {
            let is_same = (known.last_activity, known.expires_at) == (last_activity, expires_at);
            return Ok(Some(match is_same {
                true => known,
                false => Arc::new(SessionInfo { last_activity, expires_at, ..SessionInfo::clone(&known) }),
            }));
        }
        match self.info_with_last(id, row).await {
            Ok((head, info)) => {
                let info = Arc::new(info);
                self.inner.overviews.note(head, info.clone());
                Ok(Some(info))
            }
            Err(Error::NoSession { .. }) => Ok(None),
            Err(Error::Refused(error @ (Refusal::WrittenByNewer { .. } | Refusal::Damaged { .. }))) => {
                tracing::warn!(session = %id, %error, "a session is left out of the list");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What is known of a session, without keeping it in memory for that: to ask is no use of it.
    pub async fn info(&self, id: &SessionId) -> Result<SessionInfo, Error> {
        let (loaded, row) = self.load(id).await?;
        match loaded.state.session.kind {
            SessionKind::Session => Ok(SessionInfo::of(id.clone(), &loaded.state, row)),
            SessionKind::Collection => Err(Error::NoSession { session: id.clone() }),
        }
    }

    /// What is known of a session with its last entry, as the user sees it; and the head at which it is so. `row` is what
    /// the store said of it a moment ago.
    async fn info_with_last(&self, id: &SessionId, row: Row) -> Result<(Head, SessionInfo), Error> {
        let (mut loaded, row) = match self.load_at(id, row.head).await? {
            Some(loaded) => (loaded, row),
            None => self.load(id).await?,
        };
        if loaded.state.session.kind == SessionKind::Collection {
            return Err(Error::NoSession { session: id.clone() });
        }
        let (newest, state) = (loaded.newest.take(), loaded.state);
        let mut info = SessionInfo::of(id.clone(), &state, row);
        if let Some(newest) = newest {
            info.last = said(&View::new(&state, &Viewer::User, sizes())?, &newest)?;
        }
        Ok((state.head, info))
    }

    /// Deletes all there is of a session.
    pub async fn delete(&self, id: &SessionId) -> Result<(), Error> {
        if id.as_collection().is_some() {
            self.info(id).await?;
        }
        self.remove(id).await
    }

    /// Deletes a journal.
    pub(crate) async fn remove(&self, id: &SessionId) -> Result<(), Error> {
        let was_there = self.inner.store.delete(id).await?;
        self.inner.overviews.forget([id]);
        self.inner.indices.remove(id).await;
        if was_there {
            expired::forget(&self.inner, id).await?;
        }
        if let Some(live) = self.inner.alive(id) {
            // Tells streams now. If it fails, the next reader notices.
            let _ = live.refresh().await;
        }
        if was_there { Ok(()) } else { Err(Error::NoSession { session: id.clone() }) }
    }

    /// Why there is no such session, as the user may know: it expired, at most thirty days ago, or there is no trace of it.
    pub async fn why_missing(&self, id: &SessionId) -> Error {
        match expired::expired_at(&**self.store(), id).await {
            Ok(Some(at)) => Error::Expired { session: id.clone(), at },
            Ok(None) => Error::NoSession { session: id.clone() },
            Err(error) => error,
        }
    }

    /// Whether the store's clock can be trusted enough to delete what has expired by it. It cannot for a while after it was
    /// set, and after a start at which it was far ahead of the last activity in the store.
    pub async fn trusts_clock(&self) -> Result<bool, Error> {
        self.inner.trusts_clock().await
    }

    /// Removes what has expired and names it.
    pub async fn sweep(&self) -> Result<Vec<SessionId>, Error> {
        sweep(&self.inner).await
    }

    /// Renews the leases that are held as [`Settings::lease`](Settings::lease) says, takes up to `most` of those
    /// that have run out, and names the sessions of all that are held then: in each a run goes on that is to be driven
    /// here.
    pub async fn lease(&self, most: usize) -> Result<Vec<SessionId>, Error> {
        let lease = &self.settings().lease;
        if lease.lasts.is_zero() { Ok(Vec::new()) } else { Ok(self.store().lease(lease, most).await?) }
    }

    /// Lets go of all leases that are held here, so that others may drive those runs at once.
    pub async fn let_go(&self) -> Result<(), Error> {
        let lease = Lease { lasts: Duration::ZERO, ..self.settings().lease.clone() };
        self.store().lease(&lease, 0).await?;
        Ok(())
    }

    /// Ends the board: background tasks stop, what was asked of sessions before is answered, and snapshots that are
    /// being written are finished. From then on the board and its sessions answer [`Error::Closed`], also where the
    /// store would still work, and streams end with it.
    pub async fn close(&self) {
        self.inner.tasks().abort_all();
        let open = {
            let mut sessions = self.inner.sessions();
            sessions.is_closed = true;
            std::mem::take(&mut sessions.by_id)
        };
        let mut closing = JoinSet::new();
        for OpenSession { live, .. } in open.into_values() {
            // One that has ended already is closed, too.
            closing.spawn(async move { drop(live.ask(Job::Close).await) });
        }
        while closing.join_next().await.is_some() {}
    }

    /// What it was told when it was opened.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// How many entries are not in the indices of recall yet that are read into them for a question now.
    pub fn recall_behind(&self) -> u64 {
        self.inner.indices.readings.behind()
    }

    /// Waits until a run begins, goes on or is taken over through this board, if none has since this was last asked. One
    /// caller at a time is told.
    pub async fn run_begun(&self) {
        self.inner.begun.notified().await;
    }
}
