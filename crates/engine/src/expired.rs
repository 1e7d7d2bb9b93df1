//! The records of expired sessions: for thirty days the user is told when a session expired, and nothing else is kept of it.

use callboard_core::{
    entry::{Actor, Head},
    fact,
    id::{Seq, SessionId},
    session::expired::{Expired, is_place, place},
    time::Timestamp,
};
use callboard_store::Store;

use crate::{error::Error, journal, live::open::OpenSessions, record::append_to};

/// How long it is known that a session expired, in seconds.
const KNOWN_SECONDS: i64 = 30 * 24 * 60 * 60;

/// When this session expired; `None` if it did not, or more than thirty days ago.
pub(crate) async fn expired_at(store: &dyn Store, id: &SessionId) -> Result<Option<Timestamp>, Error> {
    if is_unlisted(id) {
        return Ok(None);
    }
    if let Some(at) = store.expired_at(id).await? {
        return Ok(Some(at));
    }
    let first = journal::entry(store, &place(id)?, Seq(1)).await?;
    let expired = first.as_ref().map(fact::read::<Expired>).transpose()?;
    Ok(expired.filter(|expired| expired.session == *id).map(|expired| expired.at))
}

/// Whether this is the id of a record or of a collection: nobody is told when such a journal expired.
pub(crate) fn is_unlisted(id: &SessionId) -> bool {
    is_place(id) || callboard_core::idempotency::record::is_place(id) || id.as_collection().is_some()
}

/// Records that a session expired, unless that was too long ago.
pub(crate) async fn record(board: &OpenSessions, id: &SessionId, at: Timestamp) -> Result<(), Error> {
    let (place, expired) = (place(id)?, Expired { session: id.clone(), at });
    let known_until = at.plus_seconds(KNOWN_SECONDS);
    if known_until <= board.store.now().await? {
        return Ok(());
    }
    // An earlier session of this name may have expired too.
    board.store.delete(&place).await?;
    let (store, settings) = (&board.store, &board.settings);
    match append_to(store, settings, &place, Head::default(), &Actor::System, &expired, Some(known_until)).await {
        // Another server has just recorded it.
        Err(error) if error.is_conflict() => Ok(()),
        recorded => recorded.map(drop),
    }
}

/// Forgets that a session expired: another one of its name was deleted by hand.
pub(crate) async fn forget(board: &OpenSessions, id: &SessionId) -> Result<(), Error> {
    board.store.delete(&place(id)?).await?;
    Ok(())
}
