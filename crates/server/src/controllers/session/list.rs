//! `GET /v1/sessions`

use callboard_core::{error::Error as Refusal, id::SessionId};
use callboard_engine::{Board, Error, SessionInfo};
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
    #[param(value_type = Option<u64>, minimum = 0)]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^(3[0-9]|4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a]){1,128}$")]
    cursor: Option<String>,
    /// `id`, or `recent` for the ones used last, the last one first: these are no pages, but the first of all, behind a
    /// cursor of those with later ids.
    #[serde(default)]
    #[param(value_type = OrderShape, inline, required = false)]
    order: Order,
}

/// In which order sessions are given.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// By their ids.
    #[default]
    Id,
    /// By their last use.
    Recent,
}

#[derive(Serialize, ToSchema)]
#[schema(as = SessionOrder, rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "it is read by the document alone")]
enum OrderShape {
    Id,
    Recent,
}

/// Sessions, by id or by their last use.
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
    if query.order == Order::Recent {
        let sessions = recent(&here.app.board, after, limit).await?.into_iter().map(SessionBody::of).collect();
        return Ok(Answer::ok(SessionList { sessions, next_cursor: None }));
    }
    let mut infos = here.app.board.sessions(after.as_ref(), limit.saturating_add(1)).await?;
    let next_cursor = cursor::cut(&mut infos, limit, |info| info.id.as_str());
    let sessions = infos.into_iter().map(SessionBody::of).collect();
    Ok(Answer::ok(SessionList { sessions, next_cursor }))
}

/// How many sessions are looked at at once.
const PAGE: usize = 1000;

/// The sessions used last. Only those that are given are read.
async fn recent(board: &Board, mut after: Option<SessionId>, limit: usize) -> Result<Vec<SessionInfo>, Problem> {
    let mut rows = Vec::new();
    loop {
        let page = board.store().sessions(after.as_ref(), PAGE).await.map_err(Error::from)?;
        let Some((last, _)) = page.last() else { break };
        after = Some(last.clone());
        rows.extend(page.into_iter().map(|(id, row)| (row.last_activity, row.head.seq, id)));
    }
    rows.sort_unstable_by(|one, other| other.cmp(one));
    let mut infos = Vec::new();
    for (_, _, id) in rows {
        if infos.len() == limit {
            break;
        }
        match board.info(&id).await {
            Ok(info) => infos.push(info),
            // It has gone meanwhile, or is the record of a request.
            Err(Error::NoSession { .. }) => {}
            Err(Error::Refused(error @ (Refusal::WrittenByNewer { .. } | Refusal::Damaged { .. }))) => {
                tracing::warn!(session = %id, %error, "a session is left out of the list");
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(infos)
}
