//! Answers that pass as they come, and are kept as what the agent said.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::Response,
};
use bytes::{Bytes, BytesMut};
use callboard_api as api;
use callboard_core::{id::Seq, run::own::AnswerTurn};
use callboard_model::{BytesOfAnswer, ModelError};
use eventsource_stream::Eventsource as _;
use futures::{StreamExt as _, stream};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::dialect::{Dialect, texts};
use crate::{
    body::RepairedBody,
    caller::Authorized,
    params::{InPath, TurnNumber},
    resources::turn,
    write_options::WriteOptions,
};

/// Where an answer is kept.
pub(super) struct Answered {
    pub(super) turn: Seq,
    pub(super) answer: Authorized<AnswerTurn>,
    pub(super) dialect: Dialect,
    pub(super) is_stream: bool,
    /// Whether the client did not ask for the usage at the end of its stream.
    pub(super) hides_usage: bool,
}

/// Headers of an answer that are of its connection, or between Callboard and the provider alone.
const OF_CONNECTION: &[HeaderName] =
    &[header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH, header::SET_COOKIE];

/// An answer without what its connection alone means.
fn begun(answer: &http::Response<BytesOfAnswer>, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = answer.status();
    let kept = answer.headers().iter().filter(|(name, _)| !OF_CONNECTION.contains(name));
    response.headers_mut().extend(kept.map(|(name, value)| (name.clone(), value.clone())).collect::<HeaderMap>());
    response
}

/// An answer that nobody keeps.
pub(super) fn whole(answer: http::Response<BytesOfAnswer>) -> Response {
    let response = begun(&answer, Body::empty());
    let (parts, _) = response.into_parts();
    Response::from_parts(parts, Body::from_stream(answer.into_body()))
}

/// Passes an answer on, and keeps it. A task reads it, so that it is kept also where the client is gone at its end.
pub(super) fn pass(answer: http::Response<BytesOfAnswer>, answered: Answered) -> Response {
    let (sender, receiver) = mpsc::channel(16);
    let body = Body::from_stream(stream::unfold(receiver, |mut receiver| async {
        receiver.recv().await.map(|piece| (piece, receiver))
    }));
    let response = begun(&answer, body);
    tokio::spawn(read(answer, answered, sender));
    response
}

async fn read(
    answer: http::Response<BytesOfAnswer>,
    answered: Answered,
    client: mpsc::Sender<Result<Bytes, ModelError>>,
) {
    let (status, mut pieces) = (answer.status(), answer.into_body());
    let mut all = BytesMut::new();
    let mut held = BytesMut::new();
    loop {
        let piece = tokio::select! {
            piece = pieces.next() => piece,
            // Whoever hangs up wants no more of it, and pays for no more.
            () = client.closed() => return answered.failed("the client hung up before the answer ended").await,
        };
        let piece = match piece {
            Some(Ok(piece)) => piece,
            Some(Err(error)) => {
                answered.failed(error.to_string()).await;
                // The client sees that its answer broke off.
                let _ = client.send(Err(error)).await;
                return;
            }
            None => break,
        };
        all.extend_from_slice(&piece);
        let passed = if answered.hides_usage { without_usage(&mut held, &piece) } else { piece };
        if !passed.is_empty() && client.send(Ok(passed)).await.is_err() {
            return answered.failed("the client hung up before the answer ended").await;
        }
    }
    if !held.is_empty() {
        let _ = client.send(Ok(held.freeze())).await;
    }
    answered.keep(status, all.freeze()).await;
}

/// The whole events of a stream so far, without the one that has nothing but the usage.
fn without_usage(held: &mut BytesMut, piece: &[u8]) -> Bytes {
    held.extend_from_slice(piece);
    let mut passed = BytesMut::new();
    while let Some(end) = held.windows(2).position(|two| two == b"\n\n") {
        let event = held.split_to(end + 2);
        let data = event.strip_prefix(b"data:").and_then(|data| serde_json::from_slice::<Value>(data).ok());
        let is_usage = data.is_some_and(|data| data.get("choices") == Some(&json!([])) && data.get("usage").is_some());
        if !is_usage {
            passed.extend_from_slice(&event);
        }
    }
    passed.freeze()
}

