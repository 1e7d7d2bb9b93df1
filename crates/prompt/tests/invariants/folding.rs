//! I1: folding the journal from the start, or from any snapshot, gives the identical state.

use std::collections::BTreeMap;

use callboard_core::{
    entry::{Head, line},
    run::Run,
    state::State,
};
use proptest::prelude::*;

use crate::story::{Step, Told, story};

proptest! {
    #![proptest_config(crate::cases(64))]

    // That the state of each decision is the fold of its entries is asserted by the board, at every append.
    #[test]
    fn i1_folding_from_the_start_or_from_any_snapshot_gives_the_identical_state(steps in story(40), at in 0.0..1.0_f64) {
        let mut told = Told::new();
        steps.iter().for_each(|step| told.take(step));
        let (entries, state) = (&told.board.entries, &told.board.state);
        prop_assert_eq!(&State::fold(entries).unwrap(), state);

        let (before, after) = entries.split_at((entries.len() as f64 * at) as usize);
        let snapshot = serde_json::to_string(&State::fold(before).unwrap()).unwrap();
        let mut restored: State = serde_json::from_str(&snapshot).unwrap();
        prop_assert_eq!(&serde_json::to_string(&restored).unwrap(), &snapshot);
        after.iter().for_each(|entry| restored.apply(entry).unwrap());
        prop_assert_eq!(&restored, state);
        prop_assert_eq!(serde_json::to_string(&restored).unwrap(), serde_json::to_string(state).unwrap());
    }

    #[test]
    fn i1_a_run_that_left_the_state_is_read_as_it_ended(steps in story(60)) {
        let (mut told, mut ended) = (Told::new(), BTreeMap::new());
        // What was erased is not as it was when the run ended.
        for step in steps.iter().filter(|step| !matches!(step, Step::Erase { .. })) {
            told.take(step);
            ended.extend(told.board.state.runs.newest().filter(|run| run.has_ended()).map(|run| (run.id.clone(), run.clone())));
        }
        for run in told.board.runs().iter().filter(|run| run.has_ended()) {
            let then = &ended[&run.id];
            // What was due is shown of no run that has ended.
            let read = Run { due: then.due.clone(), due_origin: then.due_origin.clone(), ..(**run).clone() };
            prop_assert_eq!(Run { idle: then.idle, tools_started: then.tools_started.clone(), ..read }, (**then).clone());
        }
        prop_assert_eq!(told.board.runs().iter().filter(|run| run.has_ended()).count(), ended.len());
    }

    #[test]
    fn i1_entries_chain_and_are_read_back_as_they_were_written(steps in story(25)) {
        let mut told = Told::new();
        steps.iter().for_each(|step| told.take(step));
        let mut head = Head::default();
        for entry in &told.board.entries {
            prop_assert_eq!(&line::read(&line::write(entry).unwrap()).unwrap(), entry);
            prop_assert_eq!(entry.header.seq, head.seq.next());
            prop_assert_eq!(entry.tag, head.tag.chain(&entry.header, &entry.data_hash()));
            head = entry.head();
        }
    }
}
