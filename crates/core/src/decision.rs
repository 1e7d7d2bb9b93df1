//! Decisions: what a command is decided with, and the entries that it leads to.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use crate::{
    count::TokenCounter,
    entry::{Actor, Entry, Hash, SaltSeed},
    error::Error,
    fact::{self, Fact, Repeats},
    id::{AgentName, Seq},
    input::HideSecrets,
    rights::Right,
    sealed::SealedInput,
    state::State,
    text::Values,
    time::Timestamp,
    view::View,
};

/// What a command is decided with, besides the state.
#[derive(Clone, Copy)]
pub struct DecisionContext<'a> {
    /// Who asks.
    pub by: &'a Actor,
    /// What time it is.
    pub at: Timestamp,
    /// See [`Header::nonce`](crate::entry::Header::nonce).
    pub nonce: Option<u32>,
    /// What the salts of its entries are made of; without one they have none.
    pub salt: Option<SaltSeed>,
    /// Counts texts for sizes; always in the same vocabulary, `o200k_base`.
    pub count: &'a dyn TokenCounter,
    /// What was looked up after an earlier try.
    pub lookups: &'a Lookups,
    /// What was sealed of the command's input.
    pub sealed: &'a SealedInput,
    /// Hides known secrets, where there are any. The input of the command has been masked already.
    pub hide: Option<&'a dyn HideSecrets>,
}

/// Entries that a decision asked for, or that stood in its way.
#[derive(Clone, Debug, Default)]
pub struct Lookups {
    /// Entries by their number; `None` where there is no such entry.
    pub entries: BTreeMap<Seq, Option<Entry>>,
    /// Keys that were found taken, and by which of `entries`.
    pub keys: BTreeMap<Arc<str>, Seq>,
}

/// What a decision takes away from older entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErasedData {
    /// Their data from now on.
    pub entries: BTreeMap<Seq, Arc<str>>,
    /// The hashes of the long texts that nobody refers to any more.
    pub values: BTreeSet<Hash>,
}

/// Why there is no decision.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Undecided {
    /// The command is refused.
    #[error(transparent)]
    Refused(#[from] Error),
    /// An entry has to be looked up first: decide again with it in [`Lookups`].
    #[error("entry {0} has to be looked up first")]
    MissingEntry(Seq),
}

/// A decision while it is made: the state as it will be, and the entries that make it so.
pub struct DecisionBuilder<'a> {
    pub(crate) state: State,
    /// The author of what is recorded now: the caller, or the agent whose answer is being processed.
    pub(crate) by: Actor,
    pub(crate) context: DecisionContext<'a>,
    pub(crate) values: Values,
    pub(crate) entries: Vec<Entry>,
    pub(crate) erased: ErasedData,
    /// The entries whose words a tool says again to the model that called it. Whoever records what it says takes them.
    pub(crate) quoted: Vec<Seq>,
    /// The entries whose words are in what is recorded now.
    copied_from: Vec<Seq>,
    /// Which of `entries` claims a key.
    keys: HashMap<Arc<str>, usize>,
    /// Why what was recorded is refused, if it is.
    refused: Option<Error>,
}

impl<'a> DecisionBuilder<'a> {
    /// Begins with nothing recorded.
    pub(crate) fn new(state: &State, context: DecisionContext<'a>) -> Self {
        let (values, entries, erased, quoted, copied_from, keys) = Default::default();
        let (state, by, refused) = (state.clone(), context.by.clone(), None);
        Self { state, by, context, values, entries, erased, quoted, copied_from, keys, refused }
    }

    /// Refuses who decides, unless it has this right.
    pub(crate) fn allow(&self, right: Right) -> Result<(), Error> {
        self.state.check(right, &self.by)
    }

    /// Whether a worker decides: neither the user nor the manager.
    pub(crate) fn is_worker(&self) -> bool {
        !self.state.is_in_charge(&self.by)
    }

