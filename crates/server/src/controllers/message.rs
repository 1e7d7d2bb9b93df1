//! Messages of threads.

use axum::response::{IntoResponse, Response};
use callboard_api as api;
use callboard_core::id::ThreadId;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::streamed,
    app::App,
    body::RequestBody,
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

/// List the messages of a thread by their time
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    operation_id = "list_messages",
    params(("session" = api::SessionId, Path, description = "The session"),
        ("thread" = api::ThreadId, Path, description = "The thread"), api::MessagesQuery),
    responses((status = OK, description = "The messages, the oldest first", body = api::MessageList)))]
async fn list(
    caller: Authorized<ReadMessages>,
    Name(thread): Name<ThreadId>,
    Query(query): Query<api::MessagesQuery>,
) -> Result<Response, CallError> {
    Ok(match caller.list_messages(thread, query).await? {
        ListedMessages::Page(page) => Answer::ok(page).into_response(),
        ListedMessages::All(messages) => streamed("messages", messages, None),
    })
}

/// Add messages, all or none. One that was added before, under the same id and with the same content, is not added again
#[utoipa::path(post, path = "/v1/sessions/{session}/threads/{thread}/messages", tag = "messages",
    operation_id = "add_messages",
    params(("session" = api::SessionId, Path, description = "The session"),
        ("thread" = api::ThreadId, Path, description = "The thread")),
    request_body = api::NewMessages,
    responses((status = OK, description = "Where they are", body = api::Added)))]
async fn add(
    caller: AuthorizedToAdd<AddMessages>,
    Name(thread): Name<ThreadId>,
    request: RequestBody<api::NewMessages>,
) -> Result<Answer<api::Added>, CallError> {
    caller.add_messages(thread, request.body, request.options).await
}
