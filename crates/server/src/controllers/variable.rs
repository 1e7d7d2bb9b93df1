//! Variables.

use axum::http::StatusCode;
use callboard_api as api;
use callboard_core::id::VariableName;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        rights::{ReadVariables, RestoreSecrets, SetVariables},
    },
    params::{Name, Query},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, clear_all)).routes(routes!(read, put, clear)).routes(routes!(restore))
}

/// List variables
#[utoipa::path(get, path = "/v1/sessions/{session}/variables", tag = "variables", operation_id = "list_variables",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::PageAtQuery),
    responses((status = OK, description = "A page of the variables, sorted by name", body = api::VariableList)))]
async fn list(
    caller: Authorized<ReadVariables>,
    Query(query): Query<api::PageAtQuery>,
) -> Result<Answer<api::VariableList>, CallError> {
    caller.list_variables(query).await
}

/// Clear all variables
#[utoipa::path(delete, path = "/v1/sessions/{session}/variables", tag = "variables", operation_id = "clear_variables",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::ReasonQuery),
    responses((status = NO_CONTENT, description = "All variables are cleared")))]
async fn clear_all(
    caller: Authorized<SetVariables>,
    Query(query): Query<api::ReasonQuery>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.clear_variables(query, request.options).await.map(|()| StatusCode::NO_CONTENT)
}

/// Read a variable
#[utoipa::path(get, path = "/v1/sessions/{session}/variables/{name}", tag = "variables", operation_id = "read_variable",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("name" = api::VariableName, Path, description = "The name of the variable"), api::RevealQuery),
    responses((status = OK, description = "The variable with its value", body = api::VariableValue)))]
async fn read(
    caller: Authorized<ReadVariables>,
    Name(name): Name<VariableName>,
    Query(query): Query<api::RevealQuery>,
) -> Result<Answer<api::VariableValue>, CallError> {
    caller.read_variable(name, query).await
}

/// Set a variable
#[utoipa::path(put, path = "/v1/sessions/{session}/variables/{name}", tag = "variables", operation_id = "put_variable",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("name" = api::VariableName, Path, description = "The name of the variable")),
    request_body = api::PutVariable,
    responses((status = OK, description = "The variable after the change", body = api::VariableAfter)))]
async fn put(
    caller: Authorized<SetVariables>,
    Name(name): Name<VariableName>,
    request: RequestBody<api::PutVariable>,
) -> Result<Answer<api::VariableAfter>, CallError> {
    caller.put_variable(name, request.body, request.options).await
}

/// Put a secret back that was marked by mistake
///
/// The variable is no secret any more, and its value stands again in all entries in which it was hidden. Where another secret
/// is hidden in an entry, that stays hidden. Only the user may call it.
#[utoipa::path(post, path = "/v1/sessions/{session}/secrets/restore", tag = "variables", operation_id = "restore_secret",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::RestoreSecret,
    responses((status = OK, description = "The entries in which the value stands again", body = api::RestoredSecret)))]
async fn restore(
    caller: Authorized<RestoreSecrets>,
    request: RequestBody<api::RestoreSecret>,
) -> Result<Answer<api::RestoredSecret>, CallError> {
    caller.restore_secret(request.body, request.options).await
}

/// Clear a variable
#[utoipa::path(delete, path = "/v1/sessions/{session}/variables/{name}", tag = "variables",
    operation_id = "clear_variable",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("name" = api::VariableName, Path, description = "The name of the variable"), api::ReasonQuery),
    responses((status = NO_CONTENT, description = "The variable is cleared")))]
async fn clear(
    caller: Authorized<SetVariables>,
    Name(name): Name<VariableName>,
    Query(query): Query<api::ReasonQuery>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.clear_variable(name, query, request.options).await.map(|()| StatusCode::NO_CONTENT)
}
