//! Answers that pass as they come, and are kept as what the agent said.

use std::{borrow::Cow, sync::Arc};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, StatusCode, header},
    response::Response,
};
use bytes::{Bytes, BytesMut};
use callboard_api as api;
use callboard_core::{
    conversation::{self, MessageReceipt},
    exact::read_quoted,
    id::Seq,
    run::own::AnswerTurn,
};
use callboard_model::{BytesOfAnswer, ChatModel, Forwarded, ModelError, whole_answer};
use eventsource_stream::Eventsource as _;
use futures::{StreamExt as _, stream};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

use super::{
    dialect::{Complaint, Dialect, KEPT, only, texts},
    keyed::Keyed,
};
use crate::{
    body::RepairedBody,
    call_error::CallError,
    caller::Authorized,
    metrics::Counted,
    params::{InPath, TurnNumber},
    resources::turn,
    surrogates::repair,
    write_options::WriteOptions,
};

/// Where an answer is kept.
pub(super) struct Answered {
    pub(super) turn: Seq,
    pub(super) answer: Authorized<AnswerTurn>,
    pub(super) dialect: Dialect,
    pub(super) is_stream: bool,
    /// Whether the prompt is Callboard's.
    pub(super) is_managed: bool,
    /// Whether the client did not ask for the usage at the end of its stream.
    pub(super) hides_usage: bool,
    /// The request, if it has an idempotency key.
    pub(super) keyed: Option<Keyed>,
    pub(super) _open: Counted,
}

/// Headers of an answer that are of its connection, or between Callboard and the provider alone. Two of them tell browsers and clients
/// what is so of the provider's host for a long time.
const OF_CONNECTION: &[HeaderName] = &[
    header::CONNECTION,
    header::TRANSFER_ENCODING,
    header::CONTENT_LENGTH,
    header::SET_COOKIE,
    header::ALT_SVC,
    header::STRICT_TRANSPORT_SECURITY,
];

/// An answer without what its connection alone means.
fn begun(answer: &http::response::Parts, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = answer.status;
    let kept = answer.headers.iter().filter(|(name, _)| !OF_CONNECTION.contains(name));
    response.headers_mut().extend(kept.map(|(name, value)| (name.clone(), value.clone())).collect::<HeaderMap>());
    response
}

/// An answer that nobody keeps.
pub(super) fn whole(answer: http::Response<BytesOfAnswer>) -> Response {
    let (begin, pieces) = answer.into_parts();
    begun(&begin, Body::from_stream(pieces))
}

/// The most bytes that an answer may have. All of it is in memory until it is kept.
const MAX_ANSWER_BYTES: usize = 64 << 20;

/// Asks a model, passes its answer on, and keeps it. A task does so, so that the turn ends also where the client is gone.
pub(super) async fn ask(
    models: Arc<dyn ChatModel>,
    request: Forwarded,
    answered: Answered,
) -> Result<Response, Complaint> {
    let (mut client, response) = oneshot::channel::<Result<Response, ModelError>>();
    tokio::spawn(async move {
        let answer = tokio::select! {
            answer = forward(&*models, request, answered.is_managed) => answer,
            () = client.closed() => return answered.failed("the client hung up before the answer began").await,
        };
        match answer {
            Ok(answer) => {
                let (sender, receiver) = mpsc::channel(16);
                let body = Body::from_stream(stream::unfold(receiver, |mut receiver| async {
                    receiver.recv().await.map(|piece| (piece, receiver))
                }));
                let (begin, pieces) = answer.into_parts();
                // Where the client is gone, so is the other end of the body.
                drop(client.send(Ok(begun(&begin, body))));
                read(begin.status, pieces, answered, sender).await;
            }
            Err(error) => {
                answered.failed(error.to_string()).await;
                drop(client.send(Err(error)));
            }
        }
    });
    match response.await {
        Ok(response) => Ok(response?),
        Err(_) => Err(CallError::new("internal", "this is a fault in Callboard: see the server's log").into()),
    }
}

/// The most bytes of a refusal in which its reason is looked for.
const MAX_REASON_BYTES: usize = 64 << 10;

