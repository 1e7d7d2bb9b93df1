//! Answers as JSON: whole, or long lists that are sent as they are read.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use callboard_core::id::Seq;
use futures::{
    StreamExt, TryStreamExt,
    stream::{self, BoxStream},
};
use serde::Serialize;
use serde_json::Value;

use crate::call_error::CallError;

/// What a call gives.
pub(crate) struct Answer<T> {
    /// The head of the session as of which this holds. A later write can expect it.
    pub(crate) head: Option<Seq>,
    /// That of a call that went well.
    status: StatusCode,
    /// The answer itself.
    pub(crate) body: T,
}

/// A list that may be too long for memory, in pages that are read one after the other.
pub(crate) type Pages<T> = BoxStream<'static, Result<Vec<T>, CallError>>;

impl<T> Answer<T> {
    /// An answer that names no head.
    pub(crate) fn ok(body: T) -> Self {
        Self { head: None, status: StatusCode::OK, body }
    }

    /// The same as of this head.
    #[must_use]
    pub(crate) fn at(self, head: Seq) -> Self {
        Self { head: Some(head), ..self }
    }

    /// The same of a call that created something.
    #[must_use]
    pub(crate) fn created(self) -> Self {
        Self { status: StatusCode::CREATED, ..self }
    }

    /// The same of a call that began something.
    #[must_use]
    pub(crate) fn accepted(self) -> Self {
        Self { status: StatusCode::ACCEPTED, ..self }
    }
}

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let body = match serde_json::to_vec(&self.body) {
            Ok(body) => body,
            Err(error) => {
                let detail = format!("the answer cannot be written as JSON: {error}");
                return CallError::new("internal", detail).into_response();
            }
        };
        let mut response = (self.status, [json()], body).into_response();
        let tag = self.head.and_then(|head| HeaderValue::from_str(&format!("\"{head}\"")).ok());
        response.headers_mut().extend(tag.map(|tag| (header::ETAG, tag)));
        response
    }
}

/// An object with a list and one more field, sent as the list is read. If a page cannot be read, the response breaks
/// off, so that nobody takes the part that arrived for the whole.
pub(crate) fn streamed<T: Serialize + 'static>(
    name: &'static str,
    pages: Pages<T>,
    field: Option<(&str, Value)>,
) -> Response {
    let mut is_first = true;
    let pages = pages.map(move |page| {
        let mut text = String::new();
        for item in page.map_err(broken)? {
            text.push_str(if std::mem::take(&mut is_first) { "" } else { "," });
            text.push_str(&serde_json::to_string(&item).map_err(std::io::Error::other)?);
        }
        Ok::<_, std::io::Error>(Bytes::from(text))
    });
    let pages = pages.try_filter(|page| std::future::ready(!page.is_empty()));
    let field = field.map(|(name, value)| format!(",\"{name}\":{value}")).unwrap_or_default();
    let before = stream::once(async move { Ok(Bytes::from(format!("{{\"{name}\":["))) });
    let after = stream::once(async move { Ok(Bytes::from(format!("]{field}}}"))) });
    ([json()], Body::from_stream(before.chain(pages).chain(after))).into_response()
}

/// The error that breaks off a response.
pub(crate) fn broken(error: CallError) -> std::io::Error {
    tracing::error!(code = error.code, detail = error.detail, "a response breaks off");
    std::io::Error::other(error.code)
}

fn json() -> (header::HeaderName, &'static str) {
    (header::CONTENT_TYPE, "application/json")
}
