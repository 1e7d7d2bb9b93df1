//! Documents of a session.

use axum::http::StatusCode;
use callboard_api as api;
use callboard_core::id::DocumentName;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, CallError,
        rights::{ReadDocuments, WriteDocuments},
    },
    params::{Name, Query},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list, add)).routes(routes!(read, put, remove))
}

/// List documents
#[utoipa::path(get, path = "/v1/sessions/{session}/documents", tag = "documents", operation_id = "list_documents",
    params(("session" = api::SessionId, Path, description = "The id of the session"), api::DocumentsQuery),
    responses((status = OK, description = "A page of the documents that the caller sees, sorted by name, without their texts", body = api::DocumentList)))]
async fn list(
    caller: Authorized<ReadDocuments>,
    Query(query): Query<api::DocumentsQuery>,
) -> Result<Answer<api::DocumentList>, CallError> {
    caller.list_documents(query).await
}

/// Add or replace a document
///
/// HTML (`text/html`) is turned into Markdown: the document then has that text and the media type `text/markdown`.
#[utoipa::path(post, path = "/v1/sessions/{session}/documents", tag = "documents", operation_id = "add_document",
    params(("session" = api::SessionId, Path, description = "The id of the session")),
    request_body = api::NewDocument,
    responses((status = OK, description = "The document after the change", body = api::DocumentChanged)))]
async fn add(
    caller: Authorized<WriteDocuments>,
    request: RequestBody<api::NewDocument>,
) -> Result<Answer<api::DocumentChanged>, CallError> {
    let api::NewDocument { name, text, visible_to, media_type } = request.body;
    caller.put_document(name, api::PutDocument { text, visible_to, media_type }, request.options).await
}

/// Read a document
#[utoipa::path(get, path = "/v1/sessions/{session}/documents/{name}", tag = "documents", operation_id = "read_document",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("name" = api::DocumentName, Path, description = "The name of the document"), api::DocumentQuery),
    responses((status = OK, description = "The document with its text", body = api::Document)))]
async fn read(
    caller: Authorized<ReadDocuments>,
    Name(name): Name<DocumentName>,
    Query(query): Query<api::DocumentQuery>,
) -> Result<Answer<api::Document>, CallError> {
    caller.read_document(name, query).await
}

/// Add or replace a document by its name
///
/// HTML (`text/html`) is turned into Markdown: the document then has that text and the media type `text/markdown`.
#[utoipa::path(put, path = "/v1/sessions/{session}/documents/{name}", tag = "documents", operation_id = "put_document",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("name" = api::DocumentName, Path, description = "The name of the document")),
    request_body = api::PutDocument,
    responses((status = OK, description = "The document after the change", body = api::DocumentChanged)))]
async fn put(
    caller: Authorized<WriteDocuments>,
    Name(name): Name<DocumentName>,
    request: RequestBody<api::PutDocument>,
) -> Result<Answer<api::DocumentChanged>, CallError> {
    caller.put_document(name, request.body, request.options).await
}

/// Remove a document
#[utoipa::path(delete, path = "/v1/sessions/{session}/documents/{name}", tag = "documents",
    operation_id = "remove_document",
    params(("session" = api::SessionId, Path, description = "The id of the session"), ("name" = api::DocumentName, Path, description = "The name of the document")),
    responses((status = NO_CONTENT, description = "The document is removed")))]
async fn remove(
    caller: Authorized<WriteDocuments>,
    Name(name): Name<DocumentName>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.remove_document(name, request.options).await.map(|()| StatusCode::NO_CONTENT)
}
