//! Context files.

use callboard_core::{time::Timestamp, tool::file::AddFile};
use callboard_files::{Error, FileQuery as Wanted, Keyword, NewFile, Project, Session};

use crate::{
    call::*,
    files::{self, Files},
    params::FilePath,
    rights::{ReadSession, WriteFiles},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_files, add_file))
        .routes(routes!(search_files))
        .routes(routes!(delegate_with_files))
        .routes(routes!(read_file, remove_file))
        // The same, where the `/` of the path is written as it is.
        .route("/v1/sessions/{session}/files/{folder}/{file}", axum::routing::get(read_file).delete(remove_file))
}

/// List context files
#[utoipa::path(get, path = "/v1/sessions/{session}/files", tag = "context files",
    params(api::FilesQuery),
    responses((status = OK, description = "The files that match and that the caller sees, in the order in which they were added",
        body = api::ContextFileList)))]
async fn list_files(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::FilesQuery>,
) -> Result<Answer<api::ContextFileList>, CallError> {
    let query = parse(query)?;
    let found = caller.in_folder(move |session, _| Ok(session.list(&query))).await?.unwrap_or_default();
    Ok(Answer::ok(api::ContextFileList { files: found }))
}

/// Search context files, the best matches first
#[utoipa::path(get, path = "/v1/sessions/{session}/files/search", tag = "context files",
    params(api::FilesQuery),
    responses((status = OK, description = "The files that match and that the caller sees, the best matches first",
        body = api::ContextFileList)))]
async fn search_files(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::FilesQuery>,
) -> Result<Answer<api::ContextFileList>, CallError> {
    let query = parse(query)?;
    let found = caller.in_folder(move |session, _| Ok(session.search(&query))).await?.unwrap_or_default();
    Ok(Answer::ok(api::ContextFileList { files: found }))
}

/// Add a context file
#[utoipa::path(post, path = "/v1/sessions/{session}/files", tag = "context files",
    request_body = AddFile,
    responses((status = CREATED, description = "The path of the new file", body = api::ContextFileAdded)))]
async fn add_file(
    caller: Authorized<WriteFiles>,
    RequestBody { body, options }: RequestBody<AddFile>,
) -> Result<Answer<api::ContextFileAdded>, CallError> {
    let file = files::masked(&caller.session, body, "").await?;
    let added = caller.idempotent(&options, async |is_repeat| write(&caller, file, is_repeat).await).await?;
    Ok(Answer::ok(added).created())
}

/// Write the message that hands a task over
///
/// It names the context files that belong to the task. The message is returned, not sent.
#[utoipa::path(post, path = "/v1/sessions/{session}/files/delegation", tag = "context files",
    request_body = api::Delegation,
    responses((status = OK, description = "The message, and the files that it names", body = api::DelegationMessage)))]
async fn delegate_with_files(
    caller: Authorized<WriteFiles>,
    RequestBody { body, .. }: RequestBody<api::Delegation>,
) -> Result<Answer<api::DelegationMessage>, CallError> {
    let api::Delegation { to, task, keywords, category } = body;
    if task.trim().is_empty() {
        return Err(CallError::invalid("/task", "say what the agent has to do"));
    }
    let (held, session) = (files(&caller.app)?, &caller.session);
    let task = session.mask().await?.mask(&task).unwrap_or(task);
    let query = Wanted { keywords, category, ..Wanted::default() };
    let (message, files) = held.delegate(session.id(), session.now().await?, to, task, query).await?;
    held.observe(session).await?;
    Ok(Answer::ok(api::DelegationMessage { message, files }))
}

/// Read a context file
#[utoipa::path(get, path = "/v1/sessions/{session}/files/{path}", tag = "context files",
    params(("path" = api::Label, Path, description = "The path of the file, relative to the session's folder, such as `tasks/user-auth-tasks.md`")),
    responses((status = OK, description = "The file with its text", body = api::ContextFile)))]
