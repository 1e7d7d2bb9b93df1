//! Threads.

use callboard_api as api;
use callboard_core::id::ThreadId;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::RequestBody,
    calls::{
        Answer, Authorized, CallError,
        rights::{ChangeThread, ReadThreads},
    },
    params::{Name, Query},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(put))
}

/// List threads
#[utoipa::path(get, path = "/v1/sessions/{session}/threads", tag = "threads", operation_id = "list_threads",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::PageQuery),
    responses((status = OK, description = "A page of the threads that the caller sees, sorted by name", body = api::ThreadList)))]
async fn list(
    caller: Authorized<ReadThreads>,
    Query(query): Query<api::PageQuery>,
) -> Result<Answer<api::ThreadList>, CallError> {
    caller.list_threads(query).await
}

/// Create a thread, or change who may see it and its settings
#[utoipa::path(put, path = "/v1/sessions/{session}/threads/{thread}", tag = "threads", operation_id = "put_thread",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("thread" = api::ThreadId, Path, description = "The name of the thread, such as `main`")),
    request_body = api::PutThread,
    responses((status = OK, description = "The thread after the change", body = api::Thread)))]
async fn put(
    caller: Authorized<ChangeThread>,
    Name(name): Name<ThreadId>,
    request: RequestBody<api::PutThread>,
) -> Result<Answer<api::Thread>, CallError> {
    caller.put_thread(name, request.body, request.options).await
}
