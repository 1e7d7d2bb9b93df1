//! Hiding secrets in answers: whatever a call on a session answers, also with an error, shows no value of a secret. One
//! layer does it for all calls. Open streams hide them entry by entry.

use std::sync::{Arc, OnceLock};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{MatchedPath, Request},
    http::{HeaderValue, Method, header, request::Parts, response},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use callboard_core::viewer::Viewer;
use callboard_engine::Session;

use crate::calls::{Authorized, AuthorizedIfThere, AuthorizedToAdd, CallError};

/// The one call that shows a secret, to a caller that may see it and says `reveal=true`.
const REVEALING: &str = "/v1/sessions/{session}/variables/{name}";

/// Who was let into which session by the request, once somebody was.
#[derive(Clone, Default)]
pub(crate) struct Admitted(Arc<OnceLock<(Session, Viewer)>>);

impl Admitted {
    /// Notes who was let in by the request.
    pub(crate) fn note(parts: &Parts, caller: &impl OnSession) {
        if let (Some(admitted), Some(who)) = (parts.extensions.get::<Self>(), caller.on_session()) {
            // Only the first counts: a request has one caller.
            let _ = admitted.0.set(who);
        }
    }
}

/// A caller that was let into a session.
pub(crate) trait OnSession {
    /// Which session, and through whose eyes it sees; `None` where the session is gone.
    fn on_session(&self) -> Option<(Session, Viewer)>;
}

impl<R> OnSession for Authorized<R> {
    fn on_session(&self) -> Option<(Session, Viewer)> {
        Some((self.session.clone(), self.viewer()))
    }
}

impl<R> OnSession for AuthorizedToAdd<R> {
    fn on_session(&self) -> Option<(Session, Viewer)> {
        self.authorized().on_session()
    }
}

impl<R> OnSession for AuthorizedIfThere<R> {
    fn on_session(&self) -> Option<(Session, Viewer)> {
        self.caller.as_ref().ok()?.on_session()
    }
}

/// Hides secrets in the answer to a call.
pub(crate) async fn hide(mut request: Request, next: Next) -> Response {
    let reveals = reveals(&request);
    let admitted = Admitted::default();
    request.extensions_mut().insert(admitted.clone());
    let response = next.run(request).await;
    let Some((session, viewer)) = admitted.0.get() else { return response };
    if (reveals && response.status().is_success()) || !is_json(&response) {
        return response;
    }
    match hidden(session, viewer, response).await {
        Ok(response) => response,
        Err(error) => error.into_response(),
    }
}

/// Whether the call shows a secret where it succeeds.
fn reveals(request: &Request) -> bool {
    let query = request.uri().query().unwrap_or_default();
    is_route(request, REVEALING)
        && request.method() == Method::GET
        && query.split('&').any(|pair| pair == "reveal=true")
}

fn is_route(request: &Request, route: &str) -> bool {
    request.extensions().get::<MatchedPath>().is_some_and(|matched| matched.as_str() == route)
}

async fn read(response: Response) -> Result<(response::Parts, Bytes), CallError> {
    let (parts, body) = response.into_parts();
    let unreadable = |error: axum::Error| CallError::new("internal", error.to_string());
    Ok((parts, to_bytes(body, usize::MAX).await.map_err(unreadable)?))
}

fn with_body(mut parts: response::Parts, json: String) -> Response {
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(json.len()));
    Response::from_parts(parts, Body::from(json))
}

async fn hidden(session: &Session, viewer: &Viewer, response: Response) -> Result<Response, CallError> {
    let mask = match session.reading_mask(viewer).await {
        Ok(Some(mask)) => mask,
        // The session may have been deleted by the call.
        Ok(None) => return Ok(response),
        Err(error) if error.code() == "not_found" => return Ok(response),
        Err(error) => return Err(error.into()),
    };
    let (parts, body) = read(response).await?;
    let hidden = std::str::from_utf8(&body).ok().and_then(|json| mask.hide_in_json(json));
    Ok(match hidden {
        Some(hidden) => with_body(parts, hidden),
        None => Response::from_parts(parts, Body::from(body)),
    })
}

/// Whether an answer is JSON. Exports and streams are not.
fn is_json(response: &Response) -> bool {
    let kind = response.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    ["application/json", "application/problem+json"].contains(&kind.split(';').next().unwrap_or_default().trim())
}
