//! Threads.

use callboard_core::{
    audience::Audience,
    compression::Thresholds,
    conversation::{PutThread, Size, Thread},
    count::Tokens,
    error::Error as Refusal,
    id::{AgentName, ThreadId},
    prompt::PartReport,
    time::Timestamp,
    view::View,
    viewer::Viewer,
};
use callboard_engine::{DEFAULT_WINDOW, PromptQuery};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::RequestBody,
    caller::Authorized,
    cursor::{self, After},
    params::{Name, PageQuery, Query},
    problem::Problem,
    rights::{ChangeThread, ReadThreads},
    shape,
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(put)).routes(routes!(context))
}

/// A thread, as far as its reader may know it.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = Thread)]
pub(crate) struct ThreadBody {
    #[schema(value_type = String)]
    name: ThreadId,
    #[schema(value_type = shape::session::AudienceShape)]
    visible_to: Audience,
    /// How many messages it has.
    messages: u64,
    /// The size of its messages.
    #[schema(value_type = u64)]
    tokens: Tokens,
    /// When its last message was added.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_at: Option<Timestamp>,
}

impl ThreadBody {
    /// What is seen of a thread through `view`.
    pub(crate) fn seen(view: &View<'_>, name: &ThreadId, thread: &Thread) -> Self {
        let Size { messages, tokens, last_at } = view.size(thread);
        Self { name: name.clone(), visible_to: thread.sight.audience.clone(), messages, tokens, last_at }
    }
}

/// Threads by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct ThreadList {
    threads: Vec<ThreadBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// List threads
#[utoipa::path(get, path = "/v1/sessions/{session}/threads", tag = "threads", operation_id = "list_threads",
    params(("session" = String, Path, description = "The session"), PageQuery),
    responses((status = OK, description = "The threads that the caller sees, by name", body = ThreadList)))]
async fn list(caller: Authorized<ReadThreads>, Query(query): Query<PageQuery>) -> Result<Answer<ThreadList>, Problem> {
    let after = After::read(query.cursor.as_deref())?;
    let limit = query.limit.unwrap_or(usize::MAX);
    let mut threads = caller
        .session
        .view(&caller.viewer(), |view| {
            let threads = view.threads().filter(|(name, _)| after.is_before(name.as_str()));
            let threads = threads.take(limit.saturating_add(1));
            Ok(threads.map(|(name, thread)| ThreadBody::seen(&view, name, thread)).collect::<Vec<_>>())
        })
        .await?;
    let next_cursor = cursor::cut(&mut threads, limit, |thread| thread.name.as_str());
    Ok(Answer::ok(ThreadList { threads, next_cursor }))
}

/// Who is to see a thread.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = PutThread)]
pub(crate) struct PutBody {
    #[schema(value_type = shape::session::AudienceShape)]
    visible_to: Audience,
}

/// Say who sees a thread; it is made where there is none
#[utoipa::path(put, path = "/v1/sessions/{session}/threads/{thread}", tag = "threads", operation_id = "put_thread",
    params(("session" = String, Path, description = "The session"),
        ("thread" = String, Path, description = "The thread")),
    request_body = PutBody,
    responses((status = OK, description = "Who sees it from now on", body = ThreadBody)))]
async fn put(
    caller: Authorized<ChangeThread>,
    Name(name): Name<ThreadId>,
    request: RequestBody<PutBody>,
) -> Result<Answer<ThreadBody>, Problem> {
    let receipt = caller
        .execute(request.options, PutThread { thread: name.clone(), visible_to: request.body.visible_to })
        .await?;
    let viewer = caller.viewer();
    // Whoever hides a thread from himself sees once more what he made of it.
    let look = |view: View<'_>| {
        let thread = view.state.threads.get(&name).ok_or_else(|| Refusal::not_found("thread", &name))?;
        Ok(ThreadBody::seen(&view, &name, thread))
    };
    let body = caller.session.view_at(&viewer, receipt.head, look).await?;
    Ok(Answer::ok(body).at(receipt.head))
}

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
async fn context(
    caller: Authorized<ReadThreads>,
    Name(thread): Name<ThreadId>,
) -> Result<Answer<ContextSize>, Problem> {
    let reader =
        caller.session.view(&caller.viewer(), |view| view.thread(&thread).map(|_| reader(&view, &thread))).await?;
    let Some(agent) = reader else {
        // No agent sees it: there is no prompt, only messages.
        let size = caller.session.view(&Viewer::User, |view| Ok(view.size(view.thread(&thread)?))).await?;
        let history =
            PartReport { name: "history".to_owned(), tokens: size.tokens, shortened: false, omitted: Vec::new() };
        return Ok(Answer::ok(ContextSize::new(size.tokens, vec![history], DEFAULT_WINDOW)));
    };
    let default_model = caller.app.settings.runs.model.clone();
    let query = PromptQuery { agent: Some(agent), thread: Some(thread), default_model, ..PromptQuery::default() };
    let prompt = caller.session.prompt(&query).await?;
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
