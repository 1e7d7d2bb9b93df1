//! The append path: what waits is decided together, appended with one compare-and-set, and answered once it is durable.

use std::{sync::Arc, time::Duration};

use callboard_core::{
    command::{self, Asked, Command, Decision, Known, Undecided},
    entry::{Entry, Head},
    id::{Seq, SessionId},
    state::State,
    text::Values,
};
use callboard_store::{Append, Store, Work};
use tokio::time::Instant;

use crate::{
    error::Error,
    journal::{PAGE, read},
    live::{
        job::{Execute, Receipt},
        writer::Writer,
    },
    sizes::sizes,
    upkeep::{expiry, lease},
};

/// How often a batch is decided again after somebody else was faster.
const TRIES: u32 = 16;

/// How long a store is told again what it may have done, before whoever asked is told that nobody knows.
const PATIENCE: Duration = Duration::from_secs(5);

/// Commands decided one after the other, as far as they go.
struct Batch {
    entries: Vec<Entry>,
    values: Values,
    state: State,
    answers: Vec<Result<Receipt, Error>>,
}

/// What became of a batch.
enum Outcome {
    /// It is durable.
    Done,
    /// It has to be decided again, with what was looked up.
    Informed,
    /// It has to be decided again, since somebody else was faster.
    Overtaken,
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
        let mut known = self.known_of(jobs).await?;
        let mut tries = 0;
        loop {
            let before = self.state()?;
            let batch = match self.decide(jobs, &before, &known) {
                Ok(batch) => batch,
                Err(seq) => {
                    self.look_up(seq, &mut known).await?;
                    continue;
                }
            };
            match self.settle(before.head, &batch, &mut known).await? {
                Outcome::Done => {
                    if !batch.entries.is_empty() {
                        self.publish(batch.entries, batch.state);
                    }
                    return Ok(batch.answers);
                }
                Outcome::Informed => {}
                Outcome::Overtaken => {
                    tries += 1;
                    if tries == TRIES {
                        return Err(Error::Busy { session: self.id.clone() });
                    }
                    self.pause(tries).await;
                    self.catch_up().await?;
                    known = self.known_of(jobs).await?;
                }
            }
        }
    }

    /// Appends a batch. One that is empty has to be up to date all the same: somebody else may have made what was
    /// refused possible.
    async fn settle(&mut self, expected: Head, batch: &Batch, known: &mut Known) -> Result<Outcome, Error> {
        if batch.entries.is_empty() {
            self.catch_up().await?;
            return Ok(if self.state()?.head == expected { Outcome::Done } else { Outcome::Overtaken });
        }
        let refused = match self.store_batch(expected, batch).await {
            Ok(()) => return Ok(Outcome::Done),
            Err(Error::Store { source }) => source,
            Err(error) => return Err(error),
        };
        match &*refused {
            callboard_store::Error::KeyTaken { key, .. } if !known.keys.contains_key(key) => {
                self.look_up_keys(batch, known).await?;
                // A key that is taken and cannot be found is a store's contradiction: it is not asked about for ever.
                Ok(if known.keys.contains_key(key) { Outcome::Informed } else { Outcome::Overtaken })
            }
            callboard_store::Error::KeyTaken { .. } | callboard_store::Error::Conflict { .. } => Ok(Outcome::Overtaken),
            _ => Err(Error::Store { source: refused }),
        }
    }

    async fn store_batch(&self, expected: Head, batch: &Batch) -> Result<(), Error> {
        let now = expiry::now(&*self.store, &*self.settings.clock).await?;
        let append = Append {
            session: self.id.clone(),
            expected,
            entries: batch.entries.clone(),
            values: batch.values.clone().into_iter().collect(),
            expires_at: expiry::lives_until(&batch.state, now),
            work: lease::work(&*self.state()?, &batch.state, &self.settings.lease),
        };
        let begins = matches!(append.work, Work::Due(_));
        append_surely(&*self.store, append).await?;
        if begins {
            self.begun.notify_one();
        }
        self.activity.noted(self.settings.clock.now());
        Ok(())
    }

    /// Decides commands one after the other. A command that is refused stops no other. Says which entry has to be
    /// looked up first, if one has.
    fn decide(&self, jobs: &[Execute], before: &State, known: &Known) -> Result<Batch, Seq> {
        let mut known = known.clone();
        let mut batch =
            Batch { entries: Vec::new(), values: Values::new(), state: before.clone(), answers: Vec::new() };
        for (at, job) in jobs.iter().enumerate() {
            let decided = batch.entries.len();
            let answer = self.decide_one(job, &mut batch, &known)?;
            batch.answers.push(answer);
            if at + 1 < jobs.len() {
                // What is decided later in this batch finds it, as if it were in the journal.
                for entry in batch.entries.iter().skip(decided) {
                    let seq = entry.header.seq;
                    known.keys.extend(entry.header.keys.iter().map(|key| (key.clone(), seq)));
                    known.entries.insert(seq, Some(entry.clone()));
                }
            }
        }
        Ok(batch)
    }

    fn decide_one(&self, job: &Execute, batch: &mut Batch, known: &Known) -> Result<Result<Receipt, Error>, Seq> {
        let head = batch.state.head.seq;
        if let Some(expected) = job.expected.filter(|expected| *expected != head) {
            return Ok(Err(Error::Stale { expected, head }));
        }
        let asked = Asked { by: &job.by, at: self.settings.clock.now(), nonce: self.nonce, count: sizes(), known };
        match command::decide(&batch.state, &job.command, asked) {
            Ok(Decision { entries, values, answer, state }) => {
                batch.entries.extend(entries);
                batch.values.extend(values);
                batch.state = state;
                Ok(Ok(Receipt { answer, head: batch.state.head.seq }))
            }
            Err(Undecided::Refused(error)) => Ok(Err(error.into())),
            Err(Undecided::MissingEntry(seq)) => Err(seq),
        }
    }

    /// Looks up at once what the ids of messages speak of, so that many need not be asked for one by one.
    async fn known_of(&self, jobs: &[Execute]) -> Result<Known, Error> {
        let head = self.state()?.head.seq;
        let messages = jobs.iter().flat_map(|job| match &job.command {
            Command::AddMessages(_, messages) => messages.as_slice(),
            _ => &[],
        });
        let named = messages.filter_map(|message| message.message_id.as_ref()?.as_seq());
        let mut named: Vec<_> = named.filter(|seq| Seq::ZERO < *seq && *seq <= head).collect();
        named.sort_unstable();
        named.dedup();
        let mut known = Known::default();
        for run in named.chunk_by(|one, other| one.next() == *other).flat_map(|run| run.chunks(PAGE)) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let entries = read(&*self.store, &self.id, first.previous(), *last, run.len()).await?;
            known.entries.extend(entries.into_iter().map(|entry| (entry.header.seq, Some(entry))));
        }
        Ok(known)
    }

    /// Looks up which keys of a batch are taken, and by what.
    async fn look_up_keys(&self, batch: &Batch, known: &mut Known) -> Result<(), Error> {
        for key in batch.entries.iter().flat_map(|entry| &entry.header.keys) {
            if known.keys.contains_key(key) {
                continue;
            }
            if let Some(seq) = self.store.find(&self.id, key).await? {
                known.keys.insert(key.clone(), seq);
                self.look_up(seq, known).await?;
            }
        }
        Ok(())
    }

    async fn look_up(&self, seq: Seq, known: &mut Known) -> Result<(), Error> {
        let entry = entry(&*self.store, &self.id, seq).await?;
        known.entries.insert(seq, entry);
        Ok(())
    }

    /// Waits a little, longer each time and never as long as somebody else who waits too.
    async fn pause(&self, tries: u32) {
        let most = 1_u64 << tries.min(8);
        tokio::time::sleep(Duration::from_millis(self.settings.random.next() % most)).await;
    }
}

/// Appends a batch. Where the store does not say whether it did, it is told again: what was appended the first time, or
/// is yet to be, is known by its tag, and nothing is appended twice since both expect the same head.
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
    let there = entry(store, &append.session, append.expected.seq.next()).await?;
    Ok(there.map(|entry| entry.tag) == append.entries.first().map(|entry| entry.tag))
}

async fn entry(store: &dyn Store, session: &SessionId, seq: Seq) -> Result<Option<Entry>, callboard_store::Error> {
    Ok(read(store, session, seq.previous(), seq, 1).await?.pop())
}
