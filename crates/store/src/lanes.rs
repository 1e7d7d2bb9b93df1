//! Appends that wait are sent together, and each is answered by itself: for stores in which a flush or a round trip costs
//! more than what it carries.

use std::{io, sync::Arc};

use tokio::{
    sync::{Mutex, mpsc, oneshot},
    task::JoinSet,
};

use crate::{Append, Error};

/// What is being done, as errors say it.
pub(crate) const DOING: &str = "appending";

/// How many appends wait in the queue; those behind them wait before it.
const QUEUE: usize = 1024;

/// How many are sent together at most.
const GROUP: usize = 64;

/// From which size on, in bytes, a group takes in no more: what all services take that are asked over HTTP.
const LARGE: usize = 256 << 10;

/// How often all other tasks have their turn before a group is sent: an answer wakes a session, that wakes its caller, and
/// the caller's next append wakes the session again.
const TURNS: usize = 3;

/// How many groups are under way at once. While one is, the next one gathers.
const LANES: usize = 2;

/// The queue of those who append.
#[derive(Debug)]
pub(crate) struct Lanes(mpsc::Sender<Job>);

/// An append that waits for its commit.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) batch: Append,
    reply: oneshot::Sender<Result<(), Error>>,
}

impl Job {
    /// Answers who waits. Who does not wait any more is not told.
    pub(crate) fn answer(self, answer: Result<(), Error>) {
        let _ = self.reply.send(answer);
    }

    /// About how many bytes are to be sent.
    fn size(&self) -> usize {
        let entries = self.batch.entries.iter().map(|entry| entry.data.len());
        let values = self.batch.values.iter().map(|(_, text)| text.len());
        entries.chain(values).sum()
    }
}

/// What sends.
pub(crate) trait Lane: Clone + Send + Sync + 'static {
    /// Sends these, in their order where they are of one session, and answers each.
    fn send(&self, jobs: Vec<Job>) -> impl Future<Output = ()> + Send;
}

impl Lanes {
    /// Starts the tasks that send, which end with `tasks`.
    pub(crate) fn start(tasks: &mut JoinSet<()>, lane: impl Lane) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..LANES {
            tasks.spawn(run(lane.clone(), waiting.clone()));
        }
        Self(queue)
    }

    /// Appends a batch, maybe together with others, and answers when that is committed.
    pub(crate) async fn append(&self, batch: Append) -> Result<(), Error> {
        let gone = || Error::failed(DOING, io::Error::other("the tasks that send have ended"));
        let (reply, answer) = oneshot::channel();
        self.0.send(Job { batch, reply }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// Sends what waits until there will never be anything again.
async fn run(lane: impl Lane, waiting: Arc<Mutex<mpsc::Receiver<Job>>>) {
    loop {
        let jobs = next(&mut *waiting.lock().await).await;
        if jobs.is_empty() {
            return;
        }
        lane.send(jobs).await;
    }
}

/// Waits for something to send and takes all that waits, as far as one call should carry it.
async fn next(waiting: &mut mpsc::Receiver<Job>) -> Vec<Job> {
    let mut jobs = Vec::new();
    waiting.recv_many(&mut jobs, 1).await;
    // Those who were answered together a moment ago may be about to append again.
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
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
