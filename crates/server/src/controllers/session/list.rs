//! `GET /v1/sessions`

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::SessionBody;
use crate::{
    answer::Answer,
    caller::Here,
    cursor,
    params::{Query, number},
    problem::Problem,
    rights::ListSessions,
};

/// How many sessions are given where nothing is said.
const LIMIT: usize = 1000;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// At most so many; 1,000 where it is left out, which is also the most.
    #[serde(default, deserialize_with = "number")]
    #[param(minimum = 0)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^(3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a]){1,128}$")]
    cursor: Option<String>,
}

/// Sessions by id.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionList {
    sessions: Vec<SessionBody>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// List sessions
#[utoipa::path(get, path = "/v1/sessions", tag = "sessions", operation_id = "list_sessions", params(ListQuery),
    responses((status = OK, description = "Sessions by id", body = SessionList)))]
pub(crate) async fn list(
    here: Here<ListSessions>,
    Query(query): Query<ListQuery>,
) -> Result<Answer<SessionList>, Problem> {
    let limit = query.limit.unwrap_or(LIMIT).min(LIMIT);
    let after = query.cursor.as_deref().map(cursor::session).transpose()?;
    let mut infos = here.app.board.sessions(after.as_ref(), limit.saturating_add(1)).await?;
    let next_cursor = cursor::cut(&mut infos, limit, |info| info.id.as_str());
    let sessions = infos.into_iter().map(SessionBody::of).collect();
    Ok(Answer::ok(SessionList { sessions, next_cursor }))
}
