//! I1: folding the journal from the start, or from any snapshot, gives the identical state.

use callboard_core::{
    entry::{Hash, Head, line},
    state::State,
};
use proptest::prelude::*;

use crate::story::{Told, story};

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
    fn i1_entries_chain_and_are_read_back_as_they_were_written(steps in story(25)) {
        let mut told = Told::new();
        steps.iter().for_each(|step| told.take(step));
        let mut head = Head::default();
        for entry in &told.board.entries {
            prop_assert_eq!(&line::read(&line::write(entry).unwrap()).unwrap(), entry);
            prop_assert_eq!(entry.header.seq, head.seq.next());
            prop_assert_eq!(entry.tag, head.tag.chain(&entry.header, &Hash::of(entry.data.as_bytes())));
            head = entry.head();
        }
    }
}
