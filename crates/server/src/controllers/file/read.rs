//! `GET /v1/sessions/{session}/files/{path}`

use callboard_files::{Error, Query};

use super::{FileBody, absent, is_nothing};
use crate::{answer::Answer, caller::On, params::FilePath, problem::Problem, rights::ReadFiles};

/// Read a context file
#[utoipa::path(get, path = "/v1/sessions/{session}/files/{path}", tag = "context files", operation_id = "read_file",
    params(("session" = String, Path, description = "The session"),
        ("path" = String, Path, description = "The file, below the session's folder")),
    responses((status = OK, description = "The file", body = FileBody)))]
pub(crate) async fn read(on: On<ReadFiles>, FilePath(path): FilePath) -> Result<Answer<FileBody>, Problem> {
    let absent = || absent(&path);
    let meant = path.clone();
    let read = move |session: &mut callboard_files::Session, _| {
        let path = session.meant(&meant)?;
        let shown = session.shown(path.as_str());
        let found = session.list(&Query::default()).into_iter().find(|file| file.path == shown);
        let found = found.ok_or(Error::NotTracked { path: shown.clone() })?;
        let content = session.read(&path)?.ok_or(Error::NoFile { path: shown })?;
        Ok((found, content))
    };
    let (found, content) = match on.in_folder(Err, read).await {
        // What is hidden answers like what is not there.
        Err(problem) if is_nothing(&problem) => return Err(absent()),
        done => done?,
    };
    let body = on.seen(vec![found]).await?.pop().ok_or_else(absent)?;
    Ok(Answer::ok(FileBody { content: Some(content), ..body }))
}
