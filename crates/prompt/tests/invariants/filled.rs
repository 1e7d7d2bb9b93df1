//! The history fills its share: a long message is shortened, and does not take the room of what was said before it.

use callboard_core::{
    conversation::{AddMessages, NewMessage},
    count::Tokens,
    prompt::Format,
    testing::{Board, Pieces, Words},
};
use callboard_prompt::{Prompt, testing::Shows as _};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

const FORMATS: [Format; 3] = [Format::Text, Format::OpenAi, Format::Anthropic];

/// What is said at once.
#[derive(Clone, Debug)]
enum Talk {
    /// Somebody says so many words.
    Words(&'static str, usize),
    /// Tools are called with so many words, and each gives so many.
    Tools(Vec<(usize, usize)>),
    /// A tool is called with two long texts.
    Edit(usize, usize),
}

/// Few words mostly, and sometimes more than a prompt has room for.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 1..40_usize, 3 => 40..400_usize, 2 => 400..4000_usize, 1 => 4000..12_000_usize]
}

fn talk() -> impl Strategy<Value = Talk> {
    prop_oneof![
        5 => (select(vec!["user", "assistant", "system"]), size()).prop_map(|(role, words)| Talk::Words(role, words)),
        2 => vec((1..30_usize, size()), 1..3).prop_map(Talk::Tools),
        1 => (size(), size()).prop_map(|(old, new)| Talk::Edit(old, new)),
    ]
}

fn words(number: usize, count: usize) -> String {
    (0..count).map(|n| if n % 12 == 11 { format!("w{number}.\n") } else { format!("w{number} ") }).collect()
}

fn messages(talk: &Talk, number: usize) -> Vec<Value> {
    let call = |id: String, arguments: Value| json!({"id": id, "name": "look", "arguments": arguments});
    let calls = |calls: Vec<Value>| json!({"role": "assistant", "content": "", "tool_calls": calls});
    match talk {
        Talk::Words(role, count) => vec![json!({"role": role, "content": words(number, *count)})],
        Talk::Tools(tools) => {
            let id = |at: usize| format!("c{number}-{at}");
            let called =
                tools.iter().enumerate().map(|(at, (asked, _))| call(id(at), json!({"for": words(at, *asked)})));
            let result = |(at, (_, given)): (usize, &(usize, usize))| json!({"role": "tool", "tool_call_id": id(at), "content": words(number, *given)});
            std::iter::once(calls(called.collect())).chain(tools.iter().enumerate().map(result)).collect()
        }
        Talk::Edit(old, new) => {
            let arguments = json!({"path": "a", "old": words(number, *old), "new": words(number + 1, *new)});
            let result = json!({"role": "tool", "tool_call_id": format!("e{number}"), "content": "done"});
            vec![calls(vec![call(format!("e{number}"), arguments)]), result]
        }
    }
}

fn said(all: &[Talk]) -> Board {
    let mut board = Board::team("lead writer");
    for (number, talk) in all.iter().enumerate() {
        add(&mut board, messages(talk, number));
    }
    add(&mut board, vec![json!({"role": "user", "content": "Go on."})]);
    board
}

fn add(board: &mut Board, messages: Vec<Value>) {
    let messages: Vec<NewMessage> =
        messages.into_iter().map(|message| serde_json::from_value(message).unwrap()).collect();
    board.user(AddMessages { thread: "main".parse().unwrap(), messages }).unwrap();
}

fn history(prompt: &Prompt) -> Tokens {
    prompt.parts.iter().filter(|part| part.name == "history").map(|part| part.tokens).sum()
}

/// What the history has of what all other parts leave.
fn of_share(prompt: &Prompt) -> (u64, u64) {
    let used = history(prompt);
    (used.0, prompt.budget.minus(prompt.tokens.minus(used)).0)
}

proptest! {
    #![proptest_config(crate::cases(16))]

    #[test]
    fn the_history_uses_its_share_whenever_there_is_so_much_to_say(
        all in vec(talk(), 1..40), budgets in [6000..10_000_u64, 10_000..40_000], pieces in any::<bool>(),
    ) {
        let mut board = said(&all);
        board.count = if pieces { &Pieces } else { &Words };
        for format in FORMATS {
            let whole = history(&board.prompt_as("writer", "main", 100_000_000, format).unwrap());
            for budget in budgets {
                let prompt = board.prompt_as("writer", "main", budget, format).unwrap();
                let (used, share) = of_share(&prompt);
                prop_assert!(used <= share);
                prop_assert!(
                    whole.0 <= share && used == whole.0 || used * 100 >= share * 95,
                    "{} of {} tokens while there are {} to say in {:?}", used, share, whole, format,
                );
            }
        }
    }
}

#[test]
fn one_long_message_does_not_take_the_room_of_all_others() {
    let mut board = Board::team("lead writer");
    for number in 0..60 {
        let count = if number == 39 { 9000 } else { 80 };
        add(&mut board, vec![json!({"role": "user", "content": words(number, count)})]);
        for format in FORMATS {
            let prompt = board.prompt_as("writer", "main", 8000, format).unwrap();
            let (used, _) = of_share(&prompt);
            // The long one is the task at first, which comes before the history.
            let least = if number < 39 { number as u64 * 80 } else { 7000 };
            assert!(used >= least || number == 39, "{used} tokens after message {number}");
            if number > 39 {
                let text = prompt.text();
                assert!(text.contains("w39 ") && text.contains("[shortened here: it has "), "{text}");
                assert!((0..number).all(|one| text.contains(&format!("w{one} "))), "{text}");
            }
        }
    }
}
