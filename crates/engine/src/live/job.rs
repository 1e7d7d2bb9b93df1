//! What is asked of a live session, what it answers, and what it publishes.

use std::sync::Arc;

use callboard_core::{
    command::{Answer, Command},
    entry::Actor,
    id::{AgentName, RunId, Seq},
    state::State,
};
use tokio::sync::oneshot;

use crate::error::Error;

/// What an executed command is answered with.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// The answer of the command.
    pub answer: Answer,
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
    Execute(Box<Execute>),
    /// Read what others appended.
    CatchUp(oneshot::Sender<Result<(), Error>>),
    /// Note that the session is in use, where somebody waits for what happens in it.
    NoteUse,
    /// End, once what was asked before is answered.
    Close(oneshot::Sender<Result<(), Error>>),
}

/// A command that waits for its turn.
pub(crate) struct Execute {
    pub(crate) by: Actor,
    pub(crate) command: Command,
    pub(crate) expected: Option<Seq>,
    pub(crate) answer: oneshot::Sender<Result<Receipt, Error>>,
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
