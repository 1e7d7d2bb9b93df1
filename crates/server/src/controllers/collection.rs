//! Collections, and what is in them. The calls on documents are those of sessions.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use callboard_api as api;
use callboard_core::id::{CollectionName, DocumentName};
use futures::TryStreamExt;
use serde_json::json;
use utoipa_axum::{router::OpenApiRouter, routes};

use super::transfer::Received;
use crate::{
    answer::{Created, broken, streamed},
    app::App,
    body::{Empty, RequestBody},
    calls::{
        Answer, Authorized, AuthorizedOnServer, CallError,
        journal::ListedEntries,
        rights::{
            EraseEntries, ExportSession, ListCollections, MakeCollections, ReadCollection, ReadDocuments, ReadJournal,
            WriteDocuments,
        },
    },
    params::{EntryNumber, Name, Query},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(read, put, delete))
        .routes(routes!(documents, add_document))
        .routes(routes!(read_document, put_document, remove_document))
        .routes(routes!(journal))
        .routes(routes!(erase))
        .routes(routes!(export))
        .routes(routes!(import))
}

/// List collections
#[utoipa::path(get, path = "/v1/collections", tag = "collections", operation_id = "list_collections",
    params(api::PageQuery),
    responses((status = OK, description = "A page of the collections, sorted by name; at most 1,000", body = api::CollectionList)))]
async fn list(
    server: AuthorizedOnServer<ListCollections>,
    Query(query): Query<api::PageQuery>,
) -> Result<Answer<api::CollectionList>, CallError> {
    server.list_collections(query).await
}

/// Read a collection: its sizes, without its documents
#[utoipa::path(get, path = "/v1/collections/{collection}", tag = "collections", operation_id = "read_collection",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection")),
    responses((status = OK, description = "The collection", body = api::Collection)))]
async fn read(
    caller: Authorized<ReadCollection>,
    Name(name): Name<CollectionName>,
) -> Result<Answer<api::Collection>, CallError> {
    caller.read_collection(&name).await
}

/// Create a collection, if it does not exist
///
/// A collection holds documents that sessions share. It never expires. Only the user reads and writes it. Agents of
/// sessions that name it in `collections` find those of its documents that `visible_to` lets them see.
#[utoipa::path(put, path = "/v1/collections/{collection}", tag = "collections", operation_id = "put_collection",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection")),
    responses((status = OK, description = "The collection", body = api::Collection)))]
async fn put(
    server: AuthorizedOnServer<MakeCollections>,
    Name(name): Name<CollectionName>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::Collection>, CallError> {
    server.put_collection(name, request.options).await
}

/// Delete a collection with all its documents
///
/// Sessions that name it find nothing in it afterwards.
#[utoipa::path(delete, path = "/v1/collections/{collection}", tag = "collections", operation_id = "delete_collection",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection")),
    responses((status = NO_CONTENT, description = "The collection is deleted")))]
async fn delete(
    server: AuthorizedOnServer<MakeCollections>,
    Name(name): Name<CollectionName>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    server.delete_collection(name, request.options).await.map(|()| StatusCode::NO_CONTENT)
}

/// List the documents of a collection
#[utoipa::path(get, path = "/v1/collections/{collection}/documents", tag = "collections",
    operation_id = "list_collection_documents",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection"), api::PageQuery),
    responses((status = OK, description = "A page of the documents, sorted by name, without their texts", body = api::DocumentList)))]
async fn documents(
    caller: Authorized<ReadDocuments>,
    Query(query): Query<api::PageQuery>,
) -> Result<Answer<api::DocumentList>, CallError> {
    let api::PageQuery { limit, cursor } = query;
    caller.list_documents(api::DocumentsQuery { limit, cursor, collection: None }).await
}

/// Add or replace a document of a collection
///
/// HTML (`text/html`) is turned into Markdown: the document then has that text and the media type `text/markdown`.
#[utoipa::path(post, path = "/v1/collections/{collection}/documents", tag = "collections",
    operation_id = "add_collection_document",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection")),
    request_body = api::NewDocument,
    responses((status = OK, description = "The document after the change", body = api::DocumentChanged)))]
async fn add_document(
    caller: Authorized<WriteDocuments>,
    request: RequestBody<api::NewDocument>,
) -> Result<Answer<api::DocumentChanged>, CallError> {
    let api::NewDocument { name, text, visible_to, media_type } = request.body;
    caller.put_document(name, api::PutDocument { text, visible_to, media_type }, request.options).await
}

