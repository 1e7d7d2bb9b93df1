//! Documents of a session or a collection.

use callboard_api as api;
use callboard_convert::{HTML, MARKDOWN, html::to_markdown};
use callboard_core::{
    document::{Held, PutDocument, RemoveDocument},
    id::DocumentName,
    view::View,
};

use super::{
    Answer, Authorized, CallError, WriteOptions,
    cursor::{self, After},
    rights::{ReadDocuments, WriteDocuments},
};

/// What `view` shows of a document, without its text.
fn listed(held: &Held, view: &View<'_>) -> api::Document {
    api::Document::of(held, view.state.team.hidden_from(&held.sight.audience).cloned().collect())
}

/// The same with Markdown in the place of HTML.
async fn markdown(document: api::PutDocument) -> Result<api::PutDocument, CallError> {
    if document.media_type.as_ref().is_none_or(|media_type| media_type.as_str() != HTML) {
        return Ok(document);
    }
    let converted = tokio::task::spawn_blocking(move || to_markdown(&document.text)).await;
    let text = converted.map_err(|_| CallError::new("internal", "a page of HTML could not be converted"))?.into();
    Ok(api::PutDocument { text, visible_to: document.visible_to, media_type: MARKDOWN.parse().ok() })
}

impl Authorized<ReadDocuments> {
    pub(crate) async fn list_documents(
        &self,
        query: api::DocumentsQuery,
    ) -> Result<Answer<api::DocumentList>, CallError> {
        let after = After::read(query.cursor.as_deref())?;
        let (viewer, limit) = (self.viewer(), query.limit.unwrap_or(usize::MAX));
        let shared = match &query.collection {
            Some(collection) => Some(self.session.collection_documents(&viewer, collection).await?),
            None => None,
        };
        let look = |view: View<'_>| {
            let documents: Box<dyn Iterator<Item = &Held>> = match &shared {
                Some(documents) => Box::new(documents.iter()),
                None => Box::new(view.documents().map(|seen| seen.held())),
            };
            let documents = documents.filter(|held| after.is_before(held.name.as_str()));
            Ok(documents.take(limit.saturating_add(1)).map(|held| listed(held, &view)).collect::<Vec<_>>())
        };
        let mut documents = self.session.view(&viewer, look).await?;
        let next_cursor = cursor::cut(&mut documents, limit, |document| document.name.as_str());
        Ok(Answer::ok(api::DocumentList { documents, next_cursor }))
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

impl Authorized<WriteDocuments> {
    pub(crate) async fn put_document(
        &self,
        name: DocumentName,
        body: api::PutDocument,
        options: WriteOptions,
    ) -> Result<Answer<api::DocumentChanged>, CallError> {
        let api::PutDocument { text, visible_to, media_type } = markdown(body).await?;
        let put = PutDocument { name: name.clone(), text, visible_to, media_type };
        let receipt = self.execute(options, put).await?;
        let look = |view: View<'_>| Ok(listed(view.document(&name)?.held(), &view));
        let document = self.session.view_at(&self.viewer(), receipt.head, look).await?;
        Ok(Answer::ok(api::DocumentChanged { document, outcome: receipt.answer }).at(receipt.head))
    }

    pub(crate) async fn remove_document(&self, name: DocumentName, options: WriteOptions) -> Result<(), CallError> {
        self.execute(options, RemoveDocument(name)).await?;
        Ok(())
    }
}
