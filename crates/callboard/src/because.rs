//! Why a command works on the session that it works on.

use std::fmt;

use serde::Serialize;

use crate::failure::Failure;

/// Why a command works on a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Because {
    /// The command line names it.
    Option,
    /// `CALLBOARD_SESSION` names it.
    Environment,
    /// The access token is one of this session.
    Token,
    /// It was chosen with `callboard use`.
    Chosen,
    /// There is no other session.
    Only,
}

impl fmt::Display for Because {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Option => "the command line names it",
            Self::Environment => "CALLBOARD_SESSION names it",
            Self::Token => "the access token is for this session only",
            Self::Chosen => "it was chosen with `callboard use`",
            Self::Only => "it is the only session",
        })
    }
}

impl Because {
    /// Says why a session was looked for that is gone, and what to do about it.
    pub(crate) fn explain(self, failure: Failure) -> Failure {
        let hint = match self {
            Self::Environment => "change CALLBOARD_SESSION, or name a session with --session ID",
            Self::Chosen => "choose another one with `callboard use ID`, or none with `callboard use --clear`",
            Self::Option | Self::Token | Self::Only => return failure,
        };
        let mut failure = failure.hint(hint);
        failure.problem.detail = format!("{} ({self})", failure.problem.detail);
        failure
    }
}
