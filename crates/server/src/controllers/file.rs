//! Context files.

use axum::http::StatusCode;
use callboard_api as api;
use callboard_core::time::Timestamp;
use callboard_files::{Error, Found, Keyword, NewFile, Parts, Project, Query, Session, Template, message};
use serde_json::{Value, json};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::{Answer, Created},
    app::App,
    body::{Empty, RequestBody},
    caller::Authorized,
    files::{self, Files, now},
    params::{self, FilePath},
    problem::Problem,
    rights::{ReadFiles, WriteFiles},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list, add))
        .routes(routes!(search))
        .routes(routes!(delegate))
        .routes(routes!(read, remove))
        // The same, where the `/` of the path is written as it is.
        .route("/v1/sessions/{session}/files/{folder}/{file}", axum::routing::get(read).delete(remove))
}

fn without_content(found: Found) -> api::ContextFile {
    let Found { path, recipient, keywords, created, session_id } = found;
    api::ContextFile { path, recipient, keywords, created, session_id, content: None }
}

fn parse(query: api::FilesQuery) -> Result<Query, Problem> {
    let api::FilesQuery { keywords, matching, category, recipient, text } = query;
    let keywords = api::words(keywords.as_deref()).map(str::parse).collect::<Result<Vec<Keyword>, _>>()?;
    Ok(Query { keywords, matching, category, recipient, text })
}

/// The folder of the project, where the server has one.
fn files(app: &App) -> Result<&Files, Problem> {
    app.files.as_ref().ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, "no_project", "this server has no folder of a project")
            .hint("start it with --project DIR")
    })
}

/// Whether a path leads to no file: what cannot be the path of one is the path of nothing.
fn is_nothing(problem: &Problem) -> bool {
    ["not_found", "invalid", "outside"].contains(&problem.code)
}

fn absent(path: &str) -> Problem {
    Problem::not_found(format!("there is no context file {path}"))
}

impl<R> Authorized<R> {
    /// Works with the folder of the session, which is a use of it, and notes what is there then. `otherwise` is what
    /// comes of it where there is no folder.
    async fn in_folder<T: Send + 'static>(
        &self,
        otherwise: impl FnOnce(Error) -> Result<T, Error> + Send + 'static,
        work: impl FnOnce(&mut Session, Timestamp) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        let files = files(&self.app)?;
        let (id, now) = (self.session.id().clone(), files::now(&self.app.board).await?);
        let work = move |project: &Project| match project.session(&id) {
            Ok(mut session) => {
                session.touch(now)?;
                work(&mut session, now)
            }
            Err(error @ Error::NoSession { .. }) => otherwise(error),
            Err(error) => Err(error),
        };
        let done = files.with(work).await?;
        files.observe(&self.session).await?;
        Ok(done)
    }

    /// Those of some files that the caller may see.
    async fn seen(&self, found: Vec<Found>) -> Result<Vec<api::ContextFile>, Problem> {
        let may = move |view: callboard_core::view::View<'_>| {
            Ok(found.into_iter().filter(|file| view.may_see_file_for(&file.recipient)).collect::<Vec<_>>())
        };
        let seen = self.session.view(&self.viewer(), may).await?;
        Ok(seen.into_iter().map(without_content).collect())
    }
}

/// List context files
#[utoipa::path(get, path = "/v1/sessions/{session}/files", tag = "context files", operation_id = "list_files",
    params(("session" = api::SessionId, Path, description = "The session"), api::FilesQuery),
    responses((status = OK, description = "The files that the caller sees, in the order in which they were added",
        body = api::ContextFileList)))]
async fn list(
    caller: Authorized<ReadFiles>,
    params::Query(query): params::Query<api::FilesQuery>,
) -> Result<Answer<api::ContextFileList>, Problem> {
    caller.list_files(query).await
}

/// Search context files
#[utoipa::path(get, path = "/v1/sessions/{session}/files/search", tag = "context files",
    operation_id = "search_files",
    params(("session" = api::SessionId, Path, description = "The session"), api::FilesQuery),
    responses((status = OK, description = "The files that the caller sees, those that fit best first",
        body = api::ContextFileList)))]
async fn search(
    caller: Authorized<ReadFiles>,
    params::Query(query): params::Query<api::FilesQuery>,
) -> Result<Answer<api::ContextFileList>, Problem> {
    caller.search_files(query).await
}

/// Write a context file
#[utoipa::path(post, path = "/v1/sessions/{session}/files", tag = "context files", operation_id = "add_file",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = api::NewContextFile,
    responses((status = CREATED, description = "Where it is", body = api::ContextFileAdded)))]
async fn add(caller: Authorized<WriteFiles>, new: RequestBody<api::NewContextFile>) -> Result<Created<Value>, Problem> {
    caller.add_file(new).await.map(Created)
}

/// Writes a file. One that is there already may be what the same request wrote before.
async fn write(caller: &Authorized<WriteFiles>, file: NewFile, is_repeat: bool) -> Result<Value, Problem> {
    let (files, id) = (files(&caller.app)?, caller.session.id().clone());
    let now = now(&caller.app.board).await?;
    let add = move |project: &Project| {
        let mut session = project.session_or_new(&id, now)?;
        let written = if is_repeat { session.has(&file)? } else { None };
        let path = written.map_or_else(|| session.add(&file, now), Ok)?;
        Ok(api::ContextFileAdded { path: session.shown(path.as_str()), session_id: id })
    };
    let added = files.with(add).await?;
    files.observe(&caller.session).await?;
    Ok(json!(added))
}

