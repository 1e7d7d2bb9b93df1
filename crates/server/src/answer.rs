//! Answers: JSON, or long lists of it that are given as they are read.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use callboard_core::id::Seq;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use serde::Serialize;

use crate::problem::Problem;

/// What a call answers, with the head of the session that it speaks of.
pub(crate) struct Answer<T> {
    head: Option<Seq>,
    body: T,
}

/// The same, where something was made.
pub(crate) struct Created<T>(pub(crate) Answer<T>);

impl<T> Answer<T> {
    /// It is done, or here it is.
    pub(crate) fn ok(body: T) -> Self {
        Self { head: None, body }
    }

    /// The same, as of this head, which `If-Match` takes.
    #[must_use]
    pub(crate) fn at(self, head: Seq) -> Self {
        Self { head: Some(head), ..self }
    }
}

impl<T: Serialize> IntoResponse for Created<T> {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        if response.status() == StatusCode::OK {
            *response.status_mut() = StatusCode::CREATED;
        }
        response
    }
}

impl<T: Serialize> IntoResponse for Answer<T> {
    fn into_response(self) -> Response {
        let body = match serde_json::to_vec(&self.body) {
            Ok(body) => body,
            Err(error) => {
                let detail = format!("the answer has no form in JSON: {error}");
                return Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "damaged", detail).into_response();
            }
        };
        let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let mut response = ([json], body).into_response();
        let tag = self.head.and_then(|head| HeaderValue::from_str(&format!("\"{head}\"")).ok());
        response.headers_mut().extend(tag.map(|tag| (header::ETAG, tag)));
        response
    }
}

/// A list under `name` in an object, given as it is read, and what stands behind it in the object. What fails breaks
/// the answer off, so that nobody takes what came for the whole.
pub(crate) fn streamed<T: Serialize + Send + 'static>(
    name: &'static str,
    pages: impl Stream<Item = Result<Vec<T>, Problem>> + Send + 'static,
    behind: String,
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
    let before = stream::once(async move { Ok(Bytes::from(format!("{{\"{name}\":["))) });
    let after = stream::once(async move { Ok(Bytes::from(format!("]{behind}}}"))) });
    let json = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    ([json], Body::from_stream(before.chain(pages).chain(after))).into_response()
}

fn broken(problem: Problem) -> std::io::Error {
    tracing::error!(code = problem.code, "an answer breaks off");
    std::io::Error::other(problem.code)
}
