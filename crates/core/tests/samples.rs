//! Journals that were written once load for ever: one entry of every type and shape, as the first version wrote them.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "in tests a surprise is a failure")]

use std::collections::{BTreeMap, BTreeSet};

use callboard_core::{
    entry::{Entry, Hash, Head, line},
    event,
    id::Seq,
    rewriting::changed_by,
    state::State,
};

fn samples() -> Vec<Entry> {
    include_str!("samples/v1.jsonl").lines().map(|text| line::read(text).unwrap()).collect()
}

#[test]
fn samples_of_the_first_version_fold_to_the_state_that_they_always_did() {
    let state = State::fold(&samples()).unwrap();
    insta::assert_snapshot!(serde_json::to_string_pretty(&state).unwrap());
}

#[test]
fn each_state_is_read_back_as_it_was_written() {
    let mut state = State::default();
    for entry in samples() {
        state.apply(&entry).unwrap();
        let written = serde_json::to_string(&state).unwrap();
        let read = serde_json::from_str::<State>(&written).map_err(|error| error.to_string());
        assert_eq!(read.as_ref(), Ok(&state), "after entry {}", entry.header.seq);
    }
}

#[test]
fn the_tags_of_samples_chain_over_what_they_say() {
    let mut head = Head::default();
    for entry in samples() {
        assert_eq!(entry.header.seq, head.seq.next());
        assert_eq!(entry.tag, head.tag.chain(&entry.header, &entry.data_hash()), "{}", entry.header.seq);
        head = entry.head();
    }
}

#[test]
fn what_stands_in_the_place_of_erased_data_is_part_of_the_chain() {
    let samples = samples();
    let changed = samples.iter().flat_map(|entry| changed_by(entry).unwrap());
    let hashes: BTreeMap<_, _> = changed.map(|changed| (changed.seq, changed.sha256)).collect();
    let stands = |entry: &&Entry| entry.erasure().is_some();
    let found = samples.iter().filter(stands).map(|entry| (entry.header.seq, Hash::of(entry.data.as_bytes())));
    let found: BTreeMap<_, _> = found.collect();
    assert_eq!(hashes, found);
    assert!(!found.is_empty());
}

#[test]
fn samples_are_written_as_they_were_read() {
    let lines: Vec<_> = samples().iter().map(|entry| line::write(entry).unwrap()).collect();
    assert_eq!(lines.join("\n"), include_str!("samples/v1.jsonl").trim_end());
}

#[test]
fn there_is_a_sample_of_every_type() {
    let sampled: BTreeSet<_> = samples().iter().map(|entry| entry.header.kind.to_string()).collect();
    let missing: Vec<_> = event::ALL.iter().map(|one| one.kind).filter(|kind| !sampled.contains(*kind)).collect();
    assert!(missing.is_empty(), "add entries to tests/samples/v1.jsonl, as this program writes them: {missing:?}");
}

#[test]
fn an_entry_of_an_unknown_type_or_a_newer_version_closes_the_journal_to_this_program() {
    let entries = samples();
    let state = State::fold(&entries).unwrap();
    let newer = |change: fn(&mut Entry)| {
        let mut entry = entries[0].clone();
        entry.header.seq = state.head.seq.next();
        change(&mut entry);
        let mut after = state.clone();
        let error = after.apply(&entry).unwrap_err();
        assert_eq!(after, state);
        error.code()
    };
    assert_eq!(newer(|entry| entry.header.kind = "session.painted".into()), "written_by_newer");
    assert_eq!(newer(|entry| entry.header.v = 2), "written_by_newer");
    assert_eq!(newer(|entry| entry.data = "{}".into()), "damaged");
    assert_eq!(newer(|entry| entry.data = "not json".into()), "damaged");
    assert_eq!(newer(|entry| entry.header.seq = Seq(1)), "damaged");
}
