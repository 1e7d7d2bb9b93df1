//! Errors of Redis, and turning them into errors of the store.

use crate::Error;

/// Why a command failed.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum RedisFailure {
    /// The server refuses the command. Nothing was done.
    #[error("the server refuses: {code} {detail}{}", advice(code, detail))]
    Refused {
        /// The first word of its message, for instance `OOM`.
        code: String,
        /// The rest of the message.
        detail: String,
    },
    /// The command did not reach the server. Nothing was done.
    #[error("the server cannot be reached ({0}): is it running, and is the address right?")]
    Unreachable(String),
    /// No answer came. Whether the command was done is unknown.
    #[error("the answer of the server was lost: {0}")]
    NoAnswer(String),
    /// The answer does not fit the command.
    #[error("the answer of the server is not as expected: {0}")]
    Unexpected(String),
    /// Stored data cannot be read back.
    #[error("{what} is damaged: {detail}")]
    Damaged {
        /// What is damaged.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
}

impl RedisFailure {
    /// The error for a message of the server. It begins with a code in capitals.
    pub(super) fn refused(message: &str) -> Self {
        let (code, detail) = message.split_once(' ').unwrap_or((message, ""));
        let is_code = !code.is_empty() && code.bytes().all(|byte| byte.is_ascii_uppercase());
        let (code, detail) = if is_code { (code, detail) } else { ("ERR", message) };
        // The message of an error inside a script also contains the name of the script.
        let inner = ["OOM ", "READONLY ", "MISCONF ", "NOREPLICAS "].iter().find(|code| detail.contains(*code));
        let code = inner.filter(|_| code == "ERR").map_or(code, |inner| inner.trim_end());
        Self::Refused { code: code.to_owned(), detail: detail.trim().to_owned() }
    }

    /// Whether the server refused with this code.
    pub(super) fn is(&self, expected: &str) -> bool {
        matches!(self, Self::Refused { code, .. } if code == expected)
    }

    /// Whether the server is not ready yet. Nothing was done, and a later try may succeed.
    pub(super) fn is_not_ready(&self) -> bool {
        ["LOADING", "TRYAGAIN", "CLUSTERDOWN", "MASTERDOWN", "BUSY", "MOVED", "ASK"].iter().any(|code| self.is(code))
    }

    /// The error for the caller of the operation `doing`.
    pub(super) fn during(self, doing: &'static str) -> Error {
        match self {
            Self::Damaged { what, detail } => Error::damaged(what, detail),
            full if full.is("OOM") => Error::Full { doing },
            other => Error::failed(doing, other),
        }
    }
}

/// What to do about an error.
fn advice(code: &str, detail: &str) -> &'static str {
    match code {
        "ERR" if detail.contains("DB index") => {
            " (there is no such database: name another one after the HOST, or none)"
        }
        "READONLY" => " (it is a replica: name the primary in the URL)",
        "MISCONF" => " (it cannot write to its disk)",
        "LOADING" => " (it is reading its data after a start: try again)",
        "NOAUTH" => " (it requires a password: write redis://:PASSWORD@HOST)",
        "WRONGPASS" => " (the password or the user in the URL is wrong)",
        "NOPERM" => " (the user in the URL may not do this)",
        _ => "",
    }
}
