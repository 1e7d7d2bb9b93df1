//! `DELETE /v1/sessions/{session}/context-sets/{name}`

use axum::http::StatusCode;
use callboard_core::{command::Command, id::SetName};

use crate::{
    body::{Asked, Nothing},
    caller::On,
    params::Name,
    problem::Problem,
    rights::WriteSets,
};

/// Delete a context set
#[utoipa::path(delete, path = "/v1/sessions/{session}/context-sets/{name}", tag = "context sets",
    operation_id = "delete_context_set",
    params(("session" = String, Path, description = "The session"), ("name" = String, Path, description = "The set")),
    responses((status = NO_CONTENT, description = "It is gone")))]
pub(crate) async fn delete(
    on: On<WriteSets>,
    Name(name): Name<SetName>,
    asked: Asked<Nothing>,
) -> Result<StatusCode, Problem> {
    on.execute(asked.terms, Command::DeleteSet(name)).await?;
    Ok(StatusCode::NO_CONTENT)
}
