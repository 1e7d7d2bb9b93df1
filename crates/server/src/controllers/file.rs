//! Context files.

use axum::http::StatusCode;
use callboard_api as api;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Created,
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        rights::{ReadFiles, WriteFiles},
    },
    params::{FilePath, Query},
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

/// List context files
#[utoipa::path(get, path = "/v1/sessions/{session}/files", tag = "context files", operation_id = "list_files",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::FilesQuery),
    responses((status = OK, description = "The files that match and that the caller sees, in the order in which they were added",
        body = api::ContextFileList)))]
async fn list(
    caller: Authorized<ReadFiles>,
    Query(query): Query<api::FilesQuery>,
) -> Result<Answer<api::ContextFileList>, CallError> {
    caller.list_files(query).await
}

/// Search context files, the best matches first
#[utoipa::path(get, path = "/v1/sessions/{session}/files/search", tag = "context files",
    operation_id = "search_files",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::FilesQuery),
    responses((status = OK, description = "The files that match and that the caller sees, the best matches first",
        body = api::ContextFileList)))]
async fn search(
    caller: Authorized<ReadFiles>,
    Query(query): Query<api::FilesQuery>,
) -> Result<Answer<api::ContextFileList>, CallError> {
    caller.search_files(query).await
}

/// Add a context file
#[utoipa::path(post, path = "/v1/sessions/{session}/files", tag = "context files", operation_id = "add_file",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::NewContextFile,
    responses((status = CREATED, description = "The path of the new file", body = api::ContextFileAdded)))]
async fn add(
    caller: Authorized<WriteFiles>,
    new: RequestBody<api::NewContextFile>,
) -> Result<Created<api::ContextFileAdded>, CallError> {
    caller.add_file(new.body, new.options).await.map(Created)
}

/// Write the message that hands a task over
///
/// It names the context files that belong to the task. The message is returned, not sent.
#[utoipa::path(post, path = "/v1/sessions/{session}/files/delegation", tag = "context files",
    operation_id = "delegate_with_files",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::Delegation,
    responses((status = OK, description = "The message, and the files that it names", body = api::DelegationMessage)))]
async fn delegate(
    caller: Authorized<WriteFiles>,
    request: RequestBody<api::Delegation>,
) -> Result<Answer<api::DelegationMessage>, CallError> {
    caller.delegate_with_files(request.body).await
}

/// Read a context file
#[utoipa::path(get, path = "/v1/sessions/{session}/files/{path}", tag = "context files", operation_id = "read_file",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("path" = api::Label, Path, description = "The path of the file, relative to the session's folder, such as `tasks/user-auth-tasks.md`")),
    responses((status = OK, description = "The file with its text", body = api::ContextFile)))]
async fn read(caller: Authorized<ReadFiles>, FilePath(path): FilePath) -> Result<Answer<api::ContextFile>, CallError> {
    caller.read_file(path).await
}

/// Remove a context file
#[utoipa::path(delete, path = "/v1/sessions/{session}/files/{path}", tag = "context files",
    operation_id = "remove_file",
    params(("session" = api::SessionId, Path, description = "The id of the session"),
        ("path" = api::Label, Path, description = "The path of the file, relative to the session's folder, such as `tasks/user-auth-tasks.md`")),
    responses((status = NO_CONTENT, description = "The file is removed")))]
async fn remove(
    caller: Authorized<WriteFiles>,
    FilePath(path): FilePath,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.remove_file(path, request.options).await.map(|()| StatusCode::NO_CONTENT)
}