/// Asks a model, and once more where it refuses thoughts since Callboard changed what stood before them, as context sets do.
async fn forward(
    models: &dyn ChatModel,
    request: Forwarded,
    is_managed: bool,
) -> Result<http::Response<BytesOfAnswer>, ModelError> {
    let asked = request.clone();
    let answer = models.forward(request).await?;
    if !is_managed || answer.status() != StatusCode::BAD_REQUEST {
        return Ok(answer);
    }
    let (parts, mut pieces) = answer.into_parts();
    let mut refusal = BytesMut::new();
    while refusal.len() < MAX_REASON_BYTES
        && let Some(piece) = pieces.next().await
    {
        refusal.extend_from_slice(&piece?);
    }
    if let Some(again) = asked.without_unbound(&refusal) {
        tracing::info!("leaving out thoughts before which something has changed");
        return models.forward(again).await;
    }
    let read = stream::once(std::future::ready(Ok(refusal.freeze())));
    Ok(http::Response::from_parts(parts, read.chain(pieces).boxed()))
}

/// Passes an answer on and keeps it. It ends for the client once it is kept, and so the last event of a stream passes, however long the
/// stream stays open then: a client that goes on at once goes on with what is known.
async fn read(
    status: StatusCode,
    mut pieces: BytesOfAnswer,
    mut answered: Answered,
    client: mpsc::Sender<Result<Bytes, ModelError>>,
) {
    let mut received = Incoming::default();
    let mut is_kept = false;
    loop {
        let piece = tokio::select! {
            piece = pieces.next() => piece,
            // Whoever hangs up wants no more of it, and pays for no more.
            () = client.closed() => {
                if !is_kept {
                    answered.failed(HUNG_UP).await;
                }
                return;
            }
        };
        let mut piece = match piece {
            Some(Ok(piece)) => piece,
            Some(Err(error)) => {
                if !is_kept {
                    answered.failed(error.to_string()).await;
                }
                // The client sees that its answer broke off.
                let _ = client.send(Err(error)).await;
                return;
            }
            None => break,
        };
        // What comes behind the last event says nothing.
        if !is_kept {
            if received.bytes.len().saturating_add(piece.len()) > MAX_ANSWER_BYTES {
                let error = ModelError::NotUnderstood {
                    url: answered.dialect.provider().as_str().to_owned(),
                    protocol: answered.dialect.provider().as_str(),
                    what: format!("it has more than {MAX_ANSWER_BYTES} bytes"),
                };
                answered.failed(error.to_string()).await;
                let _ = client.send(Err(error)).await;
                return;
            }
            received.bytes.extend_from_slice(&piece);
            // A provider that gives one object although a stream was asked for has no events.
            if answered.is_stream {
                let (events, last) = received.take_events(answered.dialect, answered.hides_usage);
                piece = events;
                if let Some(last) = last {
                    passes(&client, piece).await;
                    answered.settle(status, std::mem::take(&mut received.bytes).freeze()).await;
                    (piece, is_kept) = (last, true);
                }
            }
        }
        if !passes(&client, piece).await {
            if !is_kept {
                answered.failed(HUNG_UP).await;
            }
            return;
        }
    }
    if !is_kept {
        let all = received.bytes.freeze();
        answered.settle(status, all.clone()).await;
        if answered.is_stream {
            passes(&client, all.slice(received.event..)).await;
        }
    }
}

/// Passes a piece on. Says whether the client is there.
async fn passes(client: &mpsc::Sender<Result<Bytes, ModelError>>, piece: Bytes) -> bool {
    piece.is_empty() || client.send(Ok(piece)).await.is_ok()
}

/// What has come of an answer. A stream passes event by event.
#[derive(Default)]
struct Incoming {
    bytes: BytesMut,
    /// Where the event begins that is not whole yet, and up to where its end was looked for.
    event: usize,
    looked: usize,
}

impl Incoming {
    /// The events that are whole by now and did not pass yet, without the one that has nothing but the usage if that is hidden; and
    /// from the last event of an answer on, if that is there, all that came.
    fn take_events(&mut self, dialect: Dialect, hides_usage: bool) -> (Bytes, Option<Bytes>) {
        let mut events = BytesMut::new();
        while let Some(begin) = self.next_event() {
            let event = self.bytes.get(begin..self.event).unwrap_or_default();
            if is_last(dialect, event) {
                let rest = self.bytes.get(begin..).unwrap_or_default();
                return (events.freeze(), Some(Bytes::copy_from_slice(rest)));
            }
            if !(hides_usage && is_usage(event)) {
                events.extend_from_slice(event);
            }
        }
        (events.freeze(), None)
    }

    /// Where the next event begins, if it is whole: it ends behind an empty line, whatever ends its lines.
    fn next_event(&mut self) -> Option<usize> {
        let is_end = |byte: &u8| *byte == b'\n';
        while let Some(length) = self.bytes.get(self.looked..).and_then(|rest| rest.iter().position(is_end)) {
            let end = self.looked.saturating_add(length);
            let before = self.bytes.get(self.event..end).unwrap_or_default();
            self.looked = end.saturating_add(1);
            let before = before.strip_suffix(b"\r").unwrap_or(before);
            if before.is_empty() || before.ends_with(b"\n") {
                return Some(std::mem::replace(&mut self.event, self.looked));
            }
        }
        self.looked = self.bytes.len();
        None
    }
}

