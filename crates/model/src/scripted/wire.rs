//! Writing replies as real endpoints write them.

pub(super) mod anthropic;
pub(super) mod openai;

use std::convert::Infallible;
use std::io;

use axum::Json;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt, stream};
use serde_json::Value;

use super::Reply;
use super::reply::Act;
use crate::{ToolCall, Usage};

/// How an API writes a message.
pub(super) trait Wire: Send + Sync {
    /// The events of a message up to its end: its text a word at a time, the arguments of its calls in two pieces.
    fn pieces(&self, said: &Said<'_>) -> Vec<String>;

    /// The events that end a message.
    fn end(&self, said: &Said<'_>) -> Vec<String>;

    /// A message that does not come as a stream.
    fn whole(&self, said: &Said<'_>) -> Value;

    /// An error.
    fn error(&self, message: &str) -> Value;
}

/// The message to write.
#[derive(Clone, Copy)]
pub(super) struct Said<'a> {
    request: &'a Value,
    reasoning: &'a [Value],
    text: &'a str,
    calls: &'a [ToolCall],
    usage: Option<Usage>,
    finish: Option<&'a str>,
}

/// Answers `request` with `reply`.
pub(super) async fn respond(wire: &dyn Wire, reply: Reply, request: &Value) -> Response {
    tokio::time::sleep(reply.delay).await;
    let streams = request.get("stream") == Some(&Value::Bool(true)) && !reply.ignores_stream;
    let said = |text, calls| {
        let usage = reply.usage_for(request, text);
        Said { request, reasoning: &reply.reasoning, text, calls, usage, finish: reply.finish.as_deref() }
    };
    match &reply.act {
        Act::Message { text, calls } if streams => {
            let said = said(text, calls);
            let all = wire.pieces(&said).into_iter().chain(wire.end(&said));
            events(stream::iter(all.map(Ok::<_, Infallible>).collect::<Vec<_>>()))
        }
        Act::Message { text, calls } => Json(wire.whole(&said(text, calls))).into_response(),
        Act::Error { status, message, retry_after_seconds } => error(wire, *status, message, *retry_after_seconds),
        Act::CutOff { text } => {
            // Without a pause before the end, the text before it might not reach the client.
            let broken = stream::once(async {
                tokio::task::yield_now().await;
                Err(io::Error::other("cut off, as the script says"))
            });
            events(stream::iter(wire.pieces(&said(text, &[])).into_iter().map(Ok)).chain(broken))
        }
        Act::Stall { text } => {
            let begun = wire.pieces(&said(text, &[])).into_iter().map(Ok::<_, Infallible>);
            events(stream::iter(begun).chain(stream::pending()))
        }
        Act::Endless { begin, repeat } => {
            let all = stream::iter([begin.clone()]).chain(stream::repeat(repeat.clone()));
            let body = Body::from_stream(all.map(Ok::<_, Infallible>));
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Act::Silence => std::future::pending().await,
        Act::Raw { status, content_type, body } => {
            (code(*status), [(header::CONTENT_TYPE, content_type.clone())], body.clone()).into_response()
        }
    }
}

/// An error as the API writes it.
pub(super) fn error(wire: &dyn Wire, status: u16, message: &str, retry_after_seconds: Option<u64>) -> Response {
    let mut response = (code(status), Json(wire.error(message))).into_response();
    if let Some(seconds) = retry_after_seconds {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

fn code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn events<E>(events: impl Stream<Item = Result<String, E>> + Send + 'static) -> Response
where
    E: std::error::Error + Send + Sync + 'static,
{
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events)).into_response()
}

/// The arguments of a call in two pieces.
fn halves(call: &ToolCall) -> (&str, &str) {
    let mut middle = call.arguments.len() / 2;
    while !call.arguments.is_char_boundary(middle) {
        middle -= 1;
    }
    call.arguments.split_at(middle)
}
