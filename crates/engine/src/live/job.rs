//! What is asked of a live session, what it answers, and what it publishes.

use std::sync::Arc;

use callboard_core::{
    command::{self, Command, Decision, DecisionContext, Lookups, Undecided},
    entry::{Actor, Entry},
    id::{AgentName, RunId, Seq},
    secret::SealedInput,
    state::State,
    text::Values,
    time::Timestamp,
};
use tokio::sync::oneshot;

use crate::{
    error::Error,
    live::session::Live,
    seal::known::{Brought, Known},
    sizes::sizes,
};

/// What an executed command is answered with.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt<A> {
    /// The answer of the command.
    pub answer: A,
    /// The head of the session after it.
    pub head: Seq,
}

/// Something that happens and is not kept: it has no number and is not seen again.
#[derive(Clone, Debug, PartialEq)]
pub enum Ephemeral {
    /// A model said a piece of its answer.
    Delta {
        /// The run.
        run: RunId,
        /// The turn.
        turn: u64,
        /// Whose model it is.
        agent: AgentName,
        /// The piece.
        text: Arc<str>,
    },
}

/// What is asked of the writer of a live session.
pub(crate) enum Job {
    /// Decide a command and append what it leads to.
    Execute(Box<dyn Execute>),
    /// Read what others appended.
    CatchUp(oneshot::Sender<Result<(), Error>>),
    /// Note that the session is in use, where somebody waits for what happens in it.
    NoteUse,
    /// End, once what was asked before is answered.
    Close(oneshot::Sender<Result<(), Error>>),
}

/// A command of any type that waits for its turn.
pub(crate) trait Execute: Send + Sync {
    /// Decides it as the next one of `batch`, and keeps its answer. Says which entry has to be looked up first, if one
    /// has; it is then decided again.
    fn decide(&mut self, batch: &mut Batch, lookups: &Lookups, now: Timestamp, nonce: Option<u32>) -> Result<(), Seq>;

    /// Gives the answer that was kept, once what it speaks of is durable, or says why that failed.
    fn answer(self: Box<Self>, appended: Result<(), Error>);

    /// See [`Command::entries`].
    fn entries(&self) -> Vec<Seq>;

    /// See [`Command::items`].
    fn items(&self) -> usize;
}

/// Commands decided one after the other, as far as they go.
pub(crate) struct Batch {
    pub(crate) entries: Vec<Entry>,
    pub(crate) values: Values,
    pub(crate) state: State,
    /// The session.
    pub(crate) live: Arc<Live>,
    /// What is known of the secrets in that state, or why nothing is.
    pub(crate) known: Result<Arc<Known>, Error>,
}

impl Batch {
    /// Takes in which secrets there are now, where the last command changed that.
    fn note_secrets(&mut self, brought: Brought) {
        let secrets = &self.state.secrets;
        if let Ok(known) = &mut self.known
            && known.changed != secrets.changed
        {
            *known = Arc::new(known.after(secrets, &brought));
        }
    }
}

/// A command that waits for its turn.
pub(crate) struct Waiting<C: Command> {
    pub(crate) by: Actor,
    pub(crate) command: C,
    pub(crate) expected: Option<Seq>,
    decided: Option<Result<Receipt<C::Answer>, Error>>,
    answer: oneshot::Sender<Result<Receipt<C::Answer>, Error>>,
}

impl<C: Command> Waiting<C> {
    pub(crate) fn new(
        by: Actor,
        command: C,
        expected: Option<Seq>,
        answer: oneshot::Sender<Result<Receipt<C::Answer>, Error>>,
    ) -> Self {
        Self { by, command, expected, decided: None, answer }
    }
}

impl<C: Command> Execute for Waiting<C> {
    fn decide(&mut self, batch: &mut Batch, lookups: &Lookups, at: Timestamp, nonce: Option<u32>) -> Result<(), Seq> {
        let head = batch.state.head.seq;
        if let Some(expected) = self.expected.filter(|expected| *expected != head) {
            self.decided = Some(Err(Error::Stale { expected, head }));
            return Ok(());
        }
        let masked = match batch.live.masked(&mut self.command, &self.by, &batch.state, &batch.known) {
            Ok(masked) => masked,
            Err(error) => {
                self.decided = Some(Err(error));
                return Ok(());
            }
        };
        let sealed = masked.as_ref().map_or(SealedInput::NOTHING, |masked| &masked.sealed);
        let command = masked.as_ref().map_or(&self.command, |masked| &masked.command);
        let context = DecisionContext { by: &self.by, at, nonce, count: sizes(), lookups, sealed };
        self.decided = Some(match command::decide(&batch.state, command, context) {
            Ok(Decision { entries, values, answer, state }) => {
                batch.entries.extend(entries);
                batch.values.extend(values);
                batch.state = state;
                batch.note_secrets(masked.map(|masked| masked.brought).unwrap_or_default());
                Ok(Receipt { answer, head: batch.state.head.seq })
            }
            Err(Undecided::Refused(error)) => Err(error.into()),
            Err(Undecided::MissingEntry(seq)) => return Err(seq),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, appended: Result<(), Error>) {
        let answer = match appended {
            Ok(()) => self.decided.unwrap_or(Err(Error::Closed)),
            Err(error) => Err(error),
        };
        // Whoever asked may have left; what was appended stays.
        let _ = self.answer.send(answer);
    }

    fn entries(&self) -> Vec<Seq> {
        self.command.entries()
    }

    fn items(&self) -> usize {
        self.command.items()
    }
}

/// What is durable, or why there is nothing more to be known of it here.
pub(crate) type Published = Result<Arc<State>, End>;

/// Why a live session has ended. It never begins again: whoever wants the session opens it anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The journal was deleted, has expired, or is another one than before.
    Gone,
    /// The board was closed.
    Closed,
}
