//! Drivers: a task for each run that this server drives. The tasks end with the server. Leases say which of several servers
//! on one store drives a run.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use callboard_core::{
    id::{RunId, SessionId},
    run::Status,
};
use callboard_engine::{Error, Outside, Session};
use callboard_run::{Driver, Error as RunError};
use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

use crate::{
    driving::{Driving, Means, TAKEN_AT_ONCE},
    executions::Executions,
};

/// The shortest and the longest pause before a driver retries what failed.
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// All drivers of a server. Its clones are the same.
#[derive(Clone)]
pub(crate) struct Drivers(Arc<Inner>);

struct Inner {
    means: Arc<Means>,
    outside: Outside,
    executions: Executions,
    tasks: TaskTracker,
    driven: Mutex<BTreeSet<(SessionId, RunId)>>,
    /// Notified when a driver has left a run, which may be running again by then.
    left: Notify,
    /// Whether the task that renews leases was started.
    keeping: AtomicBool,
}

impl Drivers {
    pub(crate) fn new(means: Arc<Means>, outside: Outside, executions: Executions) -> Self {
        let (tasks, driven, left, keeping) = Default::default();
        Self(Arc::new(Inner { means, outside, executions, tasks, driven, left, keeping }))
    }

    /// How many runs this server drives.
    pub(crate) fn len(&self) -> usize {
        self.driven().len()
    }

    /// Drives a run, unless this server drives it already.
    pub(crate) fn drive(&self, session: Session, run: RunId) {
        let Inner { means, outside, tasks, .. } = &*self.0;
        if means.is_idle() {
            return;
        }
        self.keep();
        let name = (session.id().clone(), run.clone());
        if !self.driven().insert(name.clone()) {
            return;
        }
        let driver = Driver::new(session.clone(), means.models.clone(), means.settings.clone()).with(outside.clone());
        let (drivers, means, waits) = (self.clone(), means.clone(), means.driving == Driving::Started);
        tasks.spawn(async move {
            let driving = means.supervisor().once("run driver", async {
                tokio::select! {
                    // First, since nothing new begins once the server is closing.
                    biased;
                    () = means.closing.cancelled() => Left::Run,
                    left = to_the_end(&driver, &session, &run, waits) => left,
                }
            });
            let left = driving.await;
            if left.is_none() {
                // The run is paused instead of driven again, which might cost money and panic again. If pausing fails, the run
                // is taken up again, and paused the next time.
                let reason = "the driver of this run panicked, which is a fault in Callboard: see the server's log";
                if let Err(error) = driver.pause(&run, reason.to_owned()).await {
                    tracing::error!(session = %session.id(), %run, %error, "a run could not be paused");
                }
            }
            drivers.driven().remove(&name);
            if left == Some(Left::Run) {
                drivers.0.left.notify_one();
            }
        });
    }

    /// Renews the leases of this server from now on, and drives the runs whose leases it has: those from before it was
    /// killed, those that were resumed here and, if it drives all, those whose servers have died.
    pub(crate) fn keep(&self) {
        let Inner { means, tasks, keeping, .. } = &*self.0;
        if means.driving == Driving::None || keeping.swap(true, Ordering::Relaxed) {
            return;
        }
        let drivers = self.clone();
        tasks.spawn(means.supervisor().keep("leases", move || {
            let drivers = drivers.clone();
            async move {
                drivers.0.means.closing.run_until_cancelled(drivers.keep_leases()).await;
            }
        }));
    }

    async fn keep_leases(&self) {
        let Inner { means, left, .. } = &*self.0;
        let (board, most) = (&means.board, if means.driving == Driving::All { TAKEN_AT_ONCE } else { 0 });
        let every = board.settings().lease.lasts / 5;
        loop {
            match board.lease(most).await {
                Ok(sessions) => self.take_up(sessions).await,
                Err(error) => tracing::warn!(%error, "the leases on runs could not be renewed; trying again"),
            }
            tokio::select! {
                () = tokio::time::sleep(every) => {}
                () = board.run_begun() => {}
                () = left.notified() => {}
            }
        }
    }

