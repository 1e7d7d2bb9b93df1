//! Sends appends that wait at the same time together, and answers each by itself. This is for stores in which a flush or a
//! round trip costs more than the append.

use std::{io, sync::Arc};

use callboard_tasks::Supervisor;
use tokio::{
    sync::{Mutex, mpsc, oneshot},
    task::JoinSet,
};

use crate::{Append, Error};

/// The operation, as errors name it.
pub(crate) const DOING: &str = "appending";

/// How many appends the queue holds; further callers wait.
const QUEUE: usize = 1024;

/// The most appends that are sent together.
const GROUP: usize = 64;

/// Once a group has this many bytes, nothing is added to it: every service over HTTP accepts so much.
const GROUP_BYTES: usize = 256 << 10;

/// How often the task yields to all other tasks before it sends. Callers that were answered together append again three
/// wake-ups later: the answer wakes a session, which wakes its caller, whose next append wakes the session. Without the
/// yields their appends would be sent one by one.
const YIELDS: usize = 3;

/// How many groups are sent at once. While they are in flight, the next one gathers.
const IN_FLIGHT: usize = 2;

/// The queue of appends.
#[derive(Debug)]
pub(crate) struct AppendBatcher(mpsc::Sender<QueuedAppend>);

/// An append that waits for its commit.
#[derive(Debug)]
pub(crate) struct QueuedAppend {
    pub(crate) batch: Append,
    reply: oneshot::Sender<Result<(), Error>>,
}

impl QueuedAppend {
    /// Answers the caller, which may have stopped waiting.
    pub(crate) fn answer(self, answer: Result<(), Error>) {
        let _ = self.reply.send(answer);
    }

    /// The approximate size in bytes.
    fn size(&self) -> usize {
        let entries = self.batch.entries.iter().map(|entry| entry.data.len());
        let values = self.batch.values.iter().map(|(_, text)| text.len());
        let rewrites = self.batch.rewrites.iter().map(|rewrite| rewrite.data.len());
        entries.chain(values).chain(rewrites).sum()
    }
}

/// Sends groups of appends to a store.
pub(crate) trait SendBatch: Clone + Send + Sync + 'static {
    /// Sends these appends and answers each. Appends of one session are done in order.
    fn send(&self, appends: Vec<QueuedAppend>) -> impl Future<Output = ()> + Send;
}

impl AppendBatcher {
    /// Starts the tasks that send. They end when `tasks` is dropped.
    pub(crate) fn start(tasks: &mut JoinSet<()>, supervisor: &Supervisor, sender: impl SendBatch) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..IN_FLIGHT {
            let (sender, waiting) = (sender.clone(), waiting.clone());
            tasks.spawn(supervisor.keep("append batcher", move || run(sender.clone(), waiting.clone())));
        }
        Self(queue)
    }

    /// Appends a batch, possibly together with others, and answers after the commit.
    pub(crate) async fn append(&self, batch: Append) -> Result<(), Error> {
        let gone = || Error::failed(DOING, io::Error::other("the task that sends appends has ended"));
        let (reply, answer) = oneshot::channel();
        self.0.send(QueuedAppend { batch, reply }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// Sends groups until the queue is closed.
async fn run(sender: impl SendBatch, waiting: Arc<Mutex<mpsc::Receiver<QueuedAppend>>>) {
    loop {
        let appends = next(&mut *waiting.lock().await).await;
        if appends.is_empty() {
            return;
        }
        sender.send(appends).await;
    }
}

/// Waits for an append, and takes those that wait behind it, as far as they fit into a group.
async fn next(waiting: &mut mpsc::Receiver<QueuedAppend>) -> Vec<QueuedAppend> {
    let mut appends = Vec::new();
    waiting.recv_many(&mut appends, 1).await;
    for _ in 0..YIELDS {
        tokio::task::yield_now().await;
    }
    let mut size: usize = appends.iter().map(QueuedAppend::size).sum();
    while appends.len() < GROUP
        && size < GROUP_BYTES
        && let Ok(append) = waiting.try_recv()
    {
        size += append.size();
        appends.push(append);
    }
    appends
}
