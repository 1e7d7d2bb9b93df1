//! The pieces of prompts: they are all of a prompt, they are as large as their parts, and each says where it came from.

use std::collections::{BTreeMap, BTreeSet};

use callboard_core::{
    count::{Factor, Tokens},
    error::Error,
    prompt::Format,
    testing::{Board, Pieces, Words},
};
use callboard_prompt::{Body, Prompt, Provider, ResolvedSpec, testing::Shows as _};
use proptest::{prelude::*, sample::select};

use crate::{
    budget::told,
    story::{THREADS, layouts, story, talk},
};

proptest! {
    #![proptest_config(crate::cases(48))]

    #[test]
    fn pieces_are_all_of_a_prompt_and_come_from_entries_that_the_reader_sees(
        steps in story(24), talk in talk(40), budget in prop_oneof![400..3000_u64, 3000..40_000_u64],
        layout in select(layouts().to_vec()), task in any::<bool>(), factor in proptest::option::of(700..1600_u32),
        pieces in any::<bool>(),
    ) {
        let mut board = told(&[steps, talk].concat());
        board.count = if pieces { &Pieces } else { &Words };
        for agent in board.state.team.names().map(ToString::to_string).collect::<Vec<_>>() {
            let seen: BTreeSet<_> = board.seen(&agent).iter().map(|entry| entry.seq).collect();
            for (thread, (provider, format)) in THREADS.into_iter().flat_map(|thread| READERS.map(|reader| (thread, reader))) {
                let spec = ResolvedSpec {
                    format, provider, layout: layout.clone(), task: task.then(|| "do it <CURRENT_TASK>".to_owned()),
                    factor: factor.map(Factor::thousandths),
                    ..ResolvedSpec::new(agent.parse().unwrap(), thread.parse().unwrap(), Tokens(budget), board.count)
                };
                match board.prompt_for(&agent, &spec, 5) {
                    Ok(prompt) => {
                        check_texts(&prompt)?;
                        check_sizes(&prompt, &board)?;
                        for piece in &prompt.pieces {
                            // What is true now may have been written before the reader might see it: then a piece tells the
                            // number of that entry and no more.
                            let is_state = STATE.contains(&&*piece.part);
                            let is_seen = piece.seq.is_none_or(|seq| (is_state || seen.contains(&seq)) && seq <= prompt.seq);
                            prop_assert!(is_seen, "{} sees {:?} in {}", agent, piece, prompt.text());
                        }
                    }
                    Err(Error::BudgetExceeded { .. } | Error::NotFound { .. }) => {}
                    Err(error) => prop_assert!(false, "{}", error),
                }
            }
        }
    }
}

/// Parts that show the state.
const STATE: [&str; 3] = ["current_plan", "workflow_snapshot", "workflow_variables"];

/// Whose models read it, and in which format.
const READERS: [(Provider, Format); 6] = [
    (Provider::OpenAi, Format::Text),
    (Provider::OpenAi, Format::OpenAi),
    (Provider::Unknown, Format::OpenAi),
    (Provider::Mistral, Format::OpenAi),
    (Provider::Unknown, Format::Responses),
    (Provider::Anthropic, Format::Anthropic),
];

/// Joined, the pieces are every text of the prompt.
fn check_texts(prompt: &Prompt) -> Result<(), TestCaseError> {
    let messages = match &prompt.body {
        Body::Text(_) => 0,
        Body::Messages(messages) | Body::Anthropic { messages, .. } => messages.len(),
        Body::Responses { input, .. } => input.len(),
    };
    let mut left = prompt.pieces.as_slice();
    for message in [None].into_iter().chain((0..messages).map(Some)) {
        let text = prompt.body.texts(message).concat();
        let length = left.iter().take_while(|piece| piece.message == message).count();
        let (pieces, behind) = left.split_at(length);
        let mut at = 0;
        for piece in pieces {
            prop_assert_eq!(piece.bytes.start, at, "{:?} in {}", piece, text);
            prop_assert!(text.get(piece.bytes.clone()).is_some(), "{:?} in {}", piece, text);
            at = piece.bytes.end;
        }
        prop_assert_eq!(at, text.len(), "{:?} of {}", pieces, text);
        left = behind;
    }
    prop_assert!(left.is_empty(), "{:?} stand nowhere", left);
    Ok(())
}

/// The sizes of the pieces add up to those of their parts, and what is text is as large as it says.
fn check_sizes(prompt: &Prompt, board: &Board) -> Result<(), TestCaseError> {
    let (mut of_pieces, mut of_parts) = (BTreeMap::new(), BTreeMap::new());
    for piece in &prompt.pieces {
        *of_pieces.entry(&*piece.part).or_insert(Tokens(0)) += piece.tokens;
    }
    for part in &prompt.parts {
        *of_parts.entry(part.name.as_str()).or_insert(Tokens(0)) += part.tokens;
    }
    of_pieces.retain(|_, tokens| *tokens > Tokens(0));
    of_parts.retain(|_, tokens| *tokens > Tokens(0));
    prop_assert_eq!(of_pieces, of_parts);
    if let (Body::Text(text), None) = (&prompt.body, prompt.factor) {
        for piece in &prompt.pieces {
            let shown = &text[piece.bytes.clone()];
            prop_assert_eq!(board.count.count(shown), piece.tokens, "{:?}: {}", piece, shown);
        }
    }
    Ok(())
}
