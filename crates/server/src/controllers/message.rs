//! Messages of threads.

use axum::response::{IntoResponse, Response};
use callboard_api as api;
use callboard_core::id::ThreadId;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::streamed,
    app::App,
    body::RepairedBody,
    calls::{
        Answer, Authorized, AuthorizedToAdd, CallError,
        message::ListedMessages,
        rights::{AddMessages, ReadMessages},
    },
    params::{Name, Query},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, add))
}

/// List the messages of a thread
///
/// These are the newest `limit` messages that match, sorted by time with the oldest first. With `shape`, what was added as a message
/// object of OpenAI or Anthropic comes back as it was.
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    operation_id = "list_messages",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("thread" = api::ThreadId, Path, description = "The name of the thread, such as `main`"), api::MessagesQuery),
    responses((status = OK, description = "The messages that match, the oldest first", body = api::MessageList)))]
async fn list(
    caller: Authorized<ReadMessages>,
    Name(thread): Name<ThreadId>,
    Query(query): Query<api::MessagesQuery>,
) -> Result<Response, CallError> {
    Ok(match caller.list_messages(thread, query).await? {
        ListedMessages::Page(page) => Answer::ok(page).into_response(),
        ListedMessages::InShape(page) => Answer::ok(page).into_response(),
        ListedMessages::All(messages) => streamed("messages", messages, None),
    })
}

/// Add messages to a thread, all or none
///
/// A message with the same id and content as an earlier one is not added again. The thread is created if it does not
/// exist.
#[utoipa::path(post, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    operation_id = "add_messages",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("thread" = api::ThreadId, Path, description = "The name of the thread, such as `main`")),
    request_body = api::NewMessages,
    responses((status = OK, description = "The id and the entry of each message", body = api::Added)))]
async fn add(
    caller: AuthorizedToAdd<AddMessages>,
    Name(thread): Name<ThreadId>,
    request: RepairedBody<api::NewMessages>,
) -> Result<Answer<api::Added>, CallError> {
    caller.add_messages(thread, request.body, request.repaired, request.options).await
}
