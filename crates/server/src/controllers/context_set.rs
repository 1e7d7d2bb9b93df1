//! Context sets.

use axum::{http::StatusCode, response::Response};
use callboard_api as api;
use callboard_core::id::SetName;
use serde_json::Value;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::streamed,
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        rights::{ReadSets, WriteSets},
    },
    params::{Name, Query},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(read, put, delete))
}

/// List context sets
#[utoipa::path(get, path = "/v1/sessions/{session}/context-sets", tag = "context sets",
    operation_id = "list_context_sets",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::PageAtQuery),
    responses((status = OK, description = "A page of the context sets that the caller sees, sorted by name", body = api::ContextSetList)))]
async fn list(caller: Authorized<ReadSets>, Query(query): Query<api::PageAtQuery>) -> Result<Response, CallError> {
    let listed = caller.list_sets(query).await?;
    let next = listed.next_cursor.map(|next| ("next_cursor", Value::String(next)));
    Ok(streamed("context_sets", listed.sets, next))
}

/// Read a context set
#[utoipa::path(get, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "read_context_set",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("name" = api::SetName, Path, description = "The name of the context set"), api::AtQuery),
    responses((status = OK, description = "The context set", body = api::ContextSet)))]
async fn read(
    caller: Authorized<ReadSets>,
    Name(name): Name<SetName>,
    Query(query): Query<api::AtQuery>,
) -> Result<Answer<api::ContextSet>, CallError> {
    caller.read_set(name, query).await
}

/// Create or change a context set
///
/// Fields that are left out keep their value.
#[utoipa::path(put, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "put_context_set",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("name" = api::SetName, Path, description = "The name of the context set")),
    request_body = api::PutContextSet,
    responses((status = OK, description = "The context set after the change", body = api::PutContextSetAnswer)))]
async fn put(
    caller: Authorized<WriteSets>,
    Name(name): Name<SetName>,
    request: RequestBody<api::PutContextSet>,
) -> Result<Answer<api::PutContextSetAnswer>, CallError> {
    caller.put_set(name, request.body, request.options).await
}

/// Delete a context set
#[utoipa::path(delete, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "delete_context_set",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("name" = api::SetName, Path, description = "The name of the context set")),
    responses((status = NO_CONTENT, description = "The context set is deleted")))]
async fn delete(
    caller: Authorized<WriteSets>,
    Name(name): Name<SetName>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.delete_set(name, request.options).await.map(|()| StatusCode::NO_CONTENT)
}
