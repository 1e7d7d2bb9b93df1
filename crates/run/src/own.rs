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
        let whose = self.session.whose_prompt(&spec).await?;
        let mut spec = PromptSpec {
            agent: Some(whose.agent.clone()),
            thread: Some(whose.thread.clone()),
            model: whose.model.clone(),
            ..spec
        };
        self.session.observe(&mut spec, &self.outside).await?;
        let prompt = self.session.prompt(&spec).await?;
        let prompt = Box::pin(self.make_room(prompt, spec.clone())).await?;
        let (agent, thread, model) = (whose.agent, whose.thread, whose.model);
        let begin = BeginTurn { agent, thread, model, tools: spec.tools, prompt: prompt.record() };
        Ok((prompt, begin))
    }
}
