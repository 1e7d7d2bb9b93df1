//! `GET /v1/sessions/{session}/threads`

use serde::Serialize;
use utoipa::ToSchema;

use super::ThreadBody;
use crate::{
    answer::Answer,
    caller::On,
    cursor::{self, After},
    params::{PageQuery, Query},
    problem::Problem,
    rights::ReadThreads,
};

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
pub(crate) async fn list(on: On<ReadThreads>, Query(query): Query<PageQuery>) -> Result<Answer<ThreadList>, Problem> {
    let after = After::read(query.cursor.as_deref())?;
    let limit = query.limit.unwrap_or(usize::MAX);
    let mut threads = on
        .session
        .view(&on.viewer(), |view| {
            let threads = view.threads().filter(|(name, _)| after.is_before(name.as_str()));
            let threads = threads.take(limit.saturating_add(1));
            Ok(threads.map(|(name, thread)| ThreadBody::seen(&view, name, thread)).collect::<Vec<_>>())
        })
        .await?;
    let next_cursor = cursor::cut(&mut threads, limit, |thread| thread.name.as_str());
    Ok(Answer::ok(ThreadList { threads, next_cursor }))
}
