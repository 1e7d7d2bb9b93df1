//! `DELETE /v1/sessions/{session}`

use axum::{extract::State, http::StatusCode};
use callboard_core::{entry::Actor, id::SessionId};
use callboard_engine::Error;
use serde_json::Value;

use crate::{
    app::App,
    body::{Asked, Nothing},
    caller::On,
    files,
    once::Task,
    params::SessionName,
    problem::Problem,
    rights::DeleteSession,
};

/// Delete all there is of a session
#[utoipa::path(delete, path = "/v1/sessions/{session}", tag = "sessions", operation_id = "delete_session",
    params(("session" = String, Path, description = "The session")),
    responses((status = NO_CONTENT, description = "It is gone")))]
pub(crate) async fn delete(
    State(app): State<App>,
    on: Result<On<DeleteSession>, Problem>,
    SessionName(id): SessionName,
    asked: Asked<Nothing>,
) -> Result<StatusCode, Problem> {
    let there = match on {
        Ok(on) => Some(on),
        // Only the user gets to know that there is no such session. The same request may have deleted it.
        Err(problem) if problem.status == StatusCode::NOT_FOUND && asked.terms.request.is_some() => None,
        Err(problem) => return Err(problem),
    };
    if let Some(on) = &there {
        on.expect(&asked.terms).await?;
    }
    let again = there.is_none();
    app.once(Actor::User, &asked.terms, None, id, |task| remove(&app, task, again)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove(app: &App, task: Task<SessionId>, was_gone: bool) -> Result<Value, Problem> {
    let deleted = app.board.delete(&task.meant).await;
    if let (Ok(()), Some(files)) = (&deleted, &app.files) {
        files.end(&task.meant, files::now(&app.board).await?).await;
    }
    match deleted {
        Err(Error::NoSession { .. }) if task.again && was_gone => Ok(Value::Null),
        deleted => Ok(deleted.map(|()| Value::Null)?),
    }
}
