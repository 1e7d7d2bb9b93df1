//! What goes wrong on the way to a server or in it, in the words of stores.

use crate::Error;

/// Why a command was not carried out, or why nobody knows whether it was.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum RedisFailure {
    /// The server says why it does not. Nothing was done.
    #[error("the server refuses: {code} {detail}{}", advice(code, detail))]
    Refused {
        /// The first word, for instance `OOM`.
        code: String,
        /// All others.
        detail: String,
    },
    /// The command did not reach the server. Nothing was done.
    #[error("the server cannot be reached ({0}): is it running, and is the address right?")]
    Unreachable(String),
    /// No answer came.
    #[error("the answer of the server was lost: {0}")]
    NoAnswer(String),
    /// What came is no answer to what was asked.
    #[error("the server is not what was expected: {0}")]
    Unexpected(String),
    /// What was read is not what was written.
    #[error("{what} is damaged: {detail}")]
    Damaged {
        /// What is damaged.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
}

impl RedisFailure {
    /// What a server said that begins its errors with a code in capitals.
    pub(super) fn refused(message: &str) -> Self {
        let (code, detail) = message.split_once(' ').unwrap_or((message, ""));
        let is_code = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_uppercase());
        let (code, detail) = if is_code { (code, detail) } else { ("ERR", message) };
        // An error inside of a script is told with the script's name around it.
        let inner = ["OOM ", "READONLY ", "MISCONF ", "NOREPLICAS "].iter().find(|code| detail.contains(*code));
        let code = inner.filter(|_| code == "ERR").map_or(code, |inner| inner.trim_end());
        Self::Refused { code: code.to_owned(), detail: detail.trim().to_owned() }
    }

    /// Whether the server said so with this code.
    pub(super) fn is(&self, expected: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == expected)
    }

    /// Whether the server is there but not ready yet: nothing was done, and soon it will.
    pub(super) fn is_not_ready(&self) -> bool {
        ["LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "BUSY", "MOVED", "ASK"].iter().any(|code| self.is(code))
    }

    /// The error that a caller gets who wanted what `doing` says.
    pub(super) fn during(self, doing: &'static str) -> Error {
        match self {
            Self::Damaged { what, detail } => Error::damaged(what, detail),
            full if full.is("OOM") => Error::Full { doing },
            other => Error::failed(doing, other),
        }
    }
}

/// What would help.
fn advice(code: &str, detail: &str) -> &'static str {
    match code {
        "ERR" if detail.contains("DB index") => {
            " (there is no such database: name another one behind the HOST, or none)"
        }
        "READONLY" => " (it is a replica: name the primary in the URL)",
        "MISCONF" => " (it cannot write to its disk)",
        "LOADING" => " (it is reading its data after a start: try again)",
        "NOAUTH" => " (it wants a password: write redis://:PASSWORD@HOST)",
        "WRONGPASS" => " (the password or the user in the URL is wrong)",
        "NOPERM" => " (the user in the URL may not do this)",
        _ => "",
    }
}
