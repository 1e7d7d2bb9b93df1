//! Checking journals: whether each is as it was written, and whether the store's row agrees with it.

use std::sync::Arc;

use callboard_core::{
    entry::{Entry, Hash, Head},
    id::{Seq, SessionId},
    rewriting::ErasureCheck,
    state::State,
};
use callboard_store::{Row, Store};

use crate::{
    error::Error,
    journal::{PAGE, follows, read},
    texts::long_texts,
    upkeep::{
        expiry::lives_until,
        snapshot,
        survey::{Progress, Survey, SurveyError, survey},
    },
};

/// How much later than its journal says a session may expire, since clocks differ.
const SLACK_SECONDS: i64 = 600;

/// Checks every session of a store: whether each entry follows the one before by number and tag, and the journal ends as the
/// row says; whether all long texts and claimed keys are there; whether the expiry agrees with the journal; and whether the
/// newest snapshot equals the folded state.
pub async fn check(store: &Arc<dyn Store>, progress: &Progress) -> Result<Survey, Error> {
    let work = |id: SessionId| {
        let (store, progress) = (store.clone(), progress.clone());
        async move { check_one(&*store, &id, &progress).await.map(|head| head.seq.0) }
    };
    survey(&**store, progress, work).await
}

/// Checks one session. Returns the head of its journal.
pub(crate) async fn check_one(store: &dyn Store, id: &SessionId, progress: &Progress) -> Result<Head, SurveyError> {
    let row = store.row(id).await?.ok_or(SurveyError::Gone)?;
    match check_as_of(store, id, row, progress).await {
        Err(SurveyError::Wrong(_)) if has_gone(store, id, row).await? => Err(SurveyError::Gone),
        Err(stop) => Err(stop),
        Ok(()) => Ok(row.head),
    }
}

/// Whether a session was deleted, and possibly created again, since its row was read.
pub(crate) async fn has_gone(store: &dyn Store, id: &SessionId, row: Row) -> Result<bool, SurveyError> {
    Ok(store.row(id).await?.is_none_or(|now| now.head.seq < row.head.seq))
}

async fn check_as_of(store: &dyn Store, id: &SessionId, row: Row, progress: &Progress) -> Result<(), SurveyError> {
    let (mut state, mut erasures) = (State::default(), ErasureCheck::default());
    while state.head.seq < row.head.seq {
        let page = read(store, id, state.head.seq, row.head.seq, PAGE).await?;
        if page.is_empty() {
            return Err(SurveyError::Wrong(format!("entry {} is missing", state.head.seq.next())));
        }
        for entry in &page {
            check_tag(state.head, entry)?;
            erasures.take(entry)?;
            state.apply(entry)?;
            check_beside(store, id, entry).await?;
        }
        progress.read(page.len());
    }
    if state.head != row.head {
        return Err(SurveyError::Wrong(ends_otherwise(state.head)));
    }
    check_expiry(&state, row)?;
    match snapshot::load(store, id, row.head.seq).await? {
        Some(loaded) if loaded.state != state => {
            Err(SurveyError::Wrong("a snapshot is not what the entries fold to".into()))
        }
        _ => Ok(()),
    }
}

/// Refuses an entry that is not the one that was written after `head`.
pub(crate) fn check_tag(head: Head, entry: &Entry) -> Result<(), SurveyError> {
    if follows(head, entry) {
        return Ok(());
    }
    let (seq, next) = (entry.header.seq, head.seq.next());
    Err(SurveyError::Wrong(match seq == next {
        true => format!("entry {seq} does not follow on entry {}: its tag or its data is wrong", head.seq),
        false => format!("entry {next} is missing"),
    }))
}

pub(crate) fn ends_otherwise(head: Head) -> String {
    format!("it ends with entry {} otherwise than it is listed", head.seq)
}

/// Checks the claimed keys and the long texts of an entry.
async fn check_beside(store: &dyn Store, id: &SessionId, entry: &Entry) -> Result<(), SurveyError> {
    let Seq(seq) = entry.header.seq;
    for key in &entry.header.keys {
        if store.find(id, key).await? != Some(entry.header.seq) {
            return Err(SurveyError::Wrong(format!("the key {key:?} of entry {seq} is not listed as claimed by it")));
        }
    }
    check_texts(store, id, entry).await
}

/// Checks the long texts of an entry.
pub(crate) async fn check_texts(store: &dyn Store, id: &SessionId, entry: &Entry) -> Result<(), SurveyError> {
    let Seq(seq) = entry.header.seq;
    for hash in long_texts(entry) {
        match store.value(id, hash).await? {
            Some(text) if Hash::of(text.as_bytes()) == hash => {}
            Some(_) => {
                return Err(SurveyError::Wrong(format!("a long text of entry {seq} is not the one that was written")));
            }
            None => return Err(SurveyError::Wrong(format!("a long text of entry {seq} is missing"))),
        }
    }
    Ok(())
}

fn check_expiry(state: &State, row: Row) -> Result<(), SurveyError> {
    // The record of a keyed request lives for a fixed time.
    if state.session.id.is_none() {
        return Ok(());
    }
    let latest = lives_until(state, row.last_activity.plus_seconds(SLACK_SECONDS));
    let wrong = match (row.expires_at, latest) {
        (Some(at), None) => format!("it is to expire at {at}, and its journal says that it does not expire"),
        (None, Some(_)) => "it is never to expire, and its journal says that it does".to_owned(),
        (Some(at), Some(latest)) if at > latest => format!("it is to expire at {at}, later than its journal says"),
        _ => return Ok(()),
    };
    Err(SurveyError::Wrong(wrong))
}
