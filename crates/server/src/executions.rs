//! Executions of workflows on this server: a task for each. They end with the server.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use callboard_core::{
    entry::Actor,
    error::Error as Refusal,
    id::{ExecutionId, NodeId, SessionId},
    viewer::Viewer,
    workflow::execution::Execute,
};
use callboard_engine::{Browsers, Error, NodeResult, Receipt, Session, Workflows};
use callboard_run::{Error as RunError, Executor};
use futures::future::BoxFuture;
use tokio_util::task::TaskTracker;

use crate::driving::{Means, TAKEN_AT_ONCE};

/// All executions on a server. Its clones are the same.
#[derive(Clone)]
pub(crate) struct Executions(Arc<Inner>);

struct Inner {
    means: Arc<Means>,
    browsers: Option<Arc<dyn Browsers>>,
    tasks: TaskTracker,
    /// Those that are executed here.
    executed: Mutex<BTreeSet<(SessionId, ExecutionId)>>,
    /// Held while one begins, so that nobody takes it for one that was left.
    beginning: tokio::sync::Mutex<()>,
}

impl Executions {
    pub(crate) fn new(means: Arc<Means>, browsers: Option<Arc<dyn Browsers>>) -> Self {
        let (tasks, executed, beginning) = Default::default();
        Self(Arc::new(Inner { means, browsers, tasks, executed, beginning }))
    }

    /// Begins an execution by `begin`, which records that, and executes it. The lease on it has to be [renewed](crate::drivers). Where the one before was left by whoever executed it,
    /// that is recorded first.
    pub(crate) async fn start<E: From<Error>>(
        &self,
        session: &Session,
        begin: impl Future<Output = Result<Receipt<ExecutionId>, E>>,
    ) -> Result<Receipt<ExecutionId>, E> {
        if self.0.means.is_idle() {
            return Err(Error::from(Refusal::not_found("server that executes workflows", "")).into());
        }
        let _beginning = self.0.beginning.lock().await;
        if session.state().await?.workflow.at_work().is_some() && self.is_left(session).await? {
            self.interrupt(session).await?;
        }
        let receipt = begin.await?;
        self.execute(session.clone(), receipt.answer.clone());
        Ok(receipt)
    }

    /// Whether nobody executes the workflow of a session any more: the lease on it can be had.
    async fn is_left(&self, session: &Session) -> Result<bool, Error> {
        Ok(!self.is_executed(session) && self.0.means.board.lease(TAKEN_AT_ONCE).await?.contains(session.id()))
    }

    /// Records of a session whose lease this server has that its execution is not under way any more, unless it is.
    pub(crate) async fn settle(&self, session: &Session) -> Result<(), Error> {
        if session.known()?.workflow.at_work().is_none() {
            return Ok(());
        }
        let _beginning = self.0.beginning.lock().await;
        if self.is_executed(session) { Ok(()) } else { self.interrupt(session).await }
    }

    async fn interrupt(&self, session: &Session) -> Result<(), Error> {
        let id = session.state().await?.workflow.at_work().map(|execution| execution.id.clone());
        match id {
            Some(id) => self.executor(session.clone()).interrupt(&id).await.map_err(engine),
            None => Ok(()),
        }
    }

    fn is_executed(&self, session: &Session) -> bool {
        self.executed().iter().any(|(id, _)| id == session.id())
    }

    fn executor(&self, session: Session) -> Executor {
        let Inner { means, browsers, .. } = &*self.0;
        Executor::new(session, means.models.clone(), means.settings.clone(), browsers.clone())
    }

    /// Executes it, unless this server does already or it has ended.
    fn execute(&self, session: Session, id: ExecutionId) {
        let name = (session.id().clone(), id.clone());
        if !self.executed().insert(name.clone()) {
            return;
        }
        let (executions, means, executor) = (self.clone(), self.0.means.clone(), self.executor(session));
        self.0.tasks.spawn(async move {
            let executing = means.supervisor().once("execution of a workflow", async {
                tokio::select! {
                    // First, since nothing new begins once the server is closing.
                    biased;
                    () = means.closing.cancelled() => executor.interrupt(&id).await,
                    executed = executor.execute(&id) => executed,
                }
            });
            match executing.await {
                Some(Ok(()) | Err(RunError::Engine(Error::NoSession { .. } | Error::Closed))) => {}
                Some(Err(error)) => {
                    tracing::error!(session = %name.0, execution = %id, %error, "it could not be executed")
                }
                // It panicked, which is logged.
                None => {
                    if let Err(error) = executor.interrupt(&id).await {
                        tracing::error!(session = %name.0, execution = %id, %error, "it could not be interrupted");
                    }
                }
            }
            executions.executed().remove(&name);
        });
    }

    /// Begins the execution of one node alone by `begin`, which records that, executes it and waits until it has ended.
    pub(crate) async fn node<E: From<Error>>(
        &self,
        session: &Session,
        node: NodeId,
        begin: impl Future<Output = Result<Receipt<ExecutionId>, E>>,
    ) -> Result<NodeResult, E> {
        let id = self.start(session, begin).await?.answer;
        let ended = session.when(|state| {
            let execution = state.workflow.execution(&id)?;
            (!execution.is_running()).then(|| execution.clone())
        });
        let ended = ended.await.ok_or(Error::Closed)?;
        match session.node_result(&Viewer::User, node).await {
            Ok(result) => Ok(result),
            Err(Error::Refused(Refusal::NotFound { .. })) => {
                let reason = ended.reason.as_deref().unwrap_or("it gave no result").to_owned();
                let what = format!("the execution {id} is {}: {reason}", ended.status.as_str());
                Err(Error::from(Refusal::Outside { code: "no_node_result", what }).into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until all have ended, once the server is closing.
    pub(crate) async fn ended(&self) {
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    fn executed(&self) -> MutexGuard<'_, BTreeSet<(SessionId, ExecutionId)>> {
        self.0.executed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workflows for Executions {
    fn test_node<'a>(&'a self, session: &'a Session, by: Actor, node: NodeId) -> BoxFuture<'a, Result<String, Error>> {
        Box::pin(async move {
            let begin = session.execute(by, Execute::node(node));
            Ok(self.node(session, node, begin).await?.result.to_string())
        })
    }
}

fn engine(error: RunError) -> Error {
    match error {
        RunError::Engine(error) => error,
        RunError::TakenOver | RunError::Ended => Error::Closed,
    }
}
