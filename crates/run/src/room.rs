//! Room: a prompt that gets too large is made smaller before its turn. First long results of tools are no longer shown,
//! if the session wants that; then what is old is summarised.

use std::collections::BTreeMap;

use callboard_core::{
    compression::{
        CompressionSettings, Thresholds,
        facts::{ContextCrowded, ContextWarned},
    },
    count::Tokens,
    entry::Actor,
    error::ConflictKind,
    id::{Seq, ThreadId},
    prompt::{PartName, profile::Profile},
    state::State,
    viewer::Viewer,
};
use callboard_prompt::{PartReport, Prompt, compression::plan::Aim, tail::Source};

use callboard_engine::PromptSpec;

use crate::{Compressing, Compressor, Driver, Error, Extent, compress::WHOLE};

impl Driver {
    /// The prompt of a turn that is to be taken. Where it would pass the size at which threads are compressed, what was
    /// said is compressed first. Whatever fails there, the turn is taken.
    pub async fn make_room(&self, prompt: Prompt, query: PromptSpec) -> Result<Prompt, Error> {
        let state = self.session.state().await?;
        let settings = state.session.settings.compression.clone();
        let held = state.threads.get(&prompt.thread);
        let is_new = held.is_some_and(|held| !held.compression.warned.contains(&prompt.agent));
        if !is_new && !settings.is_automatic() {
            return Ok(prompt);
        }
        let (thresholds, asked, size) = (settings.thresholds(prompt.budget), prompt.seq, prompt.tokens);
        let mut room = Room { driver: self, settings, thresholds, prompt, query, size, history: Tokens(0) };
        (room.size, room.history) = room.whole(&state).await?;
        if room.size < thresholds.warn {
            return Ok(room.prompt);
        }
        if is_new {
            let Thresholds { warn: warn_at, compress: compress_at, .. } = thresholds;
            let (thread, agent) = (room.prompt.thread.clone(), room.prompt.agent.clone());
            let warned = ContextWarned { thread, agent, tokens: room.size, warn_at, compress_at };
            self.session.execute(Actor::System, warned).await?;
        }
        if room.settings.is_automatic() && room.is_full() {
            room.clear().await?;
            // Compressing is seldom, and large: it is kept off the stack of every turn.
            Box::pin(room.compress()).await?;
        }
        if is_new && room.prompt.seq == asked {
            // No prompt shows the warning, but the turn is taken as of now.
            room.measure().await?;
        }
        Ok(room.prompt)
    }
}

/// A prompt that gets too large.
struct Room<'a> {
    driver: &'a Driver,
    settings: CompressionSettings,
    thresholds: Thresholds,
    prompt: Prompt,
    query: PromptSpec,
    /// The size that the prompt would have with all of its history.
    size: Tokens,
    /// That of all of its history.
    history: Tokens,
}

