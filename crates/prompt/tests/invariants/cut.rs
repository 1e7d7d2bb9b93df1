//! The cut of the history stays in place for several turns, so that a provider's prompt cache keeps its prefix.

use callboard_core::{
    context_set::PutSet,
    conversation::{AddMessages, NewMessage, Role},
    count::Tokens,
    id::Seq,
    prompt::Format,
    testing::Board,
};
use callboard_prompt::{Body, HistoryCache, ResolvedSpec, testing::Shows as _};
use serde_json::json;

fn say(board: &mut Board, by: &str, thread: &str, role: Role, text: &str) {
    let command = AddMessages { thread: thread.parse().unwrap(), messages: vec![NewMessage::text(role, text)] };
    if by == "user" { board.user(command) } else { board.by(by, command) }.unwrap();
}

/// How many bytes the two prompts have in common at their beginning.
fn common(before: &str, after: &str) -> usize {
    before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count()
}

/// Keeps the history from prompt to prompt, as sessions do: made from scratch, the prompts of this file take minutes.
fn rendered(board: &Board, kept: &mut Option<(HistoryCache, Seq)>, format: Format) -> (String, bool) {
    let (lead, main) = ("lead".parse().unwrap(), "main".parse().unwrap());
    let spec = ResolvedSpec { format, ..ResolvedSpec::new(lead, main, Tokens(8000), board.count) };
    let prompt = board.prompt_from(kept, "lead", &spec).unwrap();
    let is_cut = prompt.parts.iter().any(|part| ["history", "task"].contains(&&*part.name) && part.shortened);
    match prompt.body {
        Body::Text(text) => (text, is_cut),
        Body::Messages(messages) => (serde_json::to_string(&messages).unwrap(), is_cut),
        // The cache breakpoints move, and do not count as a difference.
        body @ (Body::Responses { .. } | Body::Anthropic { .. }) => {
            let marked = serde_json::to_string(&body).unwrap();
            (marked.replace(r#","cache_control":{"type":"ephemeral"}"#, ""), is_cut)
        }
    }
}

/// In how many of `turns` the prompt began differently from the one before, once the history did not fit.
fn moves(format: Format, turns: usize, mut between: impl FnMut(&mut Board, usize)) -> usize {
    let mut board = Board::team("lead writer");
    let (mut last, mut kept, mut moves) = (String::new(), None, 0);
    for turn in 0..turns {
        let words = "word ".repeat(10 + turn * 7 % 31);
        say(&mut board, "user", "main", Role::User, &format!("question {turn} {words}"));
        let (prompt, is_cut) = rendered(&board, &mut kept, format);
        // Not all of the last prompt: its question was the task then, and is history now.
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
    // A turn adds about 90 tokens. The history gets about 7,500, of which less than a twentieth stays empty. So once the
    // history is full, the cut moves every two to four turns.
    for format in [Format::Text, Format::OpenAi, Format::Anthropic] {
        let moves = moves(format, 250, |_, _| {});
        assert!((10..=90).contains(&moves), "{moves} moves in 250 turns");
    }
}

#[test]
fn in_a_long_loop_of_tool_calls_the_cut_moves_in_steps() {
    // A call and its result have about 160 tokens, so the last third of them does not fit with those before.
    for format in [Format::Text, Format::OpenAi, Format::Anthropic] {
        let mut board = Board::team("lead writer");
        say(&mut board, "user", "main", Role::User, "Look at every boat.");
        let (mut last, mut kept, mut moves, mut cuts) = (String::new(), None, 0, 0);
        for turn in 0..80 {
            let call = json!({"id": format!("call{turn}"), "name": "look_at", "arguments": {"boat": turn}});
            let result = format!("boat {turn} {}", "word ".repeat(110 + turn * 7 % 31));
            let messages = json!([
                {"role": "assistant", "content": "I look.", "tool_calls": [call]},
                {"role": "tool", "tool_call_id": format!("call{turn}"), "content": result},
            ]);
            let messages = serde_json::from_value(messages).unwrap();
            board.user(AddMessages { thread: "main".parse().unwrap(), messages }).unwrap();
            let (prompt, is_cut) = rendered(&board, &mut kept, format);
            assert!(prompt.contains("Look at every boat.") && prompt.contains(&format!("boat {turn} word")));
            if is_cut {
                cuts += 1;
                moves += usize::from(common(&last, &prompt) * 10 < last.len() * 6);
            }
            last = prompt;
        }
        assert!(cuts > 10 && moves > 0 && moves * 2 <= cuts, "{moves} moves in {cuts} turns");
    }
}

#[test]
fn a_set_that_changes_with_each_turn_can_stand_behind_what_was_said() {
    let put = |board: &mut Board, name: &str, content: &str| {
        board.user(PutSet::new(name.parse().unwrap(), content)).unwrap();
    };
    for format in [Format::Text, Format::OpenAi] {
        let mut moves = [0, 0];
        for (moves, changing_last) in moves.iter_mut().zip([false, true]) {
            let mut board = Board::team("lead writer");
            put(&mut board, "Brief", &"Four lines, and they rhyme. ".repeat(20));
            (0..40)
                .for_each(|n| say(&mut board, "user", "main", Role::User, &format!("Line {n} of the poem, please.")));
            let profile = serde_json::from_value(json!({"changing_parts_last": changing_last})).unwrap();
            let (lead, main) = ("lead".parse().unwrap(), "main".parse().unwrap());
            let spec = ResolvedSpec::new(lead, main, Tokens(8000), board.count);
            let spec = ResolvedSpec { format, profile: Some(profile), ..spec };
            let mut last = String::new();
            for turn in 0..30 {
                put(&mut board, "Score", &format!("So far there are {turn} lines. "));
                say(&mut board, "user", "main", Role::User, &format!("question {turn}"));
                let prompt = board.prompt_for("lead", &spec, 100).unwrap();
                let text = match &prompt.body {
                    Body::Text(text) => text.clone(),
                    body => serde_json::to_string(body).unwrap(),
                };
                assert!(prompt.text().contains(&format!("So far there are {turn} lines.")), "{}", prompt.text());
                assert!(prompt.tokens <= Tokens(8000));
                *moves += usize::from(common(&last, &text) * 10 < last.len() * 6);
                last = text;
                say(&mut board, "lead", "main", Role::Ai, &format!("answer {turn}"));
            }
        }
        let [before, behind] = moves;
        assert!(before >= 20 && behind <= 5, "{before} moves where it stands before, and {behind} behind");
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
