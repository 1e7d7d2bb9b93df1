//! The cut of the history: it stays where it is for a while, so that a provider's prompt cache keeps its prefix.

use callboard_core::{
    conversation::{AddMessages, NewMessage, Role},
    prompt::{Body, Format},
    testing::Board,
};

fn say(board: &mut Board, by: &str, thread: &str, role: Role, text: &str) {
    let command = AddMessages { thread: thread.parse().unwrap(), messages: vec![NewMessage::text(role, text)] };
    if by == "user" { board.user(command) } else { board.by(by, command) }.unwrap();
}

/// What the model gets before the newest messages: as much of the prompt as the one before began with.
fn common(before: &str, after: &str) -> usize {
    before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count()
}

fn rendered(board: &Board, format: Format) -> (String, bool) {
    let prompt = board.prompt_as("lead", "main", 8000, format).unwrap();
    let is_cut = prompt.parts.iter().any(|part| part.name == "history" && part.shortened);
    match prompt.body {
        Body::Text(text) => (text, is_cut),
        Body::Messages(messages) => (serde_json::to_string(&messages).unwrap(), is_cut),
        // The marks move, and are no part of what is kept.
        body @ Body::Anthropic { .. } => {
            let marked = serde_json::to_string(&body).unwrap();
            (marked.replace(r#","cache_control":{"type":"ephemeral"}"#, ""), is_cut)
        }
    }
}

/// In how many of `turns` the prompt began otherwise than the one before it did, once the history did not fit.
fn moves(format: Format, turns: usize, mut between: impl FnMut(&mut Board, usize)) -> usize {
    let mut board = Board::team("lead writer");
    let (mut last, mut moves) = (String::new(), 0);
    for turn in 0..turns {
        let words = "word ".repeat(10 + turn * 7 % 31);
        say(&mut board, "user", "main", Role::User, &format!("question {turn} {words}"));
        let (prompt, is_cut) = rendered(&board, format);
        // All but the question, which was the task and is history now.
        if is_cut && common(&last, &prompt) * 10 < last.len() * 6 {
            moves += 1;
        }
        last = prompt;
        say(&mut board, "lead", "main", Role::Ai, &format!("answer {turn} {words}"));
        between(&mut board, turn);
    }
    moves
}

#[test]
fn the_cut_moves_a_few_times_while_a_share_of_messages_is_added() {
    // A turn adds some 90 tokens, and the history gets some 7,500, of which less than a twentieth stays empty: the cut
    // moves every two to four turns, once all that is said has no room any more.
    for format in [Format::Text, Format::OpenAi, Format::Anthropic] {
        let moves = moves(format, 250, |_, _| {});
        assert!((10..=90).contains(&moves), "{moves} moves in 250 turns");
    }
}

#[test]
fn what_is_said_elsewhere_does_not_move_the_cut() {
    let quiet = moves(Format::Text, 150, |_, _| {});
    let busy = moves(Format::Text, 150, |board, turn| {
        say(board, "user", "elsewhere", Role::User, &"noise ".repeat(turn * 13 % 97));
    });
    assert_eq!(busy, quiet);
}
