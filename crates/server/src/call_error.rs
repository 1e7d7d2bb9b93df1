//! Why a call failed. This knows no HTTP: `problem.rs` gives each code its status.

use std::{any::Any, fmt};

use callboard_core::{
    error::{Error as Refusal, Fault},
    id::BadName,
};
use callboard_engine::Error;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallError {
    /// The stable word for what went wrong. `problem.rs` lists all.
    pub(crate) code: &'static str,
    /// What went wrong here.
    pub(crate) detail: String,
    /// What is not there, such as "context set".
    pub(crate) resource: Option<&'static str>,
    /// Each invalid part of the input.
    pub(crate) faults: Vec<Fault>,
    /// What the caller can do about it.
    pub(crate) hint: Option<String>,
}

impl CallError {
    /// A failure with this code.
    pub(crate) fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), resource: None, faults: Vec::new(), hint: None }
    }

    /// One part of the input is invalid; `pointer` is the JSON pointer to it.
    pub(crate) fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        Refusal::invalid(pointer, detail).into()
    }

    /// There is no such thing, or the caller cannot see it.
    pub(crate) fn not_found(what: &'static str, name: impl fmt::Display) -> Self {
        Refusal::not_found(what, name).into()
    }

    /// The caller may not do this, whatever it names.
    pub(crate) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new("forbidden", detail)
    }

    /// The token is missing or invalid.
    pub(crate) fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new("unauthorized", detail)
            .hint("send `Authorization: Bearer TOKEN` with a token of this session or of the server")
    }

    /// The server is shutting down.
    pub(crate) fn closing() -> Self {
        Self::new("closed", "the server is shutting down: try again")
    }

    /// A fault in Callboard. The message of the panic may hold what the caller must not see, so it goes to the log only.
    pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Self {
        tracing::error!(panic = callboard_tasks::message(panic), "a call panicked");
        Self::new("internal", "this is a fault in Callboard: see the server's log")
    }

    /// The same with what the caller can do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Refusal> for CallError {
    fn from(error: Refusal) -> Self {
        let failed = Self::new(error.code(), error.to_string());
        match error {
            Refusal::Invalid(faults) | Refusal::Contradiction { faults, .. } => Self { faults, ..failed },
            Refusal::NotFound { what, .. } => Self { resource: Some(what), ..failed },
            Refusal::NoEntry { .. } => Self { resource: Some("entry"), ..failed },
            Refusal::Forbidden { who, what, hint } => Self::forbidden(format!("{who} may not {what}")).hint(hint),
            Refusal::Sealed { what, hint } => Self::new("sealed", what).hint(hint),
            Refusal::Conflict { kind, what, hint } => Self::new(kind.code(), what).hint(hint),
            Refusal::BudgetExceeded { .. } => {
                let fault = Fault { pointer: "/budget".to_owned(), problem: failed.detail.clone() };
                Self { faults: vec![fault], ..failed }
            }
            _ => failed,
        }
    }
}

impl From<Error> for CallError {
    fn from(error: Error) -> Self {
        let failed = Self::new(error.code(), error.to_string());
        match error {
            Error::Refused(refusal) => refusal.into(),
            Error::NoSession { .. } => Self { resource: Some("session"), ..failed },
            Error::Stale { expected, head } => Self::new(failed.code, format!("the head is {head}, not {expected}"))
                .hint("read the entries after the one that you know, and try again"),
            _ => failed,
        }
    }
}

impl From<callboard_files::Error> for CallError {
    fn from(error: callboard_files::Error) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl From<BadName> for CallError {
    fn from(error: BadName) -> Self {
        callboard_files::Error::from(error).into()
    }
}

impl From<callboard_run::Error> for CallError {
    fn from(error: callboard_run::Error) -> Self {
        match error {
            callboard_run::Error::Engine(error) => error.into(),
            other => Self::new("internal", other.to_string()),
        }
    }
}
