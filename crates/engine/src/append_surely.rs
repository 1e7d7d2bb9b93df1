//! Appending a batch whose outcome may be unknown at first.

use std::{sync::Arc, time::Duration};

use callboard_store::{Append, Store};
use tokio::time::Instant;

use crate::{error::Error, journal};

/// How long an append with an unknown outcome is repeated before the caller gets an error.
const PATIENCE: Duration = Duration::from_secs(5);

/// Appends a batch. If the outcome is unknown, it repeats the same append. The tag shows whether an earlier attempt has
/// appended the batch, and it is never appended twice, since all attempts expect the same head.
pub(crate) async fn append_surely(store: &dyn Store, append: Append) -> Result<(), Error> {
    let began = Instant::now();
    let mut wait = Duration::from_millis(10);
    let mut unsure: Option<Arc<callboard_store::Error>> = None;
    loop {
        let error = match (store.append(append.clone()).await, &unsure) {
            (Err(callboard_store::Error::Conflict { found }), Some(_)) => match landed(store, &append).await {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(callboard_store::Error::Conflict { found }.into()),
                Err(error) => error,
            },
            (Err(error @ callboard_store::Error::Failed { .. }), _) => error,
            (Err(error @ callboard_store::Error::Full { .. }), Some(_)) => error,
            (answer, _) => return Ok(answer?),
        };
        let source = unsure.get_or_insert_with(|| Arc::new(error)).clone();
        if wait > Duration::from_secs(1) || began.elapsed() > PATIENCE {
            let session = append.session;
            tracing::error!(%session, error = %source, "the store does not say whether an append was made");
            return Err(Error::Unsettled { session, source });
        }
        tokio::time::sleep(wait).await;
        wait *= 4;
    }
}

/// Whether the first entry of a batch is in the journal, by its tag.
async fn landed(store: &dyn Store, append: &Append) -> Result<bool, callboard_store::Error> {
    let there = journal::entry(store, &append.session, append.expected.seq.next()).await?;
    Ok(there.map(|entry| entry.tag) == append.entries.first().map(|entry| entry.tag))
}
