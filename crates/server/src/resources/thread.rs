//! Threads.

use callboard_core::{
    conversation::{PutThread, settings::ThreadPatch},
    error::Error as Refusal,
    id::ThreadId,
    view::View,
};

use crate::{call::*, cursor::NamePage, rights::ReadSession};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_threads)).routes(routes!(put_thread))
}

/// List threads
#[utoipa::path(get, path = "/v1/sessions/{session}/threads", tag = "threads",
    params(api::PageQuery),
    responses((status = OK, description = "A page of the threads that the caller sees, sorted by name", body = api::ThreadList)))]
async fn list_threads(
    caller: Authorized<ReadSession>,
    Query(query): Query<api::PageQuery>,
) -> Result<Answer<api::ThreadList>, CallError> {
    let page = NamePage::new(query.limit, query.cursor.as_deref())?;
    let look = |view: View<'_>| {
        let (threads, next_cursor) = page.of(view.threads(), |(name, _)| name.as_str());
        let threads = threads.into_iter().map(|(name, thread)| api::Thread::seen(&view, name, thread));
        Ok(api::ThreadList { threads: threads.collect(), next_cursor })
    };
    Ok(Answer::ok(caller.session.view(&caller.viewer(), look).await?))
}

/// Create a thread, or change who may see it and its settings
#[utoipa::path(put, path = "/v1/sessions/{session}/threads/{thread}", tag = "threads",
    params(InPath<ThreadId>),
    request_body = ThreadPatch,
    responses((status = OK, description = "The thread after the change", body = api::Thread)))]
async fn put_thread(
    caller: Authorized<PutThread>,
    InPath(name): InPath<ThreadId>,
    RequestBody { body: patch, options }: RequestBody<ThreadPatch>,
) -> Result<Answer<api::Thread>, CallError> {
    // A caller who has hidden the thread from itself still gets this answer.
    let look = |view: View<'_>, _| {
        let thread = view.state.threads.get(&name).ok_or_else(|| Refusal::not_found("thread", &name))?;
        Ok(api::Thread::seen(&view, &name, thread))
    };
    caller.change(options, PutThread { thread: name.clone(), patch }, look).await
}
