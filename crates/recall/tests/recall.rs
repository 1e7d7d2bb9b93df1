//! Recall as its users see it: what is found, by whom, and what stays in the file.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "these are tests, their helpers too")]

use std::collections::BTreeMap;

use callboard_core::{audience::Audience, entry::Head, id::Seq, time::Timestamp};
use callboard_recall::{Class, Hit, Index, IndexQuery, Indexes, Item, Kind, Role, Scope, lock, search};
use proptest::prelude::*;

const HOUR_MS: i64 = 60 * 60 * 1000;

fn item<'a>(seq: u64, subject: &str, text: &'a str) -> Item<'a> {
    let kind = if subject.starts_with("thread:") { Kind::Message } else { Kind::Text };
    let class = Class { source: "test".into(), subject: subject.into(), audience: Audience::All };
    let time = Timestamp::nearest(i64::try_from(seq).unwrap() * 1000);
    let has_headings = kind == Kind::Text;
    Item { seq: Seq(seq), kind, class, speaker: None, role: Role::Other, time, text, has_headings }
}

fn index(texts: &[&str]) -> Index {
    let mut index = Index::default();
    for (seq, text) in (1..).zip(texts) {
        index.add(&item(seq, "thread:main", text));
    }
    index
}

fn ask_all(scope: Scope<'_>, text: &str, limit: usize) -> Vec<Hit> {
    let query = IndexQuery { text, vector: None, limit, prefer: None, wants: &|_| true, skips: &|_, _| false };
    search(&[scope], &query)
}

/// The entries that are found, the best first.
fn ask(index: &Index, question: &str) -> Vec<u64> {
    let scope = Scope { index, from: &|_| Some(Seq::ZERO), at: None };
    ask_all(scope, question, 10).iter().map(|hit| hit.seq.0).collect()
}

#[test]
fn the_message_with_the_words_of_the_question_is_found_first() {
    let index = index(&["The cat sleeps.", "We deploy on Fridays with deploy.sh.", "Lunch is at noon."]);
    assert_eq!(ask(&index, "When do we deploy?").first(), Some(&2));
    assert_eq!(ask(&index, "deploy.sh").first(), Some(&2));
    assert_eq!(ask(&index, "the of and"), Vec::<u64>::new());
    assert_eq!(ask(&index, "?!"), Vec::<u64>::new());
}

#[test]
fn an_answer_is_found_by_the_words_of_its_question() {
    let mut index = index(&["What colour is the boat?", "Red."]);
    for seq in 3..40 {
        index.add(&item(seq, "thread:main", "Something quite different was talked about for a long while then."));
    }
    let hits = ask_all(Scope { index: &index, from: &|_| Some(Seq::ZERO), at: None }, "colour of the boat", 20);
    let found: Vec<_> = hits.iter().map(|hit| (hit.seq.0, hit.before)).collect();
    assert_eq!((found.first(), found.last()), (Some(&(2, Some(Seq(1)))), Some(&(1, None))));
    assert_eq!(hits[0].why.near, ["colour", "boat"]);
}

#[test]
fn a_message_that_only_repeats_the_question_is_last() {
    let index = index(&["My boat is called Marlin.", "Thanks!", "What is my boat called?"]);
    assert_eq!(ask(&index, "What is my boat called?"), [1, 2, 3]);
}

#[test]
fn what_has_no_word_of_the_question_stands_behind_what_lends_it_one() {
    let mut index = Index::default();
    index.add(&Item { role: Role::Assistant, ..item(1, "thread:main", "Your boat is called Marlin.") });
    index.add(&Item { role: Role::User, ..item(2, "thread:main", "Thanks!") });
    assert_eq!(ask(&index, "What is my boat called?"), [1, 2]);
}

#[test]
fn what_was_said_to_a_question_before_it_was_asked_again_stands_behind_what_has_its_words() {
    let mut texts = vec!["My boat is called Marlin."];
    for _ in 0..4 {
        texts.extend(["It rains.", "Thanks!", "What is the name of the boat?", "It is in your notes."]);
    }
    let found = ask(&index(&texts), "What is the name of the boat?");
    // So do its other neighbours. The newest answer may be one.
    assert!(found[..2].contains(&1) && found[..2].contains(&17), "{found:?}");
}

