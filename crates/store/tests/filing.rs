//! What SQLite files behind appends.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests, their helpers too")]

mod filing_of;
#[allow(dead_code, reason = "shared with the other suites")]
mod fixtures;

use callboard_store::conformance::{Fixture, pen::Pen};
use filing_of::draft;
use fixtures::Sqlite;

#[tokio::test]
async fn what_is_read_is_the_same_whether_or_not_it_is_filed() {
    filing_of::compare::<Sqlite>().await;
}

#[tokio::test]
async fn a_long_session_that_is_deleted_leaves_no_rows() {
    let fixture = Sqlite::fresh().await;
    let store = fixture.open().await;
    let mut pen = Pen::new(&store, "s");
    for n in 0..300 {
        pen.write([draft(n)]).await;
    }
    assert!(store.delete(&pen.session).await.unwrap());
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