impl Answered {
    /// Notes that there is no answer.
    pub(super) async fn failed(&self, why: impl Into<String>) {
        self.note(api::TurnAnswer { error: Some(why.into()), ..api::TurnAnswer::default() }).await;
    }

    async fn keep(&self, status: StatusCode, bytes: Bytes) {
        if !status.is_success() {
            let message = serde_json::from_slice::<Value>(&bytes).unwrap_or_default();
            let message = message.pointer("/error/message").and_then(Value::as_str).unwrap_or("it gives no reason");
            return self.failed(format!("the model refused with {status}: {message}")).await;
        }
        let said = match self.is_stream {
            false => serde_json::from_slice(&bytes).unwrap_or_default(),
            true => assembled(self.dialect, bytes).await,
        };
        match answer(self.dialect, &said) {
            Ok(answer) => self.note(answer).await,
            Err(why) => self.failed(why).await,
        }
    }

    async fn note(&self, answer: api::TurnAnswer) {
        let body = RepairedBody { body: answer, options: WriteOptions::default(), repaired: Vec::new() };
        let kept = turn::answer(self.answer.clone(), InPath(TurnNumber(self.turn)), body).await;
        if let Err(error) = kept {
            tracing::warn!(turn = self.turn.0, code = error.code, "an answer that was passed on could not be kept");
        }
    }
}

/// What an answer says, as it is kept.
fn answer(dialect: Dialect, said: &Value) -> Result<api::TurnAnswer, String> {
    let number = |pointer: &str| said.pointer(pointer).and_then(Value::as_u64);
    let (text, calls, reasoning, usage) = match dialect {
        Dialect::OpenAi => {
            let message = said.pointer("/choices/0/message").ok_or("the model's answer has no message")?;
            let calls = message.get("tool_calls").filter(|calls| calls.is_array());
            let calls = calls.cloned().unwrap_or_else(|| json!([]));
            let reasoning: Vec<Value> = ["reasoning_content", "reasoning"]
                .iter()
                .filter_map(|name| Some((name, message.get(*name)?.as_str().filter(|text| !text.is_empty())?)))
                .map(|(name, text)| json!({"type": name, *name: text}))
                .collect();
            let usage = number("/usage/prompt_tokens").zip(number("/usage/completion_tokens"));
            (texts(message.get("content")), calls, reasoning, usage)
        }
        Dialect::Anthropic => {
            let blocks = said.get("content").and_then(Value::as_array).ok_or("the model's answer has no content")?;
            let of = |kind: &'static str| {
                blocks.iter().filter(move |block| block.get("type") == Some(&json!(kind))).cloned()
            };
            let text: Vec<_> = of("text").map(|block| texts(Some(&json!([block])))).collect();
            let calls = of("tool_use").map(
                |block| json!({"id": block.get("id"), "name": block.get("name"), "arguments": block.get("input")}),
            );
            let reasoning = of("thinking").chain(of("redacted_thinking")).collect();
            // What came out of the provider's cache, or went into it, was read too.
            let cached = ["/usage/cache_read_input_tokens", "/usage/cache_creation_input_tokens"];
            let cached: u64 = cached.into_iter().filter_map(number).sum();
            let usage = number("/usage/input_tokens").map(|read| read + cached).zip(number("/usage/output_tokens"));
            (text.concat(), calls.collect::<Vec<_>>().into(), reasoning, usage)
        }
    };
    let mut kept = Map::new();
    if !text.is_empty() || calls.as_array().is_some_and(Vec::is_empty) {
        kept.insert("text".to_owned(), text.into());
    }
    kept.insert("tool_calls".to_owned(), calls);
    kept.insert("reasoning".to_owned(), reasoning.into());
    if let Some((prompt, completion)) = usage {
        kept.insert("usage".to_owned(), json!({"prompt_tokens": prompt, "completion_tokens": completion}));
    }
    serde_json::from_value(kept.into()).map_err(|error| format!("the model's answer is not understood: {error}"))
}

