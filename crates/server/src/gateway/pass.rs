//! Answers that pass as they come, and are kept as what the agent said.

use std::{collections::BTreeSet, sync::Arc};

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
use callboard_model::{BytesOfAnswer, ChatModel, Forwarded, ModelError};
use eventsource_stream::Eventsource as _;
use futures::{StreamExt as _, stream};
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};

use super::{
    dialect::{Complaint, Dialect, only, texts},
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
                // Where the client is gone, so is the other end of the body.
                drop(client.send(Ok(begun(&answer, body))));
                read(answer, answered, sender).await;
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
    answer: http::Response<BytesOfAnswer>,
    mut answered: Answered,
    client: mpsc::Sender<Result<Bytes, ModelError>>,
) {
    let status = answer.status();
    let media_type = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    // A provider may answer with one object although a stream was asked for.
    let hides_usage = answered.hides_usage && media_type.is_none_or(|kind| kind.starts_with("text/event-stream"));
    let mut pieces = answer.into_body();
    let mut all = BytesMut::new();
    let mut held = hides_usage.then(BytesMut::new);
    let mut end = EndOfStream::default();
    loop {
        let piece = tokio::select! {
            piece = pieces.next() => piece,
            // Whoever hangs up wants no more of it, and pays for no more.
            () = client.closed() => {
                if !end.has_come {
                    answered.failed(HUNG_UP).await;
                }
                return;
            }
        };
        let mut piece = match piece {
            Some(Ok(piece)) => piece,
            Some(Err(error)) => {
                if !end.has_come {
                    answered.failed(error.to_string()).await;
                }
                // The client sees that its answer broke off.
                let _ = client.send(Err(error)).await;
                return;
            }
            None => break,
        };
        // What comes behind the last event says nothing.
        if !end.has_come {
            if all.len().saturating_add(piece.len()) > MAX_ANSWER_BYTES {
                let error = ModelError::NotUnderstood {
                    url: answered.dialect.provider().as_str().to_owned(),
                    protocol: answered.dialect.name(),
                    what: format!("it has more than {MAX_ANSWER_BYTES} bytes"),
                };
                answered.failed(error.to_string()).await;
                let _ = client.send(Err(error)).await;
                return;
            }
            let begin = all.len();
            all.extend_from_slice(&piece);
            if answered.is_stream && end.comes(answered.dialect, &all) {
                let before = end.last.unwrap_or_default().saturating_sub(begin).min(piece.len());
                passes(&client, held.as_mut(), piece.split_to(before)).await;
                answered.settle(status, std::mem::take(&mut all).freeze()).await;
            }
        }
        if !passes(&client, held.as_mut(), piece).await {
            if !end.has_come {
                answered.failed(HUNG_UP).await;
            }
            return;
        }
    }
    if !end.has_come {
        answered.settle(status, all.freeze()).await;
    }
    if let Some(held) = held.filter(|held| !held.is_empty()) {
        let _ = client.send(Ok(held.freeze())).await;
    }
}

/// Passes a piece on; with `held`, as far as it has whole events, and without the usage. Says whether the client is there.
async fn passes(client: &mpsc::Sender<Result<Bytes, ModelError>>, held: Option<&mut BytesMut>, piece: Bytes) -> bool {
    let piece = match held {
        Some(held) => without_usage(held, &piece),
        None => piece,
    };
    piece.is_empty() || client.send(Ok(piece)).await.is_ok()
}

/// Looks for the last event of a stream, as its bytes come. Some clients go on then, before the stream itself ends.
#[derive(Default)]
struct EndOfStream {
    /// Where the line begins that is not whole yet, and up to where its end was looked for.
    line: usize,
    looked: usize,
    /// Where the last event begins, if that is known.
    last: Option<usize>,
    /// Whether it is whole.
    has_come: bool,
}

impl EndOfStream {
    /// Whether the last event is whole in what there is of the stream.
    fn comes(&mut self, dialect: Dialect, stream: &[u8]) -> bool {
        let length = |rest: &[u8]| rest.iter().position(|byte| *byte == b'\n');
        while let Some(length) = stream.get(self.looked..).and_then(length).filter(|_| !self.has_come) {
            let end = self.looked.saturating_add(length);
            let line = stream.get(self.line..end).unwrap_or_default();
            self.has_come = self.last.is_some() && line.trim_ascii().is_empty();
            self.note(dialect, line);
            (self.line, self.looked) = (end.saturating_add(1), end.saturating_add(1));
        }
        self.looked = stream.len();
        if dialect == Dialect::OpenAi {
            // It says nothing besides.
            self.note(dialect, stream.get(self.line..).unwrap_or_default());
            self.has_come = self.last.is_some();
        }
        self.has_come
    }

    /// Notes where the last event begins, if this is its line.
    fn note(&mut self, dialect: Dialect, line: &[u8]) {
        if self.last.is_none() && is_of_last(dialect, line) {
            self.last = Some(self.line);
        }
    }
}

