//! `POST /v1/sessions/{session}/fork`

use callboard_core::id::{Seq, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{SessionBody, made};
use crate::{
    answer::Answer, body::Asked, caller::On, once::Task, problem::Problem, rights::ForkSession, rights::Rank, shape,
};

/// Where a session is forked.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fork {
    /// The last entry that the fork has; the head where it is left out. For the user.
    #[schema(value_type = Option<u64>, minimum = 1)]
    at: Option<Seq>,
    /// The name of the fork; a new one where it is left out.
    #[schema(value_type = Option<shape::text::SessionId>)]
    id: Option<SessionId>,
}

/// Make a session whose journal is the beginning of this one's
#[utoipa::path(post, path = "/v1/sessions/{session}/fork", tag = "sessions", operation_id = "fork_session",
    params(("session" = String, Path, description = "The session")),
    request_body = Option<Fork>,
    responses((status = CREATED, description = "The fork", body = SessionBody)))]
pub(crate) async fn fork(on: On<ForkSession>, asked: Asked<Fork>) -> Result<Answer<Value>, Problem> {
    let Asked { body: Fork { at, id }, terms } = asked;
    if at.is_some() && on.rank != Rank::User {
        return Err(on.forbidden("fork at an earlier entry"));
    }
    let at = match at {
        Some(at) => at,
        None => on.session.state().await?.head.seq,
    };
    let meant = Meant { id: id.unwrap_or_else(|| on.app.board.new_id()), at };
    let make = async |task| {
        on.expect(&terms).await?;
        make(&on, task).await
    };
    let made = on.app.once(on.actor.clone(), &terms, None, meant, make).await?;
    Ok(Answer::created(made))
}

/// What is made for a request, also where it comes again.
#[derive(Serialize, Deserialize)]
struct Meant {
    id: SessionId,
    at: Seq,
}

async fn make(on: &On<ForkSession>, task: Task<Meant>) -> Result<Value, Problem> {
    let (board, Meant { id, at }) = (&on.app.board, task.meant);
    let fork = match task.again {
        true => board.fork_again(&on.session, at, &id).await?,
        false => board.fork(&on.session, Some(at), Some(id)).await?,
    };
    made(&fork).await
}
