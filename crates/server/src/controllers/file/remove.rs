//! `DELETE /v1/sessions/{session}/files/{path}`

use axum::http::StatusCode;

use serde_json::Value;

use super::{absent, is_nothing};
use crate::{
    body::{Asked, Nothing},
    caller::On,
    params::FilePath,
    problem::Problem,
    rights::WriteFiles,
};

/// Remove a context file
#[utoipa::path(delete, path = "/v1/sessions/{session}/files/{path}", tag = "context files",
    operation_id = "remove_file",
    params(("session" = String, Path, description = "The session"),
        ("path" = String, Path, description = "The file, below the session's folder")),
    responses((status = NO_CONTENT, description = "It is gone")))]
pub(crate) async fn remove(
    on: On<WriteFiles>,
    FilePath(path): FilePath,
    asked: Asked<Nothing>,
) -> Result<StatusCode, Problem> {
    let Nothing {} = asked.body;
    on.once(&asked.terms, async |again| take_away(&on, &path, again).await).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a file. The same request may have removed one that is not there.
async fn take_away(on: &On<WriteFiles>, path: &str, again: bool) -> Result<Value, Problem> {
    let meant = path.to_owned();
    let remove = move |session: &mut callboard_files::Session, now| {
        let path = session.meant(&meant)?;
        session.remove(&path, now)
    };
    match on.in_folder(Err, remove).await {
        Ok(()) => Ok(Value::Null),
        Err(problem) if is_nothing(&problem) && again => Ok(Value::Null),
        Err(problem) if is_nothing(&problem) => Err(absent(path)),
        Err(problem) => Err(problem),
    }
}
