//! Compressing threads, undoing that, pins, and how large prompts are.

use axum::response::{IntoResponse, Response};
use callboard_api as api;
use callboard_core::{
    conversation::shape::in_shape,
    id::{MessageId, ThreadId},
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        rights::{CompressThread, PinMessages, ReadMessages, ReadThreads},
    },
    params::{EntryNumber, Name, Query},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(compress))
        .routes(routes!(undo))
        .routes(routes!(context))
        .routes(routes!(read))
        .routes(routes!(pin, unpin))
}

/// Replace the older messages of a thread with a summary in prompts
///
/// The messages stay in the journal and can be read; prompts show the summary instead. The newest messages, pinned
/// messages, and calls of tools that wait for results are kept. If no model writes a good summary, it is made of
/// excerpts.
#[utoipa::path(post, path = "/v1/sessions/{session}/threads/{thread}/compress", tag = "threads",
    operation_id = "compress_thread",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("thread" = api::ThreadId, Path, description = "The name of the thread, such as `main`")),
    request_body = Option<api::Compress>,
    responses((status = OK, description = "The result", body = api::CompressAnswer)))]
async fn compress(
    caller: Authorized<CompressThread>,
    Name(thread): Name<ThreadId>,
    request: RequestBody<api::Compress>,
) -> Result<Answer<api::CompressAnswer>, CallError> {
    caller.compress_thread(thread, request.body, request.options).await
}

/// Undo the newest compression of a thread
///
/// Prompts show the messages again. Callboard does not compress them by itself until a prompt would not fit.
#[utoipa::path(post, path = "/v1/sessions/{session}/threads/{thread}/compressions/{seq}/undo", tag = "threads",
    operation_id = "undo_compression",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("thread" = api::ThreadId, Path, description = "The name of the thread, such as `main`"),
        ("seq" = u64, Path, description = "The number of the entry of the compression")),
    responses((status = OK, description = "The compression is undone", body = api::UndoneCompression)))]
async fn undo(
    caller: Authorized<CompressThread>,
    Name(thread): Name<ThreadId>,
    EntryNumber(seq): EntryNumber,
    request: RequestBody<Empty>,
) -> Result<Answer<api::UndoneCompression>, CallError> {
    caller.undo_compression(thread, seq, request.options).await
}

/// Show how large the prompts of a thread are
///
/// The user and the manager are also told what compressing the thread would save.
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/context", tag = "threads",
    operation_id = "read_thread_context",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("thread" = api::ThreadId, Path, description = "The name of the thread, such as `main`")),
    responses((status = OK, description = "Their sizes, and those of their parts", body = api::ContextSize)))]
async fn context(
    caller: Authorized<ReadThreads>,
    Name(thread): Name<ThreadId>,
) -> Result<Answer<api::ContextSize>, CallError> {
    caller.measure_context(thread).await
}

/// Read a message
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/messages/{message}", tag = "messages",
    operation_id = "read_message",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("thread" = api::ThreadId, Path, description = "The name of the thread, such as `main`"),
        ("message" = api::MessageId, Path, description = "The id of the message, such as `m12`"), api::ShapeQuery),
    responses((status = OK, description = "The message", body = api::AnyMessage)))]
async fn read(
    caller: Authorized<ReadMessages>,
    Name(thread): Name<ThreadId>,
    Name(message): Name<MessageId>,
    Query(query): Query<api::ShapeQuery>,
) -> Result<Response, CallError> {
    let message = caller.read_message(thread, message).await?;
    Ok(match query.shape.map(|shape| in_shape(shape, std::slice::from_ref(&message))) {
        Some(objects) => Answer::ok(objects.into_iter().next()).into_response(),
        None => Answer::ok(message).into_response(),
    })
}

/// Pin a message: compression keeps it word for word
#[utoipa::path(put, path = "/v1/sessions/{session}/threads/{thread}/messages/{message}/pin", tag = "messages",
    operation_id = "pin_message",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("thread" = api::ThreadId, Path, description = "The name of the thread, such as `main`"),
        ("message" = api::MessageId, Path, description = "The id of the message, such as `m12`")),
    responses((status = OK, description = "It is pinned", body = api::Pinned)))]
async fn pin(
    caller: Authorized<PinMessages>,
    Name(thread): Name<ThreadId>,
    Name(message): Name<MessageId>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Pinned>, CallError> {
    caller.pin_message(thread, message, true, request.options).await
}

/// Unpin a message
#[utoipa::path(delete, path = "/v1/sessions/{session}/threads/{thread}/messages/{message}/pin", tag = "messages",
    operation_id = "unpin_message",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("thread" = api::ThreadId, Path, description = "The name of the thread, such as `main`"),
        ("message" = api::MessageId, Path, description = "The id of the message, such as `m12`")),
    responses((status = OK, description = "It is not pinned", body = api::Pinned)))]
async fn unpin(
    caller: Authorized<PinMessages>,
    Name(thread): Name<ThreadId>,
    Name(message): Name<MessageId>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Pinned>, CallError> {
    caller.pin_message(thread, message, false, request.options).await
}
