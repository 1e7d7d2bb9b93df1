//! Documents. The state has all but their texts, which stand in the entries that it names.

use std::sync::Arc;

use callboard_core::{
    document::{DocumentView, Held, facts::Added},
    fact::read,
    id::DocumentName,
    viewer::Viewer,
};

use crate::{error::Error, session::Session};

impl Session {
    /// A document that `viewer` sees, and what it says; `None` where the viewer may only know that it is there.
    pub async fn document(&self, viewer: &Viewer, name: &DocumentName) -> Result<(Held, Option<Arc<str>>), Error> {
        let state = self.state().await?;
        let look = |view: callboard_core::view::View<'_>| {
            let seen = view.document(name)?;
            Ok((seen.held().clone(), matches!(seen, DocumentView::Whole(_))))
        };
        let (held, is_whole) = self.view(viewer, look).await?;
        let text = if is_whole { Some(self.text_of(&held).await?) } else { None };
        self.live.confirm(&state).await?;
        Ok((held, text))
    }

    /// What a document says.
    pub(crate) async fn text_of(&self, document: &Held) -> Result<Arc<str>, Error> {
        let entry = self.entry(document.seq).await?.ok_or_else(|| self.live.gone())?;
        self.text(&read::<Added>(&entry)?.text).await
    }
}
