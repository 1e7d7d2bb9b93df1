//! I5: a prompt that is made of what was kept of earlier ones is the one that is made of nothing.

use std::collections::HashMap;

use callboard_core::id::Seq;
use callboard_core::{
    count::Tokens,
    prompt::{Format, profile::Profile},
    testing::{Pieces, Words},
};
use callboard_prompt::{HistoryCache as Kept, ResolvedSpec, testing::Shows as _};
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
