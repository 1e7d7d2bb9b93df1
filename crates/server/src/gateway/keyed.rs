//! Requests under an idempotency key: their answers are kept for a day, and given again.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use callboard_core::entry::Actor;
use callboard_engine::{Claim, KeyedRequest, Session};
use serde_json::{Value, json};

use super::dialect::Complaint;
use crate::{app::App, open_requests::OpenRequest, write_options::WriteOptions};

/// How far a request has come.
pub(super) enum Begun {
    /// It has to be answered; under its key, if it has one.
    Open(Option<Keyed>),
    /// It was answered with this.
    Answered(Response),
}

/// A request under a key that is being answered.
pub(super) struct Keyed {
    app: App,
    session: Session,
    claim: Claim,
    _open: OpenRequest,
}

/// Begins a request. What began before and has no answer, because the provider or Callboard failed, begins again.
pub(super) async fn begin(app: &App, session: &Session, by: Actor, options: &WriteOptions) -> Result<Begun, Complaint> {
    let Some(request) = &options.request else { return Ok(Begun::Open(None)) };
    let Some(open) = app.open_requests.open((session.id().clone(), request.claim(&by))) else {
        let told = "the request with this Idempotency-Key is still being answered: send it again later";
        return Err(Complaint::new(StatusCode::CONFLICT, told));
    };
    Ok(match app.board.begin(by, request, Some(session.id()), Value::Null).await? {
        KeyedRequest::Answered(kept) => Begun::Answered(again(&kept)),
        KeyedRequest::Begun(claim) => {
            Begun::Open(Some(Keyed { app: app.clone(), session: session.clone(), claim, _open: open }))
        }
    })
}

impl Keyed {
    /// Keeps the answer for the same request. Secrets are hidden in it.
    pub(super) async fn settle(self, media_type: &str, answer: &Bytes) {
        let mut body = Value::from(String::from_utf8_lossy(answer).into_owned());
        let settled = async {
            self.session.mask_of_input().await?.mask_json(&mut body);
            self.app.board.settle(&self.claim, json!({"type": media_type, "body": body})).await
        };
        if let Err(error) = settled.await {
            tracing::warn!(%error, "an answer could not be kept for its idempotency key");
        }
    }
}

/// An answer that was kept.
fn again(kept: &Value) -> Response {
    let text = |name: &str| kept.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut response = Response::new(Body::from(text("body").to_owned()));
    let media_type = HeaderValue::from_str(text("type"));
    let media_type = media_type.unwrap_or(HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response
}
