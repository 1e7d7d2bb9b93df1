//! The prompt that an agent's model was last asked with, as the journal has it: what the next one has in common with it
//! a provider may have in its cache.

use std::sync::Arc;

use callboard_core::{
    count::Tokens,
    fact,
    id::Seq,
    prompt::{Layout, Pieces},
    run::facts::TurnRequested,
};

use super::{PromptQuery, Wanted};
use crate::{
    error::Error,
    prompt_memory::{Asked, Past},
    session::Session,
};

impl Session {
    /// How much of a prompt, from its beginning, is the same as in the prompt of the agent's last turn.
    pub(super) async fn reusable(&self, wanted: &Wanted, pieces: &Pieces, past: &mut Past) -> Result<Tokens, Error> {
        let Some(requested) = wanted.state.runs.last_requested(&wanted.asked.reader) else { return Ok(Tokens(0)) };
        let last = match past.last(requested) {
            Some(known) => known,
            None => {
                let found = self.pieces_of_turn(requested, &wanted.asked).await?;
                past.note_last(requested, found.clone());
                found
            }
        };
        Ok(last.map_or(Tokens(0), |last| pieces.common(&last)))
    }

    /// The pieces of the prompt that the entry `requested` noted. None where it has nothing in common with one in this
    /// form, or cannot be made again, since it was laid out otherwise than prompts are now.
    async fn pieces_of_turn(&self, requested: Seq, now: &Asked) -> Result<Option<Arc<Pieces>>, Error> {
        let entry = match self.live.newer(requested.previous(), requested).as_deref() {
            Some([entry]) => Some((**entry).clone()),
            _ => self.entry(requested).await?,
        };
        let Some(entry) = entry else { return Ok(None) };
        let turn: TurnRequested = fact::read(&entry)?;
        let Some(asked) = turn.due.turn() else { return Ok(None) };
        let (prompt, layout) = (&turn.prompt, Layout::default());
        let is_alike = (prompt.layout.as_str(), prompt.layout_version) == (layout.name(), layout.version());
        if !is_alike || prompt.format != now.format.name() {
            return Ok(None);
        }
        let asked = Asked {
            reader: turn.agent.clone(),
            thread: asked.thread,
            layout,
            format: now.format,
            budget: prompt.budget,
            task: asked.task,
            vocabulary: prompt.vocabulary.clone(),
        };
        let made = self.live.prompts.recall(&asked.lane()).and_then(|known| known.past.made(prompt.at, &asked));
        match made {
            Some(pieces) => Ok(Some(pieces)),
            None => self.make_again(&turn, asked).await,
        }
    }

    /// Makes the prompt of a turn again.
    async fn make_again(&self, turn: &TurnRequested, asked: Asked) -> Result<Option<Arc<Pieces>>, Error> {
        let query = PromptQuery {
            agent: Some(asked.reader),
            thread: Some(asked.thread),
            layout: asked.layout,
            model: Some(turn.model.clone()),
            budget: Some(asked.budget),
            at: Some(turn.prompt.at),
            format: asked.format,
            task: asked.task,
            ..PromptQuery::default()
        };
        let made = match self.wanted(&query).await {
            Ok(wanted) => self.make(&wanted).await,
            Err(error) => Err(error),
        };
        match made {
            Ok((prompt, pieces, _)) => Ok((prompt.sha256() == turn.prompt.sha256).then_some(pieces)),
            Err(Error::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
