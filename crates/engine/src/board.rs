//! The board: all sessions of a store, loaded on demand and dropped when idle.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use callboard_core::{
    agent::Agent,
    command::{Command, Known},
    entry::{Actor, Head},
    id::SessionId,
    session::{NewSession, Settings as SessionSettings},
    state::State,
};
use callboard_store::{Append, Store};
use tokio::{
    sync::broadcast::{
        self,
        error::{RecvError, TryRecvError},
    },
    time::Instant,
};

use crate::{
    Error, Session, SessionInfo, Settings,
    live::{Job, Live},
    snapshot,
};

/// All sessions of a store. Its clones are the same board; it closes when the last of them, and of the sessions that it
/// gave out, is dropped.
#[derive(Clone)]
pub struct Board {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    settings: Settings,
    live: Mutex<HashMap<SessionId, Kept>>,
}

/// A session in memory, and when it was last asked for.
struct Kept {
    live: Arc<Live>,
    used: Instant,
}

/// What a new session is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewBoardSession {
    /// Its name; a new one where it is absent.
    pub id: Option<SessionId>,
    /// Its agents.
    pub agents: Vec<Agent>,
    /// Its settings; [`Settings::ttl`] holds where they are left out.
    pub settings: Option<SessionSettings>,
}

/// How often an id is made anew where the one that was made is in use.
const ID_TRIES: u32 = 16;

impl Board {
    /// The board over `store`. It is called inside of a tokio runtime, on which its tasks run.
    pub fn new(store: Arc<dyn Store>, settings: Settings) -> Self {
        let inner = Arc::new(Inner { store, settings, live: Mutex::default() });
        tokio::spawn(drop_idle(Arc::downgrade(&inner)));
        tokio::spawn(follow(Arc::downgrade(&inner), inner.store.watch()));
        Self { inner }
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.store
    }

    /// Makes a session. One with the id is a conflict; where no id is given, one is found that nobody has.
    pub async fn create(&self, new: NewBoardSession) -> Result<Session, Error> {
        let settings = new
            .settings
            .clone()
            .unwrap_or_else(|| SessionSettings { ttl_seconds: self.inner.settings.ttl, ..SessionSettings::default() });
        for _ in 0..ID_TRIES {
            let random = &self.inner.settings.random;
            let now = self.inner.settings.clock.now();
            let salt = random.next();
            let made = || SessionId::generate(now, u32::try_from(random.next() % (1 << 31)).unwrap_or_default());
            let id = new.id.clone().unwrap_or_else(made);
            let command = NewSession { id, agents: new.agents.clone(), settings: settings.clone(), salt };
            match self.try_create(command).await {
                Err(Error::Store { source }) if matches!(&*source, callboard_store::Error::Conflict { .. }) => {
                    if let Some(id) = new.id {
                        return Err(callboard_core::error::Error::Conflict {
                            code: "session_exists",
                            what: format!("there is a session {id}"),
                            hint: "take another id, or leave it out to get a new one",
                        }
                        .into());
                    }
                }
                made => return made,
            }
        }
        Err(Error::Closed)
    }

    async fn try_create(&self, new: NewSession) -> Result<Session, Error> {
        let id = new.id.clone();
        let asked = callboard_core::command::Asked {
            by: &Actor::User,
            at: self.inner.settings.clock.now(),
            count: crate::session::sizes(),
            known: &Known::default(),
        };
        let decided = callboard_core::command::decide(&State::default(), &Command::CreateSession(new), asked);
        let decision = decided.map_err(|undecided| match undecided {
            callboard_core::command::Undecided::Refused(error) => Error::from(error),
            callboard_core::command::Undecided::Need(_) => Error::Busy { session: id.clone() },
        })?;
        let ttl = decision.state.session.settings.ttl_seconds;
        let append = Append {
            session: id.clone(),
            expected: Head::default(),
            entries: decision.entries,
            values: decision.values.into_iter().collect(),
            expires_at: ttl.expires_at(self.inner.store.now().await?),
        };
        self.inner.store.append(append).await?;
        Ok(self.keep(id, decision.state))
    }

