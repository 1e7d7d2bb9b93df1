//! Bodies of requests: JSON, read whole and strictly.

use axum::{
    body::{Body, BodyDataStream},
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use bytes::{Bytes, BytesMut};
use callboard_core::exact::with_quoted;
use futures::StreamExt;
use serde::de::DeserializeOwned;

use crate::{
    Limits,
    app::App,
    call_error::CallError,
    json::parse,
    surrogates::{Repaired, repair},
    write_options::{WriteOptions, write_options},
};

/// The body and the conditions of a write. A body that is left out is an empty object.
pub(crate) struct RequestBody<T> {
    pub(crate) body: T,
    pub(crate) options: WriteOptions,
}

/// The same for a body with what somebody said: halves of characters in it are replaced, and integers of more than 64 bits
/// are texts.
pub(crate) struct RepairedBody<T> {
    pub(crate) body: T,
    pub(crate) options: WriteOptions,
    /// The members of the list in it in which that was done; 0 where it has no list.
    pub(crate) repaired: Vec<usize>,
}

/// The body of a change, and the object as it was brought: what is null in it is not what is left out.
pub(crate) struct PatchBody<T> {
    pub(crate) body: T,
    pub(crate) given: serde_json::Map<String, serde_json::Value>,
    pub(crate) options: WriteOptions,
}

/// An empty body.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Empty {}

impl<T: DeserializeOwned> FromRequest<App> for RequestBody<T> {
    type Rejection = CallError;

    async fn from_request(request: Request, app: &App) -> Result<Self, CallError> {
        let (bytes, options) = read(request, app).await?;
        Ok(Self { body: parse(&bytes)?, options })
    }
}

impl<T: DeserializeOwned> FromRequest<App> for PatchBody<T> {
    type Rejection = CallError;

    async fn from_request(request: Request, app: &App) -> Result<Self, CallError> {
        let (bytes, options) = read(request, app).await?;
        let body = parse(&bytes)?;
        Ok(Self { body, given: parse(&bytes)?, options })
    }
}

impl<T: DeserializeOwned> FromRequest<App> for RepairedBody<T> {
    type Rejection = CallError;

    async fn from_request(request: Request, app: &App) -> Result<Self, CallError> {
        let (bytes, options) = read(request, app).await?;
        let (json, repaired) = match repair(&bytes) {
            Some(Repaired { json, members }) => (Bytes::from(json), members.into_iter().collect()),
            None => (bytes, Vec::new()),
        };
        let json = with_quoted(&json).map_or(json, Bytes::from);
        Ok(Self { body: parse(&json)?, options, repaired })
    }
}

/// Reads JSON; an empty object where there is none.
async fn read(request: Request, app: &App) -> Result<(Bytes, WriteOptions), CallError> {
    let (parts, body) = request.into_parts();
    let bytes = collect(&parts.headers, body, &app.settings.limits).await?;
    let options = write_options(&parts, &bytes)?;
    if bytes.is_empty() || *bytes == *b"null" {
        return Ok((Bytes::from_static(b"{}"), options));
    }
    if parts.headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
        let detail = "compressed bodies are not supported: leave the header `Content-Encoding` out";
        return Err(CallError::new("unsupported_media_type", detail));
    }
    if !is_json(&parts.headers) {
        let detail = "the body has to be JSON: send the header `Content-Type: application/json`";
        return Err(CallError::new("unsupported_media_type", detail));
    }
    Ok((bytes, options))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json"))
}

/// Reads a whole body, unless it is too large, arrives too slowly or breaks off.
pub(crate) async fn collect(headers: &HeaderMap, body: Body, limits: &Limits) -> Result<Bytes, CallError> {
    let limit = limits.body_bytes;
    let said = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if said.is_some_and(|length| length > limit) {
        return Err(too_large(limit as u64));
    }
    let mut pieces = body.into_data_stream();
    let mut bytes = BytesMut::new();
    while let Some(piece) = next(&mut pieces, limits).await? {
        if bytes.len().saturating_add(piece.len()) > limit {
            return Err(too_large(limit as u64));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes.freeze())
}

/// The next piece of a body.
pub(crate) async fn next(pieces: &mut BodyDataStream, limits: &Limits) -> Result<Option<Bytes>, CallError> {
    let broken = |error: axum::Error| CallError::new("bad_body", format!("the body broke off: {error}"));
    match tokio::time::timeout(limits.body_time, pieces.next()).await {
        Ok(piece) => piece.transpose().map_err(broken),
        Err(_) => Err(CallError::new("too_slow", "the body took too long to arrive")),
    }
}

/// The error for a body that is too large.
pub(crate) fn too_large(limit: u64) -> CallError {
    let detail = format!("the body has more than {limit} bytes, which is the most: split it");
    CallError::new("too_large", detail)
}
