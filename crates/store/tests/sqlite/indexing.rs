//! What SQLite indexes behind appends.

use callboard_store::conformance::{Fixture, journal_writer::JournalWriter};

use crate::{
    fixtures::Sqlite,
    indexing_of::{self, draft},
};

#[tokio::test]
async fn what_is_read_is_the_same_whether_or_not_it_is_filed() {
    indexing_of::compare::<Sqlite>().await;
}

#[tokio::test]
async fn a_long_session_that_is_deleted_leaves_no_rows() {
    let fixture = Sqlite::fresh().await;
    let store = fixture.open().await;
    let mut journal = JournalWriter::new(&store, "s");
    for n in 0..300 {
        journal.write([draft(n)]).await;
    }
    assert!(store.delete(&journal.session).await.unwrap());
    let db = rusqlite::Connection::open(fixture.path()).unwrap();
    let count = |table| db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0)).unwrap();
    while count("dead") > 0 {
        // Rows are removed in slices, between calls that write.
        store.sweep(1).await.unwrap();
    }
    for table in ["entry", "by_seq", "by_type", "by_subject", "by_time", "word"] {
        assert_eq!(count(table), 0, "{table}");
    }
}
