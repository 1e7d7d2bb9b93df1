//! Records: small journals beside those of sessions, such as that of a keyed request. They expire, and are not listed.

use std::sync::Arc;

use callboard_core::{
    entry::{Actor, Entry, Head},
    fact::Fact,
    id::SessionId,
    idempotency::record,
    time::Timestamp,
};
use callboard_store::{Append, JournalKind, Store};

use crate::{append_surely::append_surely, error::Error, settings::Settings};

/// Appends a fact to a record, which then expires at `expires_at`, if ever.
pub(crate) async fn append_to(
    store: &Arc<dyn Store>,
    settings: &Settings,
    record: &SessionId,
    expected: Head,
    by: &Actor,
    fact: &impl Fact,
    expires_at: Option<Timestamp>,
) -> Result<Head, Error> {
    let draft = record::draft(fact, &settings.salt().salt(expected.seq.next()));
    let entry = Entry::seal(expected, settings.clock.now(), by.clone(), settings.nonce(), draft);
    let head = entry.head();
    let append = Append::of(record.clone(), JournalKind::Unlisted, expected, vec![entry]);
    append_surely(&**store, Append { expires_at, ..append }).await?;
    Ok(head)
}
