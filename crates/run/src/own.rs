//! Turns outside of runs: the prompt is made as for a run, and noted. Whoever asked for it asks the model.

use callboard_core::run::own::BeginTurn;
use callboard_engine::PromptSpec;
use callboard_prompt::Prompt;

use crate::{Driver, Error};

impl Driver {
    /// Makes the prompt of a turn outside of a run. Where it would pass the size at which threads are compressed, what was
    /// said is compressed first. Gives the prompt, and the command that notes the turn.
    pub async fn own_turn(&self, spec: PromptSpec) -> Result<(Prompt, BeginTurn), Error> {
        // Without the secrets, no answer could be taken.
        self.session.mask().await?;
        let tools = spec.tools.clone();
        let prompt = self.new_prompt(spec).await?;
        let begin = prompt.begin_turn(tools);
        Ok((prompt, begin))
    }

    /// The prompt of a turn that begins now, with what can be seen of the browser, and with room.
    pub(crate) async fn new_prompt(&self, mut spec: PromptSpec) -> Result<Prompt, Error> {
        self.session.observe(&mut spec, &self.outside).await?;
        let prompt = self.session.prompt(&spec).await?;
        Box::pin(self.make_room(prompt, spec)).await
    }
}
