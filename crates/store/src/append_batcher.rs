//! Sends appends that wait at the same time together and answers each by itself: for stores in which a flush or a round
//! trip costs more than what it carries.

use std::{io, sync::Arc};

use callboard_tasks::Supervisor;
use tokio::{
    sync::{Mutex, mpsc, oneshot},
    task::JoinSet,
};

use crate::{Append, Error};

/// What is being done, as errors say it.
pub(crate) const DOING: &str = "appending";

/// How many appends the queue holds; more callers wait for a place in it.
const QUEUE: usize = 1024;

/// How many are sent together at most.
const GROUP: usize = 64;

/// A batch of this size, in bytes, takes in no more: every service over HTTP accepts as much.
const LARGE: usize = 256 << 10;

/// How often a batch yields to all other tasks before it is sent. Callers who were answered together append again three
/// wake-ups later: the answer wakes a session, which wakes its caller, whose next append wakes the session. Without this
/// their appends would go one by one.
const TURNS: usize = 3;

/// How many batches are sent at once. While they are under way, the next one fills.
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
    /// Answers the caller, who may not wait any more.
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

/// Sends batches of appends to a store.
pub(crate) trait SendBatch: Clone + Send + Sync + 'static {
    /// Sends these, in their order where they are of one session, and answers each.
    fn send(&self, appends: Vec<QueuedAppend>) -> impl Future<Output = ()> + Send;
}

impl AppendBatcher {
    /// Starts the tasks that send, which end with `tasks`.
    pub(crate) fn start(tasks: &mut JoinSet<()>, supervisor: &Supervisor, sender: impl SendBatch) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..IN_FLIGHT {
            let (sender, waiting) = (sender.clone(), waiting.clone());
            tasks.spawn(supervisor.keep("append batcher", move || run(sender.clone(), waiting.clone())));
        }
        Self(queue)
    }

    /// Appends a batch, maybe together with others, and answers when that is committed.
    pub(crate) async fn append(&self, batch: Append) -> Result<(), Error> {
        let gone = || Error::failed(DOING, io::Error::other("the tasks that send have ended"));
        let (reply, answer) = oneshot::channel();
        self.0.send(QueuedAppend { batch, reply }).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

/// Sends batches until the queue is closed.
async fn run(sender: impl SendBatch, waiting: Arc<Mutex<mpsc::Receiver<QueuedAppend>>>) {
    loop {
        let appends = next(&mut *waiting.lock().await).await;
        if appends.is_empty() {
            return;
        }
        sender.send(appends).await;
    }
}

/// Waits for an append and takes all that wait, as far as one batch should carry them.
async fn next(waiting: &mut mpsc::Receiver<QueuedAppend>) -> Vec<QueuedAppend> {
    let mut appends = Vec::new();
    waiting.recv_many(&mut appends, 1).await;
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
    let mut size: usize = appends.iter().map(QueuedAppend::size).sum();
    while appends.len() < GROUP
        && size < LARGE
        && let Ok(append) = waiting.try_recv()
    {
        size += append.size();
        appends.push(append);
    }
    appends
}
