//! Errors as programs read them: problem JSON after RFC 9457.

use callboard_core::error::{Error as Refusal, Fault};
use serde::Serialize;

use crate::error::Error;

/// An error as programs read it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The stable word for the kind of error.
    pub code: &'static str,
    /// What is wrong.
    pub detail: String,
    /// What would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Each single fault with its JSON pointer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Fault>,
}

impl From<&Error> for Problem {
    fn from(error: &Error) -> Self {
        let problem = Self { code: error.code(), detail: error.to_string(), ..Self::default() };
        match error {
            Error::Refused(Refusal::Invalid(faults) | Refusal::Contradiction { faults, .. }) => {
                Self { errors: faults.clone(), ..problem }
            }
            Error::Refused(Refusal::Conflict { what, hint, .. }) => {
                Self { detail: what.clone(), hint: Some((*hint).to_owned()), ..problem }
            }
            Error::Refused(Refusal::Forbidden { who, what, hint }) => {
                Self { detail: format!("{who} may not {what}"), hint: Some((*hint).to_owned()), ..problem }
            }
            Error::Store { source } => Self { detail: chain(&**source), ..problem },
            _ => problem,
        }
    }
}

/// An error with all that it stems from.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |whole, cause| format!("{whole}: {cause}"))
}
