//! Compression: reading what of a thread can be compressed, and saying what would be.

use std::sync::Arc;

use callboard_core::{
    compression::facts::ToolResultsCleared,
    conversation::facts::{MessageAdded, thread_subject},
    count::Tokens,
    entry::Entry,
    fact::Fact,
    id::ThreadId,
    state::State,
    text::Values,
};
use callboard_prompt::{
    Lacking,
    compression::{
        material::{CompressionScope, Material, Wanted},
        plan::{Aim, Outlook},
    },
};

use crate::{blocking::off_runtime, error::Error, journal::Pages, session::Session};

impl Session {
    /// Says what of a thread is to be compressed to reach an aim. It changes nothing.
    pub async fn plan_compression(
        &self,
        thread: &ThreadId,
        scope: CompressionScope,
        aim: Aim,
    ) -> Result<Outlook, Error> {
        let plan = move |material| callboard_prompt::compression::plan::CompressionPlan::of(material, aim);
        Ok(self.with_material(thread, scope, plan).await??)
    }

    /// Says which results of tools in a thread are long and old, so that prompts can name them instead; none where there
    /// are none besides those of the newest messages that have `keep_recent` tokens.
    pub async fn clearable(
        &self,
        thread: &ThreadId,
        over: Tokens,
        keep_recent: Tokens,
    ) -> Result<Option<ToolResultsCleared>, Error> {
        self.with_material(thread, CompressionScope::default(), move |material| material.clearable(over, keep_recent))
            .await
    }

    /// Reads what of a thread can be compressed, and looks at it where nothing waits for that.
    async fn with_material<T: Send + 'static>(
        &self,
        thread: &ThreadId,
        scope: CompressionScope,
        look: impl FnOnce(Material) -> T + Send + 'static,
    ) -> Result<T, Error> {
        let state = self.state().await?;
        let erased = state.erased;
        let wanted = Wanted::of(&state, thread, scope)?;
        let entries = self.entries_of(&state, &wanted).await?;
        self.live.confirm(&state).await?;
        let (read, mut values) = (Arc::new((state, wanted, entries)), Values::new());
        loop {
            let (read, at_hand) = (read.clone(), values.clone());
            let material = move || Material::read(&read.0, &read.1, &read.2, &at_hand);
            match off_runtime(material).await? {
                Ok(material) => return off_runtime(move || look(material)).await,
                Err(Lacking::Values(texts)) => values.extend(self.values_or_notes(texts, erased).await?),
                Err(Lacking::Refused(error)) => return Err(error.into()),
                Err(Lacking::Older) => return Err(Error::Closed),
            }
        }
    }

    async fn entries_of(&self, state: &State, wanted: &Wanted) -> Result<Vec<Entry>, Error> {
        let mut entries = match wanted.each.is_empty() {
            true => Vec::new(),
            false => self.live.store.read_each(self.id(), &wanted.each).await?,
        };
        let (types, subjects) = (vec![MessageAdded::TYPE.into()], vec![thread_subject(&wanted.thread).into()]);
        let pages = Pages::of(&*self.live.store, self.id(), wanted.after, state.head.seq, types);
        let mut pages = pages.about(subjects);
        while let Some(page) = pages.next().await? {
            entries.extend(page);
        }
        Ok(entries)
    }
}
