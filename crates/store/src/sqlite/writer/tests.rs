use std::time::Duration;

use super::{
    lock::LockError,
    thread::{Message, WriteThread},
    *,
};
use crate::SystemClock;

/// A connection on a database in memory.
fn lock() -> WriteLock {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(include_str!("../schema.sql")).unwrap();
    let (watchers, clock) = (broadcast::Sender::new(1), Arc::new(SystemClock));
    WriteLock::new(WriteConnection::new(db, watchers, clock, Path::new("x.db").into()).unwrap())
}

#[tokio::test]
async fn a_caller_that_finds_the_connection_in_use_is_notified_when_it_is_free() {
    let lock = lock();
    for _ in 0..3 {
        let taken = lock.take();
        let Err(LockError::Busy(freed)) = lock.try_take() else { panic!("it is taken") };
        drop(taken);
        tokio::time::timeout(Duration::from_secs(60), freed.notified()).await.expect("nobody tells");
        drop(lock.try_take().ok().expect("it is free"));
    }
}

/// Else short writes would wait until a long removal in many slices has ended.
#[tokio::test]
async fn the_thread_commits_the_short_writes_that_wait() {
    let (lock, (queue, messages)) = (Arc::new(lock()), mpsc::channel());
    let room = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
    let (reply, mut answer) = oneshot::channel();
    let work = |write: &mut Transaction<'_>| Ok(write.newest_change);
    assert!(lock.push_short(Box::new(WriteCall { doing: "looking", work, outcome: None, reply, _room: room })));
    queue.send(Message::Maintain).unwrap();
    drop(queue);
    WriteThread { messages, lock: lock.clone() }.run();
    assert_eq!(answer.try_recv().expect("it was not done").unwrap(), 0);
    assert!(!lock.continues());
}

/// How a short write ends that the task commits.
async fn short<T, F>(queue: &Arc<WriteQueue>, work: F) -> &'static str
where
    T: Send + 'static,
    F: FnMut(&mut Transaction<'_>) -> Result<T, SqliteError> + Send + 'static,
{
    let room = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
    let (reply, answer) = oneshot::channel();
    queue.submit_short(Box::new(WriteCall { doing: "writing", work, outcome: None, reply, _room: room }), false);
    let answer = tokio::time::timeout(Duration::from_secs(60), answer).await.expect("a caller waits for ever");
    answer.map_or("dropped", |done| done.map_or_else(|error| error.code(), |_| "done"))
}

#[tokio::test]
async fn a_write_that_panics_is_an_error_for_its_caller_and_those_after_it_and_is_reported() {
    let (lock, (sender, messages), supervisor) = (Arc::new(lock()), mpsc::channel(), Supervisor::default());
    let queue = Arc::new(WriteQueue { lock: lock.clone(), queue: sender, supervisor: supervisor.clone() });
    let broken = |_: &mut Transaction<'_>| -> Result<(), SqliteError> { panic!("a broken write") };
    let sound = |write: &mut Transaction<'_>| Ok(write.newest_change);
    assert_eq!(short(&queue, sound).await, "done");
    assert_eq!(short(&queue, broken).await, "dropped");
    let noticed = async {
        while supervisor.troubled() != ["SQLite commit"] {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), noticed).await.expect("the commit is troubled");
    // The thread notices it with its next work.
    supervisor.thread("SQLite writer", || WriteThread { messages, lock }.run());
    assert_eq!(supervisor.troubled(), ["SQLite commit", "SQLite writer"]);
    assert_eq!(short(&queue, sound).await, "dropped");
}

/// Whichever of task and thread commits it.
#[tokio::test]
async fn a_writer_that_took_a_broken_write_answers_all_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (path, supervisor): (Arc<Path>, _) = (folder.path().join("x.db").into(), Supervisor::default());
    let db = file::open(&path, Durability::Normal).unwrap();
    let writer = Writer::start(db, Durability::Normal, &path, Arc::new(SystemClock), supervisor.clone()).unwrap();
    let broken = |_: &mut Transaction<'_>| -> Result<(), SqliteError> { panic!("a broken write") };
    let sound = |write: &mut Transaction<'_>| Ok(write.newest_change);
    // With another write under way, short writes are committed by the task or the thread.
    let _other = writer.room.clone().acquire_owned().await.unwrap();
    let answers = async {
        assert_eq!(writer.write_if_short("breaking", true, broken).await.unwrap_err().code(), "store_failed");
        assert_eq!(writer.write_if_short("writing", true, sound).await.unwrap_err().code(), "store_failed");
        assert_eq!(writer.write("writing", sound).await.unwrap_err().code(), "store_failed");
        while !supervisor.troubled().contains(&"SQLite writer") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), answers)
        .await
        .expect("a caller waits for ever, or nothing is reported");
}
