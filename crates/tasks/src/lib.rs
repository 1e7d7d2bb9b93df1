//! Supervision of background tasks: a panic is logged, counted and reported, and the task is started again if that is safe.
//!
//! A supervisor spawns nothing by itself. The owner of a task spawns the future that the supervisor returns:
//!
//! ```
//! # async fn tick() {}
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let supervisor = callboard_tasks::Supervisor::default();
//! let mut tasks = tokio::task::JoinSet::new();
//! tasks.spawn(supervisor.keep("ticker", || async {
//!     tick().await;
//! }));
//! tasks.join_all().await;
//! assert!(supervisor.troubled().is_empty());
//! # });
//! ```

#[cfg(test)]
mod tests;

use std::{
    any::Any,
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::FutureExt as _;
use tokio::time::{Instant, sleep};

/// The first and the longest pause before a task that panicked is started again.
const SHORTEST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long a task counts as troubled after a panic.
const PROBATION: Duration = Duration::from_secs(60);

/// Supervises tasks. Clones share their records.
#[derive(Clone, Debug, Default)]
pub struct Supervisor(Arc<Mutex<BTreeMap<&'static str, Record>>>);

/// The record of the tasks with one name.
#[derive(Debug, Default)]
struct Record {
    panics: u64,
    last_panic: Option<Instant>,
    /// How many of them have ended for good because of a panic.
    dead: usize,
}

impl Supervisor {
    /// Supervises a task that runs until it ends by itself. After a panic it is started again, after a growing pause.
    pub fn keep<F, T>(&self, name: &'static str, mut start: F) -> impl Future<Output = ()> + Send + use<F, T>
    where
        F: FnMut() -> T + Send,
        T: Future<Output = ()> + Send,
    {
        let supervisor = self.clone();
        async move {
            let mut pause = SHORTEST_PAUSE;
            loop {
                let began = Instant::now();
                let Err(panic) = AssertUnwindSafe(async { start().await }).catch_unwind().await else { return };
                if began.elapsed() > PROBATION {
                    pause = SHORTEST_PAUSE;
                }
                supervisor.note(name, &*panic);
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }

    /// Supervises a task that runs once. Returns `None` if it panicked, which the caller has to handle.
    pub fn once<T>(&self, name: &'static str, task: T) -> impl Future<Output = Option<T::Output>> + Send + use<T>
    where
        T: Future + Send,
    {
        let supervisor = self.clone();
        async move {
            match AssertUnwindSafe(task).catch_unwind().await {
                Ok(done) => Some(done),
                Err(panic) => {
                    supervisor.note(name, &*panic);
                    None
                }
            }
        }
    }

    /// Runs the work of a thread. After a panic it is not started again, and counts as troubled for good.
    pub fn thread(&self, name: &'static str, work: impl FnOnce()) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(work)) {
            self.note(name, &*panic);
            self.records().entry(name).or_default().dead += 1;
        }
    }

    /// The troubled tasks: those that panicked within the last minute, or have ended for good because of a panic.
    pub fn troubled(&self) -> Vec<&'static str> {
        let records = self.records();
        let is_troubled =
            |record: &Record| record.dead > 0 || record.last_panic.is_some_and(|panic| panic.elapsed() < PROBATION);
        records.iter().filter(|(_, record)| is_troubled(record)).map(|(name, _)| *name).collect()
    }

    /// How often each task has panicked. Tasks that never did are left out.
    pub fn panics(&self) -> Vec<(&'static str, u64)> {
        self.records().iter().map(|(name, record)| (*name, record.panics)).collect()
    }

    fn note(&self, name: &'static str, panic: &(dyn Any + Send)) {
        tracing::error!(task = name, panic = message(panic), "a background task panicked");
        let mut records = self.records();
        let record = records.entry(name).or_default();
        record.panics += 1;
        record.last_panic = Some(Instant::now());
    }

    fn records(&self) -> MutexGuard<'_, BTreeMap<&'static str, Record>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The message of a panic.
pub fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
