//! Which master key wraps the data keys of a store. No other one is made or taken while it is missed.

use std::sync::Arc;

use callboard_core::{
    entry::{Actor, Head},
    fact,
    secret::master_key::{MasterKeyUsed, place},
};
use callboard_store::Store;

use crate::{error::Error, journal, record::append_to, seal::keys::MasterKey, settings::Settings};

/// How often it is looked up again because another server noted a key.
const TRIES: usize = 16;

/// The master key that is noted last, and where the record ends.
pub(crate) async fn noted(store: &dyn Store) -> Result<(Option<Arc<str>>, Head), Error> {
    let place = place()?;
    let Some(row) = store.row(&place).await? else { return Ok((None, Head::default())) };
    let last = journal::entry(store, &place, row.head.seq).await?;
    let id = last.map(|entry| fact::read::<MasterKeyUsed>(&entry)).transpose()?.map(|used| used.id);
    Ok((id, row.head))
}

/// Notes that data keys are wrapped by this master key from now on.
pub(crate) async fn note(
    store: &Arc<dyn Store>,
    settings: &Settings,
    key: &MasterKey,
    head: Head,
) -> Result<(), Error> {
    let used = MasterKeyUsed { id: key.id().into() };
    append_to(store, settings, &place()?, head, &Actor::System, &used, None).await.map(drop)
}

/// The master key that wraps a new data key: the noted one; where none is noted, the first of those that are given, which is
/// noted. It may be made then.
pub(crate) async fn take(store: &Arc<dyn Store>, settings: &Settings) -> Result<MasterKey, String> {
    let failed = |error: Error| format!("the record of the master key cannot be used: {error}");
    for _ in 0..TRIES {
        let (noted, head) = noted(&**store).await.map_err(failed)?;
        if let Some(id) = noted {
            let keys = settings.master_keys.keys().map_err(|problem| missed(&id, &problem))?;
            return match keys.first() {
                Some(first) if keys.iter().any(|key| *key.id() == *id) => Ok(first.clone()),
                _ => Err(missed(&id, "another key is given")),
            };
        }
        let keys = settings.master_keys.keys_or_make()?;
        let first = keys.first().ok_or("there is no master key")?;
        match note(store, settings, first, head).await {
            Ok(()) => return Ok(first.clone()),
            // Another server was faster: what it noted counts.
            Err(Error::Store { source }) if matches!(*source, callboard_store::Error::Conflict { .. }) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Err("other servers note master keys all the time: try again".to_owned())
}

pub(crate) fn missed(id: &str, problem: &str) -> String {
    format!("the secrets of this store are sealed under the master key {id}, and {problem}")
}
