//! What entries say in a sentence, and the last one of a session.

use callboard_core::{
    entry::Entry,
    error::Error as Refusal,
    event::sentence,
    json::texts_in,
    overview::LastEntry,
    view::{Projected, View},
    viewer::Viewer,
};
use serde_json::Value;

use crate::{error::Error, session::Session, session_info::SessionInfo, sizes::sizes};

impl Session {
    /// What is known of it, and its last entry where `viewer` sees that, as `viewer` sees them.
    pub async fn info_with_last<T>(
        &self,
        viewer: &Viewer,
        look: impl FnOnce(View<'_>, SessionInfo) -> T,
    ) -> Result<T, Error> {
        let (state, row) = self.live.current_with_row().await?;
        let mut info = SessionInfo::of(self.id().clone(), &state, row);
        let view = View::new(&state, viewer, sizes())?;
        if let Some(entry) = self.entry(state.head.seq).await? {
            info.last = said(&view, &entry)?;
        }
        Ok(look(view, info))
    }
}

/// What an entry says to the viewer of `view`; nothing where it does not see the entry.
pub(crate) fn said(view: &View<'_>, entry: &Entry) -> Result<Option<LastEntry>, Refusal> {
    let Some(seen) = view.project(entry)? else { return Ok(None) };
    let sentence = sentence_of(view, &seen);
    Ok(Some(LastEntry { seq: seen.seq, at: seen.at, by: seen.by, kind: seen.kind, sentence }))
}

/// What an entry says to the viewer of `view`, who sees it.
pub(crate) fn sentence_of(view: &View<'_>, seen: &Projected) -> String {
    sentence(&seen.by, &seen.kind, &seen.subject, &data(seen), view.agent())
}

/// Whether an entry says `words`, which are in lower case, or is about them.
pub(crate) fn says(seen: &Projected, words: &str) -> bool {
    let has = |text: &str| text.to_lowercase().contains(words);
    has(&seen.subject) || texts_in(&data(seen)).into_iter().any(has)
}

/// The data of an entry. What cannot be read has been refused before.
fn data(seen: &Projected) -> Value {
    serde_json::from_str(&seen.data).unwrap_or_default()
}
