//! I5: a prompt that is made of what was kept of earlier ones is the one that is made of nothing.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use callboard_core::id::Seq;
use callboard_core::{
    conversation::{AddMessages, NewMessage, Role},
    count::{TokenCounter, Tokens},
    id::ThreadId,
    prompt::{Format, profile::Profile},
    testing::{Board, Pieces, Words},
    text::Values,
};
use callboard_prompt::{
    HistoryCache as Kept, ResolvedSpec, prompt_of,
    tail::{Source, Tail},
    testing::Shows as _,
};
use proptest::{collection::vec, prelude::*};

use crate::story::{Step, THREADS, Told, layouts, story, talk};

/// What was kept for whom: by agent, thread, format, vocabulary and layout.
type Shelf = HashMap<(String, &'static str, bool, bool, usize), Option<(Kept, Seq)>>;

/// What is asked between two steps, by chance: which agents, threads, formats and vocabularies.
fn asked() -> impl Strategy<Value = u64> {
    prop_oneof![1 => Just(0), 2 => any::<u64>(), 1 => Just(u64::MAX)]
}

fn ask_all(told: &mut Told, shelf: &mut Shelf, mut asked: u64, budgets: [u64; 3]) -> Result<(), TestCaseError> {
    let names: Vec<_> = told.board.state.team.names().map(ToString::to_string).collect();
    for (at, agent) in names.iter().enumerate() {
        for thread in THREADS {
            asked = asked.rotate_left(3);
            if asked & 1 == 0 {
                continue;
            }
            let (text, words) = (asked & 2 == 0, asked & 4 == 0);
            told.board.count = if words { &Words } else { &Pieces };
            let layout = asked as usize % 11 % 3;
            let budget = Tokens(budgets[(at + asked as usize % 7) % 3]);
            let spec = ResolvedSpec {
                format: if text { Format::Text } else { Format::OpenAi },
                profile: Some(Profile::default()),
                layout: layouts()[layout].clone(),
                task: (asked & 24 == 24).then(|| "Do it.".to_owned()),
                ..ResolvedSpec::new(agent.parse().unwrap(), thread.parse().unwrap(), budget, told.board.count)
            };
            let kept = shelf.entry((agent.clone(), thread, text, words, layout)).or_default();
            let found = told.board.prompt_from(kept, agent, &spec);
            prop_assert_eq!(found, told.board.prompt_for(agent, &spec, 50), "{} in {}", agent, thread);
        }
    }
    Ok(())
}

fn check(steps: &[Step], asked: &[u64], budgets: [u64; 3]) -> Result<(), TestCaseError> {
    let (mut told, mut shelf) = (Told::new(), Shelf::new());
    for (step, asked) in steps.iter().zip(asked.iter().cycle()) {
        told.board.count = &Words;
        told.take(step);
        ask_all(&mut told, &mut shelf, *asked, budgets)?;
    }
    Ok(())
}

/// Counts words, and how often it was asked to.
#[derive(Default)]
struct Asked(AtomicUsize);

impl TokenCounter for Asked {
    fn vocabulary(&self) -> &'static str {
        "words"
    }

    fn count(&self, text: &str) -> Tokens {
        self.0.fetch_add(1, Ordering::Relaxed);
        Words.count(text)
    }
}

#[test]
fn what_was_written_is_not_written_again_where_older_entries_are_read() {
    let mut board = Board::team("lead writer");
    let messages = (0..40).map(|n| NewMessage::text(Role::User, format!("Message {n}."))).collect();
    board.user(AddMessages { thread: ThreadId::main(), messages }).unwrap();
    let (count, view) = (Asked::default(), board.view("lead").unwrap());
    let spec = ResolvedSpec::new("lead".parse().unwrap(), ThreadId::main(), Tokens(10_000), &count);
    let source = Source::of(&view, &spec.thread);
    let newest: Vec<_> = board.entries.iter().rev().filter(|entry| source.has(&entry.header)).cloned().collect();
    // How often it counts for a prompt of all entries, where it reads first so many of the newest and then all.
    let asked = |first: Option<usize>| {
        let mut history = Kept::new(&view, &spec, &count).unwrap();
        let mut asked = 0;
        for entries in first.into_iter().chain([newest.len()]) {
            let mut tail = Tail { complete: entries == newest.len(), ..Tail::default() };
            tail.extend_back(&newest[..entries]).unwrap();
            history.read(&view, &tail, &Values::new()).unwrap();
            let before = count.0.load(Ordering::Relaxed);
            let built = prompt_of(&view, &spec, &mut history, &Values::new(), &count);
            assert_eq!(built.is_ok(), tail.complete);
            asked = count.0.load(Ordering::Relaxed) - before;
        }
        asked
    };
    assert_eq!(asked(Some(20)) + 20, asked(None));
}

proptest! {
    #![proptest_config(crate::cases(16))]

    #[test]
    fn i5_a_prompt_made_of_what_was_kept_is_the_one_made_of_nothing_whatever_happens_in_between(
        steps in story(50), asked in vec(asked(), 1..50), budgets in [60..400_u64, 300..1500, 1500..40_000],
    ) {
        check(&steps, &asked, budgets)?;
    }

    #[test]
    fn i5_so_it_is_where_much_is_said_and_old_things_are_forgotten(
        steps in talk(700), asked in vec(prop_oneof![6 => Just(0), 1 => any::<u64>()], 1..50),
        budgets in [200..400_u64, 300..900, 900..4000],
    ) {
        check(&steps, &asked, budgets)?;
    }
}
