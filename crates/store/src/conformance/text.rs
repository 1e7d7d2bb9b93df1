use callboard_core::{entry::Draft, id::Seq};

use super::{
    Fixture, everything,
    journal_writer::{JournalWriter, note},
};
use crate::Query;

const TEXTS: [&str; 12] = [
    "",
    "\0",
    "before\0after\0",
    "lone\rcarriage",
    "\r\n\t\u{b}\u{1b}[31m\u{7f}",
    "\u{1f3ad}\u{1f469}\u{200d}\u{1f4bb}",
    "e\u{301} \u{e9}",
    "\u{feff}\u{202e}\u{2028}\u{fffd}\u{ffff}\u{10ffff}",
    "' OR 1=1; DROP TABLE entry; --",
    "\"quoted\" \\u0000 \\ %s {} ${x}",
    " space around ",
    "*?[a-z]%_",
];

pub async fn every_kind_of_text_survives_everywhere(fixture: &impl Fixture) {
    survives(fixture, &TEXTS).await;
}

pub async fn a_megabyte_of_text_survives_everywhere(fixture: &impl Fixture) {
    let long = "a\0\u{1f3ad}b\r".repeat((1 << 20) / 8);
    survives(fixture, &[&long, &long[1..]]).await;
}

/// Writes each text as data, subject, type and key, and finds it again by each.
async fn survives(fixture: &impl Fixture, texts: &[&str]) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    let draft = |text: &&str| Draft {
        data: (*text).into(),
        subject: (*text).into(),
        kind: (*text).into(),
        keys: vec![(*text).into(), format!("{text}+").into()],
        ..note("")
    };
    let entries = journal.write(texts.iter().map(draft)).await;
    assert!(journal.read().await == entries, "all entries at once");
    for (text, entry) in texts.iter().zip(&entries) {
        let short: String = text.chars().take(20).collect();
        let subject = Query { subjects: vec![(*text).into()], ..everything() };
        let kind = Query { types: vec![(*text).into()], ..everything() };
        for query in [subject, kind] {
            let found = store.read(&journal.session, query).await.unwrap();
            assert!(found == std::slice::from_ref(entry), "{short:?}");
        }
        let Seq(seq) = entry.header.seq;
        assert_eq!(store.find(&journal.session, text).await.unwrap(), Some(Seq(seq)), "{short:?}");
    }
}
