//! Collections, and what is in them. The calls on documents are those of sessions.

use std::io::BufReader;

use axum::response::Response;
use callboard_core::{
    collection::CollectionInfo,
    document::{PutDocument, RemoveDocument},
    entry::Actor,
    id::{CollectionName, DocumentName},
    rewriting::EraseEntry,
};
use callboard_engine::{Board, Error, Session};

use crate::{
    call::*,
    caller::AuthorizedOnServer,
    cursor,
    idempotency::Attempt,
    params::EntryNumber,
    received::Received,
    rights::{ExportSession, ListCollections, MakeCollections, ReadCollection, ReadDocuments, ReadJournal},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_collections))
        .routes(routes!(read_collection, put_collection, delete_collection))
        .routes(routes!(list_collection_documents, add_collection_document))
        .routes(routes!(read_collection_document, put_collection_document, remove_collection_document))
        .routes(routes!(read_collection_journal))
        .routes(routes!(erase_collection_entry))
        .routes(routes!(export_collection))
        .routes(routes!(import_collection))
}

/// List collections
#[utoipa::path(get, path = "/v1/collections", tag = "collections",
    params(api::PageQuery),
    responses((status = OK, description = "A page of the collections, sorted by name; at most 1,000", body = api::CollectionList)))]
async fn list_collections(
    server: AuthorizedOnServer<ListCollections>,
    Query(query): Query<api::PageQuery>,
) -> Result<Answer<api::CollectionList>, CallError> {
    let limit = query.limit.unwrap_or(LIMIT).min(LIMIT);
    let after = query.cursor.as_deref().map(cursor::collection).transpose()?;
    let mut collections = server.app.board.collections(after.as_ref(), limit.saturating_add(1)).await?;
    let next_cursor = cursor::cut(&mut collections, limit, |collection| collection.name.to_string());
    Ok(Answer::ok(api::CollectionList { collections, next_cursor }))
}

/// Read a collection: its sizes, without its documents
#[utoipa::path(get, path = "/v1/collections/{collection}", tag = "collections",
    responses((status = OK, description = "The collection", body = api::Collection)))]
async fn read_collection(
    caller: Authorized<ReadCollection>,
    InPath(name): InPath<CollectionName>,
) -> Result<Answer<api::Collection>, CallError> {
    Ok(Answer::ok(shown(&name, &caller.session).await?))
}

/// Create a collection, if it does not exist
///
/// A collection holds documents that sessions share. It never expires. Only the user reads and writes it. Agents of
/// sessions that name it in `collections` find those of its documents that `visible_to` lets them see.
#[utoipa::path(put, path = "/v1/collections/{collection}", tag = "collections",
    responses((status = OK, description = "The collection", body = api::Collection)))]
async fn put_collection(
    server: AuthorizedOnServer<MakeCollections>,
    InPath(name): InPath<CollectionName>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<Answer<api::Collection>, CallError> {
    let board = &server.app.board;
    let put = async |_: Attempt<()>| shown(&name, &board.put_collection(&name).await?).await;
    Ok(Answer::ok(server.app.idempotent(Actor::User, &options, None, (), put).await?))
}

/// Delete a collection with all its documents
///
/// Sessions that name it find nothing in it afterwards.
#[utoipa::path(delete, path = "/v1/collections/{collection}", tag = "collections",
    responses((status = NO_CONTENT, description = "The collection is deleted")))]
async fn delete_collection(
    server: AuthorizedOnServer<MakeCollections>,
    InPath(name): InPath<CollectionName>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    let delete = async |attempt: Attempt<()>| match server.app.board.delete_collection(&name).await {
        Err(error) if attempt.is_repeat && error.code() == "not_found" => Ok(()),
        deleted => Ok(deleted?),
    };
    server.app.idempotent(Actor::User, &options, None, (), delete).await.map(|()| StatusCode::NO_CONTENT)
}

/// List the documents of a collection
#[utoipa::path(get, path = "/v1/collections/{collection}/documents", tag = "collections",
    params(api::PageQuery),
    responses((status = OK, description = "A page of the documents, sorted by name, without their texts", body = api::DocumentList)))]
async fn list_collection_documents(
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
    request_body = PutDocument,
    responses((status = OK, description = "The document after the change", body = api::DocumentChanged)))]
async fn add_collection_document(
    caller: Authorized<PutDocument>,
    request: RequestBody<PutDocument>,
) -> Result<Answer<api::DocumentChanged>, CallError> {
    caller.put_document(request.body, request.options).await
}

/// Read a document of a collection
#[utoipa::path(get, path = "/v1/collections/{collection}/documents/{name}", tag = "collections",
    params(InPath<DocumentName>),
    responses((status = OK, description = "The document with its text", body = api::Document)))]
