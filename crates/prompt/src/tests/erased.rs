//! What erasing does to summaries.

use callboard_core::{
    compression::decide::UndoCompression,
    conversation::{AddMessages, NewMessage, Role},
    count::Tokens,
    error::Error,
    fact::ERASED,
    id::Seq,
    testing::Board,
};
use serde_json::Value;

use crate::{
    compression::plan::{Aim, Outlook, Writing},
    testing::Shows as _,
};

fn say(board: &mut Board, thread: &str, text: &str) -> Seq {
    let messages = vec![NewMessage::text(Role::User, text)];
    board.user(AddMessages { thread: thread.parse().unwrap(), messages }).unwrap()[0].seq
}

fn data(board: &Board, seq: Seq) -> Value {
    serde_json::from_str(&board.entry(seq).unwrap().json()).unwrap()
}

fn sea(board: &mut Board, what: &str) {
    for n in 0..40 {
        say(board, "main", &format!("{what} {n}: the sea comes and goes. ").repeat(9));
    }
}

/// Talk about a number, compressed twice.
fn compressed() -> (Board, Seq, Vec<Seq>) {
    let mut board = Board::team("lead writer");
    let seq = say(&mut board, "main", "The number is 555-0199, and the sea is wide.");
    let mut summaries = Vec::new();
    for _ in 0..2 {
        sea(&mut board, "Hour");
        let aim = Aim { target: Tokens(600), keep_recent: Some(Tokens(100)) };
        summaries.extend(board.compress("main", aim).unwrap());
    }
    assert_eq!(summaries.len(), 2);
    (board, seq, summaries)
}

#[test]
fn summaries_that_were_made_of_it_are_withdrawn() {
    let (mut board, seq, summaries) = compressed();
    assert!(summaries.iter().all(|seq| data(&board, *seq)["summary"].as_str().unwrap().contains("the sea comes")));
    let erased = board.erase(seq).unwrap();
    assert_eq!(erased.copies, summaries);
    assert!(summaries.iter().all(|seq| data(&board, *seq)["summary"] == ERASED));
    let main = |board: &Board| board.state.threads.get(&"main".parse().unwrap()).unwrap().compression.clone();
    assert!(main(&board).standing.is_empty());
    // Nor did they stand before.
    assert!(main(&board.as_of(summaries[1])).standing.is_empty());
    let undo = UndoCompression { thread: "main".parse().unwrap(), seq: summaries[1] };
    assert_eq!(board.user(undo).unwrap_err().code(), "not_newest");
    // It can be compressed anew.
    let aim = Aim { target: Tokens(600), keep_recent: Some(Tokens(100)) };
    let anew = board.compress("main", aim).unwrap().unwrap();
    assert_eq!(main(&board).standing[0].seq, anew);
}

#[test]
fn a_summary_that_does_not_cover_it_stands_again() {
    let (board, _, summaries) = compressed();
    // What only the second summary covers.
    let mut board = board.clone();
    let covered = Seq(summaries[0].0 + 1);
    assert_eq!(board.erase(covered).unwrap().copies, [summaries[1]]);
    let main = board.state.threads.get(&"main".parse().unwrap()).unwrap();
    let standing: Vec<_> = main.compression.standing.iter().map(|head| head.seq).collect();
    assert_eq!(standing, [summaries[0]]);
}

#[test]
fn a_summary_that_took_the_place_of_an_erased_one_goes_with_it() {
    let (mut board, _, summaries) = compressed();
    assert_eq!(board.erase(summaries[0]).unwrap().copies, [summaries[1]]);
}

#[test]
fn a_summary_of_a_copy_is_withdrawn() {
    let mut board = Board::team("lead writer");
    let seq = say(&mut board, "agent:writer", "555-0199");
    let copy = NewMessage { copied_from: vec![seq], ..NewMessage::text(Role::User, "It is 5550199.") };
    let copy = board.user(AddMessages { thread: "main".parse().unwrap(), messages: vec![copy] }).unwrap()[0].seq;
    sea(&mut board, "Hour");
    let aim = Aim { target: Tokens(600), keep_recent: Some(Tokens(100)) };
    let summary = board.compress("main", aim).unwrap().unwrap();
    assert_eq!(board.erase(seq).unwrap().copies, [copy, summary]);
}

#[test]
fn a_summary_that_was_begun_before_is_refused() {
    let (mut board, seq, _) = compressed();
    sea(&mut board, "Day");
    let aim = Aim { target: Tokens(600), keep_recent: Some(Tokens(100)) };
    let Outlook::Compress(plan) = board.plan(&"main".parse().unwrap(), Default::default(), aim).unwrap() else {
        panic!("nothing to do")
    };
    let summary = plan.extract(board.count).unwrap();
    // Something that no summary covers.
    let newest = board.state.head.seq;
    board.erase(newest).unwrap();
    let refused = board.system(plan.compress(&summary, Writing::default()));
    assert!(matches!(refused, Err(Error::Conflict { .. })), "{refused:?} {seq}");
}
