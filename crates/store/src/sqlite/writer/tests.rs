use std::time::Duration;

use super::{
    seat::Taken,
    thread::{Message, Thread},
    *,
};
use crate::SystemClock;

/// A desk on a database in memory.
fn seat() -> Seat {
    let db = Connection::open_in_memory().unwrap();
    db.execute_batch(include_str!("../schema.sql")).unwrap();
    let (watchers, clock) = (broadcast::Sender::new(1), Arc::new(SystemClock));
    Seat::new(Desk::new(db, watchers, clock, Path::new("x.db").into()).unwrap())
}

#[tokio::test]
async fn who_finds_the_desk_taken_is_told_when_it_is_free() {
    let seat = seat();
    for _ in 0..3 {
        let taken = seat.take();
        let Err(Taken::Busy(freed)) = seat.try_take() else { panic!("it is taken") };
        drop(taken);
        tokio::time::timeout(Duration::from_secs(20), freed.notified()).await.expect("nobody tells");
        drop(seat.try_take().ok().expect("it is free"));
    }
}

/// Without this, short calls would wait for the desk until a long removal in many slices has ended.
#[tokio::test]
async fn the_thread_does_what_has_gathered_when_it_comes_to_the_desk() {
    let (seat, (queue, messages)) = (Arc::new(seat()), mpsc::channel());
    let room = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
    let (reply, mut answer) = oneshot::channel();
    let work = |write: &mut Write<'_>| Ok(write.newest_change);
    assert!(seat.gather(Box::new(Job::new("looking", work, reply, room))));
    queue.send(Message::Tend).unwrap();
    drop(queue);
    Thread::new(messages, seat.clone()).run();
    assert_eq!(answer.try_recv().expect("it was not done").unwrap(), 0);
    assert!(!seat.goes_on());
}
