//! Why: reading a journal with the question where a text came from.

use callboard_core::{error::Error as Refusal, event, id::Seq, view::View, viewer::Viewer};
use callboard_prompt::why::{Finding, Why};
use serde_json::Value;

use crate::{
    error::Error,
    journal::{Pages, damaged},
    session::Session,
    sizes::sizes,
};

impl Session {
    /// Says where `text` came from, who was shown it and what became of it, as far as `viewer` may know.
    pub async fn why(&self, viewer: &Viewer, text: &str) -> Result<Vec<Finding>, Error> {
        if text.trim().is_empty() {
            return Err(Refusal::invalid("/text", "say which text is meant").into());
        }
        let state = self.state().await?;
        let view = View::new(&state, viewer, sizes())?;
        let mut why = Why::new(text);
        let mut pages = Pages::of(&*self.live.store, self.id(), Seq::ZERO, state.head.seq, Vec::new());
        while let Some(page) = pages.next().await? {
            for entry in &page {
                if let Some(seen) = view.project(entry)? {
                    // Only what the projection shows is read: a hash that is hidden from the viewer is not in it.
                    let values = self.values(event::long_texts(&seen.kind, &seen.data)).await?;
                    let words: Value = serde_json::from_str(&seen.data).map_err(|error| damaged(entry, &error))?;
                    why.read(&seen, &words, &values.into_values().collect::<Vec<_>>());
                }
            }
        }
        self.live.confirm(&state).await?;
        Ok(why.finish(&view))
    }
}
