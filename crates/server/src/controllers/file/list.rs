//! `GET /v1/sessions/{session}/files`

use super::{FileList, FilesQuery};
use crate::{answer::Answer, caller::On, params::Query, problem::Problem, rights::ReadFiles};

/// List context files
#[utoipa::path(get, path = "/v1/sessions/{session}/files", tag = "context files", operation_id = "list_files",
    params(("session" = String, Path, description = "The session"), FilesQuery),
    responses((status = OK, description = "The files that the caller sees, in the order in which they were added",
        body = FileList)))]
pub(crate) async fn list(on: On<ReadFiles>, Query(query): Query<FilesQuery>) -> Result<Answer<FileList>, Problem> {
    let query = query.parse()?;
    let found = on.in_folder(|_| Ok(Vec::new()), move |session, _| Ok(session.list(&query))).await?;
    Ok(Answer::ok(FileList { files: on.seen(found).await? }))
}
