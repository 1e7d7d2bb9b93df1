//! Any history compresses to its target, and what has to stay is in the prompts after it.

use callboard_core::{
    compression::{Compressed, plan::Aim},
    conversation::MessageView,
    count::Tokens,
    fact,
    id::{Seq, ThreadId},
    prompt::{Body, Format, PartReport},
    testing::Board,
};
use proptest::prelude::*;
use serde_json::json;

use crate::story::{Step, Told, Tool, pin, talk};

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn any_history_compresses_to_its_target(
        steps in talk(120), pins in proptest::collection::vec(pin(), 0..4), more in talk(60),
        target in 500..4000_u64, keep_recent in proptest::option::of(0..500_u64),
    ) {
        let mut told = Told::new();
        let aim = Aim { target: Tokens(target), keep_recent: keep_recent.map(|tokens| Tokens(tokens.min(target - 1))) };
        steps.iter().chain(&pins).for_each(|step| told.take(step));
        for thread in ["main", "agent:writer"] {
            check(&mut told, thread, aim)?;
        }
        more.iter().for_each(|step| told.take(step));
        for thread in ["main", "agent:writer"] {
            check(&mut told, thread, aim)?;
        }
    }
}

#[test]
fn what_a_summary_covers_stays_covered_when_all_that_is_old_then_is_what_it_kept() {
    let (mut told, aim) = (Told::new(), Aim { target: Tokens(500), keep_recent: None });
    let say = |by, words, tool| Step::Say { by, thread: "agent:writer", id: None, words, tool };
    told.take(&say("writer", 6, Tool::Call(2)));
    told.take(&say("writer", 35, Tool::Result(0)));
    told.take(&say("user", 17, Tool::None));
    told.take(&say("user", 16, Tool::None));
    told.take(&say("user", 16, Tool::None));
    told.take(&say("user", 1, Tool::None));
    check(&mut told, "agent:writer", aim).unwrap();
    check(&mut told, "agent:writer", aim).unwrap();
}

/// Compresses a thread, and looks at what its readers are shown then.
fn check(told: &mut Told, thread: &str, aim: Aim) -> Result<(), TestCaseError> {
    let board = &mut told.board;
    let name: ThreadId = thread.parse().unwrap();
    if board.state.threads.get(&name).is_none() {
        return Ok(());
    }
    let pins: Vec<Seq> = board.state.threads.get(&name).unwrap().compression.pins.keys().copied().collect();
    let pinned = board.state.threads.get(&name).unwrap().compression.pinned_tokens();
    if pinned > Tokens(aim.target.0 / 2) {
        match board.compress(thread, aim) {
            Err(refused) => prop_assert_eq!(refused.code(), "pins_too_large"),
            // All of it is short enough as it is.
            Ok(compressed) => prop_assert_eq!(compressed, None),
        }
        return Ok(());
    }
    let Some(seq) = board.compress(thread, aim).unwrap() else { return Ok(()) };
    let compressed: Compressed = fact::read(&board.entries[seq.0 as usize - 1]).unwrap();
    prop_assert!(compressed.tokens_after <= aim.target, "{compressed:?}");
    prop_assert!(compressed.tokens_before > aim.target);
    for (format, agent) in [(Format::Text, "writer"), (Format::OpenAi, "writer")] {
        let prompt = board.prompt_as(agent, thread, 1_000_000, format).unwrap();
        let part = |name: &str| {
            prompt.parts.iter().find(|part: &&PartReport| part.name == name).map_or(0, |part| part.tokens.0)
        };
        let said = part("history");
        prop_assert!(said <= aim.target.0, "{format:?}: {said} of {}: {}", aim.target, prompt.text());
        let shown = json!(prompt.body).to_string();
        for seq in &pins {
            let message = message(board, *seq);
            let words = message.content.as_str().unwrap_or_default().split(' ').next().unwrap();
            prop_assert!(shown.contains(words), "{seq} is pinned: {shown}");
        }
        if format == Format::Text {
            let Body::Text(text) = &prompt.body else { unreachable!() };
            prop_assert_eq!(text.matches("<CONVERSATION_SUMMARY").count(), 1, "{}", text);
        }
    }
    Ok(())
}

fn message(board: &Board, seq: Seq) -> MessageView {
    let mut data: serde_json::Value = serde_json::from_str(&board.entries[seq.0 as usize - 1].data).unwrap();
    data["seq"] = json!(seq);
    serde_json::from_value(data).unwrap()
}
