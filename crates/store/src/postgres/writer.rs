//! Appends that wait are sent together and committed with one flush, and each is answered by itself.

use std::{collections::BTreeMap, io, sync::Arc};

use callboard_core::id::SessionId;
use tokio::{
    sync::{Mutex, mpsc, oneshot},
    task::JoinSet,
};

use super::{
    append::{self, Outcome, Patience},
    changes::Changes,
    database::Database,
    fault::Fault,
    said,
};
use crate::{Append, Clock, Error};

const DOING: &str = "appending";

/// How many appends wait in the queue; those behind them wait before it.
const QUEUE: usize = 1024;

/// How many are sent together at most.
const GROUP: usize = 64;

/// From which size on, in bytes, a group takes in no more.
const LARGE: usize = 1 << 20;

/// How many groups are under way at once.
const LANES: usize = 2;

/// The queue of those who append.
#[derive(Debug)]
pub(super) struct Writer(mpsc::Sender<Job>);

/// An append that waits for its commit.
#[derive(Debug)]
struct Job {
    batch: Append,
    reply: oneshot::Sender<Result<(), Error>>,
}

impl Job {
    /// About how many bytes are to be sent.
    fn size(&self) -> usize {
        let entries = self.batch.entries.iter().map(|entry| entry.data.len());
        let values = self.batch.values.iter().map(|(_, text)| text.len());
        entries.chain(values).sum()
    }
}

/// What sends.
#[derive(Clone, Debug)]
struct Lane {
    database: Database,
    changes: Arc<Changes>,
    clock: Arc<dyn Clock>,
}

impl Writer {
    /// Starts the tasks that send, which end with `tasks`.
    pub(super) fn start(
        tasks: &mut JoinSet<()>,
        database: &Database,
        changes: &Arc<Changes>,
        clock: &Arc<dyn Clock>,
    ) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let waiting = Arc::new(Mutex::new(waiting));
        let lane = Lane { database: database.clone(), changes: changes.clone(), clock: clock.clone() };
        for _ in 0..LANES {
            tasks.spawn(lane.clone().run(waiting.clone()));
        }
        Self(queue)
    }

    /// Appends a batch, maybe together with others, and answers when that is committed.
    pub(super) async fn append(&self, batch: Append) -> Result<(), Error> {
        let gone = || Error::failed(DOING, io::Error::other("the tasks that send have ended"));
        let (reply, answer) = oneshot::channel();
        self.0.send(Job { batch, reply }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Lane {
    /// Sends what waits until there will never be anything again.
    async fn run(self, waiting: Arc<Mutex<mpsc::Receiver<Job>>>) {
        loop {
            let mut jobs = next(&mut *waiting.lock().await).await;
            if jobs.is_empty() {
                return;
            }
            while !jobs.is_empty() {
                let (group, rest) = one_of_each_session(jobs);
                self.send(group).await;
                jobs = rest;
            }
        }
    }

    /// Sends a group and answers everybody in it. Who cannot be answered yet is tried alone, and holds up nobody.
    async fn send(&self, group: Vec<Job>) {
        match self.append(Patience::Skips, &group).await {
            Ok(outcomes) => {
                let answered = group.into_iter().zip(outcomes);
                answered.filter_map(|(job, outcome)| self.answer(job, outcome)).for_each(|job| self.try_alone(job));
            }
            Err(fault) if fault.is_refusal() && group.len() > 1 => {
                group.into_iter().for_each(|job| self.try_alone(job));
            }
            Err(fault) => group.into_iter().for_each(|job| self.fail(job, &fault)),
        }
    }

    /// Sends one that waits for whoever is at its session.
    fn try_alone(&self, job: Job) {
        let lane = self.clone();
        tokio::spawn(async move {
            let mut held = Some(job);
            // Where somebody else has just made the session, there is something to wait for the next time.
            while let Some(job) = held.take() {
                match lane.append(Patience::Waits, std::slice::from_ref(&job)).await {
                    Ok(outcomes) => {
                        held = outcomes.into_iter().next().and_then(|outcome| lane.answer(job, outcome));
                    }
                    Err(fault) => lane.fail(job, &fault),
                }
            }
        });
    }

    async fn append(&self, patience: Patience, jobs: &[Job]) -> Result<Vec<Outcome>, Fault> {
        let batches: Vec<_> = jobs.iter().map(|job| &job.batch).collect();
        append::append(&self.database, said(&*self.clock), patience, &batches).await
    }

    /// Answers who waits; those who watch hear of it first. Gives the job back where somebody else is at its session.
    fn answer(&self, job: Job, outcome: Outcome) -> Option<Job> {
        let answer = match outcome {
            Outcome::Done(change) => {
                self.changes.made(&job.batch.session, change);
                Ok(())
            }
            Outcome::Refused(error) => Err(error),
            Outcome::Held => return Some(job),
        };
        // Who does not wait any more is not told.
        let _ = job.reply.send(answer);
        None
    }

    fn fail(&self, job: Job, fault: &Fault) {
        let _ = job.reply.send(Err(fault.during(DOING, self.database.place())));
    }
}

/// Waits for something to send and takes all that waits, as far as one call should carry it.
async fn next(waiting: &mut mpsc::Receiver<Job>) -> Vec<Job> {
    let mut jobs = Vec::new();
    waiting.recv_many(&mut jobs, 1).await;
    // Those who were answered together a moment ago may be about to append again.
    tokio::task::yield_now().await;
    let mut size: usize = jobs.iter().map(Job::size).sum();
    while jobs.len() < GROUP
        && size < LARGE
        && let Ok(job) = waiting.try_recv()
    {
        size += job.size();
        jobs.push(job);
    }
    jobs
}

/// The first job of each session, in the order of their names, and the others.
fn one_of_each_session(jobs: Vec<Job>) -> (Vec<Job>, Vec<Job>) {
    let mut group: BTreeMap<SessionId, Job> = BTreeMap::new();
    let mut rest = Vec::new();
    for job in jobs {
        if group.contains_key(&job.batch.session) {
            rest.push(job);
        } else {
            group.insert(job.batch.session.clone(), job);
        }
    }
    (group.into_values().collect(), rest)
}