/// Read a document of a collection
#[utoipa::path(get, path = "/v1/collections/{collection}/documents/{name}", tag = "collections",
    operation_id = "read_collection_document",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection"), ("name" = api::DocumentName, Path, description = "The name of the document")),
    responses((status = OK, description = "The document with its text", body = api::Document)))]
async fn read_document(
    caller: Authorized<ReadDocuments>,
    Name(name): Name<DocumentName>,
) -> Result<Answer<api::Document>, CallError> {
    caller.read_document(name, api::DocumentQuery::default()).await
}

/// Add or replace a document of a collection by its name
///
/// HTML (`text/html`) is turned into Markdown: the document then has that text and the media type `text/markdown`.
#[utoipa::path(put, path = "/v1/collections/{collection}/documents/{name}", tag = "collections",
    operation_id = "put_collection_document",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection"), ("name" = api::DocumentName, Path, description = "The name of the document")),
    request_body = api::PutDocument,
    responses((status = OK, description = "The document after the change", body = api::DocumentChanged)))]
async fn put_document(
    caller: Authorized<WriteDocuments>,
    Name(name): Name<DocumentName>,
    request: RequestBody<api::PutDocument>,
) -> Result<Answer<api::DocumentChanged>, CallError> {
    caller.put_document(name, request.body, request.options).await
}

/// Remove a document of a collection
#[utoipa::path(delete, path = "/v1/collections/{collection}/documents/{name}", tag = "collections",
    operation_id = "remove_collection_document",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection"), ("name" = api::DocumentName, Path, description = "The name of the document")),
    responses((status = NO_CONTENT, description = "The document is removed")))]
async fn remove_document(
    caller: Authorized<WriteDocuments>,
    Name(name): Name<DocumentName>,
    request: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.remove_document(name, request.options).await.map(|()| StatusCode::NO_CONTENT)
}

/// Read the journal of a collection: its entries in order
#[utoipa::path(get, path = "/v1/collections/{collection}/journal", tag = "collections",
    operation_id = "read_collection_journal",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection"), api::JournalQuery),
    responses((status = OK, description = "The entries", body = api::JournalPage)))]
async fn journal(
    caller: Authorized<ReadJournal>,
    Query(query): Query<api::JournalQuery>,
) -> Result<Response, CallError> {
    Ok(match caller.read_journal(query).await? {
        ListedEntries::Page(page) => page.into_response(),
        ListedEntries::All { entries, head } => streamed("entries", entries, Some(("head", json!(head)))),
    })
}

/// Erase the words of an entry of a collection, for good
#[utoipa::path(delete, path = "/v1/collections/{collection}/journal/{seq}", tag = "collections",
    operation_id = "erase_collection_entry",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection"),
        ("seq" = u64, Path, description = "The number of the entry"), api::ReasonQuery),
    responses((status = OK, description = "What was erased, and which other collections still hold it", body = api::ErasedEntry)))]
async fn erase(
    caller: Authorized<EraseEntries>,
    EntryNumber(seq): EntryNumber,
    Query(query): Query<api::ReasonQuery>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::ErasedEntry>, CallError> {
    caller.erase_entry(seq, query, request.options).await
}

/// Export a whole collection
///
/// The answer is JSON lines, as in the export of a session.
#[utoipa::path(get, path = "/v1/collections/{collection}/export", tag = "collections",
    operation_id = "export_collection",
    params(("collection" = api::CollectionName, Path, description = "The name of the collection")),
    responses((status = OK, description = "The collection as JSON lines", body = String,
        content_type = "application/x-ndjson")))]
async fn export(caller: Authorized<ExportSession>) -> Result<Response, CallError> {
    let lines = caller.export_session().await?.map_ok(|lines| lines.concat()).map_err(broken);
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    Ok(([kind], Body::from_stream(lines)).into_response())
}

/// Import an exported collection under this name
///
/// Nothing is stored unless the whole export is valid. There must be no collection of this name.
#[utoipa::path(post, path = "/v1/collections/{collection}/import", tag = "collections",
    operation_id = "import_collection",
    params(("collection" = api::CollectionName, Path, description = "The name of the new collection")),
    request_body(content = String, content_type = "application/x-ndjson", description = "The JSON lines of an export"),
    responses((status = CREATED, description = "The new collection", body = api::Collection)))]
async fn import(
    server: AuthorizedOnServer<MakeCollections>,
    Name(name): Name<CollectionName>,
    received: Received,
) -> Result<Created<api::Collection>, CallError> {
    server.import_collection(name, received.file, received.options).await.map(Created)
}
