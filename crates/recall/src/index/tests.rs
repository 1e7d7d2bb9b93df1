use callboard_core::{audience::Audience, recall::RecallRole, time::Timestamp};

use super::*;
use crate::{
    score::{IndexQuery, Scope, search},
    texts::Role,
};

fn item(seq: u64, text: &str) -> Item<'_> {
    let class = Class { source: "test".into(), subject: format!("document:{seq}").into(), audience: Audience::All };
    let (kind, role, time) = (Kind::Text, Role::Other, Timestamp::nearest(0));
    Item { seq: Seq(seq), kind, class, speaker: None, role, time, text, has_headings: true }
}

/// The entries that are found, the best first.
fn found(index: &Index, text: &str) -> Vec<u64> {
    let (limit, prefer) = (2, Some(RecallRole::Any));
    let query = IndexQuery { text, vector: None, limit, prefer, wants: &|_| true, skips: &|_, _| false };
    search(&[Scope { index, from: &|_| Some(Seq::ZERO), at: None }], &query).iter().map(|hit| hit.seq.0).collect()
}

#[test]
fn the_name_before_a_colon_is_the_speaker() {
    assert_eq!(named_speaker("Ann Lee: I do"), (Some("Ann Lee"), 9));
    assert_eq!(named_speaker("Error: no such file"), (None, 0));
    assert_eq!(named_speaker("see: this"), (None, 0));
    assert_eq!(named_speaker("Ann: "), (None, 0));
}

#[test]
fn a_long_text_is_added_in_steps_and_found_once_it_is_whole() {
    let (index, text) = (Mutex::new(Index::default()), "The wind is good and a boat sails.\n".repeat(5000));
    add_shared(&index, &item(1, "Another boat lies in the harbour."));
    let mut steps = 0;
    add_in_steps(&item(2, &text), |step| {
        let mut index = lock(&index);
        let passages = index.passages();
        // Whoever asks between two steps finds what was there before.
        assert_eq!((found(&index, "boat"), found(&index, "wind")), (vec![1], vec![]));
        step(&mut index);
        assert!(index.passages() - passages <= STEP);
        steps += 1;
    });
    assert!(steps > 5, "{steps}");
    let mut at_once = Index::default();
    at_once.add(&item(1, "Another boat lies in the harbour."));
    at_once.add(&item(2, &text));
    let index = lock(&index);
    for question in ["boat", "wind"] {
        assert_eq!(found(&index, question), found(&at_once, question));
        assert!(found(&index, question).contains(&2));
    }
    assert_eq!(index.texts.passages, at_once.texts.passages);
}

#[test]
fn the_terms_of_a_text_grow_with_its_length_alone() {
    let texts: [fn(usize) -> String; 5] = [
        |count| "A boat sails.\n".repeat(count),
        |count| "boat ".repeat(count),
        |count| "海の船".repeat(count),
        |count| "# Boats\n## Sails\n### Of linen\nThey are white.\n".repeat(count),
        |count| format!("# {}\n{}", "boat ".repeat(count), "It sails.\n".repeat(count)),
    ];
    let terms = |text: &str| {
        let mut index = Index::default();
        index.add(&item(1, text));
        index.texts.passages.iter().map(|passage| usize::from(passage.terms)).sum::<usize>()
    };
    for text in texts {
        let (one, two) = (terms(&text(4000)), terms(&text(8000)));
        assert!(one > 1000 && two < one * 11 / 5, "{}: {one} and {two}", &text(2));
    }
}