    /// Drives the runs of those sessions of which no run is driven yet. An execution of a workflow that nobody goes on with is
    /// recorded as interrupted.
    async fn take_up(&self, sessions: Vec<SessionId>) {
        for id in &sessions {
            match self.settle(id).await {
                Ok(()) | Err(Error::NoSession { .. } | Error::Closed) => {}
                Err(error) => tracing::warn!(session = %id, %error, "an execution could not be ended; trying again"),
            }
        }
        let idle: Vec<_> = {
            let driven = self.driven();
            let is_idle = |id: &SessionId| driven.iter().all(|(session, _)| session != id);
            sessions.into_iter().filter(is_idle).collect()
        };
        for id in idle {
            match self.unfinished(&id).await {
                Ok(Some((session, run))) => self.drive(session, run),
                Ok(None) | Err(Error::NoSession { .. } | Error::Closed) => {}
                Err(error) => tracing::warn!(session = %id, %error, "a run could not be taken up; trying again"),
            }
        }
    }

    async fn settle(&self, id: &SessionId) -> Result<(), Error> {
        self.0.executions.settle(&self.0.means.board.session(id).await?).await
    }

    /// The run of a session that goes on.
    async fn unfinished(&self, id: &SessionId) -> Result<Option<(Session, RunId)>, Error> {
        let session = self.0.means.board.session(id).await?;
        let state = session.state().await?;
        // The lease may be that of an execution, while the run waits.
        let run = state.runs.unfinished().filter(|run| !is_waiting(run.status())).map(|run| run.id.clone());
        Ok(run.map(|run| (session, run)))
    }

    /// Waits until all drivers have ended, once the server is closing, and releases its leases.
    pub(crate) async fn ended(&self) {
        let Inner { means, tasks, keeping, .. } = &*self.0;
        tasks.close();
        tasks.wait().await;
        if keeping.load(Ordering::Relaxed)
            && let Err(error) = means.board.let_go().await
        {
            tracing::warn!(%error, "others take the runs over that were driven here only when their leases have run out");
        }
    }

    fn driven(&self) -> MutexGuard<'_, BTreeSet<(SessionId, RunId)>> {
        self.0.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a driver ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// The run waits or has ended.
    Run,
    /// Somebody else drives the run.
    ToAnother,
}

/// Drives a run until it waits, has ended, or somebody else drives it. A waiting run is driven by the server on which it
/// goes on. If `waits` is set, this task waits for that and drives it on.
async fn to_the_end(driver: &Driver, session: &Session, run: &RunId, waits: bool) -> Left {
    let mut began = None;
    let mut pause = SHORTEST_PAUSE;
    loop {
        match drive(driver, session, run, &mut began).await {
            Ok(Status::Running) => {}
            Ok(Status::AwaitingUser | Status::AwaitingTool | Status::Paused) if waits => {
                let goes_on = session.when(|state| {
                    let status = state.runs.get(run).map(|run| run.status());
                    status.map_or(Some(()), |status| (!is_waiting(status)).then_some(()))
                });
                if goes_on.await.is_none() {
                    return Left::Run;
                }
            }
            Ok(_) | Err(RunError::Engine(Error::NoSession { .. } | Error::Closed)) => return Left::Run,
            Err(RunError::TakenOver) => return Left::ToAnother,
            Err(error) => {
                tracing::warn!(session = %session.id(), %run, %error, "a run could not be driven; trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
                continue;
            }
        }
        pause = SHORTEST_PAUSE;
    }
}

/// Drives a run, unless somebody else has taken it over since the epoch `began`, in which it was first seen here. Otherwise
/// each attempt would take it over again.
async fn drive(driver: &Driver, session: &Session, run: &RunId, began: &mut Option<u64>) -> Result<Status, RunError> {
    let now = session.run(run).await?;
    if driver.is_anothers(&now, *began.get_or_insert(now.epoch)) {
        return Err(RunError::TakenOver);
    }
    driver.drive(run).await
}

fn is_waiting(status: Status) -> bool {
    matches!(status, Status::AwaitingUser | Status::AwaitingTool | Status::Paused)
}
