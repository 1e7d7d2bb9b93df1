//! `GET /v1/sessions/{session}/files/search`

use super::{FileList, FilesQuery};
use crate::{answer::Answer, caller::On, params::Query, problem::Problem, rights::ReadFiles};

/// Search context files
#[utoipa::path(get, path = "/v1/sessions/{session}/files/search", tag = "context files",
    operation_id = "search_files",
    params(("session" = String, Path, description = "The session"), FilesQuery),
    responses((status = OK, description = "The files that the caller sees, those that fit best first",
        body = FileList)))]
pub(crate) async fn search(on: On<ReadFiles>, Query(query): Query<FilesQuery>) -> Result<Answer<FileList>, Problem> {
    let query = query.parse()?;
    let found = on.in_folder(|_| Ok(Vec::new()), move |session, _| Ok(session.search(&query))).await?;
    Ok(Answer::ok(FileList { files: on.seen(found).await? }))
}
