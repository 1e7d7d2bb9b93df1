#![allow(clippy::panic, reason = "a test may")]

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

fn failing(times: u32) -> impl FnMut() -> futures::future::BoxFuture<'static, ()> + Send {
    let tries = Arc::new(AtomicU32::new(0));
    move || {
        let tries = tries.clone();
        async move {
            assert!(tries.fetch_add(1, Ordering::Relaxed) >= times, "not yet");
            sleep(Duration::from_secs(3600)).await;
        }
        .boxed()
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_panics_is_named_and_started_again() {
    let supervisor = Supervisor::default();
    let task = tokio::spawn(supervisor.keep("sweep", failing(2)));
    // clock: the time is paused
    sleep(Duration::from_millis(100)).await;
    assert_eq!((supervisor.troubled(), supervisor.panics()), (vec!["sweep"], vec![("sweep", 1)]));
    sleep(Duration::from_secs(10)).await;
    assert_eq!((supervisor.troubled(), supervisor.panics()), (vec!["sweep"], vec![("sweep", 2)]));
    sleep(PROBATION).await;
    assert_eq!((supervisor.troubled(), supervisor.panics()), (vec![], vec![("sweep", 2)]), "it has worked for a while");
    assert!(!task.is_finished());
}

#[tokio::test(start_paused = true)]
async fn a_task_that_always_panics_stays_troubled_and_is_not_tried_all_the_time() {
    let supervisor = Supervisor::default();
    let _task = tokio::spawn(supervisor.keep("sweep", failing(u32::MAX)));
    sleep(Duration::from_secs(600)).await;
    assert_eq!(supervisor.troubled(), ["sweep"]);
    assert!(supervisor.panics()[0].1 < 30);
}

#[tokio::test(start_paused = true)]
async fn work_that_is_done_once_tells_whether_it_was() {
    let supervisor = Supervisor::default();
    assert_eq!(supervisor.once("driver", async { 7 }).await, Some(7));
    assert_eq!(supervisor.once("driver", async { panic!("no {}", 7) }).await, None::<()>);
    assert_eq!(supervisor.troubled(), ["driver"]);
}

#[tokio::test(start_paused = true)]
async fn a_thread_that_panicked_is_troubled_for_good() {
    let supervisor = Supervisor::default();
    supervisor.thread("writer", || ());
    assert!(supervisor.troubled().is_empty());
    supervisor.thread("writer", || panic!("broken"));
    sleep(Duration::from_secs(3600)).await;
    assert_eq!(supervisor.troubled(), ["writer"]);
}
