//! Runs that have left the state are read from the journal.

use callboard_engine::{
    Board,
    core::{
        id::RunId,
        run::{CancelRun, NewRun, Run, RunKind, Status},
        view::View,
        viewer::Viewer,
    },
};

use crate::fixture::{File, clock, new, run, settings};

#[tokio::test]
async fn a_list_of_runs_has_the_newest_hundred_and_older_ones_are_read_by_their_ids() {
    let (clock, file) = (clock(), File::new());
    let board = Board::new(file.open(&clock), settings(&clock));
    let session = board.create(new("s")).await.unwrap();
    assert_eq!(session.view_runs(&Viewer::User, id_of).await.unwrap(), Vec::<RunId>::new());
    let mut started = Vec::new();
    for _ in 0..103 {
        let input = "Write of tides.".into();
        let id = run(&session, NewRun { kind: RunKind::Team, input, limits: None }).await.answer;
        started.push(id.clone());
        assert_eq!(session.view_runs(&Viewer::User, id_of).await.unwrap().first(), Some(&id));
        run(&session, CancelRun(id)).await;
    }
    let listed = session.view_runs(&Viewer::User, id_of).await.unwrap();
    assert_eq!(listed, started.iter().rev().take(100).cloned().collect::<Vec<_>>());
    for id in &started {
        let read = session.run(id).await.unwrap();
        assert_eq!((&read.id, read.status()), (id, Status::Cancelled));
    }
    let absent = session.run(&"none".parse().unwrap()).await.unwrap_err();
    assert_eq!(
        absent.to_string(),
        session.run(&"r2".parse().unwrap()).await.unwrap_err().to_string().replace("r2", "none")
    );
}

fn id_of(_: View<'_>, run: &Run) -> RunId {
    run.id.clone()
}
