//! Drivers: a task for each run that has not ended, owned by the server and ended with it.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use callboard_core::{
    id::{RunId, SessionId},
    run::Status,
};
use callboard_engine::{Board, Error, Session};
use callboard_model::ChatModel;
use callboard_run::{Driver, Error as RunError};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::Settings;

/// Which runs are driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Driving {
    /// All that have not ended.
    All,
    /// Those that are started or resumed here.
    Started,
    /// None: that is left to others.
    None,
}

/// All drivers of a server.
pub(crate) struct Drivers {
    board: Board,
    models: Arc<dyn ChatModel>,
    settings: callboard_run::Settings,
    driving: Driving,
    closing: CancellationToken,
    tasks: TaskTracker,
    driven: Arc<Mutex<BTreeSet<(SessionId, RunId)>>>,
}

/// How many sessions are looked at together when runs are taken up.
const PAGE: usize = 100;

impl Drivers {
    pub(crate) fn new(board: Board, settings: &Settings, driving: Driving, closing: CancellationToken) -> Self {
        let (models, settings) = (settings.models.clone(), settings.runs.clone());
        Self { board, models, settings, driving, closing, tasks: TaskTracker::new(), driven: Arc::default() }
    }

    /// How many runs are driven, or waited with.
    pub(crate) fn len(&self) -> usize {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Drives a run until it has ended, through all that it waits for, unless it is driven already.
    pub(crate) fn drive(&self, session: Session, run: RunId) {
        if self.driving == Driving::None {
            return;
        }
        let name = (session.id().clone(), run.clone());
        if !self.driven.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone()) {
            return;
        }
        let driver = Driver::new(session.clone(), self.models.clone(), self.settings.clone());
        let (closing, driven) = (self.closing.clone(), self.driven.clone());
        self.tasks.spawn(async move {
            tokio::select! {
                () = closing.cancelled() => {}
                () = to_the_end(&driver, &session, &run) => {}
            }
            driven.lock().unwrap_or_else(PoisonError::into_inner).remove(&name);
        });
    }

    /// Takes up the runs that have not ended, those of an earlier server too.
    pub(crate) async fn take_up(&self) -> Result<(), Error> {
        let mut after = None;
        loop {
            let page = self.board.sessions(after.as_ref(), PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.id.clone());
            for info in page {
                let session = match self.board.session(&info.id).await {
                    Ok(session) => session,
                    Err(Error::NoSession { .. }) => continue,
                    Err(error) => return Err(error),
                };
                if let Some(run) = session.state().await?.runs.unfinished() {
                    self.drive(session.clone(), run.id.clone());
                }
            }
        }
    }

    /// Waits until all of them have ended, once the server is closing.
    pub(crate) async fn ended(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Drives a run, waits with it for whoever it waits for, and goes on, until it has ended or somebody else drives it.
async fn to_the_end(driver: &Driver, session: &Session, run: &RunId) {
    let mut pause = Duration::from_millis(250);
    loop {
        match driver.drive(run).await {
            Ok(Status::Running) => {}
            Ok(Status::Completed | Status::Failed | Status::Cancelled) => return,
            Ok(Status::AwaitingUser | Status::AwaitingTool | Status::Paused) => {
                let goes_on = session.when(|state| {
                    let status = state.runs.get(run).map(|run| run.status());
                    status.map_or(Some(()), |status| (!is_waiting(status)).then_some(()))
                });
                if goes_on.await.is_none() {
                    return;
                }
            }
            Err(RunError::TakenOver | RunError::Engine(Error::NoSession { .. } | Error::Closed)) => return,
            Err(error) => {
                tracing::warn!(session = %session.id(), %run, %error, "a run could not be driven; trying again");
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(30));
                continue;
            }
        }
        pause = Duration::from_millis(250);
    }
}

fn is_waiting(status: Status) -> bool {
    matches!(status, Status::AwaitingUser | Status::AwaitingTool | Status::Paused)
}
