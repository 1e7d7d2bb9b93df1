//! The append path: waiting commands are decided together, appended with one compare-and-set, and answered once the entries
//! are durable.

use std::{borrow::Cow, sync::Arc, time::Duration};

use callboard_core::{
    command::{ErasedData, Lookups},
    entry::{Hash, Head},
    id::Seq,
    state::State,
    time::Timestamp,
};
use callboard_store::{Append, LeaseChange, Rewrite};

use crate::{
    append_surely::append_surely,
    blocking::off_runtime,
    error::Error,
    journal::journal_kind,
    live::{
        job::{Batch, Execute, Missing},
        master_key,
        writer::Writer,
    },
    seal::{keys::MasterKey, rewrite::Scan, sealer::Sealer},
    upkeep::{expiry, lease},
};

/// How often a batch is decided again because another writer was faster.
const TRIES: u32 = 16;

/// With so many items, commands are decided off the runtime: that takes some milliseconds.
const MANY_ITEMS: usize = 256;

/// The outcome of a batch.
enum Outcome {
    /// It is durable.
    Done,
    /// It has to be decided again with the entries that were looked up.
    Informed,
    /// It has to be decided again, since another writer was faster.
    Overtaken,
}

impl Writer {
    /// Executes commands in order and answers each.
    pub(crate) async fn execute(&mut self, mut jobs: Vec<Box<dyn Execute>>) {
        while !jobs.is_empty() {
            let mut later = Vec::new();
            let appended = self.append(&mut jobs, &mut later).await;
            for job in jobs {
                job.answer(appended.clone());
            }
            jobs = later;
        }
    }

    /// Appends what commands lead to. Those that have to wait for the ones before them go to `later`.
    async fn append(
        &mut self,
        jobs: &mut Vec<Box<dyn Execute>>,
        later: &mut Vec<Box<dyn Execute>>,
    ) -> Result<(), Error> {
        let mut lookups = self.look_up_entries(jobs).await?;
        let (mut tries, mut scan, mut master) = (0, None, None);
        loop {
            let before = self.known()?;
            let batch = match self.decide(jobs, &before, &lookups, (scan.clone(), master.clone())).await? {
                Decided::All(batch) => batch,
                Decided::Some(count) => {
                    let rest = jobs.split_off(count);
                    *later = rest.into_iter().chain(std::mem::take(later)).collect();
                    continue;
                }
                Decided::Not(Missing::Entry(seq)) => {
                    self.look_up(&[seq], &mut lookups).await?;
                    continue;
                }
                Decided::Not(Missing::MasterKey) => {
                    // What is rare does not make the future of every append larger.
                    master = Some(Box::pin(master_key::take(&self.store, &self.settings)).await);
                    continue;
                }
                Decided::Not(Missing::Scan(wanted)) => {
                    let known = scan.take().and_then(Arc::into_inner);
                    scan = Some(Arc::new(Box::pin(self.scan(wanted, &before, known)).await?));
                    continue;
                }
            };
            match self.settle(before.head, &batch, &mut lookups).await? {
                Outcome::Done => {
                    if !batch.entries.is_empty() {
                        if let Ok(known) = &batch.known {
                            self.note_secrets(known);
                        }
                        match batch.erased.entries.is_empty() {
                            true => self.publish(batch.entries, batch.state),
                            false => self.fold_anew().await,
                        }
                    }
                    return Ok(());
                }
                Outcome::Informed => {}
                Outcome::Overtaken => {
                    tries += 1;
                    if tries == TRIES {
                        return Err(Error::Busy { session: self.id.clone() });
                    }
                    self.pause(tries).await;
                    self.catch_up().await?;
                    lookups = self.look_up_entries(jobs).await?;
                }
            }
        }
    }

    /// Appends a batch. Even an empty batch needs the current head: a command may have been refused because of an outdated
    /// state.
    async fn settle(&mut self, expected: Head, batch: &Batch, lookups: &mut Lookups) -> Result<Outcome, Error> {
        if batch.entries.is_empty() {
            self.catch_up().await?;
            return Ok(if self.known()?.head == expected { Outcome::Done } else { Outcome::Overtaken });
        }
        let refused = match self.store_batch(expected, batch).await {
            Ok(()) => return Ok(Outcome::Done),
            Err(Error::Store { source }) => source,
            Err(error) => return Err(error),
        };
        match &*refused {
            callboard_store::Error::KeyTaken { key, .. } if !lookups.keys.contains_key(key) => {
                self.look_up_keys(batch, lookups).await?;
                // If the store refuses a key as taken but does not find it, this must not look it up for ever.
                Ok(if lookups.keys.contains_key(key) { Outcome::Informed } else { Outcome::Overtaken })
            }
            callboard_store::Error::KeyTaken { .. } | callboard_store::Error::Conflict { .. } => Ok(Outcome::Overtaken),
            _ => Err(Error::Store { source: refused }),
        }
    }

    async fn store_batch(&self, expected: Head, batch: &Batch) -> Result<(), Error> {
        let now = expiry::now(&*self.store, &*self.settings.clock).await?;
        let append = Append {
            session: self.id.clone(),
            kind: journal_kind(&batch.state),
            expected,
            entries: batch.entries.clone(),
            values: batch.values.clone().into_iter().collect(),
            rewrites: rewrites(&batch.erased),
            drop_values: forgotten(&*self.known()?, &batch.state)
                .into_iter()
                .chain(batch.erased.values.clone())
                .collect(),
            expires_at: expiry::lives_until(&batch.state, now),
            lease: lease::lease_change(&*self.known()?, &batch.state, &self.settings.lease),
        };
        let begins = matches!(append.lease, LeaseChange::Set(_));
        self.jobs().appending = Some(Box::new(batch.state.head));
        if let Err(error) = append_surely(&*self.store, append).await {
            self.jobs().appending = None;
            return Err(error);
        }
        if begins {
            self.begun.notify_one();
        }
        self.activity.noted(self.settings.clock.now());
        Ok(())
    }

