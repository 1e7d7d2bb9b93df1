//! The append path: what waits is decided together, appended with one compare-and-set, and answered once it is durable.

use std::time::Duration;

use callboard_core::{
    command::{self, Asked, Decision, Known, Undecided},
    entry::{Entry, Head},
    id::Seq,
    state::State,
    text::Values,
};
use callboard_store::Append;

use crate::{
    Error, Receipt,
    live::{Execute, Writer},
    session::read,
};

/// How often a batch is decided again after somebody else was faster.
const TRIES: u32 = 16;

/// Commands decided one after the other, as far as they go.
struct Batch {
    entries: Vec<Entry>,
    values: Values,
    state: State,
    answers: Vec<Result<Receipt, Error>>,
}

impl Writer {
    /// Executes commands in order and answers each.
    pub(crate) async fn execute(&mut self, jobs: Vec<Execute>) {
        let answers = match self.append(&jobs).await {
            Ok(answers) => answers,
            Err(error) => jobs.iter().map(|_| Err(error.clone())).collect(),
        };
        for (job, answer) in jobs.into_iter().zip(answers) {
            // Whoever asked may have left; what was appended stays.
            let _ = job.answer.send(answer);
        }
    }

    async fn append(&mut self, jobs: &[Execute]) -> Result<Vec<Result<Receipt, Error>>, Error> {
        let mut known = Known::default();
        let mut tries = 0;
        loop {
            let before = self.state()?;
            let batch = match self.decide(jobs, &before, &known) {
                Ok(batch) => batch,
                Err(seq) => {
                    let entry = self.entry(seq).await?;
                    known.entries.insert(seq, entry);
                    continue;
                }
            };
            if batch.entries.is_empty() {
                return Ok(batch.answers);
            }
            match self.store_batch(before.head, &batch).await {
                Ok(()) => {
                    self.publish(batch.entries, batch.state);
                    return Ok(batch.answers);
                }
                Err(callboard_store::Error::KeyTaken { key, seq }) => {
                    let entry = self.entry(seq).await?;
                    known.entries.insert(seq, entry);
                    known.keys.insert(key, seq);
                }
                Err(callboard_store::Error::Conflict { .. }) => {
                    tries += 1;
                    if tries == TRIES {
                        return Err(Error::Busy { session: self.id.clone() });
                    }
                    self.catch_up().await?;
                    known.entries.retain(|_, entry| entry.is_some());
                    self.pause(tries).await;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Appends a batch. Where the store does not say whether it did, the journal does.
    async fn store_batch(&self, expected: Head, batch: &Batch) -> Result<(), callboard_store::Error> {
        let now = self.store.now().await?;
        let append = Append {
            session: self.id.clone(),
            expected,
            entries: batch.entries.clone(),
            values: batch.values.clone().into_iter().collect(),
            expires_at: batch.state.session.settings.ttl_seconds.expires_at(now),
        };
        match self.store.append(append).await {
            Err(callboard_store::Error::Failed { doing, source }) => {
                let first = batch.entries.first().map(|entry| entry.tag);
                let there = self.entry(expected.seq.next()).await.ok().flatten();
                if there.is_some() && there.map(|entry| entry.tag) == first {
                    return Ok(());
                }
                Err(callboard_store::Error::Failed { doing, source })
            }
            answer => answer,
        }
    }

    /// Decides commands one after the other. A command that is refused stops no other. Says which entry has to be
    /// looked up first, if one has.
    fn decide(&self, jobs: &[Execute], before: &State, known: &Known) -> Result<Batch, Seq> {
        let mut known = known.clone();
        let mut batch =
            Batch { entries: Vec::new(), values: Values::new(), state: before.clone(), answers: Vec::new() };
        for job in jobs {
            let answer = self.decide_one(job, &mut batch, &mut known)?;
            batch.answers.push(answer);
        }
        Ok(batch)
    }

    fn decide_one(&self, job: &Execute, batch: &mut Batch, known: &mut Known) -> Result<Result<Receipt, Error>, Seq> {
        let head = batch.state.head.seq;
        if let Some(expected) = job.expected.filter(|expected| *expected != head) {
            return Ok(Err(Error::Stale { expected, head }));
        }
        let at = self.settings.clock.now();
        let asked = Asked { by: &job.by, at, count: crate::session::sizes(), known };
        match command::decide(&batch.state, &job.command, asked) {
            Ok(Decision { entries, values, answer, state }) => {
                for entry in entries {
                    // What is decided later in this batch finds it, as if it were in the journal.
                    let seq = entry.header.seq;
                    known.keys.extend(entry.header.keys.iter().map(|key| (key.clone(), seq)));
                    known.entries.insert(seq, Some(entry.clone()));
                    batch.entries.push(entry);
                }
                batch.values.extend(values);
                batch.state = state;
                Ok(Ok(Receipt { answer, head: batch.state.head.seq }))
            }
            Err(Undecided::Refused(error)) => Ok(Err(error.into())),
            Err(Undecided::Need(seq)) => Err(seq),
        }
    }

    async fn entry(&self, seq: Seq) -> Result<Option<Entry>, Error> {
        Ok(read(&*self.store, &self.id, seq.previous(), seq, 1).await?.pop())
    }

    /// Waits a little, longer each time and never as long as somebody else who waits too.
    async fn pause(&self, tries: u32) {
        let most = 1_u64 << tries.min(8);
        tokio::time::sleep(Duration::from_millis(self.settings.random.next() % most)).await;
    }
}
