//! Which summaries are good, and what is listed after them.

use callboard_core::{
    conversation::{AddMessages, NewMessage},
    testing::Board,
};

use crate::{compression::plan::*, testing::Shows as _};

/// Two hundred nodes are spoken of, and then named again: the first half, and last the second half.
fn talk_of_nodes() -> (Board, Box<Plan>) {
    let mut board = Board::team("lead writer");
    let main: ThreadId = "main".parse().unwrap();
    let names = |from: u64| (from..from + 100).map(|number| format!("node_{number}")).collect::<Vec<_>>().join(", ");
    let told = (0..200).map(|number| format!("Opened node_{number}, and the tide was high on that day as on most."));
    let all = told.chain([format!("Keep in mind {}.", names(0)), format!("What of {}?", names(100))]);
    let messages = all.map(|text| NewMessage::text(Role::User, text)).collect();
    board.user(AddMessages { thread: main.clone(), messages }).unwrap();
    let aim = Aim { target: Tokens(2000), keep_recent: None };
    let Outlook::Compress(plan) = board.plan(&main, Scope::default(), aim).unwrap() else {
        panic!("there is enough to compress")
    };
    (board, plan)
}

#[test]
fn what_a_summary_does_not_hold_is_listed_after_it_the_newest_first_and_the_rest_is_counted() {
    let (board, plan) = talk_of_nodes();
    assert!(plan.needed.len() > 190, "{:?}", plan.needed);
    let older = plan.needed.iter().find(|one| one.len() < "node_100".len());
    assert_eq!(older.map(|one| &**one), Some("node_0"), "what was named before comes last");
    let summary = plan.check("They opened node_101.", board.count).unwrap();
    let listed: Vec<&str> = summary.identifiers.iter().map(|one| &**one).collect();
    assert_eq!(listed[..3], ["node_100", "node_102", "node_103"]);
    assert_eq!(listed.len() as u64 + summary.more_identifiers, plan.needed.len() as u64 - 1);
    assert!(summary.more_identifiers > 0 && listed.len() > 20, "{listed:?}");
    // The list has a tenth of the target.
    let lines: String = listed.iter().map(|one| format!("- {one}\n")).collect();
    assert!(board.count.count(&lines) <= Tokens(200), "{lines}");
    assert!(summary.tokens_after() <= Tokens(2000));
}

#[test]
fn a_summary_that_is_empty_or_too_long_is_refused() {
    let (board, plan) = talk_of_nodes();
    assert_eq!(plan.check(" \n", board.count), Err(Shortcoming::Empty));
    let refused = plan.check(&"the tide and ".repeat(5000), board.count).unwrap_err();
    let Shortcoming::TooLong { tokens, allowed } = refused else { panic!("{refused}") };
    assert!(tokens > allowed && allowed == plan.allowed_text() && allowed < Tokens(2000));
    let extract = plan.extract(board.count).unwrap();
    assert_eq!(plan.check(extract.text(), board.count).unwrap(), extract, "the extract is held to the same");
}
