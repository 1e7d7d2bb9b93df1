//! Cancelling, pausing and taking over while a model is asked.

use std::{sync::Arc, time::Duration};

use callboard_engine::{
    Ephemeral, Session,
    core::{
        conversation::{NewMessage, Role},
        entry::Actor,
        id::{RunId, ThreadId},
        run::{CancelRun, PauseRun, ResumeRun, Status},
        viewer::Viewer,
    },
};
use callboard_model::scripted::Reply;
use callboard_run::{Driver, Error};
use tokio::{sync::Semaphore, task::JoinHandle, time::timeout};

use crate::{
    faulty::{Act, Call, Faulty},
    fixture::{
        Models, PATIENCE, board, done, journal, memory, of_type, reason, run_of, session, session_on, soon, start,
        texts, to, user, whole_run,
    },
};

/// Starts to drive, and waits until the model has been asked so often.
async fn asked(models: &Models, session: &Session, run: &RunId, count: usize) -> JoinHandle<Result<Status, Error>> {
    let (driver, run) = (models.driver(session, "first"), run.clone());
    let driving = tokio::spawn(async move { driver.drive(&run).await });
    assert!(tokio::task::block_in_place(|| models.endpoint.wait_for(count, PATIENCE)));
    driving
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cancelled_does_not_wait_for_its_model() {
    let store = memory();
    let session = session_on(&store).await;
    let elsewhere = board(&store).session(session.id()).await.unwrap();
    for who in [&session, &elsewhere] {
        let run = start(&session).await;
        let models = Models::new(|_, _| Reply::silence());
        let driving = asked(&models, &session, &run, 1).await;
        user(who, CancelRun(run.clone())).await;
        // Long before anybody loses patience with the model.
        assert_eq!(soon("the driver", driving).await.unwrap().unwrap(), Status::Cancelled);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_held_during_a_call_keeps_the_answer() {
    let store = memory();
    let session = session_on(&store).await;
    let run = start(&session).await;
    let models = Models::new(|request, _| whole_run(request));
    let gate = Arc::new(Semaphore::new(0));
    let driver = Driver::new(session.clone(), models.gated(&gate), models.settings("first"));
    let driving = tokio::spawn({
        let run = run.clone();
        async move { driver.drive(&run).await }
    });
    assert!(tokio::task::block_in_place(|| models.endpoint.wait_for(1, PATIENCE)));
    user(&session, PauseRun { run: run.clone(), reason: "lunch".to_owned() }).await;
    gate.add_permits(1);
    assert_eq!(soon("the driver", driving).await.unwrap().unwrap(), Status::Paused);
    assert_eq!(reason(&session, &run).await, "lunch");
    assert_eq!(texts(&session, "agent:writer").await, ["Write it."]);
    user(&session, ResumeRun(run.clone())).await;
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    assert_eq!(models.asked(), ["directive", "work", "verdict", "directive"]);
    assert_eq!(of_type(&journal(&store).await, "turn.answered").len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_drivers_the_older_one_stops_and_leaves_the_run_alone() {
    let store = memory();
    let session = session_on(&store).await;
    let run = start(&session).await;
    let silent = Models::new(|_, _| Reply::silence());
    let older = asked(&silent, &session, &run, 1).await;
    let elsewhere = board(&store).session(session.id()).await.unwrap();
    let models = Models::new(|request, _| whole_run(request));
    assert_eq!(models.drive(&elsewhere, &run).await.unwrap(), Status::Completed);
    assert!(matches!(
        soon("the older one", older).await.unwrap(),
        Err(Error::TakenOver | Error::Ended) | Ok(Status::Completed)
    ));
    // The second driver went on with the turn that the first had begun.
    let entries = journal(&store).await;
    assert_eq!(of_type(&entries, "turn.requested").len(), 4);
    assert!(of_type(&entries, "run.paused").is_empty());
    assert_eq!(silent.endpoint.requests()[0]["messages"], models.endpoint.requests()[0]["messages"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn drivers_that_fight_for_a_run_do_it_no_harm() {
    let store = memory();
    let session = session_on(&store).await;
    let run = start(&session).await;
    let models = Arc::new(Models::new(|request, _| whole_run(request)));
    let mut driving = tokio::task::JoinSet::new();
    for n in 0..6 {
        let session = board(&store).session(session.id()).await.unwrap();
        let (driver, run) = (models.driver(&session, &format!("node {n}")), run.clone());
        driving.spawn(async move { driver.drive(&run).await });
    }
    for driven in soon("all drivers", driving.join_all()).await {
        assert!(matches!(driven, Ok(Status::Completed) | Err(Error::TakenOver)), "{driven:?}");
    }
    assert_eq!(models.drive(&session, &run).await.unwrap(), Status::Completed);
    let entries = journal(&store).await;
    assert_eq!(of_type(&entries, "turn.answered").len(), 4);
    assert!(of_type(&entries, "run.paused").is_empty());
    assert_eq!(texts(&session, "agent:writer").await, ["Write it.", "Waters come and go"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn those_in_charge_hear_an_answer_as_it_comes() {
    let session = session().await;
    let run = start(&session).await;
    let mut heard = session.listen(&Viewer::User).await.unwrap();
    let models = Models::new(|request, _| whole_run(request));
    models.drive(&session, &run).await.unwrap();
    let mut said = String::new();
    while let Ok(Some(Ephemeral::Delta(delta))) = timeout(Duration::ZERO, heard.next()).await {
        if delta.turn == 2 {
            said.push_str(&delta.text);
        }
    }
    assert_eq!(said, "Waters come and go");
    assert_eq!(run_of(&session, &run).await.epoch, 1);
}

/// Whoever lets a run go on drives it: a driver that still brings what the run waits for does not go on with it as well.
#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_goes_on_before_its_driver_has_looked_is_left_to_whoever_let_it_go_on() {
    let store = memory();
    let faulty = Faulty::new(store.clone());
    let session = session_on(&(faulty.clone() as _)).await;
    let run = start(&session).await;
    let gate = Arc::new(Semaphore::new(0));
    let (store_of_first, held) = (faulty.clone(), gate.clone());
    let models = Models::new(move |_, nth| {
        if nth > 0 {
            return done("Here it is.");
        }
        store_of_first.next(Call::Append, 1, Act::WaitAfter(held.clone()));
        to("user", "For which season?")
    });
    let elsewhere = board(&store).session(session.id()).await.unwrap();
    let (driver, driven) = (models.driver(&session, "first"), run.clone());
    let driving = tokio::spawn(async move { driver.drive(&driven).await });
    let waits = elsewhere.when(|state| (state.runs.get(&run).ok()?.status() == Status::AwaitingUser).then_some(()));
    soon("the question", waits).await.unwrap();
    elsewhere.say(Actor::User, &ThreadId::main(), NewMessage::text(Role::User, "For winter.")).await.unwrap();
    assert_eq!(run_of(&elsewhere, &run).await.status(), Status::Running);
    gate.add_permits(1);
    assert_eq!(soon("the driver", driving).await.unwrap().unwrap(), Status::AwaitingUser);
    assert_eq!(models.asked(), ["directive"]);
    let second = models.driver(&elsewhere, "second");
    assert_eq!(soon("the run", second.drive(&run)).await.unwrap(), Status::Completed);
    assert_eq!(models.asked(), ["directive", "directive"]);
}