/// The answer that a stream makes in the end.
async fn assembled(dialect: Dialect, bytes: Bytes) -> Value {
    let events = stream::once(std::future::ready(Ok::<_, std::convert::Infallible>(bytes))).eventsource();
    let events: Vec<Value> = events
        .filter_map(|event| std::future::ready(event.ok().and_then(|event| serde_json::from_str(&event.data).ok())))
        .collect()
        .await;
    match dialect {
        Dialect::OpenAi => assembled_openai(&events),
        Dialect::Anthropic => assembled_anthropic(&events),
    }
}

/// Adds a piece of a text to a field.
fn push(fields: &mut Map<String, Value>, name: &str, piece: &str) {
    let so_far = fields.entry(name).or_insert_with(|| json!(""));
    *so_far = format!("{}{piece}", so_far.as_str().unwrap_or_default()).into();
}

fn assembled_openai(events: &[Value]) -> Value {
    let (mut message, mut calls, mut usage) = (Map::new(), Vec::<Map<String, Value>>::new(), Value::Null);
    for event in events {
        if let Some(given) = event.get("usage").filter(|usage| !usage.is_null()) {
            usage = given.clone();
        }
        let Some(delta) = event.pointer("/choices/0/delta") else { continue };
        for name in ["content", "reasoning_content", "reasoning"] {
            if let Some(piece) = delta.get(name).and_then(Value::as_str) {
                push(&mut message, name, piece);
            }
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            let at = call.get("index").and_then(Value::as_u64).map_or(calls.len(), |at| at as usize);
            // An answer has few calls: a number beyond that is no place in it.
            if at > calls.len() {
                continue;
            }
            if at == calls.len() {
                calls.push(Map::from_iter([("type".to_owned(), json!("function"))]));
            }
            let Some(known) = calls.get_mut(at) else { continue };
            if let Some(id) = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()) {
                known.insert("id".to_owned(), id.into());
            }
            let function = known.entry("function").or_insert_with(|| json!({}));
            for name in ["name", "arguments"] {
                let piece = call.pointer(&format!("/function/{name}")).and_then(Value::as_str);
                if let (Some(piece), Some(function)) = (piece, function.as_object_mut()) {
                    push(function, name, piece);
                }
            }
        }
    }
    message.insert("tool_calls".to_owned(), json!(calls));
    json!({"choices": [{"message": message}], "usage": usage})
}

fn assembled_anthropic(events: &[Value]) -> Value {
    let (mut blocks, mut usage) = (Vec::<Map<String, Value>>::new(), Map::new());
    for event in events {
        for pointer in ["/message/usage", "/usage"] {
            usage.extend(event.pointer(pointer).and_then(Value::as_object).cloned().unwrap_or_default());
        }
        match event.get("type").and_then(Value::as_str) {
            Some("content_block_start") => {
                let mut block = event.get("content_block").and_then(Value::as_object).cloned().unwrap_or_default();
                if block.get("type") == Some(&json!("tool_use")) {
                    block.insert("input".to_owned(), json!(""));
                }
                blocks.push(block);
            }
            Some("content_block_delta") => {
                let (Some(block), Some(delta)) = (blocks.last_mut(), event.get("delta")) else { continue };
                for (name, field) in
                    [("text", "text"), ("thinking", "thinking"), ("signature", "signature"), ("partial_json", "input")]
                {
                    if let Some(piece) = delta.get(name).and_then(Value::as_str) {
                        push(block, field, piece);
                    }
                }
            }
            _ => {}
        }
    }
    for block in &mut blocks {
        if block.get("type") == Some(&json!("tool_use")) {
            let text = block.get("input").and_then(Value::as_str).unwrap_or_default();
            let input = serde_json::from_str(if text.is_empty() { "{}" } else { text }).unwrap_or_else(|_| json!(text));
            block.insert("input".to_owned(), input);
        }
    }
    json!({"content": blocks, "usage": usage})
}
