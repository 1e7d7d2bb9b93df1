//! Prompts.

use callboard_core::{
    context_set::SetView,
    count::{Counting, Tokens},
    id::{AgentName, Seq, ThreadId},
    prompt::{Body, Format, Layout, PartReport},
    view::View,
};
use callboard_engine::PromptQuery;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::RequestBody,
    caller::Authorized,
    problem::Problem,
    rights::{BuildPrompt, Rank},
    shape,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(build))
}

/// Which prompt is wanted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PromptBody {
    /// Whose; the caller's, the manager's or the only agent's where it is left out.
    #[schema(value_type = Option<shape::text::AgentName>)]
    agent: Option<AgentName>,
    /// In which thread; `main`, or the agent's own, where it is left out.
    #[schema(value_type = Option<shape::text::Label>)]
    thread: Option<ThreadId>,
    #[serde(default)]
    #[schema(value_type = LayoutShape, required = false)]
    layout: Layout,
    /// The model that reads it; the agent's, or that of agents that name none, where it is left out.
    model: Option<String>,
    /// What it has to fit in, in tokens; the model's window where it is left out.
    #[schema(value_type = Option<u64>, minimum = 0)]
    budget: Option<Tokens>,
    /// As of which entry; the head where it is left out. For the user.
    #[schema(value_type = Option<u64>, minimum = 1)]
    at: Option<Seq>,
    #[serde(default)]
    #[schema(value_type = FormatShape, required = false)]
    format: Format,
}

#[derive(ToSchema)]
#[schema(as = Layout, rename_all = "snake_case")]
#[allow(dead_code, reason = "it is read by the document alone")]
enum LayoutShape {
    Team,
}

#[derive(ToSchema)]
#[schema(as = Format, rename_all = "lowercase")]
#[allow(dead_code, reason = "it is read by the document alone")]
enum FormatShape {
    Text,
    OpenAi,
    Anthropic,
}

/// A prompt.
#[derive(Serialize, ToSchema)]
#[schema(as = Prompt)]
pub(crate) struct PromptAnswer {
    /// The last entry that it was made from.
    #[schema(value_type = u64)]
    seq: Seq,
    #[schema(value_type = u64)]
    budget: Tokens,
    #[schema(value_type = u64)]
    tokens: Tokens,
    /// How much of it, from its beginning, the agent's last turn in a run was asked with too: a provider may have so much in
    /// its cache.
    #[schema(value_type = u64)]
    reusable_prefix_tokens: Tokens,
    /// How far the size can be trusted: `exact` or `upper_bound`.
    #[schema(value_type = String)]
    counting: Counting,
    /// What it was counted in.
    vocabulary: String,
    #[schema(value_type = Vec<shape::prompt::PromptPartShape>)]
    parts: Vec<PartReport>,
    /// In the format `text`: what the model gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// In the formats `openai` and `anthropic`: what was said, as their APIs take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<Value>>,
    /// In the format `anthropic`: the blocks of text before the messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<Vec<Value>>,
    /// In the formats `openai` and `anthropic`: the tools that are offered with it, as their APIs take them. They are
    /// those of the agent that may be used now, and count as a part of the prompt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    tools: Vec<Value>,
}

/// Build the prompt of an agent
#[utoipa::path(post, path = "/v1/sessions/{session}/prompt", tag = "prompts", operation_id = "build_prompt",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<PromptBody>,
    responses((status = OK, description = "The prompt", body = PromptAnswer)))]
async fn build(
    caller: Authorized<BuildPrompt>,
    request: RequestBody<PromptBody>,
) -> Result<Answer<PromptAnswer>, Problem> {
    let PromptBody { agent, thread, layout, model, budget, at, format } = request.body;
    if at.is_some() && caller.rank != Rank::User {
        return Err(caller.forbidden("build prompts as of an earlier entry"));
    }
    let agent = whose(&caller, agent).await?;
    if let (Some(files), None) = (&caller.app.files, at) {
        files.observe(&caller.session).await?;
    }
    let default_model = caller.app.settings.runs.model.clone();
    let query =
        PromptQuery { agent, thread, layout, model, default_model, budget, at, format, ..PromptQuery::default() };
    let prompt = caller.session.prompt(&query).await?;
    let tools = prompt.format.tools(&prompt.tools);
    let (text, messages, system) = match prompt.body {
        Body::Text(text) => (Some(text), None, None),
        Body::Messages(messages) => (None, Some(messages), None),
        Body::Anthropic { system, messages } => (None, Some(messages), Some(system)),
    };
    Ok(Answer::ok(PromptAnswer {
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
    }))
}

/// Whose prompt is meant. An agent has its own, and the manager those in which there is nothing that it does not see.
async fn whose(caller: &Authorized<BuildPrompt>, named: Option<AgentName>) -> Result<Option<AgentName>, Problem> {
    let Some(own) = caller.agent() else { return Ok(named) };
    let Some(named) = named.filter(|named| named != own) else { return Ok(Some(own.clone())) };
    let forbidden = || Err(caller.forbidden("build the prompts of others"));
    if caller.rank < Rank::Manager {
        return forbidden();
    }
    let look = |view: View<'_>| {
        let agent = view.state.team.agent(&named)?;
        Ok(sees_all_of(&view, &agent.name))
    };
    if caller.session.view(&caller.viewer(), look).await? { Ok(Some(named)) } else { forbidden() }
}

/// Whether whoever looks sees all that stands in the prompts of `other`, and always has.
fn sees_all_of(view: &View<'_>, other: &AgentName) -> bool {
    let mut sets = view.state.sets.iter().filter(|held| held.sight.audience.contains(other));
    let mut threads = view.state.threads.iter().filter(|(_, thread)| thread.sight.audience.contains(other));
    sets.all(|held| view.set(&held.set.name).is_ok_and(|seen| matches!(seen, SetView::Whole(_))))
        && threads.all(|(name, thread)| view.thread(name).is_ok() && view.size(thread) == thread.size())
}
