//! A store that fails when it is told to.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use callboard_engine::core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    time::Timestamp,
};
use callboard_engine::store::{Append, Durability, Error, Lease, Query, Row, Snapshot, Store, TimeQuery};
use tokio::sync::{Semaphore, broadcast};

/// A call of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Append,
    Row,
    Touch,
    Read,
    Find,
    Value,
    Sweep,
    Lease,
    /// What else goes on in the background: snapshots that are written, looking for what has expired.
    Upkeep,
    Other,
}

/// What becomes of a call.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "each suite makes things fail in its own ways")]
pub(crate) enum Act {
    /// It goes through.
    Pass,
    /// It fails, and nothing was done.
    FailBefore,
    /// It fails, and was done.
    FailAfter,
    /// It fails, and is done right before the next append.
    FailLate,
    /// It waits until somebody lets it through, and then fails, and nothing was done.
    WaitAndFail(Arc<Semaphore>),
    /// Somebody else was faster, it says.
    Conflict,
    /// There is no room.
    Full,
    /// It panics.
    Panic,
    /// It waits until somebody lets it through.
    Wait(Arc<Semaphore>),
    /// It is done, and then waits until somebody lets the answer through.
    WaitAfter(Arc<Semaphore>),
}

type Script = Box<dyn FnMut(Call) -> Act + Send>;

/// Passes every call on to another store, as its script says.
pub(crate) struct Faulty {
    inner: Mutex<Arc<dyn Store>>,
    script: Mutex<Script>,
    late: Mutex<Option<Append>>,
    /// How many entries it gave.
    entries: AtomicUsize,
}

impl Faulty {
    pub(crate) fn new(inner: Arc<dyn Store>) -> Arc<Self> {
        let (inner, script, late) =
            (Mutex::new(inner), Mutex::new(Box::new(|_| Act::Pass) as Script), Mutex::default());
        Arc::new(Self { inner, script, late, entries: AtomicUsize::new(0) })
    }

    /// Has this store in the place of the one that it had, as if that had been restored from a copy.
    #[allow(dead_code, reason = "not every suite needs it")]
    pub(crate) fn restore(&self, copy: Arc<dyn Store>) {
        *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = copy;
    }

    fn inner(&self) -> Arc<dyn Store> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What becomes of the calls from now on.
    pub(crate) fn play(&self, script: impl FnMut(Call) -> Act + Send + 'static) {
        *self.script.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(script);
    }

    /// From now on every call goes through.
    #[allow(dead_code, reason = "not every suite mends it")]
    pub(crate) fn mend(&self) {
        self.play(|_| Act::Pass);
    }

    /// The first `count` calls of this kind come to `act`, all others go through.
    #[allow(dead_code, reason = "not every suite needs it")]
    pub(crate) fn next(&self, call: Call, count: usize, act: Act) {
        let mut left = count;
        self.play(move |called| {
            if called != call || left == 0 {
                return Act::Pass;
            }
            left -= 1;
            act.clone()
        });
    }

    /// How many entries it gave since this was asked the last time.
    #[allow(dead_code, reason = "not every suite counts them")]
    pub(crate) fn take_entries(&self) -> usize {
        self.entries.swap(0, Ordering::SeqCst)
    }

    async fn entries(&self, answer: impl Future<Output = Result<Vec<Entry>, Error>>) -> Result<Vec<Entry>, Error> {
        let entries = self.pass(Call::Read, answer).await?;
        self.entries.fetch_add(entries.len(), Ordering::SeqCst);
        Ok(entries)
    }

    async fn pass<T>(&self, call: Call, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let act = self.act(call);
        self.play_out(act, answer).await
    }

    fn act(&self, call: Call) -> Act {
        (self.script.lock().unwrap_or_else(PoisonError::into_inner))(call)
    }

    async fn play_out<T>(&self, act: Act, answer: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        match act {
            Act::Pass => answer.await,
            Act::FailBefore | Act::FailLate => Err(failed()),
            Act::WaitAndFail(gate) => {
                gate.acquire().await.unwrap().forget();
                Err(failed())
            }
            Act::FailAfter => {
                answer.await?;
                Err(failed())
            }
            Act::Conflict => Err(Error::Conflict { found: None }),
            Act::Full => Err(Error::Full { doing: "a test" }),
            Act::Panic => panic!("the script says so"),
            Act::Wait(gate) => {
                gate.acquire().await.unwrap().forget();
                answer.await
            }
            Act::WaitAfter(gate) => {
                let answer = answer.await;
                gate.acquire().await.unwrap().forget();
                answer
            }
        }
    }
}

