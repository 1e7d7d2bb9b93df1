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
use callboard_store::{Order, Query};

use crate::{blocking::off_runtime, error::Error, session::Session};

/// How many messages are read at once.
const PAGE: usize = 4096;

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
        let read = Reading { state, wanted, entries, values: Values::new() };
        let (mut read, mut material) = read.go_on().await?;
        while let Err(Lacking::Values(texts)) = material {
            read.values.extend(self.values_or_notes(texts, erased).await?);
            (read, material) = read.go_on().await?;
        }
        let material = material.map_err(|lacking| match lacking {
            Lacking::Refused(error) => error.into(),
            Lacking::Values(_) | Lacking::Older => Error::Closed,
        })?;
        off_runtime(move || look(material)).await
    }

    async fn entries_of(&self, state: &State, wanted: &Wanted) -> Result<Vec<Entry>, Error> {
        let mut entries = match wanted.each.is_empty() {
            true => Vec::new(),
            false => self.live.store.read_each(self.id(), &wanted.each).await?,
        };
        let mut after = wanted.after;
        loop {
            let query = Query {
                seqs: after.next()..state.head.seq.next(),
                types: vec![MessageAdded::TYPE.into()],
                subjects: vec![thread_subject(&wanted.thread).into()],
                order: Order::Forward,
                limit: PAGE,
            };
            let page = self.live.store.read(self.id(), query).await?;
            let is_last = page.len() < PAGE;
            after = page.last().map_or(after, |entry| entry.header.seq);
            entries.extend(page);
            if is_last {
                return Ok(entries);
            }
        }
    }
}

/// What was read so far.
struct Reading {
    state: Arc<State>,
    wanted: Wanted,
    entries: Vec<Entry>,
    values: Values,
}

impl Reading {
    async fn go_on(self) -> Result<(Self, Result<Material, Lacking>), Error> {
        let read = move || {
            let material = Material::read(&self.state, &self.wanted, &self.entries, &self.values);
            (self, material)
        };
        off_runtime(read).await
    }
}
