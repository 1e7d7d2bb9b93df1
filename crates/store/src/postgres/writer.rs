//! Appends that wait are committed in one call, and those that somebody holds up each alone.

use std::{collections::BTreeMap, sync::Arc};

use callboard_core::id::SessionId;

use super::{
    append::{self, Outcome, Patience},
    changes::Changes,
    database::Database,
    fault::Fault,
    said,
};
use crate::{
    Clock,
    lanes::{DOING, Job, Lane},
};

/// What commits appends.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    pub(super) database: Database,
    pub(super) changes: Arc<Changes>,
    pub(super) clock: Arc<dyn Clock>,
}

impl Lane for Writer {
    async fn send(&self, mut jobs: Vec<Job>) {
        while !jobs.is_empty() {
            let (group, rest) = one_of_each_session(jobs);
            self.send_group(group).await;
            jobs = rest;
        }
    }
}

impl Writer {
    /// Sends a group and answers everybody in it. Who cannot be answered yet is tried alone, and holds up nobody.
    async fn send_group(&self, group: Vec<Job>) {
        match self.append(Patience::Skips, &group).await {
            Ok(outcomes) => {
                let answered = group.into_iter().zip(outcomes);
                answered.filter_map(|(job, outcome)| self.answer(job, outcome)).for_each(|job| self.try_alone(job));
            }
            Err(fault) if fault.is_refusal() && group.len() > 1 => {
                group.into_iter().for_each(|job| self.try_alone(job));
            }
            Err(fault) => group.into_iter().for_each(|job| self.fail(job, &fault)),
        }
    }

    /// Sends one that waits for whoever is at its session.
    fn try_alone(&self, job: Job) {
        let lane = self.clone();
        tokio::spawn(async move {
            let mut held = Some(job);
            // Where somebody else has just made the session, there is something to wait for the next time.
            while let Some(job) = held.take() {
                match lane.append(Patience::Waits, std::slice::from_ref(&job)).await {
                    Ok(outcomes) => {
                        held = outcomes.into_iter().next().and_then(|outcome| lane.answer(job, outcome));
                    }
                    Err(fault) => lane.fail(job, &fault),
                }
            }
        });
    }

    async fn append(&self, patience: Patience, jobs: &[Job]) -> Result<Vec<Outcome>, Fault> {
        let batches: Vec<_> = jobs.iter().map(|job| &job.batch).collect();
        append::append(&self.database, said(&*self.clock), patience, &batches).await
    }

    /// Answers who waits; those who watch hear of it first. Gives the job back where somebody else is at its session.
    fn answer(&self, job: Job, outcome: Outcome) -> Option<Job> {
        let answer = match outcome {
            Outcome::Done(change) => {
                self.changes.made(&job.batch.session, change);
                Ok(())
            }
            Outcome::Refused(error) => Err(error),
            Outcome::Held => return Some(job),
        };
        job.answer(answer);
        None
    }

    fn fail(&self, job: Job, fault: &Fault) {
        job.answer(Err(fault.during(DOING, self.database.place())));
    }
}

/// The first job of each session, in the order of their names, and the others.
fn one_of_each_session(jobs: Vec<Job>) -> (Vec<Job>, Vec<Job>) {
    let mut group: BTreeMap<SessionId, Job> = BTreeMap::new();
    let mut rest = Vec::new();
    for job in jobs {
        if group.contains_key(&job.batch.session) {
            rest.push(job);
        } else {
            group.insert(job.batch.session.clone(), job);
        }
    }
    (group.into_values().collect(), rest)
}
