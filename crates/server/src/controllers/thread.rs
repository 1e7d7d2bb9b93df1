//! Threads.

use callboard_api as api;
use callboard_core::{
    conversation::PutThread,
    error::Error as Refusal,
    id::{AgentName, ThreadId},
    prompt::PartReport,
    view::View,
    viewer::Viewer,
};
use callboard_engine::{DEFAULT_WINDOW, PromptQuery};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    answer::Answer,
    app::App,
    body::RequestBody,
    caller::Authorized,
    cursor::{self, After},
    params::{Name, Query},
    problem::Problem,
    rights::{ChangeThread, ReadThreads},
};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(put)).routes(routes!(context))
}

/// List threads
#[utoipa::path(get, path = "/v1/sessions/{session}/threads", tag = "threads", operation_id = "list_threads",
    params(("session" = api::SessionId, Path, description = "The session"), api::PageQuery),
    responses((status = OK, description = "The threads that the caller sees, by name", body = api::ThreadList)))]
async fn list(
    caller: Authorized<ReadThreads>,
    Query(query): Query<api::PageQuery>,
) -> Result<Answer<api::ThreadList>, Problem> {
    caller.list_threads(query).await
}

/// Say who sees a thread; it is made where there is none
#[utoipa::path(put, path = "/v1/sessions/{session}/threads/{thread}", tag = "threads", operation_id = "put_thread",
    params(("session" = api::SessionId, Path, description = "The session"),
        ("thread" = api::ThreadId, Path, description = "The thread")),
    request_body = api::PutThread,
    responses((status = OK, description = "Who sees it from now on", body = api::Thread)))]
async fn put(
    caller: Authorized<ChangeThread>,
    Name(name): Name<ThreadId>,
    request: RequestBody<api::PutThread>,
) -> Result<Answer<api::Thread>, Problem> {
    caller.put_thread(name, request).await
}

/// Say how large the prompt is that a thread leads to
///
/// It is the prompt of whoever asks; for the user it is the manager's, or that of the first agent that sees the thread.
#[utoipa::path(get, path = "/v1/sessions/{session}/threads/{thread}/context", tag = "threads",
    operation_id = "read_thread_context",
    params(("session" = api::SessionId, Path, description = "The session"),
        ("thread" = api::ThreadId, Path, description = "The thread")),
    responses((status = OK, description = "Its size, and that of its parts", body = api::ContextSize)))]
async fn context(
    caller: Authorized<ReadThreads>,
    Name(thread): Name<ThreadId>,
) -> Result<Answer<api::ContextSize>, Problem> {
    caller.measure_context(thread).await
}

impl Authorized<ReadThreads> {
    /// List threads
    pub(crate) async fn list_threads(&self, query: api::PageQuery) -> Result<Answer<api::ThreadList>, Problem> {
        let after = After::read(query.cursor.as_deref())?;
        let limit = query.limit.unwrap_or(usize::MAX);
        let mut threads = self
            .session
            .view(&self.viewer(), |view| {
                let threads = view.threads().filter(|(name, _)| after.is_before(name.as_str()));
                let threads = threads.take(limit.saturating_add(1));
                Ok(threads.map(|(name, thread)| api::Thread::seen(&view, name, thread)).collect::<Vec<_>>())
            })
            .await?;
        let next_cursor = cursor::cut(&mut threads, limit, |thread| thread.name.as_str());
        Ok(Answer::ok(api::ThreadList { threads, next_cursor }))
    }

    /// Say how large the prompt is that a thread leads to
    pub(crate) async fn measure_context(&self, thread: ThreadId) -> Result<Answer<api::ContextSize>, Problem> {
        let reader =
            self.session.view(&self.viewer(), |view| view.thread(&thread).map(|_| reader(&view, &thread))).await?;
        let Some(agent) = reader else {
            // No agent sees it: there is no prompt, only messages.
            let size = self.session.view(&Viewer::User, |view| Ok(view.size(view.thread(&thread)?))).await?;
            let history =
                PartReport { name: "history".to_owned(), tokens: size.tokens, shortened: false, omitted: Vec::new() };
            return Ok(Answer::ok(api::ContextSize::new(size.tokens, vec![history], DEFAULT_WINDOW)));
        };
        let default_model = self.app.settings.runs.model.clone();
        let query = PromptQuery { agent: Some(agent), thread: Some(thread), default_model, ..PromptQuery::default() };
        let prompt = self.session.prompt(&query).await?;
        Ok(Answer::ok(api::ContextSize::new(prompt.tokens, prompt.parts, prompt.budget)))
    }
}

impl Authorized<ChangeThread> {
    /// Say who sees a thread; it is made where there is none
    pub(crate) async fn put_thread(
        &self,
        name: ThreadId,
        request: RequestBody<api::PutThread>,
    ) -> Result<Answer<api::Thread>, Problem> {
        let receipt = self
            .execute(request.options, PutThread { thread: name.clone(), visible_to: request.body.visible_to })
            .await?;
        let viewer = self.viewer();
        // Whoever hides a thread from himself sees once more what he made of it.
        let look = |view: View<'_>| {
            let thread = view.state.threads.get(&name).ok_or_else(|| Refusal::not_found("thread", &name))?;
            Ok(api::Thread::seen(&view, &name, thread))
        };
        let body = self.session.view_at(&viewer, receipt.head, look).await?;
        Ok(Answer::ok(body).at(receipt.head))
    }
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
