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
    let viewer = on.viewer();
    let mut names = on
        .session
        .view(&viewer, |view| {
            let names = view.threads().map(|(name, _)| name.clone());
            let names = names.filter(|name| after.as_ref().is_none_or(|after| name > after));
            Ok(names.take(limit.saturating_add(1)).collect::<Vec<_>>())
        })
        .await?;
    let more = names.len() > limit;
    names.truncate(limit);
    let next_cursor = names.last().filter(|_| more).map(|name| cursor::seal(name.as_str()));
    let mut threads = Vec::with_capacity(names.len());
    for name in names {
        threads.push(ThreadBody::seen(&on.session, &viewer, name).await?);
    }
    Ok(Answer::ok(ThreadList { threads, next_cursor }))
}