/// What an event says in lines with this name.
fn lines<'a>(event: &'a [u8], name: &'static [u8]) -> impl Iterator<Item = &'a [u8]> {
    event.split(|byte| *byte == b'\n').filter_map(move |line| line.strip_prefix(name)).map(<[u8]>::trim_ascii)
}

/// Whether an event is the last of an answer: its type, or where it has none its data, says so.
fn is_last(dialect: Dialect, event: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(rename = "type", borrow)]
        kind: Cow<'a, str>,
    }
    let ends: &[&str] = match dialect {
        Dialect::OpenAi => &["[DONE]"],
        Dialect::Responses => &["response.completed", "response.incomplete"],
        Dialect::Anthropic => &["message_stop"],
    };
    let is_end = |text: &[u8]| ends.iter().any(|end| end.as_bytes() == text);
    let typed =
        |data: &[u8]| serde_json::from_slice::<Typed<'_>>(data).is_ok_and(|typed| is_end(typed.kind.as_bytes()));
    lines(event, b"event:").any(is_end) || lines(event, b"data:").any(|data| is_end(data) || typed(data))
}

/// Whether an event has nothing but the usage.
fn is_usage(event: &[u8]) -> bool {
    lines(event, b"data:")
        .filter_map(|data| serde_json::from_slice::<Value>(data).ok())
        .any(|data| data.get("choices") == Some(&json!([])) && data.get("usage").is_some())
}

/// Why a turn has no answer whose client is gone.
const HUNG_UP: &str = "the client hung up before the answer ended";

impl Answered {
    /// Notes that there is no answer.
    pub(super) async fn failed(&self, why: impl Into<String>) {
        // Where that fails, too, it is in the log.
        let _ = self.note(api::TurnAnswer { error: Some(why.into()), ..api::TurnAnswer::default() }).await;
    }

    /// Keeps an answer, and what came of the request if it has a key.
    async fn settle(&mut self, status: StatusCode, bytes: Bytes) {
        if let Some((messages, cut_off)) = self.keep(status, &bytes).await
            && let Some(keyed) = self.keyed.take()
        {
            keyed.settle(self.turn, &messages, cut_off).await;
        }
    }

    /// Keeps an answer. Gives the messages that it became, if there is one, and whether it ends at the length that it may
    /// have.
    async fn keep(&self, status: StatusCode, bytes: &Bytes) -> Option<(Vec<MessageReceipt>, bool)> {
        let said = match (status.is_success(), as_json(bytes)) {
            (false, refusal) => {
                let refusal = refusal.unwrap_or_default();
                let message = refusal.pointer("/error/message").and_then(Value::as_str);
                Err(format!("the model refused with {status}: {}", message.unwrap_or("it gives no reason")))
            }
            (true, Ok(said)) => Ok(said),
            (true, Err(_)) if self.is_stream => assembled(self.dialect, bytes.clone()).await,
            (true, Err(error)) => Err(format!("the model's answer is no JSON: {error}")),
        };
        let is_cut_off = said.as_ref().is_ok_and(|said| cut_off(self.dialect, said));
        let message = match said.and_then(|said| answer(self.dialect, said)) {
            Ok(message) => message,
            Err(why) => {
                self.failed(why).await;
                return None;
            }
        };
        match self.note(api::TurnAnswer { message: Some(message), ..api::TurnAnswer::default() }).await {
            Ok(messages) => Some((messages, is_cut_off)),
            Err(error) => {
                self.failed(format!("the answer could not be kept: {}", error.detail)).await;
                None
            }
        }
    }

    async fn note(&self, answer: api::TurnAnswer) -> Result<Vec<MessageReceipt>, CallError> {
        let body = RepairedBody { body: answer, options: WriteOptions::default(), repaired: Vec::new() };
        match turn::answer_turn(self.answer.clone(), InPath(TurnNumber(self.turn)), body).await {
            Ok(kept) => Ok(kept.body.messages),
            Err(error) => {
                tracing::warn!(turn = self.turn.0, code = error.code, "what came of a turn could not be kept");
                Err(error)
            }
        }
    }
}

/// JSON of a provider, also where it has halves of characters or integers of more than 64 bits.
fn as_json(text: &[u8]) -> Result<Value, serde_json::Error> {
    let repaired = repair(text);
    read_quoted(repaired.as_ref().map_or(text, |repaired| &repaired.json))
}

