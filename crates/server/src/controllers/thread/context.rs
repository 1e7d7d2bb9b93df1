//! `GET /v1/sessions/{session}/threads/{thread}/context`

use callboard_core::{
    compression::Thresholds,
    count::Tokens,
    id::{AgentName, ThreadId},
    prompt::PartReport,
    view::View,
    viewer::Viewer,
};
use callboard_engine::{DEFAULT_WINDOW, PromptQuery};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{answer::Answer, caller::On, params::Name, problem::Problem, rights::ReadThreads, shape};

/// How large the prompt is that a thread leads to now.
#[derive(Serialize, ToSchema)]
pub(crate) struct ContextSize {
    #[schema(value_type = u64)]
    tokens: Tokens,
    #[schema(value_type = Vec<shape::prompt::PromptPartShape>)]
    parts: Vec<PartReport>,
    /// The size from which on the thread is long.
    #[schema(value_type = u64)]
    warn_at: Tokens,
    /// The size from which on it is to be compressed.
    #[schema(value_type = u64)]
    compress_at: Tokens,
}

impl ContextSize {
    fn new(tokens: Tokens, parts: Vec<PartReport>, budget: Tokens) -> Self {
        let Thresholds { warn, compress } = Thresholds::of(budget);
        Self { tokens, parts, warn_at: warn, compress_at: compress }
    }
}

/// Say how large the prompt is that a thread leads to
///
/// It is the prompt of whoever asks; for the user it is the manager's, or that of the first agent that sees the thread.
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/context", tag = "threads",
    operation_id = "read_thread_context",
    params(("session" = String, Path, description = "The session"),
        ("thread" = String, Path, description = "The thread")),
    responses((status = OK, description = "Its size, and that of its parts", body = ContextSize)))]
pub(crate) async fn context(on: On<ReadThreads>, Name(thread): Name<ThreadId>) -> Result<Answer<ContextSize>, Problem> {
    let reader = on.session.view(&on.viewer(), |view| view.thread(&thread).map(|_| reader(&view, &thread))).await?;
    let Some(agent) = reader else {
        // No agent sees it: there is no prompt, only messages.
        let size = on.session.view(&Viewer::User, |view| Ok(view.size(view.thread(&thread)?))).await?;
        let history =
            PartReport { name: "history".to_owned(), tokens: size.tokens, shortened: false, omitted: Vec::new() };
        return Ok(Answer::ok(ContextSize::new(size.tokens, vec![history], DEFAULT_WINDOW)));
    };
    let default_model = on.app.settings.runs.model.clone();
    let query = PromptQuery { agent: Some(agent), thread: Some(thread), default_model, ..PromptQuery::default() };
    let prompt = on.session.prompt(&query).await?;
    Ok(Answer::ok(ContextSize::new(prompt.tokens, prompt.parts, prompt.budget)))
}

/// Whose prompt is meant: the caller's, else the manager's, else that of the first agent that sees the thread.
fn reader(view: &View<'_>, thread: &ThreadId) -> Option<AgentName> {
    if let Some(agent) = view.agent() {
        return Some(agent.clone());
    }
    let audience = &view.thread(thread).ok()?.sight.audience;
    let team = &view.state.team;
    let names = team.manager().map(|manager| &manager.name).into_iter().chain(team.names());
    let mut seeing = names.filter(|name| audience.contains(name));
    seeing.next().cloned()
}
