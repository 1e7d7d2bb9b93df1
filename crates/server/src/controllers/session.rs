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
    responses((status = OK, description = "The sessions", body = api::SessionList)))]
async fn list(
    server: AuthorizedOnServer<ListSessions>,
    Query(query): Query<api::SessionsQuery>,
) -> Result<Answer<api::SessionList>, CallError> {
    server.list_sessions(query).await
}

/// Create a session
#[utoipa::path(post, path = "/v1/sessions", tag = "sessions", operation_id = "create_session",
    request_body = Option<api::NewSession>,
    responses((status = CREATED, description = "The new session", body = api::Session)))]
async fn create(
    server: AuthorizedOnServer<CreateSession>,
    request: RequestBody<api::NewSession>,
) -> Result<Created<api::Session>, CallError> {
    server.create_session(request.body, request.options).await.map(Created)
}

/// Read a session
#[utoipa::path(get, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "read_session",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = OK, description = "The session, as the caller may see it", body = api::Session)))]
async fn read(caller: Authorized<ReadSession>) -> Result<Answer<api::Session>, CallError> {
    caller.read_session().await
}

/// Change the settings or the team of a session
#[utoipa::path(patch, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "update_session",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = Option<api::SessionPatch>,
    responses((status = OK, description = "The session after the change", body = api::Session)))]
async fn update(
    caller: Authorized<ChangeSession>,
    request: RequestBody<SessionPatch>,
) -> Result<Answer<api::Session>, CallError> {
    caller.update_session(request.body, request.options).await
}

/// Delete a session with all its data
#[utoipa::path(delete, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "delete_session",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    responses((status = NO_CONTENT, description = "The session is deleted")))]
async fn delete(
    caller: AuthorizedIfThere<DeleteSession>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.delete_session(request.options).await.map(|()| StatusCode::NO_CONTENT)
}

/// Fork a session
///
/// The new session's journal is a copy of the beginning of this one's.
#[utoipa::path(post, path = "/v1/sessions/{session}/fork", tag = "sessions", operation_id = "fork_session",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = Option<api::Fork>,
    responses((status = CREATED, description = "The new session", body = api::Session)))]
async fn fork(
    caller: Authorized<ForkSession>,
    request: RequestBody<api::Fork>,
) -> Result<Created<api::Session>, CallError> {
    caller.fork_session(request.body, request.options).await.map(Created)
}