async fn read_collection_document(
    caller: Authorized<ReadDocuments>,
    InPath(name): InPath<DocumentName>,
) -> Result<Answer<api::Document>, CallError> {
    caller.read_document(name, api::DocumentQuery::default()).await
}

/// Add or replace a document of a collection by its name
///
/// HTML (`text/html`) is turned into Markdown: the document then has that text and the media type `text/markdown`.
#[utoipa::path(put, path = "/v1/collections/{collection}/documents/{name}", tag = "collections",
    params(InPath<DocumentName>),
    request_body = api::PutDocument,
    responses((status = OK, description = "The document after the change", body = api::DocumentChanged)))]
async fn put_collection_document(
    caller: Authorized<PutDocument>,
    InPath(name): InPath<DocumentName>,
    request: RequestBody<api::PutDocument>,
) -> Result<Answer<api::DocumentChanged>, CallError> {
    caller.put_document(request.body.named(name), request.options).await
}

/// Remove a document of a collection
#[utoipa::path(delete, path = "/v1/collections/{collection}/documents/{name}", tag = "collections",
    params(InPath<DocumentName>),
    responses((status = NO_CONTENT, description = "The document is removed")))]
async fn remove_collection_document(
    caller: Authorized<RemoveDocument>,
    InPath(name): InPath<DocumentName>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.execute(options, RemoveDocument(name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Read the journal of a collection: its entries in order
#[utoipa::path(get, path = "/v1/collections/{collection}/journal", tag = "collections",
    params(api::JournalQuery),
    responses((status = OK, description = "The entries", body = api::JournalPage)))]
async fn read_collection_journal(
    caller: Authorized<ReadJournal>,
    Query(query): Query<api::JournalQuery>,
) -> Result<Response, CallError> {
    caller.read_journal(query).await
}

/// Erase the words of an entry of a collection, for good
#[utoipa::path(delete, path = "/v1/collections/{collection}/journal/{seq}", tag = "collections",
    params(InPath<EntryNumber>, api::ReasonQuery),
    responses((status = OK, description = "What was erased, and which other collections still hold it", body = api::ErasedEntry)))]
async fn erase_collection_entry(
    caller: Authorized<EraseEntry>,
    InPath(EntryNumber(seq)): InPath<EntryNumber>,
    Query(query): Query<api::ReasonQuery>,
    request: RequestBody<Empty>,
) -> Result<Answer<api::ErasedEntry>, CallError> {
    caller.erase_entry(seq, query, request.options).await
}

/// Export a whole collection
///
/// The answer is JSON lines, as in the export of a session.
#[utoipa::path(get, path = "/v1/collections/{collection}/export", tag = "collections",
    responses((status = OK, description = "The collection as JSON lines", body = String,
        content_type = "application/x-ndjson")))]
async fn export_collection(caller: Authorized<ExportSession>) -> Result<Response, CallError> {
    caller.export().await
}

/// Import an exported collection under this name
///
/// Nothing is stored unless the whole export is valid. There must be no collection of this name.
#[utoipa::path(post, path = "/v1/collections/{collection}/import", tag = "collections",
    request_body(content = String, content_type = "application/x-ndjson", description = "The JSON lines of an export"),
    responses((status = CREATED, description = "The new collection", body = api::Collection)))]
async fn import_collection(
    server: AuthorizedOnServer<MakeCollections>,
    InPath(name): InPath<CollectionName>,
    Received { file, options }: Received,
) -> Result<Answer<api::Collection>, CallError> {
    let board = &server.app.board;
    let import = async |attempt: Attempt<()>| {
        let collection = board.import_collection(BufReader::new(file), &name, attempt.is_repeat).await;
        shown(&name, &collection.map_err(in_use)?).await
    };
    Ok(Answer::ok(server.app.idempotent(Actor::User, &options, None, (), import).await?).created())
}

/// How many collections are on a page at most.
const LIMIT: usize = 1000;

/// A collection as it is now.
async fn shown(name: &CollectionName, collection: &Session) -> Result<api::Collection, CallError> {
    Ok(CollectionInfo::of(name.clone(), &*collection.state().await?))
}

/// Refuses collections that are not there.
pub(super) async fn check_collections(board: &Board, names: &[CollectionName]) -> Result<(), CallError> {
    for name in names {
        if let Err(error) = board.collection(name).await {
            let error = CallError::from(error);
            return Err(if error.code == "not_found" { error.hint(MAKE_IT) } else { error });
        }
    }
    Ok(())
}

const MAKE_IT: &str = "make it with `PUT /v1/collections/NAME` or `callboard collection create NAME`";

/// Says that it is a collection that is there already.
fn in_use(error: Error) -> CallError {
    let error = CallError::from(error);
    match error.code {
        "session_exists" => CallError::new(error.code, "there is a collection of this name")
            .hint("import it under another name, or delete that one first"),
        _ => error,
    }
}
