//! What notes in a prompt say of how to get what it does not show.

use callboard_core::tool::own_names;

use crate::{history_cache::HistoryCache, testing::Shows as _, tests::*};

/// A long message among others, and a long set.
fn long() -> Board {
    let mut board = Board::team("lead writer");
    let words = |word: &str| (0..400).map(|n| format!("{word}{n} ")).collect::<String>();
    let content = words("w").into();
    let set =
        callboard_core::context_set::PutSet { name: "Long".parse().unwrap(), content, visible_to: None, enabled: None };
    board.user(set).unwrap();
    for text in ["Hello.".to_owned(), words("q"), "And now?".to_owned()] {
        let messages = vec![NewMessage::text(callboard_core::conversation::Role::User, text)];
        board.user(AddMessages { thread: "main".parse().unwrap(), messages }).unwrap();
        let text = vec![NewMessage::text(callboard_core::conversation::Role::Ai, "Yes.".to_owned())];
        board.by("lead", AddMessages { thread: "main".parse().unwrap(), messages: text }).unwrap();
    }
    board
}

fn notes(
    board: &Board,
    kept: &mut Option<(HistoryCache, callboard_core::id::Seq)>,
    budget: u64,
    tools: &[&str],
) -> String {
    let spec = ResolvedSpec::new("lead".parse().unwrap(), "main".parse().unwrap(), Tokens(budget), board.count);
    let named: Vec<_> = tools.iter().map(|&tool| tool.to_owned()).collect();
    let spec = ResolvedSpec { tools: own_names(&named).unwrap(), ..spec };
    let prompt = board.prompt_from(kept, "lead", &spec).unwrap();
    let Body::Text(text) = &prompt.body else { panic!() };
    let is_note = |line: &&str| line.contains("shortened here") || line.contains("left out here");
    text.lines().filter(is_note).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_note_names_the_call_only_where_it_is_on_offer() {
    let board = long();
    let mut kept = None;
    let mut notes = |budget, tools: &[&str]| notes(&board, &mut kept, budget, tools);
    assert_snapshot!(notes(900, &[]), @r"
    [shortened here: it has 426 tokens]
    [what was said before entry 9 is left out here]
    ");
    assert_snapshot!(notes(900, &["callboard:read"]), @r"
    [shortened here: it has 426 tokens; fetch it by its name with `read_context_set`]
    [what was said before entry 9 is left out here; fetch it as older messages of the thread with `read_messages`]
    ");
    assert_snapshot!(notes(1_300, &["callboard:read_message"]), @"[shortened here: it has 400 tokens; fetch message m7 of thread main with `read_message`]");
    assert_snapshot!(notes(1_300, &[]), @"[shortened here: it has 400 tokens; it is message m7 of thread main]");
}
