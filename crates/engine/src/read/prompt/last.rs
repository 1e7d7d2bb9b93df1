//! The prompt that an agent's model was last asked with, as the journal has it: what the next one has in common with it
//! a provider may have in its cache.

use std::sync::Arc;

use callboard_core::{
    count::{Tokens, Usage},
    fact::{self, Fact},
    id::{AgentName, Seq},
    prompt::Layout,
    run::turn_facts::{TurnAnswered, TurnRequested},
};
use callboard_prompt::{PromptPieces, Provider, ResolvedSpec};
use callboard_store::{Order, Query};

use super::Wanted;
use crate::{
    error::Error,
    prompt_memory::{MadePrompts, MemoryKey},
    session::Session,
};

impl Session {
    /// The last turn in which an agent's model was asked, and what it used, if that is known.
    pub async fn last_turn(&self, agent: &AgentName) -> Result<Option<(TurnRequested, Option<Usage>)>, Error> {
        let state = self.state().await?;
        let Some(requested) = state.runs.last_requested(agent) else { return Ok(None) };
        let Some(entry) = self.entry(requested).await? else { return Ok(None) };
        let turn: TurnRequested = fact::read(&entry)?;
        let query = Query {
            seqs: requested.next()..state.head.seq.next(),
            types: vec![TurnAnswered::TYPE.into()],
            subjects: vec![entry.header.subject.clone()],
            order: Order::Forward,
            limit: 1,
        };
        let answered = self.live.store.read(self.id(), query).await?;
        let answered: Option<TurnAnswered> = answered.first().map(fact::read).transpose()?;
        let usage = answered.filter(|answered| answered.turn == turn.turn).and_then(|answered| answered.usage);
        Ok(Some((turn, usage)))
    }

    /// How much of a prompt, from its beginning, is the same as in the prompt of the agent's last turn.
    pub(super) async fn reusable(
        &self,
        wanted: &Wanted,
        pieces: &PromptPieces,
        made: &mut MadePrompts,
    ) -> Result<Tokens, Error> {
        let Some(requested) = wanted.state.runs.last_requested(&wanted.spec.agent) else { return Ok(Tokens(0)) };
        let last = match made.last(requested) {
            Some(known) => known,
            None => {
                let found = self.pieces_of_turn(requested, wanted).await?;
                made.note_last(requested, found.clone());
                found
            }
        };
        let counted = last.map_or(Tokens(0), |last| pieces.common(&last));
        Ok(wanted.spec.factor.map_or(counted, |factor| factor.of(counted)))
    }

    /// The pieces of the prompt that the entry `requested` noted. None where it has nothing in common with one in this
    /// form, or cannot be made again, since it was laid out otherwise than prompts are now.
    async fn pieces_of_turn(&self, requested: Seq, wanted: &Wanted) -> Result<Option<Arc<PromptPieces>>, Error> {
        let entry = match self.live.newer(requested.previous(), requested).as_deref() {
            Some([entry]) => Some((**entry).clone()),
            _ => self.entry(requested).await?,
        };
        let Some(entry) = entry else { return Ok(None) };
        let turn: TurnRequested = fact::read(&entry)?;
        let Some(thread) = turn.speaks_in() else { return Ok(None) };
        let now = &wanted.spec;
        let (prompt, layout) = (&turn.prompt, &now.layout);
        let is_alike = (prompt.layout.as_str(), prompt.layout_version) == (layout.name(), Layout::VERSION);
        if !is_alike || prompt.format != now.format.name() {
            return Ok(None);
        }
        let spec = ResolvedSpec {
            agent: turn.agent.clone(),
            thread,
            layout: now.layout.clone(),
            format: now.format,
            provider: Provider::of(turn.model.as_deref()),
            profile: None,
            budget: prompt.budget,
            task: turn.task(),
            vocabulary: prompt.vocabulary.clone(),
            factor: prompt.factor,
            observed: prompt.observed.clone(),
            tools: turn.tools.clone(),
        };
        // Whoever made the prompt for the turn remembers its pieces. It is made again only where that was forgotten:
        // after a restart, on another server, or where the memory is full.
        let known = self.live.prompts.recall(&MemoryKey::of(&spec, wanted.erased));
        let made = known.as_ref().and_then(|known| known.made.made(prompt.at, &spec));
        match made.map(Some).or_else(|| known.and_then(|known| known.made.last(requested))) {
            Some(pieces) => Ok(pieces),
            None => self.make_again(&turn).await,
        }
    }

    /// Makes the prompt of a turn again.
    async fn make_again(&self, turn: &TurnRequested) -> Result<Option<Arc<PromptPieces>>, Error> {
        let Some(query) = turn.prompt_spec() else { return Ok(None) };
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
