//! `GET /v1/sessions/{session}/threads`

use callboard_core::id::ThreadId;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ThreadBody;
use crate::{
    answer::Answer,
    caller::On,
    cursor,
    params::{Query, number},
    problem::Problem,
    rights::ReadThreads,
};

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// At most so many; all where it is left out.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 0)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
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
    params(("session" = String, Path, description = "The session"), ListQuery),
    responses((status = OK, description = "The threads that the caller sees, by name", body = ThreadList)))]
pub(crate) async fn list(on: On<ReadThreads>, Query(query): Query<ListQuery>) -> Result<Answer<ThreadList>, Problem> {
    let after = query.cursor.as_deref().map(cursor::open).transpose()?;
    let after: Option<ThreadId> = after.map(|name| name.parse().map_err(|_| cursor::bad())).transpose()?;
    let limit = query.limit.unwrap_or(usize::MAX);
    let mut threads = on
        .session
        .view(&on.viewer(), |view| {
            let behind = |name: &ThreadId| after.as_ref().is_none_or(|after| name > after);
            let threads = view.threads().filter(|(name, _)| behind(name));
            let threads = threads.take(limit.saturating_add(1));
            Ok(threads.map(|(name, thread)| ThreadBody::seen(&view, name, thread)).collect::<Vec<_>>())
        })
        .await?;
    let more = threads.len() > limit;
    threads.truncate(limit);
    let next_cursor = threads.last().filter(|_| more).map(|thread| cursor::seal(thread.name.as_str()));
    Ok(Answer::ok(ThreadList { threads, next_cursor }))
}