#[test]
fn an_old_answer_stands_back_also_where_the_newest_one_has_words_of_the_question() {
    let asked = "What is the name of the boat?";
    let texts =
        ["My boat is called Marlin.", "It rains.", "Thanks!", asked, "It is in your notes.", "It rains.", "Thanks!"];
    let found = ask(&index(&[&texts[..], &[asked, "The boat is blue."]].concat()), asked);
    let before_old: Vec<_> = found.iter().take_while(|seq| **seq != 5).collect();
    assert!(before_old.contains(&&1) && before_old.contains(&&9), "{found:?}");
}

#[test]
fn hours_part_sittings() {
    let mut index = Index::default();
    let texts = ["The boat is in the harbour.", "It rains."];
    for (seq, text) in (1..).zip(texts) {
        let time = Timestamp::nearest(i64::try_from(seq).unwrap() * 5 * HOUR_MS);
        index.add(&Item { time, ..item(seq, "thread:main", text) });
    }
    assert_eq!(ask(&index, "boat"), [1]);
}

#[test]
fn texts_hold_until_others_take_their_place() {
    let mut index = Index::default();
    index.add(&item(1, "set:facts", "The budget is 40 euros."));
    index.end("set:facts", Seq(2));
    index.add(&item(2, "set:facts", "The budget is 90 euros."));
    assert_eq!(ask(&index, "budget"), [2]);
    let as_of = |at| {
        let scope = Scope { index: &index, from: &|_| Some(Seq::ZERO), at: Some(Seq(at)) };
        ask_all(scope, "budget", 9).iter().map(|hit| hit.seq.0).collect::<Vec<_>>()
    };
    assert_eq!((as_of(0), as_of(1), as_of(2)), (vec![], vec![1], vec![2]));
    index.end("set:facts", Seq(3));
    assert_eq!(ask(&index, "budget"), Vec::<u64>::new());
}

#[test]
fn what_an_old_text_says_otherwise_now_holds_no_longer_than_it_did() {
    let mut index = Index::default();
    index.add(&item(1, "set:facts", "The budget is 40 euros."));
    index.end("set:facts", Seq(2));
    index.add(&item(2, "set:facts", "The budget is 90 euros."));
    index.erase(Seq(1));
    index.add(&item(1, "set:facts", "The budget is [hidden]."));
    assert_eq!(ask(&index, "budget"), [2]);
    index.end("set:facts", Seq(4));
    assert_eq!(ask(&index, "budget"), Vec::<u64>::new());
    let as_of = |at| {
        let scope = Scope { index: &index, from: &|_| Some(Seq::ZERO), at: Some(Seq(at)) };
        ask_all(scope, "budget", 9).iter().map(|hit| hit.seq.0).collect::<Vec<_>>()
    };
    assert_eq!((as_of(1), as_of(3)), (vec![1], vec![2]));
}

#[test]
fn every_passage_of_a_document_can_be_found_with_the_headings_above_it() {
    let filler = "Nothing of interest is said in this sentence at all. ".repeat(30);
    let text =
        format!("# Setup\n{filler}\n## Windows\n{filler}\nUse the installer.\n## Linux\nUse the package. {filler}");
    let mut index = Index::default();
    index.add(&item(1, "document:guide", &text));
    let hits = ask_all(Scope { index: &index, from: &|_| Some(Seq::ZERO), at: None }, "package on Linux", 1);
    assert!(text[hits[0].bytes.clone()].contains("Use the package."), "{hits:?}");
    // A passage in the middle of a section is found by the headings that it has not got in itself.
    let windows = ask_all(Scope { index: &index, from: &|_| Some(Seq::ZERO), at: None }, "setup installer Windows", 1);
    let found = &text[windows[0].bytes.clone()];
    assert!(found.contains("Use the installer.") && !found.contains("Windows"), "{windows:?}");
    assert!(["setup", "window"].iter().all(|term| windows[0].why.terms.contains(&(*term).to_owned())));
}

#[test]
fn a_message_of_several_passages_is_found_once_with_the_best_of_them() {
    let filler = "Nothing of interest is said in this sentence at all. ".repeat(30);
    let text = format!("The boat lies in the harbour. {filler}The boat is called Marlin. {filler}The boat is old.");
    let mut index = Index::default();
    index.add(&item(1, "thread:main", &text));
    index.add(&item(2, "thread:main", "Another boat came in."));
    index.add(&item(3, "document:boats", &text));
    let hits = ask_all(Scope { index: &index, from: &|_| Some(Seq::ZERO), at: None }, "a boat called Marlin", 20);
    let of = |seq| hits.iter().filter(|hit| hit.seq == Seq(seq)).collect::<Vec<_>>();
    assert_eq!((of(1).len(), of(2).len()), (1, 1), "{hits:?}");
    assert!(text[of(1)[0].bytes.clone()].contains("Marlin"), "{hits:?}");
    assert!(of(3).len() > 1, "each passage of a document is found for itself: {hits:?}");
}