/// Whether a line is of the last event of a stream.
fn is_of_last(dialect: Dialect, line: &[u8]) -> bool {
    match (dialect, line.strip_prefix(b"data:"), line.strip_prefix(b"event:")) {
        (Dialect::OpenAi, Some(data), _) => data.trim_ascii() == b"[DONE]",
        (Dialect::Responses, _, Some(event)) => {
            event.trim_ascii() == b"response.completed" || event.trim_ascii() == b"response.incomplete"
        }
        (Dialect::Anthropic, _, Some(event)) => event.trim_ascii() == b"message_stop",
        _ => false,
    }
}

/// Why a turn has no answer whose client is gone.
const HUNG_UP: &str = "the client hung up before the answer ended";

/// The whole events of a stream so far, without the one that has nothing but the usage.
fn without_usage(held: &mut BytesMut, piece: &[u8]) -> Bytes {
    held.extend_from_slice(piece);
    let mut passed = BytesMut::new();
    while let Some(end) = end_of_event(held) {
        let event = held.split_to(end);
        let data = event.strip_prefix(b"data:").and_then(|data| serde_json::from_slice::<Value>(data).ok());
        let is_usage = data.is_some_and(|data| data.get("choices") == Some(&json!([])) && data.get("usage").is_some());
        if !is_usage {
            passed.extend_from_slice(&event);
        }
    }
    passed.freeze()
}

/// Where the first event of a stream ends: behind an empty line, whatever ends its lines.
fn end_of_event(stream: &[u8]) -> Option<usize> {
    let end = |blank: &[u8]| {
        stream.windows(blank.len()).position(|bytes| bytes == blank).map(|begin| begin.saturating_add(blank.len()))
    };
    [end(b"\n\n".as_slice()), end(b"\r\n\r\n".as_slice())].into_iter().flatten().min()
}

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
            let fields = [
                "type",
                "id",
                "role",
                "content",
                "status",
                "call_id",
                "namespace",
                "name",
                "arguments",
                "input",
                "summary",
                "encrypted_content",
                "action",
            ];
            let items = said.get("output").and_then(Value::as_array).into_iter().flatten();
            let items = items.filter(|item| {
                let kind = item.get("type").and_then(Value::as_str).unwrap_or_default();
                ["message", "function_call", "custom_tool_call", "reasoning", "web_search_call", "compaction"]
                    .contains(&kind)
            });
            kept.insert("output".to_owned(), items.map(|item| only(item, &fields)).collect());
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
    match dialect {
        // What has nothing of an answer in it is none.
        Dialect::OpenAi if !events.iter().any(|event| first_choice(event, "delta").is_some()) => {
            Err("the model's answer has no message".to_owned())
        }
        Dialect::OpenAi => Ok(assembled_openai(&events)),
        Dialect::Responses => {
            let whole = |event: &Value| {
                let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
                let is_end = ["response.completed", "response.incomplete"].contains(&kind);
                event.get("response").filter(|_| is_end).cloned()
            };
            events.iter().rev().find_map(whole).ok_or_else(|| "the model broke its answer off".to_owned())
        }
        Dialect::Anthropic => {
            // A connection may end as if nothing were amiss.
            let has_ended = events.iter().any(|event| event.get("type") == Some(&json!("message_stop")));
            has_ended.then(|| assembled_anthropic(&events)).ok_or_else(|| "the model broke its answer off".to_owned())
        }
    }
}

/// Adds a piece of a text to a field.
fn push(fields: &mut Map<String, Value>, name: &str, piece: &str) {
    match fields.get_mut(name) {
        Some(Value::String(so_far)) => so_far.push_str(piece),
        _ => drop(fields.insert(name.to_owned(), piece.into())),
    }
}

/// Fields that a stream may repeat in its pieces.
const REPEATED: [&str; 6] = ["id", "type", "role", "index", "format", "signature"];

/// Adds a piece of a message: texts go on, lists grow, and what has an `index` goes on with what has the same.
fn grow(fields: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (name, piece) in piece {
        match (fields.get_mut(name), piece) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(piece)) if !REPEATED.contains(&name.as_str()) => {
                text.push_str(piece);
            }
            (Some(Value::String(_)), Value::String(piece)) if piece.is_empty() => {}
            (Some(Value::Object(fields)), Value::Object(piece)) => grow(fields, piece),
            (Some(Value::Array(list)), Value::Array(pieces)) => grow_list(list, pieces),
            (_, Value::Array(pieces)) => {
                let mut list = Vec::new();
                grow_list(&mut list, pieces);
                fields.insert(name.clone(), list.into());
            }
            (_, piece) => {
                fields.insert(name.clone(), piece.clone());
            }
        }
    }
}

fn grow_list(list: &mut Vec<Value>, pieces: &[Value]) {
    for piece in pieces {
        let index = piece.get("index");
        let known = list.iter_mut().find(|known| index.is_some() && known.get("index") == index);
        match (known.and_then(Value::as_object_mut), piece.as_object()) {
            (Some(known), Some(piece)) => grow(known, piece),
            _ => list.push(piece.clone()),
        }
    }
}