/// Whether an answer ends at the length that it may have.
fn cut_off(dialect: Dialect, said: &Value) -> bool {
    let (pointer, value) = match dialect {
        Dialect::OpenAi => ("/choices/0/finish_reason", "length"),
        Dialect::Responses => ("/status", "incomplete"),
        Dialect::Anthropic => ("/stop_reason", "max_tokens"),
    };
    said.pointer(pointer).and_then(Value::as_str) == Some(value)
}

/// What an answer says, as it is kept: as its provider gave it, or without the fields that cannot be kept.
fn answer(dialect: Dialect, mut said: Value) -> Result<Value, String> {
    without_logprobs(&mut said);
    let there = match dialect {
        Dialect::OpenAi => said.pointer("/choices/0/message").is_some_and(Value::is_object),
        Dialect::Responses => said.get("output").is_some_and(Value::is_array),
        Dialect::Anthropic => said.get("content").is_some_and(Value::is_array),
    };
    if !there {
        return Err("the model's answer has no message".to_owned());
    }
    let choices = said.get("choices").and_then(Value::as_array).map_or(1, Vec::len);
    if conversation::answer::read(said.clone()).is_ok() {
        return Ok(noted(said, choices));
    }
    let mut kept = Map::new();
    kept.extend(said.get("usage").map(|usage| ("usage".to_owned(), usage.clone())));
    match dialect {
        Dialect::OpenAi => {
            let message = said.pointer("/choices/0/message").cloned().unwrap_or_default();
            let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
            let calls: Vec<_> =
                calls.map(|call| only(call, &["id", "type", "function", "custom", "extra_content"])).collect();
            let mut reduced = json!({"role": "assistant", "content": texts(message.get("content"))});
            if let Some(fields) = reduced.as_object_mut() {
                fields.extend((!calls.is_empty()).then(|| ("tool_calls".to_owned(), calls.into())));
                let thoughts = ["refusal", "reasoning_content", "reasoning", "reasoning_details"];
                let given = only(&message, &thoughts).as_object().cloned().unwrap_or_default();
                fields.extend(given.into_iter().filter(|(_, value)| !value.is_null()));
            }
            kept.insert("choices".to_owned(), json!([{"message": reduced}]));
        }
        Dialect::Responses => {
            let items = said.get("output").and_then(Value::as_array).into_iter().flatten();
            let items = items.filter(|item| {
                let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
                ["message", "function_call", "custom_tool_call", "reasoning", "web_search_call", "compaction"]
                    .contains(&kind)
            });
            kept.insert("output".to_owned(), items.map(|item| only(item, &KEPT)).collect());
        }
        Dialect::Anthropic => {
            let blocks = said.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
            let content = if blocks.is_empty() { json!("") } else { blocks.into() };
            kept.extend([("role".to_owned(), json!("assistant")), ("content".to_owned(), content)]);
        }
    }
    Ok(noted(kept.into(), choices))
}

/// Leaves out how likely each piece of a text was: put together, the pieces say what is hidden in the text.
fn without_logprobs(said: &mut Value) {
    let items = said.get_mut("output").and_then(Value::as_array_mut).into_iter().flatten();
    let parts = items.filter_map(|item| item.get_mut("content")?.as_array_mut()).flatten();
    for logprobs in parts.filter_map(|part| part.get_mut("logprobs")) {
        *logprobs = json!([]);
    }
}

/// An answer whose message says that it is the first of so many: only that one is kept.
fn noted(mut kept: Value, choices: usize) -> Value {
    let message = kept.pointer_mut("/choices/0/message").and_then(Value::as_object_mut);
    if let Some(message) = message.filter(|_| choices > 1) {
        let metadata = message.entry("metadata").or_insert_with(|| json!({}));
        if let Some(fields) = metadata.as_object_mut() {
            fields.insert("choices".to_owned(), choices.into());
        }
    }
    kept
}