    /// Records a fact: it becomes the next entry. Where a secret in it cannot be hidden, the decision [is
    /// refused](Self::is_sound).
    pub(crate) fn record<F: Fact>(&mut self, fact: F) {
        // The input is masked, but the state may hold words from before a value in them became a secret.
        let repeats_words = matches!(F::DESCRIPTION.repeats, Repeats::Unchanged | Repeats::Answer);
        let fact = match self.context.hide.filter(|_| repeats_words) {
            Some(secrets) => match fact::hide_secrets(fact, secrets) {
                Ok(fact) => fact,
                Err(refused) => {
                    self.refused.get_or_insert(refused);
                    return;
                }
            },
            None => fact,
        };
        let mut draft = fact::draft(&fact, &self.state);
        if F::DESCRIPTION.words().next().is_some() {
            draft.copied_from(&self.copied_from);
            if let Some(seed) = self.context.salt {
                draft.salt(&seed.salt(self.next_seq()));
            }
        }
        let entry = Entry::seal(self.state.head, self.context.at, self.by.clone(), self.context.nonce, draft);
        fact.apply(&mut self.state, &entry.header);
        self.state.come_to(&entry);
        let place = self.entries.len();
        self.keys.extend(entry.header.keys.iter().map(|key| (key.clone(), place)));
        self.entries.push(entry);
    }

    /// Records what repeats words of the entries `from`: where those are erased, so is this.
    pub(crate) fn copying<T>(&mut self, from: Vec<Seq>, record: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.copied_from, from);
        let recorded = record(self);
        self.copied_from = before;
        recorded
    }

    /// Does what may be refused as a part of something that goes on: where it is, nothing that it recorded counts.
    pub(crate) fn attempt<T>(&mut self, what: impl FnOnce(&mut Self) -> Result<T, Undecided>) -> Result<T, Undecided> {
        let (state, by, recorded) = (self.state.clone(), self.by.clone(), self.entries.len());
        let refused_before = self.refused.take();
        let done = what(self).and_then(|done| self.is_sound().map(|()| done));
        self.refused = refused_before;
        done.inspect_err(|_| {
            (self.state, self.by) = (state, by);
            self.entries.truncate(recorded);
            self.keys.retain(|_, place| *place < recorded);
        })
    }

    /// Refuses a decision in which something that was recorded had to be left out.
    pub(crate) fn is_sound(&mut self) -> Result<(), Undecided> {
        self.refused.take().map_or(Ok(()), |refused| Err(refused.into()))
    }

    /// The number of the next entry.
    pub(crate) fn next_seq(&self) -> Seq {
        self.state.head.seq.next()
    }

    /// What was recorded so far.
    pub(crate) fn recorded_so_far(&self) -> Vec<Seq> {
        self.entries.iter().map(|entry| entry.header.seq).collect()
    }

    /// The session as the author of what is recorded now sees it.
    pub(crate) fn view(&self) -> Result<View<'_>, Error> {
        View::new(&self.state, &self.by.clone().into(), self.context.count)
    }

    /// The agent that asks, if it is one.
    pub(crate) fn agent(&self) -> Option<&AgentName> {
        match &self.by {
            Actor::Agent(name) => Some(name),
            Actor::User | Actor::System => None,
        }
    }

    /// The entry of this very decision that claims `key`.
    pub(crate) fn claimed_here(&self, key: &str) -> Option<&Entry> {
        self.entries.get(*self.keys.get(key)?)
    }

    /// The entry with this number, of this decision or of the journal.
    pub(crate) fn entry(&self, seq: Seq) -> Result<Option<Entry>, Undecided> {
        if let Some(entry) = self.recorded(seq) {
            return Ok(Some(entry.clone()));
        }
        self.context.lookups.entries.get(&seq).cloned().ok_or(Undecided::MissingEntry(seq))
    }

    /// The entry of this very decision with this number. They are numbered without gaps.
    fn recorded(&self, seq: Seq) -> Option<&Entry> {
        let first = self.entries.first()?.header.seq;
        self.entries.get(usize::try_from(seq.0.checked_sub(first.0)?).ok()?)
    }
}