/// A field of the first choice in an event. Where several were asked for, their events come in any order.
fn first_choice<'a>(event: &'a Value, field: &str) -> Option<&'a Value> {
    let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or_default() == 0;
    event.get("choices")?.as_array()?.iter().find(is_first)?.get(field)
}

fn assembled_openai(events: &[Value]) -> Value {
    let (mut message, mut usage, mut reason) = (Map::new(), Value::Null, Value::Null);
    for event in events {
        if let Some(given) = first_choice(event, "finish_reason").filter(|reason| !reason.is_null()) {
            reason = given.clone();
        }
        if let Some(given) = event.get("usage").filter(|usage| !usage.is_null()) {
            usage = given.clone();
        }
        if let Some(delta) = first_choice(event, "delta").and_then(Value::as_object) {
            grow(&mut message, delta);
        }
    }
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
    let choices = events.iter().filter_map(|event| event.get("choices")?.as_array()).flatten();
    let indexes: BTreeSet<u64> = choices.filter_map(|choice| choice.get("index")?.as_u64()).collect();
    let mut choices = vec![json!({"message": message, "finish_reason": reason})];
    // The others are only counted.
    choices.extend(indexes.into_iter().filter(|index| *index > 0).map(|index| json!({"index": index})));
    json!({"choices": choices, "usage": usage})
}

fn assembled_anthropic(events: &[Value]) -> Value {
    let (mut whole, mut blocks, mut usage) = (Map::new(), Vec::<Map<String, Value>>::new(), Map::new());
    for event in events {
        for pointer in ["/message/usage", "/usage"] {
            usage.extend(event.pointer(pointer).and_then(Value::as_object).cloned().unwrap_or_default());
        }
        let object = |name: &str| event.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => whole.extend(object("message")),
            Some("message_delta") => {
                whole.extend(object("delta"));
                let managed = event.get("context_management").filter(|managed| !managed.is_null());
                whole.extend(managed.map(|managed| ("context_management".to_owned(), managed.clone())));
            }
            Some("content_block_start") => blocks.push(object("content_block")),
            Some("content_block_delta") => {
                let (Some(block), Some(delta)) = (blocks.last_mut(), event.get("delta")) else { continue };
                let pieces = [
                    ("text", "text"),
                    ("thinking", "thinking"),
                    ("signature", "signature"),
                    ("partial_json", "input"),
                    ("content", "content"),
                ];
                for (name, field) in pieces {
                    if let Some(piece) = delta.get(name).and_then(Value::as_str) {
                        push(block, field, piece);
                    }
                }
                if let Some(citation) = delta.get("citation") {
                    match block.get_mut("citations").and_then(Value::as_array_mut) {
                        Some(citations) => citations.push(citation.clone()),
                        None => drop(block.insert("citations".to_owned(), json!([citation]))),
                    }
                }
            }
            _ => {}
        }
    }
    for block in &mut blocks {
        // The input of a call came in pieces of its JSON.
        if let Some(text) = block.get("input").and_then(Value::as_str) {
            let input = if text.is_empty() { "{}" } else { text };
            let input = read_quoted(input.as_bytes()).unwrap_or_else(|_| json!({}));
            block.insert("input".to_owned(), input);
        }
    }
    whole.extend([("content".to_owned(), json!(blocks)), ("usage".to_owned(), usage.into())]);
    whole.insert("role".to_owned(), json!("assistant"));
    whole.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where the last event of a stream begins that comes byte by byte, and behind how many bytes it is there.
    fn end(dialect: Dialect, stream: &str) -> Option<(usize, usize)> {
        let mut end = EndOfStream::default();
        let whole = (1..=stream.len()).find(|count| end.comes(dialect, &stream.as_bytes()[..*count]))?;
        Some((end.last.unwrap(), whole))
    }

    #[test]
    fn the_last_event_of_a_stream_is_there_once_it_is_whole() {
        let openai = "data: {\"content\": \"data: [DONE]\"}\n\n";
        assert_eq!(end(Dialect::OpenAi, openai), None);
        let done = openai.to_owned() + "data: [DONE]";
        assert_eq!(end(Dialect::OpenAi, &done), Some((openai.len(), done.len())));
        for (dialect, last) in [(Dialect::Anthropic, "message_stop"), (Dialect::Responses, "response.completed")] {
            for line in ["\n", "\r\n"] {
                let before = format!("event: ping{line}data: {{}}{line}{line}");
                let begun = format!("{before}event: {last}{line}data: {{}}{line}");
                assert_eq!(end(dialect, &begun), None, "{begun:?}");
                let whole = format!("{begun}{line}");
                assert_eq!(
                    end(dialect, &format!("{whole}: more{line}")),
                    Some((before.len(), whole.len())),
                    "{whole:?}"
                );
            }
        }
    }
}
