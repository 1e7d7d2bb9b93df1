//! The jobs of a live session, their answers, and what it publishes.

use std::sync::Arc;

use callboard_core::{
    command::{self, Command, Decision, DecisionContext, ErasedData, Lookups, Undecided},
    entry::{Actor, Entry, SaltSeed},
    id::Seq,
    input::HideSecrets,
    run::view::Delta,
    sealed::SealedInput,
    state::State,
    text::Values,
    time::Timestamp,
};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    error::Error,
    seal::{
        known::{Brought, Known},
        layer::Hidden,
        masking::Masked,
        rewrite::Scan,
        sealer::{Sealer, Unmasked},
    },
    sizes::sizes,
};

/// The answer of an executed command.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt<A> {
    /// The answer of the command.
    pub answer: A,
    /// The head of the session after it.
    pub head: Seq,
}

/// An event that is not stored. It has no number, and cannot be read again.
#[derive(Clone, Debug, PartialEq)]
pub enum Ephemeral {
    /// A piece of a model's answer.
    Delta(Delta),
    /// Something happened in the browser of the session.
    Browser {
        /// What: [`CHANGED`](callboard_core::browser::CHANGED) or [`NOTICED`](callboard_core::browser::NOTICED).
        kind: &'static str,
        /// More of it, as JSON.
        data: Arc<Value>,
    },
}

/// A job for the writer of a live session.
pub(crate) enum Job {
    /// Decide a command and append its entries.
    Execute(Box<dyn Execute>),
    /// Read what others appended.
    CatchUp(oneshot::Sender<Result<(), Error>>),
    /// End after the jobs before are answered.
    Close(oneshot::Sender<Result<(), Error>>),
}

/// A waiting command of any type.
pub(crate) trait Execute: Send + Sync {
    /// Decides it as the next one of `batch`, and keeps its answer. An error is what has to be looked up before it can be
    /// decided.
    fn decide(
        &mut self,
        batch: &mut Batch,
        lookups: &Lookups,
        now: Timestamp,
        nonce: Option<u32>,
    ) -> Result<(), Missing>;

    /// Sends the kept answer once its entries are durable, or the error of the append.
    fn answer(self: Box<Self>, appended: Result<(), Error>);

    /// See [`Command::entries`].
    fn entries(&self) -> Vec<Seq>;

    /// See [`Command::items`].
    fn items(&self) -> usize;

    /// See [`Command::ERASES`].
    fn erases(&self) -> bool;
}

/// What a command cannot be decided without.
pub(crate) enum Missing {
    /// An older entry.
    Entry(Seq),
    /// The master key that wraps a new key.
    MasterKey,
    /// What older entries say of these values, which become secrets. The command is decided by itself then.
    Scan(Vec<Arc<Hidden>>),
}

/// Commands that are decided one after the other.
pub(crate) struct Batch {
    pub(crate) entries: Vec<Entry>,
    pub(crate) values: Values,
    /// What it takes away from older entries.
    pub(crate) erased: ErasedData,
    pub(crate) state: State,
    /// What the salts of the entries are made of.
    pub(crate) salt: SaltSeed,
    /// What seals for the session.
    pub(crate) sealer: Sealer,
    /// What is known of the secrets in that state, or why nothing is.
    pub(crate) known: Result<Arc<Known>, Error>,
    /// What older entries say of values that become secrets, once that was looked for.
    pub(crate) scan: Option<Arc<Scan>>,
}

impl Batch {
    /// Has rewritten what older entries say of the values that a command makes secrets.
    fn rewrite(&self, masked: &mut Masked<impl Command>) -> Result<Result<(), Missing>, Error> {
        let Ok(known) = &self.known else { return Ok(Ok(())) };
        let wanted = masked.brought.wanted(&known.masks, &masked.masks);
        let Some(key) = masked.brought.key.as_ref().or(known.key.as_ref()) else { return Ok(Ok(())) };
        if wanted.is_empty() || self.state.head.seq.is_zero() {
            return Ok(Ok(()));
        }
        let Some(scan) = self.scan.as_ref().filter(|scan| scan.is_whole(&wanted, &self.state)) else {
            return Ok(Err(Missing::Scan(wanted)));
        };
        let rewriting = scan.rewriting(&masked.brought, key);
        let rewriting = rewriting.ok_or_else(|| self.sealer.sealed("this machine has no randomness to seal with"))?;
        masked.sealed.rewriting = Some(Arc::new(rewriting));
        Ok(Ok(()))
    }

