//! Why a command failed: for people, for programs, and as an exit status.

use callboard_engine::{Error as Engine, core::error::Error as Refusal};
use callboard_model::ModelError;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What is wrong and how to fix it, in the form of the API's problem answers.
    pub(crate) problem: Box<Problem>,
    /// Whether the command line itself is wrong; otherwise the command failed.
    pub(crate) is_wrong_use: bool,
}

pub(crate) use callboard_api::Problem;

impl Failure {
    /// A command that failed.
    pub(crate) fn failed(code: impl Into<String>, detail: impl Into<String>) -> Self {
        let problem = Problem { code: code.into(), detail: without_numbers(&detail.into()), ..Problem::default() };
        Self { problem: Box::new(problem), is_wrong_use: false }
    }

    /// A command line that is wrong.
    pub(crate) fn usage(code: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { is_wrong_use: true, ..Self::failed(code, detail) }
    }

    /// Adds a hint on how to fix it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.problem.hint = Some(hint.into());
        self
    }
}

/// An error with all that caused it.
pub(crate) fn causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    let whole = causes.map(ToString::to_string).fold(error.to_string(), |whole, cause| {
        if whole.ends_with(&cause) { whole } else { format!("{whole}: {cause}") }
    });
    without_numbers(&whole)
}

/// What the operating system says, without its numbers: the words say it.
fn without_numbers(said: &str) -> String {
    const NUMBER: &str = " (os error ";
    let mut pieces = said.split(NUMBER);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |said, rest| match rest.split_once(')') {
        Some((number, rest)) if number.bytes().all(|byte| byte.is_ascii_digit()) => said + rest,
        _ => said + NUMBER + rest,
    })
}

impl From<callboard_store::Error> for Failure {
    fn from(error: callboard_store::Error) -> Self {
        Self::failed(error.code(), causes(&error))
    }
}

impl From<Engine> for Failure {
    fn from(error: Engine) -> Self {
        let code = error.code();
        match error {
            Engine::Store { source } => Self::failed(code, causes(&*source)),
            Engine::Refused(Refusal::Conflict { what, hint, .. }) => Self::failed(code, what).hint(hint),
            Engine::Refused(Refusal::Forbidden { who, what, hint }) => {
                Self::failed(code, format!("{who} may not {what}")).hint(hint)
            }
            error => Self::failed(code, error.to_string()),
        }
    }
}

impl From<callboard_files::Error> for Failure {
    fn from(error: callboard_files::Error) -> Self {
        Self::failed(error.code(), error.to_string())
    }
}

impl From<callboard_server::Error> for Failure {
    fn from(error: callboard_server::Error) -> Self {
        let code = match &error {
            callboard_server::Error::NoTokens { .. } => {
                let hint = "use --user-token-file FILE, or CALLBOARD_USER_TOKENS";
                return Self::failed("no_tokens", error.to_string()).hint(hint);
            }
            callboard_server::Error::Tls { .. } => "bad_tls",
            callboard_server::Error::Project(error) => error.code(),
            callboard_server::Error::NoRandomness(_) => "no_randomness",
            callboard_server::Error::Listen(_) => "cannot_listen",
        };
        Self::failed(code, error.to_string())
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::failed(error.code(), error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::Failure;

    #[test]
    fn what_the_system_says_has_no_numbers() {
        let told = |detail: &str| Failure::failed("unreadable", detail).problem.detail;
        assert_eq!(
            told("cannot read a: No such file or directory (os error 2)"),
            "cannot read a: No such file or directory"
        );
        assert_eq!(told("a (os error 2); b (os error 13): c"), "a; b: c");
        assert_eq!(told("the set (os error x) and (os error 1"), "the set (os error x) and (os error 1");
    }
}
