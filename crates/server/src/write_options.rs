//! The conditions of a write: in headers: `If-Match` and `Idempotency-Key`.

use axum::http::{HeaderMap, header, request::Parts};
use callboard_core::{
    entry::Hash,
    id::Seq,
    idempotency::{IdempotencyKey, Request},
};

use crate::{call_error::CallError, header::one};

/// The conditions of a write.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteOptions {
    /// The head that the session must have.
    pub(crate) expected: Option<Seq>,
    /// The idempotency key with the fingerprint of the request, if the caller sent a key.
    pub(crate) request: Option<Request>,
}

/// The conditions in the headers of a request with this body.
pub(crate) fn write_options(parts: &Parts, body: &[u8]) -> Result<WriteOptions, CallError> {
    let key = key(&parts.headers)?;
    let request = key.map(|key| Request { key, fingerprint: fingerprint(parts, body).into() });
    Ok(WriteOptions { expected: expected(&parts.headers)?, request })
}

/// What a repeated request has in common with the first: the method, the URL and the body.
fn fingerprint(parts: &Parts, body: &[u8]) -> Hash {
    let address = parts.uri.path_and_query().map(|address| address.as_str()).unwrap_or_default();
    let head = format!("{} {address}\n", parts.method);
    Hash::of(&[head.as_bytes(), body].concat())
}

fn key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, CallError> {
    let malformed = || CallError::new("bad_idempotency_key", "Idempotency-Key is 1 to 200 visible ASCII characters");
    let Some(text) = one(headers, "idempotency-key").map_err(|()| malformed())? else { return Ok(None) };
    text.parse().map(Some).map_err(|_| malformed())
}

fn expected(headers: &HeaderMap) -> Result<Option<Seq>, CallError> {
    let malformed = || CallError::new("bad_if_match", "If-Match is the session's head in quotes, for instance \"42\"");
    let Some(text) = one(headers, header::IF_MATCH.as_str()).map_err(|()| malformed())? else { return Ok(None) };
    let text = text.trim();
    if text == "*" {
        return Ok(None);
    }
    let digits = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).ok_or_else(malformed)?;
    if !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(malformed());
    }
    digits.parse().map(|seq| Some(Seq(seq))).map_err(|_| malformed())
}