    /// Decides commands one after the other. A refused command stops no other. Commands with many items are decided on a thread for blocking work.
    async fn decide(
        &self,
        jobs: &mut Vec<Box<dyn Execute>>,
        before: &State,
        lookups: &Lookups,
        (scan, master): (Option<Arc<Scan>>, Option<Result<MasterKey, String>>),
    ) -> Result<Decided, Error> {
        let (at, nonce) = (self.settings.clock.now(), self.nonce);
        let known = match self.known_secrets(before).await {
            Err(error) if !error.is_sealed() => return Err(error),
            known => known,
        };
        let (entries, values, erased) = Default::default();
        let (state, salt, sealer) = (before.clone(), self.settings.salt(), Sealer { master, ..self.sealer() });
        let batch = Batch { entries, values, erased, state, salt, sealer, known, scan };
        if jobs.iter().map(|job| job.items()).sum::<usize>() < MANY_ITEMS {
            return Ok(decide(jobs, batch, lookups, at, nonce));
        }
        let (mut many, lookups) = (std::mem::take(jobs), lookups.clone());
        let deciding = off_runtime(move || {
            let decided = decide(&mut many, batch, &lookups, at, nonce);
            (many, decided)
        });
        let decided;
        (*jobs, decided) = deciding.await?;
        Ok(decided)
    }

    /// Looks up, in one call, the older entries that commands need.
    async fn look_up_entries(&self, jobs: &[Box<dyn Execute>]) -> Result<Lookups, Error> {
        let mut lookups = Lookups::default();
        let head = self.known()?.head.seq;
        let is_there = |seq: &Seq| Seq::ZERO < *seq && *seq <= head;
        let named: Vec<_> = jobs.iter().flat_map(|job| job.entries()).filter(is_there).collect();
        self.look_up(&named, &mut lookups).await?;
        Ok(lookups)
    }

    /// Looks up which keys of a batch are taken, and by which entries.
    async fn look_up_keys(&self, batch: &Batch, lookups: &mut Lookups) -> Result<(), Error> {
        let keys = batch.entries.iter().flat_map(|entry| &entry.header.keys);
        let keys: Vec<_> = keys.filter(|key| !lookups.keys.contains_key(*key)).cloned().collect();
        let found = self.store.find_each(&self.id, &keys).await?;
        let taken: Vec<_> = keys.into_iter().zip(found).filter_map(|(key, seq)| Some((key, seq?))).collect();
        let seqs: Vec<_> = taken.iter().map(|(_, seq)| *seq).collect();
        lookups.keys.extend(taken);
        self.look_up(&seqs, lookups).await
    }

    async fn look_up(&self, seqs: &[Seq], lookups: &mut Lookups) -> Result<(), Error> {
        if !seqs.is_empty() {
            lookups.entries.extend(seqs.iter().map(|seq| (*seq, None)));
            let found = self.store.read_each(&self.id, seqs).await?;
            lookups.entries.extend(found.into_iter().map(|entry| (entry.header.seq, Some(entry))));
        }
        Ok(())
    }

    /// Waits a little, longer each time, and for a random part so that writers do not wait equally long.
    async fn pause(&self, tries: u32) {
        let most = 1_u64 << tries.min(8);
        tokio::time::sleep(Duration::from_millis(self.settings.random.next() % most)).await;
    }
}

/// The hashes of the sealed values that are not needed any more: nobody can open them from then on.
fn forgotten(before: &State, after: &State) -> Vec<Hash> {
    if before.secrets.changed == after.secrets.changed {
        return Vec::new();
    }
    before.secrets.stored().difference(&after.secrets.stored()).copied().collect()
}

fn rewrites(erased: &ErasedData) -> Vec<Rewrite> {
    erased.entries.iter().map(|(seq, data)| Rewrite { seq: *seq, data: data.clone() }).collect()
}

/// What came of deciding commands.
enum Decided {
    /// All of them are decided.
    All(Box<Batch>),
    /// Only so many can be decided together.
    Some(usize),
    /// Something has to be looked up first.
    Not(Missing),
}

/// Decides commands one after the other, each on the state that the ones before it led to.
fn decide(
    jobs: &mut [Box<dyn Execute>],
    mut batch: Batch,
    lookups: &Lookups,
    at: Timestamp,
    nonce: Option<u32>,
) -> Decided {
    let mut lookups = Cow::Borrowed(lookups);
    let (last, mut found) = (jobs.len().saturating_sub(1), 0);
    for (place, job) in jobs.iter_mut().enumerate() {
        match job.decide(&mut batch, &lookups, at, nonce) {
            Ok(()) if place < last && !batch.erased.entries.is_empty() => return Decided::Some(1),
            Ok(()) => {}
            Err(Missing::Scan(_)) if place > 0 => return Decided::Some(place),
            Err(missing) => return Decided::Not(missing),
        }
        if place < last && found < batch.entries.len() {
            // Later commands of this batch find the entry, as if it were in the journal.
            let lookups = lookups.to_mut();
            for entry in batch.entries.iter().skip(found) {
                let seq = entry.header.seq;
                lookups.keys.extend(entry.header.keys.iter().map(|key| (key.clone(), seq)));
                lookups.entries.insert(seq, Some(entry.clone()));
            }
            found = batch.entries.len();
        }
    }
    Decided::All(Box::new(batch))
}
