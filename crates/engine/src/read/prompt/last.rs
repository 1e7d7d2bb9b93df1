//! The prompt that an agent's model was last asked with, as the journal has it: what the next one has in common with it
//! a provider may have in its cache.

use std::sync::Arc;

use callboard_core::{
    count::Tokens,
    entry::Hash,
    fact,
    id::Seq,
    prompt::{Layout, PromptSpec},
    run::turn_facts::TurnRequested,
};
use callboard_prompt::PromptPieces;

use super::Wanted;
use crate::{
    error::Error,
    prompt_memory::{MadePrompts, MemoryKey},
    session::Session,
};

impl Session {
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
        let (record, now) = (&turn.prompt, &wanted.spec);
        let is_alike = (record.layout.as_str(), record.layout_version) == (now.layout.name(), Layout::VERSION);
        let query = turn.prompt_spec().filter(|query| is_alike && query.format == now.format);
        let Some(query) = query else { return Ok(None) };
        let Wanted { spec, .. } = Wanted::new(wanted.state.clone(), wanted.erased, &query)?;
        // Whoever made the prompt for the turn remembers its pieces. It is made again only where that was forgotten:
        // after a restart, on another server, or where the memory is full.
        let known = self.live.prompts.get(&MemoryKey::of(&spec, wanted.erased));
        let made = known.as_ref().and_then(|known| known.made.made(record.at, &spec));
        match made.map(Some).or_else(|| known.and_then(|known| known.made.last(requested))) {
            Some(pieces) => Ok(pieces),
            None => self.make_again(&query, record.sha256).await,
        }
    }

    /// Makes the prompt of a turn again, which had this hash.
    async fn make_again(&self, query: &PromptSpec, sha256: Hash) -> Result<Option<Arc<PromptPieces>>, Error> {
        let made = match self.wanted(query).await {
            Ok((wanted, _)) => self.make(&wanted).await,
            Err(error) => Err(error),
        };
        match made {
            Ok((prompt, pieces, _)) => Ok((prompt.sha256() == sha256).then_some(pieces)),
            Err(Error::Refused(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