#[test]
fn no_passage_of_a_document_has_text_under_two_headings() {
    let text = "guide.md\n# Setup\nRun it.\n## Windows\nUse the installer.\n## Linux\nUse the package.\n";
    let mut index = Index::default();
    index.add(&item(1, "document:guide", text));
    // In source code such a line is a comment.
    index
        .add(&Item { has_headings: false, ..item(2, "document:code", "def package():\n# Linux\n  pass\n# Windows\n") });
    let hits = ask_all(Scope { index: &index, from: &|_| Some(Seq::ZERO), at: None }, "Setup for Windows or Linux", 9);
    let mut found: Vec<&str> =
        hits.iter().filter(|hit| hit.seq == Seq(1)).map(|hit| &text[hit.bytes.clone()]).collect();
    found.sort_unstable();
    assert_eq!(found, ["## Linux\nUse the package.", "## Windows\nUse the installer.", "guide.md\n# Setup\nRun it."]);
    assert_eq!(hits.iter().filter(|hit| hit.seq == Seq(2)).count(), 1);
}

#[test]
fn hostile_texts_and_questions_do_no_harm() {
    let long = "a".repeat(1 << 20);
    let texts = ["", " \n", &long, "שלום", "\u{202e}evil", "東京都に行く", "🎉🎉", "a\u{0}b", "e\u{301}te"];
    let index = index(&texts);
    for question in texts {
        ask(&index, question);
    }
    assert_eq!(ask(&index, "東京").first(), Some(&6));
    assert_eq!(ask(&index, "🎉").first(), Some(&7));
    assert_eq!(["été", "éte", "ete"].map(|word| ask(&index, word).first().copied()), [Some(9); 3]);
}

#[test]
fn an_index_is_read_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let texts: Vec<String> =
        (0..20_000).map(|n| format!("Note {n} is about topic{} and word{}.", n % 97, n % 1013)).collect();
    let before = {
        let indexes = Indexes::open(Some(&path), 1 << 24).unwrap();
        let index = indexes.of("s").unwrap();
        for (seq, text) in (1..).zip(&texts) {
            lock(&index).add(&item(seq, if seq % 3 == 0 { "thread:a" } else { "thread:b" }, text));
            if seq == 9_000 {
                indexes.save("s").unwrap();
            }
        }
        lock(&index).cursor = Head { seq: Seq(20_000), ..Head::default() };
        indexes.save("s").unwrap();
        let index = lock(&index);
        ask(&index, "topic42 word500")
    };
    let indexes = Indexes::open(Some(&path), 1 << 16).unwrap();
    let index = indexes.of("s").unwrap();
    assert_eq!(lock(&index).cursor.seq, Seq(20_000));
    assert_eq!(ask(&lock(&index), "topic42 word500"), before);
    let text_bytes: usize = texts.iter().map(String::len).sum();
    let file_bytes = std::fs::metadata(&path).unwrap().len() as usize;
    assert!(file_bytes < 4 * text_bytes, "{file_bytes} bytes for {text_bytes} of short texts");
}

#[test]
fn what_is_erased_is_nowhere_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let indexes = Indexes::open(Some(&path), 1 << 24).unwrap();
    let index = indexes.of("s").unwrap();
    for seq in 1..=9_000 {
        let text = if seq == 77 { "the zanzibar affair" } else { "an ordinary day" };
        lock(&index).add(&item(seq, "thread:main", text));
    }
    indexes.save("s").unwrap();
    assert_eq!(ask(&lock(&index), "zanzibar").first(), Some(&77));
    lock(&index).erase(Seq(77));
    indexes.save_erased("s").unwrap();
    assert_eq!(ask(&lock(&index), "zanzibar"), Vec::<u64>::new());
    drop(indexes);
    let again = Indexes::open(Some(&path), 1 << 24).unwrap();
    assert_eq!(ask(&lock(&again.of("s").unwrap()), "zanzibar affair"), Vec::<u64>::new());
    again.remove("s").unwrap();
    assert_eq!(again.journals().unwrap(), Vec::<String>::new());
}

