use callboard_core::entry::Hash;

use super::{
    Fixture,
    journal_writer::{JournalWriter, note},
    session,
};

pub async fn a_large_value_is_kept_beside_the_journal(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    let texts = ["one", "", "three\0\u{1f3ad}"];
    let mut batch = journal.batch([note("a")]);
    batch.values = texts.iter().map(|&text| (Hash::of(text.as_bytes()), text.into())).collect();
    journal.append(batch).await.unwrap();
    for text in texts {
        let found = store.value(&journal.session, Hash::of(text.as_bytes())).await.unwrap();
        assert_eq!(found.as_deref(), Some(text));
        assert_eq!(store.value(&session("other"), Hash::of(text.as_bytes())).await.unwrap(), None);
    }
    assert_eq!(store.value(&journal.session, Hash::of(b"nobody's")).await.unwrap(), None);
}

pub async fn a_value_of_16_mib_comes_back(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    let text = "0123456789abcde\n".repeat(1 << 20);
    let hash = Hash::of(text.as_bytes());
    let mut batch = journal.batch([note("a")]);
    batch.values.push((hash, text.as_str().into()));
    journal.append(batch).await.unwrap();
    let found = store.value(&journal.session, hash).await.unwrap().unwrap();
    assert!(*found == *text, "{} bytes came back as {}", text.len(), found.len());
}

pub async fn a_value_that_is_there_is_not_stored_twice(fixture: &impl Fixture) {
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    let hash = Hash::of(b"large");
    // The second text would be seen if it were stored: no real hash has two.
    for text in ["large", "another"] {
        let mut batch = journal.batch([note("a")]);
        batch.values = vec![(hash, text.into()), (hash, text.into())];
        journal.append(batch).await.unwrap();
    }
    assert_eq!(store.value(&journal.session, hash).await.unwrap().as_deref(), Some("large"));
}
