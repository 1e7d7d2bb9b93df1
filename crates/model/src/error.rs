//! Errors.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

use crate::Provider;

/// Why there is no answer. `url` is the address of the request without credentials. No error contains an API key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// There was no connection, or it broke before an answer began.
    #[error("cannot reach {url}: {reason}; check the address, and that a server runs there")]
    Unreachable {
        /// What was asked.
        url: String,
        /// What the network says.
        reason: String,
    },
    /// The endpoint answered with an error.
    #[error("{url} refused the request with status {status}: {message}{}", advice(*.status))]
    Refused {
        /// What was asked.
        url: String,
        /// The HTTP status, or that of an error within a streamed answer.
        status: u16,
        /// What the endpoint says about it.
        message: String,
        /// After what time the endpoint allows another try.
        retry_after: Option<Duration>,
    },
    /// It took too long.
    #[error("{url} took longer than {} s {what}; ask for less, or raise the timeout", .limit.as_secs_f64())]
    TimedOut {
        /// What was asked.
        url: String,
        /// What took too long, such as "to begin its answer".
        what: &'static str,
        /// The timeout.
        limit: Duration,
    },
    /// The answer broke off.
    #[error("{url} broke off in the middle of its answer, after {received_chars} characters; ask again")]
    CutOff {
        /// What was asked.
        url: String,
        /// How much of the answer's text had come.
        received_chars: usize,
    },
    /// The response is no answer of the protocol.
    #[error("the answer of {url} is not understood: {what}; check that it speaks the protocol of {protocol}")]
    NotUnderstood {
        /// What was asked.
        url: String,
        /// Whose protocol was expected.
        protocol: &'static str,
        /// What is wrong with it, and the beginning of the response.
        what: String,
    },
    /// The model has no vector for a text.
    #[error("{model} has no vector for `{text}`: {reason}")]
    NoVector {
        /// The model.
        model: String,
        /// The text, shortened.
        text: String,
        /// Why there is none.
        reason: String,
    },
    /// The settings do not say how to reach the model.
    #[error("no endpoint for {} models: {reason}", .provider.as_str())]
    NotConfigured {
        /// The protocol of the endpoint that is missing.
        provider: Provider,
        /// What is missing or wrong.
        reason: String,
    },
    /// The text is no name of a model.
    #[error("`{name}` is not a model name: {wrong}; use openai:NAME or anthropic:NAME")]
    BadName {
        /// The text, shortened.
        name: String,
        /// What is wrong with it.
        wrong: &'static str,
    },
}

impl ModelError {
    /// The stable name of this error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "model_unreachable",
            Self::Refused { .. } => "model_refused",
            Self::TimedOut { .. } => "model_timed_out",
            Self::CutOff { .. } => "model_cut_off",
            Self::NotUnderstood { .. } => "model_not_understood",
            Self::NoVector { .. } => "model_no_vector",
            Self::NotConfigured { .. } => "model_not_configured",
            Self::BadName { .. } => "model_name_invalid",
        }
    }
}

/// What is wrong with the settings of an endpoint, or with a model in a folder: found before anything is asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SettingsError(pub(crate) String);

impl SettingsError {
    /// What is wrong with a file or a folder.
    pub(crate) fn at(path: &Path, wrong: impl Display) -> Self {
        Self(format!("{}: {wrong}", path.display()))
    }
}

fn advice(status: u16) -> &'static str {
    match status {
        300..=399 => "; redirects are not followed: give the address to which it points",
        401 | 403 => "; check the API key",
        404 => "; check the base URL and the model's name",
        413 => "; send less",
        429 => "; wait, or raise the account's limit",
        500..=599 => "; the fault is on the server's side, try again later",
        _ => "",
    }
}
