//! Any history compresses to its target, and what has to stay is in the prompts after it.

use callboard_core::{
    compression::Compressed,
    conversation::MessageView,
    count::Tokens,
    fact,
    id::{Seq, ThreadId},
    prompt::Format,
    testing::Board,
};
use callboard_prompt::{Body, PartReport, compression::plan::Aim, testing::Shows as _};
use proptest::prelude::*;
use serde_json::json;

use crate::story::{Step, Told, Tool, pin, seen_talk};

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn any_history_compresses_to_its_target(
        steps in seen_talk(120), pins in proptest::collection::vec(pin(), 0..4), more in seen_talk(60),
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

#[test]
fn what_was_said_before_a_thread_was_shown_to_more_is_compressed_for_those_who_saw_it() {
    let (mut told, aim) = (Told::new(), Aim { target: Tokens(1500), keep_recent: None });
    let see = |visible_to| Step::Thread { by: "user", thread: "main", visible_to };
    let say = || Step::Say { by: "user", thread: "main", id: None, words: 40, tool: Tool::None };
    for visible_to in [json!(["writer"]), json!(["writer", "critic"]), json!("all")] {
        told.take(&see(visible_to));
        (0..60).for_each(|_| told.take(&say()));
    }
    check(&mut told, "main", aim).unwrap();
    let compressed = told.board.entries.iter().filter(|entry| &*entry.header.kind == "conversation.compressed");
    let audiences: Vec<_> = compressed.map(|entry| entry.header.audience.to_string()).collect();
    assert_eq!(audiences, ["writer", "critic", "all"]);
    // One that stands for all that a reader sees hides the others from it.
    (0..60).for_each(|_| told.take(&say()));
    told.take(&see(json!(["critic", "writer"])));
    check(&mut told, "main", aim).unwrap();
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
    let before = board.entries.len();
    match board.compress(thread, aim) {
        Ok(_) => {}
        // What is pinned counts there as prompts render it, which may be a little less or more.
        Err(refused) => {
            prop_assert!(pinned > Tokens(aim.target.0 / 2 - 16), "{refused}: {pinned}");
            prop_assert_eq!(refused.code(), "pins_too_large");
            return Ok(());
        }
    }
    for entry in &board.entries[before..] {
        let compressed: Compressed = fact::read(entry).unwrap();
        prop_assert!(compressed.tokens_after <= aim.target, "{compressed:?}");
        prop_assert!(compressed.tokens_before > aim.target);
    }
    let audience = board.state.threads.get(&name).unwrap().sight.audience.clone();
    // What the manager is shown of `main` is more than that thread.
    let readers = ["lead", "writer", "critic"].into_iter().filter(|agent| audience.contains(&agent.parse().unwrap()));
    let readers = readers.filter(|agent| *agent != "lead" || thread != "main");
    for (format, agent) in readers.flat_map(|agent| [(Format::Text, agent), (Format::OpenAi, agent)]) {
        let prompt = board.prompt_as(agent, thread, 1_000_000, format).unwrap();
        let view = board.view(agent).unwrap();
        let is_seen = |seq: &Seq| view.sees_said(&name, *seq, &board.entries[seq.0 as usize - 1].header.audience);
        let part = |name: &str| {
            prompt.parts.iter().find(|part: &&PartReport| part.name == name).map_or(0, |part| part.tokens.0)
        };
        let said = part("history");
        prop_assert!(said <= aim.target.0, "{format:?}: {said} of {}: {}", aim.target, prompt.text());
        let shown = json!(prompt.body).to_string();
        for seq in pins.iter().filter(|seq| is_seen(seq)) {
            let message = message(board, *seq);
            let words = message.content.as_str().unwrap_or_default().split(' ').next().unwrap();
            prop_assert!(shown.contains(words), "{seq} is pinned: {shown}");
        }
        if format == Format::Text {
            let Body::Text(text) = &prompt.body else { unreachable!() };
            prop_assert!(text.matches("<CONVERSATION_SUMMARY").count() <= 1, "{}", text);
        }
    }
    Ok(())
}

fn message(board: &Board, seq: Seq) -> MessageView {
    let mut data: serde_json::Value = serde_json::from_str(&board.entries[seq.0 as usize - 1].data).unwrap();
    data["seq"] = json!(seq);
    serde_json::from_value(data).unwrap()
}
