//! Problems: whatever goes wrong leaves the server here, as problem JSON (RFC 9457).

use std::any::Any;

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use callboard_api as api;
use callboard_core::error::{ConflictKind, Error as Refusal, Fault};

/// Why a call was not answered as it was meant.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    /// The status of the answer.
    pub(crate) status: StatusCode,
    /// The stable word for what went wrong.
    pub(crate) code: &'static str,
    detail: String,
    errors: Vec<api::Fault>,
    hint: Option<String>,
    header: Option<Box<(HeaderName, HeaderValue)>>,
}

impl Problem {
    /// A problem with this status, code and detail.
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self { status, code, detail: detail.into(), errors: Vec::new(), hint: None, header: None }
    }

    /// Something that was sent is not valid; the pointer says where.
    pub(crate) fn invalid(pointer: impl Into<String>, detail: impl Into<String>) -> Self {
        let fault = Fault { pointer: pointer.into(), problem: detail.into() };
        Self::from(Refusal::Invalid(vec![fault]))
    }

    /// There is no such thing, or none that the caller may see.
    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    /// The request itself is malformed.
    pub(crate) fn malformed(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    /// The token is missing or invalid.
    pub(crate) fn unauthorized(detail: &'static str) -> Self {
        let problem = Self::new(StatusCode::UNAUTHORIZED, "unauthorized", detail);
        problem
            .hint("send `Authorization: Bearer TOKEN` with a token of this session, or a user's")
            .with(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"callboard\""))
    }

    /// A fault in Callboard. What the panic says may hold what the caller must not see: it is for the log alone.
    pub(crate) fn panicked(panic: &(dyn Any + Send)) -> Self {
        tracing::error!(panic = callboard_tasks::message(panic), "a call panicked");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "this is a fault in Callboard: see the server's log")
    }

    /// One of the server's own tasks does not work as it should.
    pub(crate) fn troubled(tasks: &[&str]) -> Self {
        let detail = format!("background tasks have panicked: {}", tasks.join(", "));
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "task_panicked", detail).hint("the server's log says why")
    }

    /// The server stops.
    pub(crate) fn closing() -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "closed", "the server is shutting down: try again").retry()
    }

    /// The same, saying what would do.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, with a header.
    #[must_use]
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.header = Some(Box::new((name, value)));
        self
    }

    #[must_use]
    fn retry(self) -> Self {
        self.with(header::RETRY_AFTER, HeaderValue::from_static("1"))
    }
}

impl IntoResponse for Problem {
    fn into_response(mut self) -> Response {
        if self.status.is_server_error() {
            tracing::error!(code = self.code, detail = self.detail, "a call failed");
        }
        let (status, header) = (self.status, self.header.take());
        // It is made of strings and numbers.
        let body = serde_json::to_vec(&self.body()).unwrap_or_default();
        let kind = HeaderValue::from_static("application/problem+json");
        let mut response = (status, [(header::CONTENT_TYPE, kind)], body).into_response();
        response.headers_mut().extend(header.map(|header| *header));
        response
    }
}

impl From<Refusal> for Problem {
    fn from(error: Refusal) -> Self {
        let detail = error.to_string();
        match error {
            Refusal::Invalid(faults) => {
                Self { errors: wrongs(faults), ..Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail) }
            }
            Refusal::Contradiction { kind, faults } => {
                Self { errors: wrongs(faults), ..Self::new(StatusCode::CONFLICT, kind.code(), detail) }
            }
            Refusal::NotFound { .. } | Refusal::NoEntry { .. } => Self::not_found(detail),
            Refusal::Forbidden { hint, .. } => Self::new(StatusCode::FORBIDDEN, "forbidden", detail).hint(hint),
            Refusal::Conflict { kind, what, hint } => {
                let status = match kind {
                    ConflictKind::IdempotencyKeyReused => StatusCode::UNPROCESSABLE_ENTITY,
                    _ => StatusCode::CONFLICT,
                };
                Self::new(status, kind.code(), what).hint(hint)
            }
            Refusal::NoSteps => Self::new(StatusCode::NOT_FOUND, "no_orchestration", detail),
            Refusal::TooLarge { .. } => Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", detail),
            Refusal::BudgetExceeded { .. } => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "budget_exceeded", detail).at("/budget")
            }
            Refusal::WrittenByNewer { .. } => Self::new(StatusCode::SERVICE_UNAVAILABLE, "written_by_newer", detail),
            Refusal::Damaged { .. } => Self::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", detail),
        }
    }
}

impl Problem {
    #[must_use]
    fn at(mut self, pointer: &str) -> Self {
        self.errors = vec![api::Fault { pointer: pointer.to_owned(), detail: self.detail.clone() }];
        self
    }

    fn body(self) -> api::Problem {
        api::Problem {
            kind: Some(format!("urn:callboard:problem:{}", self.code)),
            title: Some(title(self.status).to_owned()),
            status: Some(self.status.as_u16()),
            code: self.code.to_owned(),
            detail: self.detail,
            pointer: self.errors.first().map(|fault| fault.pointer.clone()),
            errors: self.errors,
            hint: self.hint,
        }
    }
}

impl From<callboard_engine::Error> for Problem {
    fn from(error: callboard_engine::Error) -> Self {
        use callboard_engine::Error;
        let (code, detail) = (error.code(), error.to_string());
        let status = match error {
            Error::Refused(refusal) => return refusal.into(),
            Error::NoSession { .. } => StatusCode::NOT_FOUND,
            Error::Stale { head, .. } => {
                let hint = format!("the head is {head}: read on from the one you know, and try again");
                return Self::new(StatusCode::PRECONDITION_FAILED, code, detail).hint(hint);
            }
            Error::Store { .. } if code == "store_full" => StatusCode::INSUFFICIENT_STORAGE,
            Error::Store { .. } if code == "store_damaged" => StatusCode::INTERNAL_SERVER_ERROR,
            _ => return Self::new(StatusCode::SERVICE_UNAVAILABLE, code, detail).retry(),
        };
        Self::new(status, code, detail)
    }
}

fn wrongs(faults: Vec<Fault>) -> Vec<api::Fault> {
    faults.into_iter().map(|fault| api::Fault { pointer: fault.pointer, detail: fault.problem }).collect()
}

/// What people read first.
fn title(status: StatusCode) -> &'static str {
    match status {
        StatusCode::BAD_REQUEST => "the request is malformed",
        StatusCode::UNAUTHORIZED => "the token is missing or invalid",
        StatusCode::FORBIDDEN => "this is not allowed",
        StatusCode::NOT_FOUND => "there is no such thing",
        StatusCode::METHOD_NOT_ALLOWED => "this method is not supported here",
        StatusCode::REQUEST_TIMEOUT => "it took too long",
        StatusCode::UPGRADE_REQUIRED => "a WebSocket is needed here",
        StatusCode::CONFLICT => "conflict with the current state",
        StatusCode::PRECONDITION_FAILED => "the session has changed",
        StatusCode::PAYLOAD_TOO_LARGE => "it is too large",
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "this content type is not supported",
        StatusCode::UNPROCESSABLE_ENTITY => "what was sent is not valid",
        StatusCode::INSUFFICIENT_STORAGE => "the store is full",
        StatusCode::SERVICE_UNAVAILABLE => "it cannot be done now",
        _ => "it failed",
    }
}