    /// Takes in which secrets there are now, where the last command changed that.
    fn note_secrets(&mut self, brought: Brought) {
        let secrets = &self.state.secrets;
        if let Ok(known) = &mut self.known
            && known.changed != secrets.changed
        {
            let after = known.after(secrets, &brought).map(Arc::new);
            self.known = after.map_err(|problem| self.sealer.sealed(&problem.to_string()));
        }
    }
}

/// A waiting command.
pub(crate) struct Waiting<C: Command> {
    pub(crate) by: Actor,
    pub(crate) command: C,
    pub(crate) expected: Option<Seq>,
    pub(crate) decided: Option<Result<Receipt<C::Answer>, Error>>,
    pub(crate) answer: oneshot::Sender<Result<Receipt<C::Answer>, Error>>,
}

impl<C: Command> Execute for Waiting<C> {
    fn decide(
        &mut self,
        batch: &mut Batch,
        lookups: &Lookups,
        at: Timestamp,
        nonce: Option<u32>,
    ) -> Result<(), Missing> {
        let head = batch.state.head.seq;
        if let Some(expected) = self.expected.filter(|expected| *expected != head) {
            self.decided = Some(Err(Error::Stale { expected, head }));
            return Ok(());
        }
        let mut masked = match batch.sealer.masked(&mut self.command, &self.by, &batch.state, &batch.known) {
            Ok(masked) => masked,
            Err(Unmasked::MasterKey) => return Err(Missing::MasterKey),
            Err(Unmasked::Refused(error)) => {
                self.decided = Some(Err(error));
                return Ok(());
            }
        };
        match masked.as_mut().map_or(Ok(Ok(())), |masked| batch.rewrite(masked)) {
            Ok(ready) => ready?,
            Err(error) => {
                self.decided = Some(Err(error));
                return Ok(());
            }
        }
        let sealed = masked.as_ref().map_or(SealedInput::NOTHING, |masked| &masked.sealed);
        let command = masked.as_ref().map_or(&self.command, |masked| &masked.command);
        let hide = masked.as_ref().map(|masked| masked as &dyn HideSecrets);
        let salt = Some(batch.salt);
        let context = DecisionContext { by: &self.by, at, nonce, salt, count: sizes(), lookups, sealed, hide };
        self.decided = Some(match command::decide(&batch.state, command, context) {
            Ok(Decision { entries, values, answer, erased, state }) => {
                batch.entries.extend(entries);
                batch.values.extend(values);
                // A command that changes what older entries say is the only one of its batch.
                batch.erased = erased;
                batch.state = state;
                batch.note_secrets(masked.map(|masked| masked.brought).unwrap_or_default());
                Ok(Receipt { answer, head: batch.state.head.seq })
            }
            Err(Undecided::Refused(error)) => Err(error.into()),
            Err(Undecided::MissingEntry(seq)) => return Err(Missing::Entry(seq)),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, appended: Result<(), Error>) {
        let answer = match appended {
            Ok(()) => self.decided.unwrap_or(Err(Error::Closed)),
            Err(error) => Err(error),
        };
        // The caller may have stopped waiting; the entries stay.
        let _ = self.answer.send(answer);
    }

    fn entries(&self) -> Vec<Seq> {
        self.command.entries()
    }

    fn items(&self) -> usize {
        self.command.items()
    }

    fn erases(&self) -> bool {
        C::ERASES
    }
}

/// The durable state, or why the live session has ended.
pub(crate) type Published = Result<Arc<State>, EndReason>;

/// Why a live session has ended. It does not start again; the session has to be opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EndReason {
    /// The journal was deleted or has expired, or was replaced by another one.
    Gone,
    /// The board was closed.
    Closed,
}