fn failed() -> Error {
    Error::Failed { doing: "a test", source: "the script says so".into() }
}

#[async_trait]
impl Store for Faulty {
    fn durability(&self) -> Durability {
        self.inner().durability()
    }

    async fn now(&self) -> Result<Timestamp, Error> {
        self.inner().now().await
    }

    async fn append(&self, batch: Append) -> Result<(), Error> {
        let late = self.late.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(late) = late {
            let _ = self.inner().append(late).await;
        }
        let act = self.act(Call::Append);
        if matches!(act, Act::FailLate) {
            *self.late.lock().unwrap_or_else(PoisonError::into_inner) = Some(batch.clone());
        }
        self.play_out(act, self.inner().append(batch)).await
    }

    async fn row(&self, session: &SessionId) -> Result<Option<Row>, Error> {
        self.pass(Call::Row, self.inner().row(session)).await
    }

    async fn touch(&self, session: &SessionId, expires_at: Option<Timestamp>) -> Result<Option<Row>, Error> {
        self.pass(Call::Touch, self.inner().touch(session, expires_at)).await
    }

    async fn read(&self, session: &SessionId, query: Query) -> Result<Vec<Entry>, Error> {
        self.entries(self.inner().read(session, query)).await
    }

    async fn read_by_time(&self, session: &SessionId, query: TimeQuery) -> Result<Vec<Entry>, Error> {
        self.entries(self.inner().read_by_time(session, query)).await
    }

    async fn read_each(&self, session: &SessionId, seqs: &[Seq]) -> Result<Vec<Entry>, Error> {
        self.entries(self.inner().read_each(session, seqs)).await
    }

    async fn find_each(&self, session: &SessionId, keys: &[Arc<str>]) -> Result<Vec<Option<Seq>>, Error> {
        self.pass(Call::Find, self.inner().find_each(session, keys)).await
    }

    async fn value(&self, session: &SessionId, hash: Hash) -> Result<Option<Arc<str>>, Error> {
        self.pass(Call::Value, self.inner().value(session, hash)).await
    }

    async fn journals(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.pass(Call::Other, self.inner().journals(after, limit)).await
    }

    async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.pass(Call::Other, self.inner().sessions(after, limit)).await
    }

    async fn recent_sessions(&self, limit: usize) -> Result<Vec<(SessionId, Row)>, Error> {
        self.pass(Call::Other, self.inner().recent_sessions(limit)).await
    }

    async fn lease(&self, lease: &Lease, most: usize) -> Result<Vec<SessionId>, Error> {
        self.pass(Call::Lease, self.inner().lease(lease, most)).await
    }

    async fn delete(&self, session: &SessionId) -> Result<bool, Error> {
        self.pass(Call::Other, self.inner().delete(session)).await
    }

    async fn expired(&self, limit: usize) -> Result<Vec<(SessionId, Timestamp)>, Error> {
        self.pass(Call::Upkeep, self.inner().expired(limit)).await
    }

    async fn expired_at(&self, session: &SessionId) -> Result<Option<Timestamp>, Error> {
        self.pass(Call::Other, self.inner().expired_at(session)).await
    }

    async fn remove_expired(&self, sessions: &[SessionId]) -> Result<Vec<SessionId>, Error> {
        self.pass(Call::Sweep, self.inner().remove_expired(sessions)).await
    }

    async fn put_snapshot(&self, session: &SessionId, at: Head, state: Arc<[u8]>) -> Result<(), Error> {
        self.pass(Call::Upkeep, self.inner().put_snapshot(session, at, state)).await
    }

    async fn snapshot(&self, session: &SessionId, at: Seq) -> Result<Option<Snapshot>, Error> {
        self.pass(Call::Other, self.inner().snapshot(session, at)).await
    }

    fn watch(&self) -> broadcast::Receiver<SessionId> {
        self.inner().watch()
    }
}