/// The answer that a stream makes in the end.
async fn assembled(dialect: Dialect, bytes: Bytes) -> Result<Value, String> {
    let events = stream::once(std::future::ready(Ok::<_, std::convert::Infallible>(bytes))).eventsource();
    let events: Vec<Value> = events
        .filter_map(|event| std::future::ready(event.ok().and_then(|event| as_json(event.data.as_bytes()).ok())))
        .collect()
        .await;
    let errors = events.iter().flat_map(|event| [event.pointer("/error"), event.pointer("/response/error")]);
    if let Some(error) = errors.flatten().find(|error| !error.is_null()) {
        let message = error.get("message").and_then(Value::as_str).unwrap_or("it gives no reason");
        return Err(format!("the model broke its answer off: {message}"));
    }
    let broken_off = || "the model broke its answer off".to_owned();
    match dialect {
        // What has nothing of an answer in it is none.
        Dialect::OpenAi => {
            let said = whole_answer(dialect.provider(), events).ok_or("the model's answer has no message")?;
            Ok(completed(said))
        }
        Dialect::Responses => {
            let whole = |event: &Value| {
                let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
                let is_end = ["response.completed", "response.incomplete"].contains(&kind);
                event.get("response").filter(|_| is_end).cloned()
            };
            events.iter().rev().find_map(whole).ok_or_else(broken_off)
        }
        // A connection may end as if nothing were amiss.
        Dialect::Anthropic => whole_answer(dialect.provider(), events).map(with_inputs).ok_or_else(broken_off),
    }
}

/// A chat completion whose message is one of an assistant that says or calls something, with calls as they are without a stream.
fn completed(mut said: Value) -> Value {
    let Some(message) = said.pointer_mut("/choices/0/message").and_then(Value::as_object_mut) else { return said };
    message.insert("role".to_owned(), json!("assistant"));
    // The place of a call is that in the list.
    for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(fields) = call.as_object_mut() {
            fields.remove("index");
            fields.entry("type").or_insert_with(|| json!("function"));
        }
    }
    let says = ["content", "tool_calls", "refusal", "audio"].iter().any(|name| message.contains_key(*name));
    if !says {
        message.insert("content".to_owned(), json!(""));
    }
    said
}

/// A message of Anthropic whose calls have their inputs: they came in pieces of JSON.
fn with_inputs(mut said: Value) -> Value {
    for block in said.get_mut("content").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(input) = block.get_mut("input").filter(|input| input.is_string()) {
            let text = input.as_str().filter(|text| !text.is_empty()).unwrap_or("{}");
            *input = read_quoted(text.as_bytes()).unwrap_or_else(|_| json!({}));
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the last event of a stream begins that comes byte by byte, and behind how many bytes it is there. All before it passes.
    fn end(dialect: Dialect, stream: &str) -> Option<(usize, usize)> {
        let (mut received, mut passed) = (Incoming::default(), BytesMut::new());
        for (at, byte) in stream.bytes().enumerate() {
            received.bytes.extend_from_slice(&[byte]);
            let (events, last) = received.take_events(dialect, false);
            passed.extend_from_slice(&events);
            if let Some(last) = last {
                assert_eq!([&passed[..], &last[..]].concat(), stream.as_bytes()[..=at]);
                return Some((passed.len(), at + 1));
            }
        }
        passed.extend_from_slice(&received.bytes[received.event..]);
        assert_eq!(&passed[..], stream.as_bytes());
        None
    }

    #[test]
    fn an_event_with_the_usage_alone_is_found_whatever_it_is_called() {
        let usage = r#"data: {"choices": [], "usage": {"prompt_tokens": 9}}"#;
        assert!(is_usage(format!("{usage}\n\n").as_bytes()));
        assert!(is_usage(format!("id: 7\nevent: chunk\n{usage}\n\n").as_bytes()));
        assert!(!is_usage(b"data: {\"choices\": [{}], \"usage\": {}}\n\n"));
    }

    #[test]
    fn the_last_event_of_a_stream_is_there_once_it_is_whole() {
        let types = [
            (Dialect::Anthropic, "message_stop"),
            (Dialect::Responses, "response.completed"),
            (Dialect::Responses, "response.incomplete"),
        ];
        let typed = types.iter().flat_map(|(dialect, last)| {
            let data = format!("data: {{\"text\": \"\\ud83c\", \"type\": \"{last}\"}}");
            let named = format!("event: {last}\ndata: {{}}");
            [(*dialect, data), (*dialect, named)]
        });
        let ends: Vec<_> = typed.chain([(Dialect::OpenAi, "data: [DONE]".to_owned())]).collect();
        for (dialect, last) in &ends {
            for line in ["\n", "\r\n"] {
                let said = r#"data: {"type": "ping", "content": "data: [DONE] message_stop response.completed"}"#;
                let before = format!(": begun{line}{line}event: ping{line}{said}{line}{line}");
                let begun = format!("{before}{}{line}", last.replace('\n', line));
                assert_eq!(end(*dialect, &begun), None, "{begun:?}");
                let whole = format!("{begun}{line}");
                assert_eq!(
                    end(*dialect, &format!("{whole}: more{line}")),
                    Some((before.len(), whole.len())),
                    "{whole:?}"
                );
            }
        }
    }
}
