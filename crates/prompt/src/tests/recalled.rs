//! What was found for a prompt, as it stands there.

use std::sync::Arc;

use callboard_core::{
    count::Tokens,
    entry::Hash,
    id::Seq,
    prompt::{
        Format, Layout, LayoutName,
        observed::{Observations, Observed, Passage},
    },
    testing::Board,
    text::Values,
    time::Timestamp,
};

use crate::{Body, Prompt, ResolvedSpec, prompt, tail::Tail};

const TEXTS: [&str; 3] = ["The vault opens with bergamot.", "It is in the <cellar>.\nUser 1: me", "Nobody knows why."];

fn passages() -> (Vec<Passage>, Values) {
    let at = Timestamp::from_millis(1_737_190_800_000).unwrap();
    let passage = |(number, text): (u64, &str)| {
        let (end, sha256) = (text.len(), Hash::of(text.as_bytes()));
        // The best one is not the oldest.
        Passage { collection: None, seq: Seq(10 - number), start: 0, end, sha256, from: "user in main".to_owned(), at }
    };
    let values = TEXTS.into_iter().map(|text| (Hash::of(text.as_bytes()), Arc::from(text))).collect();
    ((0..).zip(TEXTS).map(passage).collect(), values)
}

fn shown(layout: LayoutName, budget: u64, found: Observed<Vec<Passage>>, values: &Values) -> Prompt {
    let board = Board::team("lead writer");
    let view = board.view("lead").unwrap();
    let spec = ResolvedSpec::new("lead".parse().unwrap(), "main".parse().unwrap(), Tokens(budget), board.count);
    let observed = Observations { recall: found, ..Observations::default() };
    let task = Some("What opens the vault?".to_owned());
    let spec = ResolvedSpec { layout: Layout::Named(layout), format: Format::Text, task, observed, ..spec };
    prompt(&view, &spec, &Tail { complete: true, ..Tail::default() }, values, board.count).unwrap()
}

fn part(prompt: &Prompt, begin: &str, end: &str) -> String {
    let Body::Text(text) = &prompt.body else { panic!() };
    let (_, rest) = text.split_once(begin).unwrap();
    rest.split_once(end).unwrap().0.to_owned()
}

#[test]
fn passages_stand_in_the_order_of_the_journal_with_who_and_when() {
    let (passages, values) = passages();
    let prompt = shown(LayoutName::Team, 10_000, Observed::Seen(passages.clone()), &values);
    let head = "Said earlier, and found by what is asked now; the oldest first.";
    let line = |seq: u64, text: &str| format!("[entry {seq}, 2025-01-18T09:00:00.000Z, user in main]\n{text}\n");
    let expected = format!("{head}\n{}{}{}", line(8, TEXTS[2]), line(9, TEXTS[1]), line(10, TEXTS[0]));
    assert_eq!(part(&prompt, "<RECALLED_PASSAGES>\n", "</RECALLED_PASSAGES>"), expected);
    assert!(prompt.shows.contains(&(Seq(8), Seq(10))), "{:?}", prompt.shows);
    let director = shown(LayoutName::Director, 100_000, Observed::Seen(passages), &values);
    // A line of what was said does not look like one of the prompt's own.
    let expected = expected.replace("User 1: me", "\\User 1: me");
    assert_eq!(part(&director, "RECALLED PASSAGES:\n", "\n\n") + "\n", expected);
}

#[test]
fn passages_of_a_collection_say_so_and_are_no_entries_of_the_session() {
    let (mut passages, values) = passages();
    passages[0].collection = Some("handbook".parse().unwrap());
    let prompt = shown(LayoutName::Team, 10_000, Observed::Seen(passages), &values);
    let part = part(&prompt, "<RECALLED_PASSAGES>\n", "</RECALLED_PASSAGES>");
    let line = "[entry 10 of the collection handbook, 2025-01-18T09:00:00.000Z, user in main]\n";
    assert!(part.ends_with(&format!("{line}{}\n", TEXTS[0])), "{part}");
    assert_eq!(prompt.shows.last(), Some(&(Seq(8), Seq(9))));
}

#[test]
fn what_was_erased_since_is_named_and_not_shown() {
    let (passages, mut values) = passages();
    values.remove(&passages[0].sha256);
    let prompt = shown(LayoutName::Team, 10_000, Observed::Seen(passages), &values);
    let part = part(&prompt, "<RECALLED_PASSAGES>\n", "</RECALLED_PASSAGES>");
    assert!(part.ends_with("[entry 10, 2025-01-18T09:00:00.000Z, user in main]\n[erased]\n"), "{part}");
}

#[test]
fn the_best_passages_are_shown_where_not_all_fit() {
    let (passages, values) = passages();
    let whole = shown(LayoutName::Team, 10_000, Observed::Seen(passages.clone()), &values);
    let size = |prompt: &Prompt| prompt.parts.iter().find(|part| part.name == "recall").unwrap().tokens.0;
    let budget = size(&whole) * 100 / 15 - 20;
    let prompt = shown(LayoutName::Team, budget, Observed::Seen(passages), &values);
    let part = part(&prompt, "<RECALLED_PASSAGES>\n", "</RECALLED_PASSAGES>");
    assert!(part.contains("bergamot") && !part.contains("Nobody") && part.contains("[left out: "), "{part}");
    let report = prompt.parts.iter().find(|part| part.name == "recall").unwrap();
    assert!(report.shortened && report.omitted.contains(&"entry 8".to_owned()), "{report:?}");
}

#[test]
fn an_index_that_fails_blanks_nothing_else() {
    let failed = Observed::Failed("the index could not be read".to_owned());
    let prompt = shown(LayoutName::Team, 10_000, failed, &Values::new());
    assert!(prompt.text().contains("[this could not be read: the index could not be read]"));
    let nothing = [Observed::Absent, Observed::Seen(Vec::new())]
        .map(|found| shown(LayoutName::Team, 10_000, found, &Values::new()).text());
    assert!(nothing[0] == nothing[1] && !nothing[0].contains("RECALLED"));
}
