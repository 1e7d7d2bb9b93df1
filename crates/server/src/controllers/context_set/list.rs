//! `GET /v1/sessions/{session}/context-sets`

use axum::response::Response;
use futures::{StreamExt, stream};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Seen, SetBody};
use crate::{
    answer::streamed,
    caller::On,
    cursor::{self, After},
    params::{PageQuery, Query},
    problem::Problem,
    rights::ReadSets,
};

/// Context sets by name.
#[derive(Serialize, ToSchema)]
pub(crate) struct ContextSetList {
    context_sets: Vec<SetBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// List context sets
#[utoipa::path(get, path = "/v1/sessions/{session}/context-sets", tag = "context sets",
    operation_id = "list_context_sets",
    params(("session" = String, Path, description = "The session"), PageQuery),
    responses((status = OK, description = "The sets that the caller sees, by name", body = ContextSetList)))]
pub(crate) async fn list(on: On<ReadSets>, Query(query): Query<PageQuery>) -> Result<Response, Problem> {
    let after = After::read(query.cursor.as_deref())?;
    let limit = query.limit.unwrap_or(usize::MAX);
    let mut sets = on
        .session
        .view(&on.viewer(), |view| {
            let sets = view.sets().filter(|set| after.is_before(set.held().set.name.as_str()));
            let sets = sets.take(limit.saturating_add(1));
            Ok(sets.map(|set| (set.held().set.name.clone(), Seen::of(set, &view))).collect::<Vec<_>>())
        })
        .await?;
    let next = cursor::cut(&mut sets, limit, |(name, _)| name.as_str());
    let behind = next.map(|next| format!(",\"next_cursor\":\"{next}\"")).unwrap_or_default();
    let sets = stream::iter(sets).then(move |(_, set)| {
        let session = on.session.clone();
        async move { set.whole(&session).await.map(|set| vec![set]) }
    });
    Ok(streamed("context_sets", sets, behind))
}
