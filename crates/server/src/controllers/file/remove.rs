//! `DELETE /v1/sessions/{session}/files/{path}`

use axum::http::StatusCode;

use crate::{caller::On, params::FilePath, problem::Problem, rights::WriteFiles};

/// Remove a context file
#[utoipa::path(delete, path = "/v1/sessions/{session}/files/{path}", tag = "context files",
    operation_id = "remove_file",
    params(("session" = String, Path, description = "The session"),
        ("path" = String, Path, description = "The file, below the session's folder")),
    responses((status = NO_CONTENT, description = "It is gone")))]
pub(crate) async fn remove(on: On<WriteFiles>, FilePath(path): FilePath) -> Result<StatusCode, Problem> {
    let remove = move |session: &mut callboard_files::Session, now| {
        let path = session.meant(&path)?;
        session.remove(&path, now)
    };
    on.in_folder(Err, remove).await?;
    Ok(StatusCode::NO_CONTENT)
}
