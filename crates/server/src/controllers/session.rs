//! Sessions.

use axum::http::StatusCode;
use callboard_api as api;
use callboard_core::session::SessionPatch;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Created,
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, AuthorizedIfThere, AuthorizedOnServer, CallError,
        rights::{ChangeSession, CreateSession, DeleteSession, ForkSession, ListSessions, ReadSession},
    },
    params::Query,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(read, update, delete)).routes(routes!(fork))
}

/// List sessions
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", operation_id = "list_sessions", params(api::SessionsQuery),
    responses((status = OK, description = "Sessions by id", body = api::SessionList)))]
async fn list(
    server: AuthorizedOnServer<ListSessions>,
    Query(query): Query<api::SessionsQuery>,
) -> Result<Answer<api::SessionList>, CallError> {
    server.list_sessions(query).await
}

/// Make a session
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", operation_id = "create_session",
    request_body = Option<api::NewSession>,
    responses((status = CREATED, description = "The session", body = api::Session)))]
async fn create(
    server: AuthorizedOnServer<CreateSession>,
    request: RequestBody<api::NewSession>,
) -> Result<Created<api::Session>, CallError> {
    server.create_session(request.body, request.options).await.map(Created)
}

/// Read a session
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "read_session",
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = OK, description = "The session, as far as the caller may know it", body = api::Session)))]
async fn read(caller: Authorized<ReadSession>) -> Result<Answer<api::Session>, CallError> {
    caller.read_session().await
}

/// Change a session or its team
#[utoipa::path(patch, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "update_session",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = Option<api::SessionPatch>,
    responses((status = OK, description = "The session after it", body = api::Session)))]
async fn update(
    caller: Authorized<ChangeSession>,
    request: RequestBody<SessionPatch>,
) -> Result<Answer<api::Session>, CallError> {
    caller.update_session(request.body, request.options).await
}

/// Delete all there is of a session
#[utoipa::path(delete, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "delete_session",
    params(("session" = api::SessionId, Path, description = "The session")),
    responses((status = NO_CONTENT, description = "It is gone")))]
async fn delete(
    caller: AuthorizedIfThere<DeleteSession>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.delete_session(request.options).await.map(|()| StatusCode::NO_CONTENT)
}

/// Make a session whose journal is the beginning of this one's
#[utoipa::path(post, path = "/v1/sessions/{session}/fork", tag = "sessions", operation_id = "fork_session",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = Option<api::Fork>,
    responses((status = CREATED, description = "The fork", body = api::Session)))]
async fn fork(
    caller: Authorized<ForkSession>,
    request: RequestBody<api::Fork>,
) -> Result<Created<api::Session>, CallError> {
    caller.fork_session(request.body, request.options).await.map(Created)
}
