//! Documents. The state has all but their texts, which stand in the entries that it names.

use std::sync::Arc;

use callboard_core::{
    document::{DocumentView, HeldDocument, facts::Added},
    error::Error as Refusal,
    fact::read,
    id::{CollectionName, DocumentName},
    state::State,
    view::View,
    viewer::Viewer,
};

use crate::{board::Board, error::Error, session::Session};

impl Session {
    /// A document that `viewer` sees, and what it says; `None` where the viewer may only know that it is there.
    pub async fn document(
        &self,
        viewer: &Viewer,
        name: &DocumentName,
    ) -> Result<(HeldDocument, Option<Arc<str>>), Error> {
        let state = self.state().await?;
        let look = |view: View<'_>| {
            let seen = view.document(name)?;
            Ok((seen.held().clone(), matches!(seen, DocumentView::Whole(_))))
        };
        let (held, is_whole) = self.view(viewer, look).await?;
        let text = if is_whole { Some(self.text_of(&held).await?) } else { None };
        self.live.confirm(&state).await?;
        Ok((held, text))
    }

    /// The collections that the session names, as far as they are there.
    pub async fn collections(&self) -> Result<Vec<(CollectionName, Self)>, Error> {
        self.collections_of(&*self.state().await?).await
    }

    /// The collections that the session names as of a state, as far as they are there now.
    pub(crate) async fn collections_of(&self, state: &State) -> Result<Vec<(CollectionName, Self)>, Error> {
        let board = Board::of(self);
        let mut collections = Vec::new();
        for name in &state.session.settings.collections {
            collections.extend(board.find_collection(name).await?.map(|collection| (name.clone(), collection)));
        }
        Ok(collections)
    }

    /// The documents that `viewer` sees of a collection that the session names; none where it was deleted.
    pub async fn collection_documents(
        &self,
        viewer: &Viewer,
        collection: &CollectionName,
    ) -> Result<Vec<HeldDocument>, Error> {
        match self.named(viewer, collection).await? {
            Some(collection) => Ok(collection.state().await?.documents.of_collection(viewer).cloned().collect()),
            None => Ok(Vec::new()),
        }
    }

    /// A document that `viewer` sees of a collection that the session names, and what it says.
    pub async fn collection_document(
        &self,
        viewer: &Viewer,
        collection: &CollectionName,
        name: &DocumentName,
    ) -> Result<(HeldDocument, Arc<str>), Error> {
        let absent = || Refusal::not_found("document", name);
        let collection = self.named(viewer, collection).await?.ok_or_else(absent)?;
        let held = collection.state().await?.documents.in_collection(viewer, name)?.clone();
        let text = collection.text_of(&held).await?;
        Ok((held, text))
    }

    /// A collection that the session names; `None` where it was deleted.
    async fn named(&self, viewer: &Viewer, name: &CollectionName) -> Result<Option<Self>, Error> {
        let names = |view: View<'_>| Ok(view.state.session.settings.collections.contains(name));
        if !self.view(viewer, names).await? {
            return Err(Refusal::not_found("collection", name).into());
        }
        Board::of(self).find_collection(name).await
    }

    /// What a document says.
    pub(crate) async fn text_of(&self, document: &HeldDocument) -> Result<Arc<str>, Error> {
        let entry = self.entry(document.seq).await?.ok_or_else(|| self.live.gone())?;
        self.text(&read::<Added>(&entry)?.text).await
    }
}
