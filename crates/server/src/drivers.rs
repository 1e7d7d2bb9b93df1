//! Drivers: a task for each run that goes on here, owned by the server and ended with it, and the leases by which several
//! servers on one store share their runs.

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
use callboard_engine::{Board, Error, Session};
use callboard_model::ChatModel;
use callboard_run::{Driver, Error as RunError};
use callboard_tasks::Supervisor;
use tokio::sync::Notify;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::Settings;

/// How long a driver waits before it tries again what failed, at first and at most.
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// Which runs are driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driving {
    /// All that go on, unless somebody else drives them.
    All,
    /// Those that are started or resumed here.
    Started,
    /// None: that is left to others.
    None,
}

/// All drivers of a server. Its clones are the same.
#[derive(Clone)]
pub(crate) struct Drivers(Arc<Inner>);

struct Inner {
    board: Board,
    models: Arc<dyn ChatModel>,
    settings: callboard_run::Settings,
    driving: Driving,
    closing: CancellationToken,
    tasks: TaskTracker,
    driven: Mutex<BTreeSet<(SessionId, RunId)>>,
    /// Told where a run is driven no more, which may have gone on since.
    left: Notify,
    /// Whether leases are looked after.
    keeping: AtomicBool,
}

/// How many runs whose drivers have died are taken up at once, so that several servers share them.
const TAKEN_AT_ONCE: usize = 16;

impl Drivers {
    pub(crate) fn new(board: Board, settings: &Settings, driving: Driving, closing: CancellationToken) -> Self {
        let (models, settings) = (settings.models.clone(), settings.runs.clone());
        let (tasks, driven, left, keeping) = Default::default();
        Self(Arc::new(Inner { board, models, settings, driving, closing, tasks, driven, left, keeping }))
    }

    /// How many runs are driven here.
    pub(crate) fn len(&self) -> usize {
        self.driven().len()
    }

    /// Drives a run, unless it is driven here already.
    pub(crate) fn drive(&self, session: Session, run: RunId) {
        let Inner { driving, models, settings, closing, tasks, .. } = &*self.0;
        if *driving == Driving::None || closing.is_cancelled() {
            return;
        }
        self.keep();
        let name = (session.id().clone(), run.clone());
        if !self.driven().insert(name.clone()) {
            return;
        }
        let driver = Driver::new(session.clone(), models.clone(), settings.clone());
        let (drivers, closing, waits) = (self.clone(), closing.clone(), *driving == Driving::Started);
        let supervisor = self.supervisor().clone();
        tasks.spawn(async move {
            let driving = supervisor.once("run driver", async {
                tokio::select! {
                    // First: who closes begins nothing any more.
                    biased;
                    () = closing.cancelled() => Left::Run,
                    left = to_the_end(&driver, &session, &run, waits) => left,
                }
            });
            let left = driving.await;
            if left.is_none() {
                // It is not driven again by itself: that might cost money and panic again. If this fails, that run is taken
                // up again, and held the next time.
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

    fn supervisor(&self) -> &Supervisor {
        &self.0.board.settings().supervisor
    }

    /// Looks after the leases of this server from now on, and takes up the runs that are its own: those that were when
    /// it was killed, those that go on here and, where it drives all, those whose drivers have died.
    pub(crate) fn keep(&self) {
        let Inner { driving, closing, tasks, keeping, .. } = &*self.0;
        if *driving == Driving::None || keeping.swap(true, Ordering::Relaxed) {
            return;
        }
        let (drivers, closing) = (self.clone(), closing.clone());
        tasks.spawn(self.supervisor().keep("leases", move || {
            let (drivers, closing) = (drivers.clone(), closing.clone());
            async move {
                tokio::select! {
                    biased;
                    () = closing.cancelled() => {}
                    () = drivers.keep_leases() => {}
                }
            }
        }));
    }

    async fn keep_leases(&self) {
        let Inner { board, driving, left, .. } = &*self.0;
        let most = if *driving == Driving::All { TAKEN_AT_ONCE } else { 0 };
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

    /// Drives the runs in those sessions in which none is driven yet.
    async fn take_up(&self, sessions: Vec<SessionId>) {
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

    /// The run of a session that has not ended.
    async fn unfinished(&self, id: &SessionId) -> Result<Option<(Session, RunId)>, Error> {
        let session = self.0.board.session(id).await?;
        let run = session.state().await?.runs.unfinished().map(|run| run.id.clone());
        Ok(run.map(|run| (session, run)))
    }

    /// Waits until all of them have ended, once the server is closing, and leaves their runs to others.
    pub(crate) async fn ended(&self) {
        let Inner { board, tasks, keeping, .. } = &*self.0;
        tasks.close();
        tasks.wait().await;
        if keeping.load(Ordering::Relaxed)
            && let Err(error) = board.let_go().await
        {
            tracing::warn!(%error, "others take the runs over that were driven here only when their leases have run out");
        }
    }

    fn driven(&self) -> MutexGuard<'_, BTreeSet<(SessionId, RunId)>> {
        self.0.driven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a driver has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// A run that waits or has ended.
    Run,
    /// A run that somebody else drives.
    ToAnother,
}

/// Drives a run until it waits for somebody, has ended, or somebody else drives it. One that waits is driven by whoever
/// lets it go on; where `waits` is said, also from here.
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

/// Drives a run, unless somebody else has taken it over since `began`, the epoch in which it was found here first: to drive
/// it again is to take it over again.
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