async fn read_file(
    caller: Authorized<ReadSession>,
    FilePath(path): FilePath,
) -> Result<Answer<api::ContextFile>, CallError> {
    let (files, session) = (files(&caller.app)?, &caller.session);
    let (found, content) = match files.read(session.id(), session.now().await?, path.clone()).await {
        Ok(read) => read.ok_or_else(|| absent(&path))?,
        Err(error) if is_nothing(&error) => return Err(absent(&path)),
        Err(error) => return Err(error),
    };
    files.observe(session).await?;
    // What a file says comes from outside of the journal.
    let content = session.mask().await?.mask(&content).unwrap_or(content);
    Ok(Answer::ok(api::ContextFile { content: Some(content), ..found }))
}

/// Remove a context file
#[utoipa::path(delete, path = "/v1/sessions/{session}/files/{path}", tag = "context files",
    params(("path" = api::Label, Path, description = "The path of the file, relative to the session's folder, such as `tasks/user-auth-tasks.md`")),
    responses((status = NO_CONTENT, description = "The file is removed")))]
async fn remove_file(
    caller: Authorized<WriteFiles>,
    FilePath(path): FilePath,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.idempotent(&options, async |is_repeat| erase(&caller, &path, is_repeat).await).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn parse(query: api::FilesQuery) -> Result<Wanted, CallError> {
    let api::FilesQuery { keywords, matching, category, recipient, text } = query;
    let keywords = api::words(keywords.as_deref()).map(str::parse).collect::<Result<Vec<Keyword>, _>>()?;
    Ok(Wanted { keywords, matching, category, recipient, text })
}

/// The folder of the project, if the server has one.
fn files(app: &App) -> Result<&Files, CallError> {
    app.files.as_deref().ok_or_else(|| {
        CallError::new("no_project", "this server has no project folder").hint("start it with `--project DIR`")
    })
}

/// Whether an error means that there is no such file. An invalid path is the path of no file.
fn is_nothing(error: &CallError) -> bool {
    ["not_found", "invalid", "outside"].contains(&error.code)
}

fn absent(path: &str) -> CallError {
    CallError::not_found("context file", path)
}

impl<R> Authorized<R> {
    /// Works with the folder of the session, which counts as using it, and then records what is in it; `None` if there is none.
    async fn in_folder<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Session, Timestamp) -> Result<T, Error> + Send + 'static,
    ) -> Result<Option<T>, CallError> {
        let files = files(&self.app)?;
        let now = self.session.now().await?;
        let done = files.in_folder(self.session.id(), now, move |folder| work(folder, now)).await?;
        files.observe(&self.session).await?;
        Ok(done)
    }
}

/// Writes a file. In a repeated request, a file with this content may be the one that the first attempt wrote.
async fn write(
    caller: &Authorized<WriteFiles>,
    file: NewFile,
    is_repeat: bool,
) -> Result<api::ContextFileAdded, CallError> {
    let (files, id) = (files(&caller.app)?, caller.session.id().clone());
    let now = files::now(&caller.app.board).await?;
    let add = move |project: &Project| {
        let mut session = project.session_or_new(&id, now)?;
        let written = if is_repeat { session.has(&file)? } else { None };
        let path = written.map_or_else(|| session.add(&file, now), Ok)?;
        Ok(api::ContextFileAdded { path: session.shown(path.as_str()), session_id: id })
    };
    let added = files.with(add).await?;
    files.observe(&caller.session).await?;
    Ok(added)
}

/// Removes a file. In a repeated request, a missing file was removed by the first attempt.
async fn erase(caller: &Authorized<WriteFiles>, path: &str, is_repeat: bool) -> Result<(), CallError> {
    let meant = path.to_owned();
    let remove = move |session: &mut Session, now| {
        let path = session.meant(&meant)?;
        session.remove(&path, now)
    };
    match caller.in_folder(remove).await {
        Ok(Some(())) => Ok(()),
        Err(error) if !is_nothing(&error) => Err(error),
        _ if is_repeat => Ok(()),
        _ => Err(absent(path)),
    }
}
