//! Why a command was not done: for people, for programs, and as an exit status.

use callboard_engine::Problem;
use callboard_model::ModelError;

/// Why a command was not done.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What is wrong and what would do.
    pub(crate) problem: Problem,
    /// Whether the command was used wrongly, other than that it failed.
    pub(crate) is_wrong_use: bool,
}

impl Failure {
    /// A command that could not be done.
    pub(crate) fn failed(code: &'static str, detail: impl Into<String>) -> Self {
        let problem = Problem { code, detail: detail.into(), ..Problem::default() };
        Self { problem, is_wrong_use: false }
    }

    /// A command that was used wrongly.
    pub(crate) fn usage(code: &'static str, detail: impl Into<String>) -> Self {
        Self { is_wrong_use: true, ..Self::failed(code, detail) }
    }

    /// The same, with what would do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.problem.hint = Some(hint.into());
        self
    }
}

impl From<callboard_engine::Error> for Failure {
    fn from(error: callboard_engine::Error) -> Self {
        let failure = Self { problem: Problem::from(&error), is_wrong_use: false };
        match error {
            callboard_engine::Error::NoSession { .. } => failure.hint("`callboard session list` shows those there are"),
            callboard_engine::Error::Busy { .. } => failure.hint("try again"),
            _ => failure,
        }
    }
}

impl From<callboard_engine::core::error::Error> for Failure {
    fn from(error: callboard_engine::core::error::Error) -> Self {
        callboard_engine::Error::from(error).into()
    }
}

impl From<callboard_store::Error> for Failure {
    fn from(error: callboard_store::Error) -> Self {
        let code = error.code();
        let mut failure = Self::from(callboard_engine::Error::from(error));
        failure.problem.code = code;
        failure
    }
}

impl From<callboard_run::Error> for Failure {
    fn from(error: callboard_run::Error) -> Self {
        match error {
            callboard_run::Error::Engine(error) => error.into(),
            callboard_run::Error::TakenOver => Self::failed("run_taken_over", error.to_string())
                .hint("another process works on this run; follow it with `callboard session journal --follow`"),
            callboard_run::Error::Ended { .. } => Self::failed("run_ended", error.to_string()),
        }
    }
}

impl From<callboard_server::Error> for Failure {
    fn from(error: callboard_server::Error) -> Self {
        let code = match &error {
            callboard_server::Error::NoTokens { .. } => "no_tokens",
            callboard_server::Error::Tls { .. } => "bad_tls",
            callboard_server::Error::NoRandomness(_) => "no_randomness",
            callboard_server::Error::Listen(_) => "cannot_listen",
        };
        let failure = Self::failed(code, error.to_string());
        match error {
            callboard_server::Error::NoTokens { .. } => {
                failure.hint("--user-token-file FILE, or CALLBOARD_USER_TOKENS")
            }
            _ => failure,
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::failed(error.code(), error.to_string())
    }
}
