//! Commits groups of appends, each group in one call. An append whose session is locked is tried alone.

use std::{collections::BTreeMap, sync::Arc};

use callboard_core::id::SessionId;
use callboard_tasks::Supervisor;

use super::{
    append::{self, LockedRows, Outcome},
    changes::Changes,
    database::Database,
    error::PostgresError,
};
use crate::append_batcher::{DOING, QueuedAppend, SendBatch};

/// Commits groups of appends.
#[derive(Clone, Debug)]
pub(super) struct Sender {
    pub(super) database: Database,
    pub(super) changes: Arc<Changes>,
    pub(super) supervisor: Supervisor,
}

impl SendBatch for Sender {
    async fn send(&self, mut appends: Vec<QueuedAppend>) {
        while !appends.is_empty() {
            let (group, rest) = one_of_each_session(appends);
            self.send_group(group).await;
            appends = rest;
        }
    }
}

impl Sender {
    /// Sends a group and answers its appends. Those whose session is locked are tried alone, and delay no other.
    async fn send_group(&self, group: Vec<QueuedAppend>) {
        match self.append(LockedRows::Skip, &group).await {
            Ok(outcomes) => {
                let answered = group.into_iter().zip(outcomes);
                answered
                    .filter_map(|(append, outcome)| self.answer(append, outcome))
                    .for_each(|append| self.try_alone(append));
            }
            Err(fault) if fault.is_refusal() && group.len() > 1 => {
                group.into_iter().for_each(|append| self.try_alone(append));
            }
            Err(fault) => group.into_iter().for_each(|append| self.fail(append, &fault)),
        }
    }

    /// Sends an append that waits until its session is free.
    fn try_alone(&self, append: QueuedAppend) {
        let sender = self.clone();
        let attempt = async move {
            let mut locked = Some(append);
            // If another server has just created the session, the next attempt finds its row and waits for it.
            while let Some(append) = locked.take() {
                match sender.append(LockedRows::Wait, std::slice::from_ref(&append)).await {
                    Ok(outcomes) => {
                        locked = outcomes.into_iter().next().and_then(|outcome| sender.answer(append, outcome));
                    }
                    Err(fault) => sender.fail(append, &fault),
                }
            }
        };
        // After a panic the append is dropped, and its caller gets an error.
        tokio::spawn(self.supervisor.once("Postgres append", attempt));
    }

    async fn append(&self, locked_rows: LockedRows, appends: &[QueuedAppend]) -> Result<Vec<Outcome>, PostgresError> {
        let batches: Vec<_> = appends.iter().map(|append| &append.batch).collect();
        append::append(&self.database, locked_rows, &batches).await
    }

    /// Announces the change and answers the caller. Returns the append if its session is locked.
    fn answer(&self, append: QueuedAppend, outcome: Outcome) -> Option<QueuedAppend> {
        let answer = match outcome {
            Outcome::Done(change) => {
                self.changes.changed_here(&append.batch.session, change);
                Ok(())
            }
            Outcome::Refused(error) => Err(error),
            Outcome::Locked => return Some(append),
        };
        append.answer(answer);
        None
    }

    fn fail(&self, append: QueuedAppend, fault: &PostgresError) {
        append.answer(Err(fault.during(DOING, &self.database.address)));
    }
}

/// The first append of each session, in the order of their names, and the others.
fn one_of_each_session(appends: Vec<QueuedAppend>) -> (Vec<QueuedAppend>, Vec<QueuedAppend>) {
    let mut group: BTreeMap<SessionId, QueuedAppend> = BTreeMap::new();
    let mut rest = Vec::new();
    for append in appends {
        if group.contains_key(&append.batch.session) {
            rest.push(append);
        } else {
            group.insert(append.batch.session.clone(), append);
        }
    }
    (group.into_values().collect(), rest)
}