#[test]
fn a_damaged_file_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let write = || {
        let indexes = Indexes::open(Some(&path), 1 << 24).unwrap();
        let index = indexes.of("s").unwrap();
        if lock(&index).passages() == 0 {
            for seq in 1..=500 {
                lock(&index).add(&item(seq, "thread:main", "hello world"));
            }
            lock(&index).cursor = Head { seq: Seq(500), ..Head::default() };
        }
        indexes.save("s").unwrap();
    };
    write();
    assert_eq!(lock(&Indexes::open(Some(&path), 1 << 24).unwrap().of("s").unwrap()).passages(), 500);
    let whole = std::fs::read(&path).unwrap();
    let noise: Vec<u8> = (0..whole.len()).map(|at| (at * 7919 % 251) as u8).collect();
    let mut in_the_middle = whole.clone();
    in_the_middle[whole.len() / 2..].copy_from_slice(&noise[whole.len() / 2..]);
    for damaged in [&noise[..], &whole[..whole.len() / 3], &in_the_middle[..], b"short"] {
        std::fs::write(&path, damaged).unwrap();
        for log in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{log}", path.display()));
        }
        let indexes = Indexes::open(Some(&path), 1 << 24).unwrap();
        let index = indexes.of("s").unwrap();
        // It is whole, or it is empty and will be made again; a part of it is never taken for the whole.
        let cursor = lock(&index).cursor.seq.0;
        let passages = lock(&index).passages();
        assert!(matches!((cursor, passages), (500, 500) | (0, 0)), "{cursor} {passages}");
        drop((index, indexes));
        write();
    }
}

#[test]
fn a_file_that_is_deleted_while_it_is_in_use_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let (one, two) = (Indexes::open(Some(&path), 1 << 24).unwrap(), Indexes::open(Some(&path), 1 << 24).unwrap());
    let add = |indexes: &Indexes, text: &str| {
        lock(&indexes.of("s").unwrap()).add(&item(1, "thread:main", text));
        indexes.save("s").unwrap();
    };
    add(&one, "saffron");
    let held = one.of("s").unwrap();
    std::fs::remove_file(&path).unwrap();
    // Whoever searches it still is not disturbed, and the next one begins anew.
    assert_eq!(ask(&lock(&held), "saffron"), [1]);
    assert_eq!(lock(&one.of("s").unwrap()).passages(), 0);
    add(&one, "cinnamon");
    drop(held);
    // Another process notices it too, and takes what the first one made.
    assert_eq!(ask(&lock(&two.of("s").unwrap()), "cinnamon"), [1]);
    drop((one, two));
    let again = Indexes::open(Some(&path), 1 << 24).unwrap();
    assert_eq!(ask(&lock(&again.of("s").unwrap()), "cinnamon"), [1]);
}

#[test]
fn where_a_file_that_was_deleted_cannot_be_made_anew_it_is_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data").join("recall.db");
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let indexes = Indexes::open(Some(&path), 1 << 24).unwrap();
    lock(&indexes.of("s").unwrap()).add(&item(1, "thread:main", "before"));
    std::fs::remove_dir_all(folder.path().join("data")).unwrap();
    lock(&indexes.of("s").unwrap()).add(&item(1, "thread:main", "afterwards"));
    indexes.save("s").unwrap();
    assert_eq!(ask(&lock(&indexes.of("s").unwrap()), "afterwards"), [1]);
}

#[test]
fn a_process_that_lost_a_race_reads_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    let (one, two) = (Indexes::open(Some(&path), 1 << 24).unwrap(), Indexes::open(Some(&path), 1 << 24).unwrap());
    let (of_one, of_two) = (one.of("s").unwrap(), two.of("s").unwrap());
    lock(&of_one).add(&item(1, "thread:main", "from one"));
    lock(&of_two).add(&item(1, "thread:main", "from two"));
    one.save("s").unwrap();
    two.save("s").unwrap();
    assert_eq!(ask(&lock(&two.of("s").unwrap()), "one"), [1]);
}

/// What a viewer may see in the property test: some threads and sets, each from an entry on.
type Reach = BTreeMap<String, u64>;

