//! Answers: what commands are answered with.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    decision::Receipt,
    directive::Directed,
    id::{RunId, Seq},
    run::Status,
};

/// What a command is answered with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is done; there is no more to say.
    Done,
    /// How each update of context sets came out, and what else a directive led to.
    Directed(Directed),
    /// The messages that were added, or had been before.
    Messages(Vec<Receipt>),
    /// The run that was started.
    Run(RunId),
    /// The epoch under which a run was taken over.
    Claimed(u64),
    /// How a run stands after its turn was answered, or it was held. Whoever looks again later may find that it has gone on.
    Stands(Status),
    /// The token that was made.
    Token(Arc<str>),
    /// What the same request was answered with before.
    Again {
        /// The answer.
        answer: Box<Answer>,
        /// The head of the session after it.
        head: Seq,
    },
}
