//! Prompts.

use callboard_api as api;
use callboard_core::{context_set::SetView, id::AgentName, prompt::Body, view::View};
use callboard_engine::PromptSpec;

use super::{
    Answer, Authorized, CallError,
    rights::{BuildPrompt, Rank, Right},
};

impl Authorized<BuildPrompt> {
    pub(crate) async fn build_prompt(&self, body: api::PromptBody) -> Result<Answer<api::Prompt>, CallError> {
        let api::PromptBody { agent, thread, layout, model, budget, at, recall, query, format } = body;
        if at.is_some() && self.rank != Rank::User {
            return Err(self.forbidden("build prompts as of an earlier entry"));
        }
        let agent = whose(self, agent, "build the prompts of others").await?;
        if let (Some(files), None) = (&self.app.files, at) {
            files.observe(&self.session).await?;
        }
        let default_model = self.app.settings.runs.model.clone();
        let spec =
            PromptSpec { agent, thread, layout, model, default_model, budget, at, format, ..PromptSpec::default() };
        let prompt = self.session.prompt(&PromptSpec { recall, query, ..spec }).await?;
        let tools = prompt.format.tools(&prompt.tools);
        let (text, messages, system) = match prompt.body {
            Body::Text(text) => (Some(text), None, None),
            Body::Messages(messages) => (None, Some(messages), None),
            Body::Anthropic { system, messages } => (None, Some(messages), Some(system)),
        };
        Ok(Answer::ok(api::Prompt {
            seq: prompt.seq,
            budget: prompt.budget,
            tokens: prompt.tokens,
            reusable_prefix_tokens: prompt.reusable_prefix_tokens,
            counting: prompt.counting,
            vocabulary: prompt.vocabulary,
            parts: prompt.parts,
            text,
            messages,
            system,
            tools,
            erased: prompt.erased,
        }))
    }
}

/// Through whose eyes to look. An agent looks through its own. The manager may also look through those that see nothing hidden
/// from it. `what` is what others may not.
pub(super) async fn whose<R: Right>(
    caller: &Authorized<R>,
    named: Option<AgentName>,
    what: &'static str,
) -> Result<Option<AgentName>, CallError> {
    let Some(own) = caller.agent() else { return Ok(named) };
    let Some(named) = named.filter(|named| named != own) else { return Ok(Some(own.clone())) };
    let forbidden = || Err(caller.forbidden(what));
    if caller.rank < Rank::Manager {
        return forbidden();
    }
    let look = |view: View<'_>| {
        let agent = view.state.team.agent(&named)?;
        Ok(sees_all_of(&view, &agent.name))
    };
    if caller.session.view(&caller.viewer(), look).await? { Ok(Some(named)) } else { forbidden() }
}

/// Whether the viewer sees, and has always seen, all sets and threads that `other` sees.
pub(super) fn sees_all_of(view: &View<'_>, other: &AgentName) -> bool {
    let mut sets = view.state.sets.iter().filter(|held| held.sight.audience.contains(other));
    let mut threads = view.state.threads.iter().filter(|(_, thread)| thread.sight.audience.contains(other));
    sets.all(|held| view.set(&held.set.name).is_ok_and(|seen| matches!(seen, SetView::Whole(_))))
        && threads.all(|(name, thread)| view.thread(name).is_ok() && view.size(thread) == thread.size())
}