impl Room<'_> {
    fn is_full(&self) -> bool {
        self.size >= self.thresholds.compress
    }

    /// Whether not all of the history fits.
    fn is_over_full(&self) -> bool {
        history(&self.prompt).is_some_and(|part| part.shortened)
    }

    /// The size that the prompt would have with all of its history, whatever share of the budget that has, and that of the
    /// history.
    async fn whole(&self, state: &State) -> Result<(Tokens, Tokens), Error> {
        let Some(shown) = history(&self.prompt) else { return Ok((self.prompt.tokens, Tokens(0))) };
        if !shown.shortened {
            return Ok((self.prompt.tokens, shown.tokens));
        }
        let profile = self.query.profile.as_ref().unwrap_or(&state.session.settings.prompt).clone();
        let profile = Some(Profile { parts: BTreeMap::new(), ..profile });
        // What is recalled does not change how long the history is.
        let all = PromptSpec { budget: Some(WHOLE), profile, recall: Some(false), ..self.query.clone() };
        let all = self.driver.session.prompt(&all).await?;
        let all = history(&all).map_or(shown.tokens, |part| part.tokens);
        Ok((self.prompt.tokens.minus(shown.tokens) + all, all))
    }

    /// Notes, once, that what no compression shortens is too large by itself.
    async fn note_crowded(&self) -> Result<(), Error> {
        let fixed_tokens = self.size.minus(self.history);
        if fixed_tokens < self.thresholds.compress {
            return Ok(());
        }
        let (thread, agent, tokens) = (self.prompt.thread.clone(), self.prompt.agent.clone(), self.size);
        let crowded = ContextCrowded { thread, agent, tokens, fixed_tokens, compress_at: self.thresholds.compress };
        self.driver.session.execute(Actor::System, crowded).await?;
        Ok(())
    }

    /// Makes the prompt again, of what is true now.
    async fn measure(&mut self) -> Result<(), Error> {
        let state = self.driver.session.state().await?;
        self.query.at = Some(state.head.seq);
        self.prompt = self.driver.session.prompt(&self.query).await?;
        (self.size, self.history) = self.whole(&state).await?;
        Ok(())
    }

    /// The threads that the prompt is made of, the largest first, and up to where each is to be left alone.
    async fn threads(&self) -> Result<Vec<(ThreadId, Option<Seq>)>, Error> {
        let viewer = Viewer::Agent(self.prompt.agent.clone());
        let threads = self.driver.session.view(&viewer, |view| {
            let size = |name: ThreadId| {
                let held = view.thread(&name).ok()?;
                let covered = view.summaries(&name).last().map(|head| head.through);
                let left_alone = held.compression.left_alone;
                Some((covered.is_some(), view.size(held).tokens, name, left_alone))
            };
            let threads = Source::of(&view, &self.prompt.thread).threads;
            let mut threads: Vec<_> = threads.into_iter().filter_map(size).collect();
            // What has a summary already is shorter than its messages tell.
            threads.sort_by_key(|(covered, tokens, ..)| (*covered, std::cmp::Reverse(*tokens)));
            Ok(threads.into_iter().map(|(_, _, name, left_alone)| (name, left_alone)).collect())
        });
        Ok(threads.await?)
    }

    /// How short a thread is to become. What is pinned is kept, however much that is.
    async fn target(&self, thread: &ThreadId) -> Result<Tokens, Error> {
        let state = self.driver.session.state().await?;
        let held = state.threads.get(thread).map(|held| held.compression.clone()).unwrap_or_default();
        Ok(self.settings.target_for(self.prompt.budget, held.pinned_tokens()))
    }

    /// Shows long and old results of tools no longer.
    async fn clear(&mut self) -> Result<(), Error> {
        let Some(over) = self.settings.clear_tool_results_over else { return Ok(()) };
        let keep_recent = Tokens(self.thresholds.target.0 / 4);
        for (thread, _) in self.threads().await? {
            if let Some(clear) = self.driver.session.clearable(&thread, over, keep_recent).await? {
                self.driver.session.execute(Actor::System, clear).await?;
                self.measure().await?;
            }
        }
        Ok(())
    }

    /// Compresses the threads one by one until the prompt is small enough.
    async fn compress(&mut self) -> Result<(), Error> {
        self.note_crowded().await?;
        for (thread, left_alone) in self.threads().await? {
            if !self.is_full() {
                break;
            }
            // A summary costs an answer of a model, and the provider's cache.
            let saved = self.history.minus(self.target(&thread).await?);
            if saved.0.saturating_mul(10) < self.size.0 {
                continue;
            }
            if let Some(behind) = left_alone {
                self.compress_thread(&thread, behind).await?;
                // What was put back is left alone where the prompt fits with it.
                if !self.is_full() || !self.is_over_full() {
                    continue;
                }
            }
            self.compress_thread(&thread, Seq::ZERO).await?;
        }
        Ok(())
    }

    /// Compresses what was said in a thread behind an entry.
    async fn compress_thread(&mut self, thread: &ThreadId, behind: Seq) -> Result<(), Error> {
        let Driver { session, models, .. } = self.driver;
        let compressor = Compressor { session: session.clone(), models: models.clone() };
        let wanted = Compressing {
            thread: thread.clone(),
            aim: Aim { target: self.target(thread).await?, keep_recent: None },
            model: self.settings.model.clone().or_else(|| self.prompt.model.clone()),
            by: Actor::System,
            extent: Extent::Record,
            default_model: self.query.default_model.clone(),
            layout: self.query.layout,
            behind,
        };
        match compressor.compress(wanted).await {
            Ok(done) if done.seq.is_some() => self.measure().await,
            Ok(_) => Ok(()),
            Err(Error::Engine(callboard_engine::Error::Refused(refusal)))
                if refusal.code() == ConflictKind::CompressedMeanwhile.code() =>
            {
                self.measure().await
            }
            // The prompt is cut to its budget then, as without compression.
            Err(Error::Engine(callboard_engine::Error::Refused(refusal))) => {
                tracing::warn!(session = %session.id(), %thread, %refusal, "a thread could not be compressed");
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// The part of a prompt that holds what was said.
fn history(prompt: &Prompt) -> Option<&PartReport> {
    let names = [PartName::HISTORY, PartName::CONVERSATION_HISTORY].map(PartName::as_str);
    prompt.parts.iter().find(|part| names.contains(&part.name.as_str()))
}