/// Say how to hand a task over
#[utoipa::path(post, path = "/v1/sessions/{session}/files/delegation", tag = "context files",
    operation_id = "delegate_with_files",
    params(("session" = api::SessionId, Path, description = "The session")),
    request_body = api::Delegation,
    responses((status = OK, description = "What to say", body = api::DelegationMessage)))]
async fn delegate(
    caller: Authorized<WriteFiles>,
    request: RequestBody<api::Delegation>,
) -> Result<Answer<api::DelegationMessage>, Problem> {
    caller.delegate_with_files(request).await
}

/// Read a context file
#[utoipa::path(get, path = "/v1/sessions/{session}/files/{path}", tag = "context files", operation_id = "read_file",
    params(("session" = api::SessionId, Path, description = "The session"),
        ("path" = api::Label, Path, description = "The file, below the session's folder")),
    responses((status = OK, description = "The file", body = api::ContextFile)))]
async fn read(caller: Authorized<ReadFiles>, FilePath(path): FilePath) -> Result<Answer<api::ContextFile>, Problem> {
    caller.read_file(path).await
}

/// Remove a context file
#[utoipa::path(delete, path = "/v1/sessions/{session}/files/{path}", tag = "context files",
    operation_id = "remove_file",
    params(("session" = api::SessionId, Path, description = "The session"),
        ("path" = api::Label, Path, description = "The file, below the session's folder")),
    responses((status = NO_CONTENT, description = "It is gone")))]
async fn remove(
    caller: Authorized<WriteFiles>,
    FilePath(path): FilePath,
    request: RequestBody<Empty>,
) -> Result<StatusCode, Problem> {
    caller.remove_file(path, request).await.map(|()| StatusCode::NO_CONTENT)
}

impl Authorized<ReadFiles> {
    /// List context files
    pub(crate) async fn list_files(&self, query: api::FilesQuery) -> Result<Answer<api::ContextFileList>, Problem> {
        let query = parse(query)?;
        let found = self.in_folder(|_| Ok(Vec::new()), move |session, _| Ok(session.list(&query))).await?;
        Ok(Answer::ok(api::ContextFileList { files: self.seen(found).await? }))
    }

    /// Search context files
    pub(crate) async fn search_files(&self, query: api::FilesQuery) -> Result<Answer<api::ContextFileList>, Problem> {
        let query = parse(query)?;
        let found = self.in_folder(|_| Ok(Vec::new()), move |session, _| Ok(session.search(&query))).await?;
        Ok(Answer::ok(api::ContextFileList { files: self.seen(found).await? }))
    }

    /// Read a context file
    pub(crate) async fn read_file(&self, path: String) -> Result<Answer<api::ContextFile>, Problem> {
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
        let (found, content) = match self.in_folder(Err, read).await {
            // What is hidden answers like what is not there.
            Err(problem) if is_nothing(&problem) => return Err(absent()),
            done => done?,
        };
        let body = self.seen(vec![found]).await?.pop().ok_or_else(absent)?;
        Ok(Answer::ok(api::ContextFile { content: Some(content), ..body }))
    }
}

impl Authorized<WriteFiles> {
    /// Write a context file
    pub(crate) async fn add_file(&self, new: RequestBody<api::NewContextFile>) -> Result<Answer<Value>, Problem> {
        let api::NewContextFile { category, name, recipient, keywords, request, background, expected, constraints } =
            new.body;
        let parts = Parts { request, background, expected, constraints };
        let file = NewFile { category, name, recipient, keywords, parts, template: Template::default() };
        let added = self.idempotent(&new.options, async |is_repeat| write(self, file, is_repeat).await).await?;
        Ok(Answer::ok(added))
    }

    /// Say how to hand a task over
    pub(crate) async fn delegate_with_files(
        &self,
        request: RequestBody<api::Delegation>,
    ) -> Result<Answer<api::DelegationMessage>, Problem> {
        let api::Delegation { to, task, keywords, category } = request.body;
        if task.trim().is_empty() {
            return Err(Problem::invalid("/task", "say what is to be done"));
        }
        let query = Query { keywords, category, ..Query::default() };
        let (reader, words) = (to.clone(), task.clone());
        let related = move |session: &mut callboard_files::Session, _| Ok(session.related(&reader, &words, &query));
        let found = self.in_folder(|_| Ok(Vec::new()), related).await?;
        let files: Vec<String> = found.into_iter().map(|file| file.path).collect();
        Ok(Answer::ok(api::DelegationMessage { message: message(to.as_str(), &task, &files), files }))
    }

    /// Remove a context file
    pub(crate) async fn remove_file(&self, path: String, request: RequestBody<Empty>) -> Result<(), Problem> {
        let Empty {} = request.body;
        self.idempotent(&request.options, async |is_repeat| take_away(self, &path, is_repeat).await).await?;
        Ok(())
    }
}

/// Removes a file. The same request may have removed one that is not there.
async fn take_away(caller: &Authorized<WriteFiles>, path: &str, is_repeat: bool) -> Result<Value, Problem> {
    let meant = path.to_owned();
    let remove = move |session: &mut callboard_files::Session, now| {
        let path = session.meant(&meant)?;
        session.remove(&path, now)
    };
    match caller.in_folder(Err, remove).await {
        Ok(()) => Ok(Value::Null),
        Err(problem) if is_nothing(&problem) && is_repeat => Ok(Value::Null),
        Err(problem) if is_nothing(&problem) => Err(absent(path)),
        Err(problem) => Err(problem),
    }
}
