//! Writing replies as OpenAI's endpoint writes them.

use std::convert::Infallible;
use std::io;

use axum::Json;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};

use super::Reply;
use super::reply::Act;
use crate::ToolCall;

/// Answers `request` with `reply`.
pub(super) async fn respond(reply: Reply, request: &Value) -> Response {
    tokio::time::sleep(reply.delay).await;
    let streams = request.get("stream") == Some(&Value::Bool(true)) && !reply.ignores_stream;
    match &reply.act {
        Act::Message { text, calls } if streams => {
            let end = end(&reply, request, text, calls);
            events(stream::iter(pieces(text, calls).into_iter().chain(end).map(Ok::<_, Infallible>)))
        }
        Act::Message { text, calls } => Json(whole(&reply, request, text, calls)).into_response(),
        Act::Error { status, message, retry_after_seconds } => error(*status, message, *retry_after_seconds),
        Act::CutOff { text } => {
            // What was written before reaches the other side only if there is a pause before the end.
            let broken = stream::once(async {
                tokio::task::yield_now().await;
                Err(io::Error::other("cut off, as the script says"))
            });
            events(stream::iter(pieces(text, &[]).into_iter().map(Ok)).chain(broken))
        }
        Act::Stall { text } => {
            let begun = pieces(text, &[]).into_iter().map(Ok::<_, Infallible>);
            events(stream::iter(begun).chain(stream::pending()))
        }
        Act::Silence => std::future::pending().await,
        Act::Raw { status, content_type, body } => {
            (code(*status), [(header::CONTENT_TYPE, content_type.clone())], body.clone()).into_response()
        }
    }
}

/// An error as OpenAI writes it.
pub(super) fn error(status: u16, message: &str, retry_after_seconds: Option<u64>) -> Response {
    let body = Json(json!({"error": {"message": message, "type": "scripted", "code": null}}));
    let mut response = (code(status), body).into_response();
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

fn event(chunk: &Value) -> String {
    format!("data: {chunk}\n\n")
}

fn delta(delta: &Value, finish_reason: Option<&str>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    event(&json!({"id": "scripted", "object": "chat.completion.chunk", "model": "scripted", "choices": [choice]}))
}

/// The events of a message up to its end: its text a word at a time, the arguments of its calls in two pieces.
fn pieces(text: &str, calls: &[ToolCall]) -> Vec<String> {
    let role = delta(&json!({"role": "assistant", "content": ""}), None);
    let words = text.split_inclusive(' ').map(|word| delta(&json!({"content": word}), None));
    let call = |(index, call): (usize, &ToolCall)| {
        let mut middle = call.arguments.len() / 2;
        while !call.arguments.is_char_boundary(middle) {
            middle -= 1;
        }
        let (begin, rest) = call.arguments.split_at(middle);
        let function = json!({"name": call.name, "arguments": begin});
        let first = json!({"index": index, "id": call.id, "type": "function", "function": function});
        let second = json!({"index": index, "function": {"arguments": rest}});
        [first, second].map(|call| delta(&json!({"tool_calls": [call]}), None))
    };
    std::iter::once(role).chain(words).chain(calls.iter().enumerate().flat_map(call)).collect()
}

/// The events that end a message; the usage is among them where the request wants it.
fn end(reply: &Reply, request: &Value, text: &str, calls: &[ToolCall]) -> Vec<String> {
    let mut events = vec![delta(&json!({}), Some(&reason(reply, calls)))];
    let wants_usage = request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true));
    if let Some(usage) = reply.usage_for(request, text).filter(|_| wants_usage) {
        events.push(event(&json!({"id": "scripted", "choices": [], "usage": usage})));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn whole(reply: &Reply, request: &Value, text: &str, calls: &[ToolCall]) -> Value {
    let mut message = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        let call = |call: &ToolCall| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}});
        message =
            json!({"role": "assistant", "content": null, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()});
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": reason(reply, calls)});
    let usage = reply.usage_for(request, text);
    json!({"id": "scripted", "object": "chat.completion", "model": "scripted", "choices": [choice], "usage": usage})
}

fn reason(reply: &Reply, calls: &[ToolCall]) -> String {
    let usual = if calls.is_empty() { "stop" } else { "tool_calls" };
    reply.finish.clone().unwrap_or_else(|| usual.to_owned())
}
