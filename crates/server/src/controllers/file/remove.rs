//! `DELETE /v1/sessions/{session}/files/{path}`

use axum::http::StatusCode;

use super::{absent, is_nothing};
use crate::{caller::On, params::FilePath, problem::Problem, rights::WriteFiles};

/// Remove a context file
#[utoipa::path(delete, path = "/v1/sessions/{session}/files/{path}", tag = "context files",
    operation_id = "remove_file",
    params(("session" = String, Path, description = "The session"),
        ("path" = String, Path, description = "The file, below the session's folder")),
    responses((status = NO_CONTENT, description = "It is gone")))]
pub(crate) async fn remove(on: On<WriteFiles>, FilePath(path): FilePath) -> Result<StatusCode, Problem> {
    let meant = path.clone();
    let remove = move |session: &mut callboard_files::Session, now| {
        let path = session.meant(&meant)?;
        session.remove(&path, now)
    };
    match on.in_folder(Err, remove).await {
        Ok(()) => Ok(StatusCode::NO_CONTENT),
        Err(problem) if is_nothing(&problem) => Err(absent(&path)),
        Err(problem) => Err(problem),
    }
}