fn texts() -> impl Strategy<Value = Vec<(usize, String, bool)>> {
    let word = prop::sample::select(vec![
        "boat",
        "harbour",
        "red",
        "deploy",
        "src/main.rs",
        "May",
        "8",
        "why",
        "lunch",
        "東京",
    ]);
    let text = prop::collection::vec(word, 1..60).prop_map(|words| words.join(" "));
    prop::collection::vec((0..5_usize, text, any::<bool>()), 1..40)
}

const SUBJECTS: [&str; 5] = ["thread:a", "thread:b", "set:x", "set:y", "thread:c"];

/// Adds the texts that `keeps` keeps; the others never were.
fn build(texts: &[(usize, String, bool)], keeps: impl Fn(u64, &str) -> bool) -> Index {
    let mut index = Index::default();
    for (seq, (subject, text, asks)) in (1..).zip(texts) {
        let subject = SUBJECTS[*subject];
        if subject.starts_with("set:") {
            index.end(subject, Seq(seq));
        }
        if keeps(seq, subject) {
            let text = if *asks { format!("{text}?") } else { text.clone() };
            index.add(&item(seq, subject, &text));
        }
    }
    index
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn i3_results_are_those_of_a_journal_in_which_the_hidden_never_was(
        texts in texts(),
        reach in prop::collection::btree_map(prop::sample::select(SUBJECTS.to_vec()).prop_map(str::to_owned), 0..30_u64, 0..5),
        question in prop::sample::select(vec!["red boat in the harbour", "why deploy src/main.rs on 8 May", "東京 lunch"]),
        at in prop::option::of(1..40_u64),
        warm in any::<bool>(),
    ) {
        let reach: Reach = reach;
        let sees = |seq: u64, subject: &str| reach.get(subject).is_some_and(|from| seq >= *from);
        let all = build(&texts, |_, _| true);
        let alone = build(&texts, |seq, subject| sees(seq, subject) && at.is_none_or(|at| seq <= at));
        let from = |class: &Class| reach.get(&*class.subject).map(|from| Seq(*from));
        if warm {
            // What another viewer sees is kept too, and must not be taken for this one's.
            ask(&all, question);
        }
        let hits = ask_all(Scope { index: &all, from: &from, at: at.map(Seq) }, question, 50);
        // A set that was replaced after `at` stands as of `at`.
        let alone = ask_all(Scope { index: &alone, from: &|_| Some(Seq::ZERO), at: at.map(Seq) }, question, 50);
        prop_assert_eq!(hits, alone);
    }

    #[test]
    fn few_hits_are_the_first_of_many(texts in texts(), limit in 0..6_usize) {
        let index = build(&texts, |_, _| true);
        let hits = |limit| ask_all(Scope { index: &index, from: &|_| Some(Seq::ZERO), at: None }, "red boat in the harbour", limit);
        let many = hits(50);
        prop_assert_eq!(hits(limit), many.get(..limit.min(many.len())).unwrap());
    }

    #[test]
    fn an_index_that_grew_equals_one_that_was_made_at_once(texts in texts(), pause in 0..40_usize) {
        let at_once = build(&texts, |_, _| true);
        let mut grown = Index::default();
        for (seq, (subject, text, asks)) in (1..).zip(&texts) {
            let subject = SUBJECTS[*subject];
            if subject.starts_with("set:") {
                grown.end(subject, Seq(seq));
            }
            let text = if *asks { format!("{text}?") } else { text.clone() };
            grown.add(&item(seq, subject, &text));
            if usize::try_from(seq).unwrap() >= pause {
                ask(&grown, "red boat");
            }
        }
        let question = "red boat in the harbour why";
        let hits = |index: &Index| ask_all(Scope { index, from: &|_| Some(Seq::ZERO), at: None }, question, 50);
        prop_assert_eq!(hits(&grown), hits(&at_once));
    }
}

#[test]
fn a_little_that_is_new_is_not_written_and_is_read_from_the_journal_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("recall.db");
    {
        let indexes = Indexes::open(Some(&path), 1 << 24).unwrap();
        let index = indexes.of("s").unwrap();
        for seq in 1..=20 {
            lock(&index).add(&item(seq, "thread:main", "hello"));
            lock(&index).cursor = Head { seq: Seq(seq), ..Head::default() };
            indexes.save("s").unwrap();
        }
    }
    let indexes = Indexes::open(Some(&path), 1 << 24).unwrap();
    let index = indexes.of("s").unwrap();
    let cursor = lock(&index).cursor.seq;
    assert_eq!((cursor, lock(&index).passages()), (Seq(1), 1));
}
