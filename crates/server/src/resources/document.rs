//! Documents of a session.

use callboard_convert::{HTML, MARKDOWN, html::to_markdown};
use callboard_core::{
    document::{HeldDocument, PutDocument, RemoveDocument},
    id::DocumentName,
    view::View,
};

use crate::{call::*, cursor::NamePage, rights::ReadDocuments, write_options::WriteOptions};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_documents, add_document)).routes(routes!(
        read_document,
        put_document,
        remove_document
    ))
}

/// List documents
#[utoipa::path(get, path = "/v1/sessions/{session}/documents", tag = "documents",
    params(api::DocumentsQuery),
    responses((status = OK, description = "A page of the documents that the caller sees, sorted by name, without their texts", body = api::DocumentList)))]
async fn list_documents(
    caller: Authorized<ReadDocuments>,
    Query(query): Query<api::DocumentsQuery>,
) -> Result<Answer<api::DocumentList>, CallError> {
    caller.list_documents(query).await
}

/// Add or replace a document
///
/// HTML (`text/html`) is turned into Markdown: the document then has that text and the media type `text/markdown`.
#[utoipa::path(post, path = "/v1/sessions/{session}/documents", tag = "documents",
    request_body = PutDocument,
    responses((status = OK, description = "The document after the change", body = api::DocumentChanged)))]
async fn add_document(
    caller: Authorized<PutDocument>,
    request: RequestBody<PutDocument>,
) -> Result<Answer<api::DocumentChanged>, CallError> {
    caller.put_document(request.body, request.options).await
}

/// Read a document
#[utoipa::path(get, path = "/v1/sessions/{session}/documents/{name}", tag = "documents",
    params(InPath<DocumentName>, api::DocumentQuery),
    responses((status = OK, description = "The document with its text", body = api::Document)))]
async fn read_document(
    caller: Authorized<ReadDocuments>,
    InPath(name): InPath<DocumentName>,
    Query(query): Query<api::DocumentQuery>,
) -> Result<Answer<api::Document>, CallError> {
    caller.read_document(name, query).await
}

/// Add or replace a document by its name
///
/// HTML (`text/html`) is turned into Markdown: the document then has that text and the media type `text/markdown`.
#[utoipa::path(put, path = "/v1/sessions/{session}/documents/{name}", tag = "documents",
    params(InPath<DocumentName>),
    request_body = api::PutDocument,
    responses((status = OK, description = "The document after the change", body = api::DocumentChanged)))]
async fn put_document(
    caller: Authorized<PutDocument>,
    InPath(name): InPath<DocumentName>,
    request: RequestBody<api::PutDocument>,
) -> Result<Answer<api::DocumentChanged>, CallError> {
    caller.put_document(request.body.named(name), request.options).await
}

/// Remove a document
#[utoipa::path(delete, path = "/v1/sessions/{session}/documents/{name}", tag = "documents",
    params(InPath<DocumentName>),
    responses((status = NO_CONTENT, description = "The document is removed")))]
async fn remove_document(
    caller: Authorized<RemoveDocument>,
    InPath(name): InPath<DocumentName>,
    RequestBody { options, .. }: RequestBody<Empty>,
) -> Result<StatusCode, CallError> {
    caller.execute(options, RemoveDocument(name)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What `view` shows of a document, without its text.
fn listed(held: &HeldDocument, view: &View<'_>) -> api::Document {
    api::Document::of(held, view.state.team.hidden_from(&held.sight.audience).cloned().collect())
}

/// The same with Markdown in the place of HTML.
async fn markdown(document: PutDocument) -> Result<PutDocument, CallError> {
    if document.media_type.as_ref().is_none_or(|media_type| media_type.as_str() != HTML) {
        return Ok(document);
    }
    let PutDocument { name, text, visible_to, .. } = document;
    let converted = tokio::task::spawn_blocking(move || to_markdown(&text)).await;
    let text = converted.map_err(|_| CallError::new("internal", "a page of HTML could not be converted"))?.into();
    Ok(PutDocument { name, text, visible_to, media_type: MARKDOWN.parse().ok() })
}

impl Authorized<ReadDocuments> {
    pub(crate) async fn list_documents(
        &self,
        query: api::DocumentsQuery,
    ) -> Result<Answer<api::DocumentList>, CallError> {
        let page = NamePage::new(query.limit, query.cursor.as_deref())?;
        let viewer = self.viewer();
        let shared = match &query.collection {
            Some(collection) => Some(self.session.collection_documents(&viewer, collection).await?),
            None => None,
        };
        let look = |view: View<'_>| {
            let documents: Box<dyn Iterator<Item = &HeldDocument>> = match &shared {
                Some(documents) => Box::new(documents.iter()),
                None => Box::new(view.documents().map(|seen| seen.held())),
            };
            let (documents, next_cursor) = page.of(documents, |held| held.name.as_str());
            let documents = documents.into_iter().map(|held| listed(held, &view)).collect();
            Ok(api::DocumentList { documents, next_cursor })
        };
        Ok(Answer::ok(self.session.view(&viewer, look).await?))
    }

    pub(crate) async fn read_document(
        &self,
        name: DocumentName,
        query: api::DocumentQuery,
    ) -> Result<Answer<api::Document>, CallError> {
        let (session, viewer) = (&self.session, self.viewer());
        let (held, text) = match &query.collection {
            Some(collection) => {
                let (held, text) = session.collection_document(&viewer, collection, &name).await?;
                (held, Some(text))
            }
            None => session.document(&viewer, &name).await?,
        };
        let body = self.session.view(&self.viewer(), |view| Ok(listed(&held, &view))).await?;
        Ok(Answer::ok(api::Document { text, ..body }))
    }
}

impl Authorized<PutDocument> {
    pub(crate) async fn put_document(
        &self,
        document: PutDocument,
        options: WriteOptions,
    ) -> Result<Answer<api::DocumentChanged>, CallError> {
        let document = markdown(document).await?;
        let name = document.name.clone();
        let look = |view: View<'_>, outcome| {
            Ok(api::DocumentChanged { document: listed(view.document(&name)?.held(), &view), outcome })
        };
        self.change(options, document, look).await
    }
}
