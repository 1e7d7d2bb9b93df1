//! What entries say in a sentence, and the last one of a session.

use std::borrow::Cow;

use callboard_core::{
    entry::Entry,
    error::Error as Refusal,
    sentence::sentence,
    view::{Projected, View},
    viewer::Viewer,
};
use serde_json::Value;

use crate::{
    error::Error, overview::LastEntry, seal::reading::ReadingMask, session::Session, session_info::SessionInfo,
    sizes::sizes,
};

impl Session {
    /// What is known of it, and its last entry where `viewer` sees that, as `viewer` sees them.
    pub async fn info_with_last<T>(
        &self,
        viewer: &Viewer,
        look: impl FnOnce(View<'_>, SessionInfo) -> T,
    ) -> Result<T, Error> {
        let (state, row) = self.live.current_with_row().await?;
        let mut info = SessionInfo::of(self.id().clone(), &state, row);
        let mask = self.live.reading_mask(&state, viewer).await?;
        let view = View::new(&state, viewer, sizes())?;
        if let Some(entry) = self.entry(state.head.seq).await? {
            info.last = said(&view, &entry, mask.as_ref())?;
        }
        Ok(look(view, info))
    }
}

/// What an entry says to the viewer of `view`; nothing where it does not see the entry.
pub(crate) fn said(view: &View<'_>, entry: &Entry, mask: Option<&ReadingMask>) -> Result<Option<LastEntry>, Refusal> {
    let Some(seen) = view.project(entry)? else { return Ok(None) };
    let sentence = sentence_of(&seen, mask);
    Ok(Some(LastEntry { seq: seen.seq, at: seen.at, by: seen.by, kind: seen.kind, sentence }))
}

/// What an entry says. Secrets are hidden before it is cut, since a part of one would not be found.
pub(crate) fn sentence_of(seen: &Projected, mask: Option<&ReadingMask>) -> String {
    let (subject, data) = hidden(seen, mask);
    sentence(&seen.by, &seen.kind, &subject, &data)
}

/// Whether an entry says `words`, which are in lower case, or is about them.
pub(crate) fn says(seen: &Projected, mask: Option<&ReadingMask>, words: &str) -> bool {
    fn found(value: &Value, words: &str) -> bool {
        match value {
            Value::String(text) => text.to_lowercase().contains(words),
            Value::Array(all) => all.iter().any(|inner| found(inner, words)),
            Value::Object(fields) => fields.values().any(|inner| found(inner, words)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    let (subject, data) = hidden(seen, mask);
    subject.to_lowercase().contains(words) || found(&data, words)
}

/// The subject and the data of an entry, without secrets.
fn hidden<'a>(seen: &'a Projected, mask: Option<&ReadingMask>) -> (Cow<'a, str>, Value) {
    // Data that cannot be read has been refused before.
    let mut data = serde_json::from_str(&seen.data).unwrap_or_default();
    let Some(mask) = mask else { return (Cow::Borrowed(&seen.subject), data) };
    mask.hide_in(&mut data);
    (mask.hide(&seen.subject), data)
}