    /// The session with this id.
    pub async fn session(&self, id: &SessionId) -> Result<Session, Error> {
        let known = self.lock().get_mut(id).map(|kept| {
            kept.used = Instant::now();
            kept.live.clone()
        });
        if let Some(live) = known.filter(|live| live.state.borrow().is_some()) {
            let session = Session { live };
            session.state().await?;
            return Ok(session);
        }
        let gone = || Error::NoSession { session: id.clone() };
        let row = self.inner.store.row(id).await?.ok_or_else(gone)?;
        let state = snapshot::load(&*self.inner.store, id, row.head.seq).await?;
        if state.session.id.is_none() {
            return Err(gone());
        }
        Ok(self.keep(id.clone(), state))
    }

    /// Takes a session into memory, unless somebody was faster.
    pub(crate) fn keep(&self, id: SessionId, state: State) -> Session {
        let mut sessions = self.lock();
        let there = sessions.get(&id).map(|kept| kept.live.clone()).filter(|live| live.state.borrow().is_some());
        let live = there.unwrap_or_else(|| {
            let (store, settings) = (self.inner.store.clone(), self.inner.settings.clone());
            Live::start(id.clone(), store, settings, state)
        });
        sessions.insert(id, Kept { live: live.clone(), used: Instant::now() });
        Session { live }
    }

    /// What is known of the sessions behind `after`, by id, at most `limit`.
    pub async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionInfo>, Error> {
        let mut infos = Vec::new();
        for (id, _) in self.inner.store.sessions(after, limit).await? {
            match self.session(&id).await {
                Ok(session) => infos.push(session.info().await?),
                Err(Error::NoSession { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(infos)
    }

    /// Deletes all there is of a session.
    pub async fn delete(&self, id: &SessionId) -> Result<(), Error> {
        let was_there = self.inner.store.delete(id).await?;
        let kept = self.lock().remove(id);
        if let Some(kept) = kept {
            let _ = kept.live.ask(Job::CatchUp).await;
        }
        if was_there { Ok(()) } else { Err(Error::NoSession { session: id.clone() }) }
    }

    /// Removes what has expired and names it.
    pub async fn sweep(&self) -> Result<Vec<SessionId>, Error> {
        const LIMIT: usize = 100;
        let mut swept = Vec::new();
        loop {
            let some = self.inner.store.sweep(LIMIT).await?;
            let done = some.len() < LIMIT;
            swept.extend(some);
            if done {
                return Ok(swept);
            }
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Kept>> {
        self.inner.lock()
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Kept>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops sessions that nobody holds and nobody has asked for lately, as long as the board is there.
async fn drop_idle(board: Weak<Inner>) {
    let Some(idle) = board.upgrade().map(|board| board.settings.idle) else { return };
    let mut every = tokio::time::interval(idle.max(Duration::from_millis(10)));
    loop {
        every.tick().await;
        let Some(board) = board.upgrade() else { return };
        let held = |kept: &Kept| Arc::strong_count(&kept.live) > 1;
        board.lock().retain(|_, kept| held(kept) || kept.used.elapsed() < idle);
    }
}

/// Lets live sessions read what others wrote, as soon as the store tells of it.
async fn follow(board: Weak<Inner>, mut changes: broadcast::Receiver<SessionId>) {
    loop {
        let mut changed = HashSet::new();
        let mut all = match changes.recv().await {
            Ok(id) => !changed.insert(id),
            Err(RecvError::Lagged(_)) => true,
            Err(RecvError::Closed) => return,
        };
        // What was told meanwhile is looked at in one go.
        loop {
            match changes.try_recv() {
                Ok(id) => {
                    changed.insert(id);
                }
                Err(TryRecvError::Lagged(_)) => all = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        let Some(board) = board.upgrade() else { return };
        let sessions: Vec<_> = {
            let live = board.lock();
            let told = live.iter().filter(|(id, _)| all || changed.contains(*id));
            told.map(|(_, kept)| kept.live.clone()).collect()
        };
        drop(board);
        for live in sessions {
            // Who reads next sees an error of the store for itself.
            let _ = live.current().await;
        }
    }
}
