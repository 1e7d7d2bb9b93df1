//! `GET /healthz` and `GET /readyz`

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    answer::Answer,
    app::App,
    problem::{Problem, ProblemBody},
};

/// That all is well.
#[derive(Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`
    status: &'static str,
}

/// Say that the server lives
#[utoipa::path(get, path = "/healthz", tag = "server", operation_id = "health",
    responses((status = OK, description = "It lives", body = Health)))]
pub(crate) async fn health() -> Answer<Health> {
    Answer::ok(Health { status: "ok" })
}

/// Say whether the server can be used: its store answers, and it is not shutting down
#[utoipa::path(get, path = "/readyz", tag = "server", operation_id = "ready",
    responses((status = OK, description = "It can be used", body = Health),
        (status = SERVICE_UNAVAILABLE, description = "It cannot be used now", body = ProblemBody,
            content_type = "application/problem+json")))]
pub(crate) async fn ready(State(app): State<App>) -> Result<Answer<Health>, Problem> {
    if app.closing.is_cancelled() {
        return Err(Problem::closing());
    }
    let sessions = app.board.store().sessions(None, 1).await;
    sessions.map_err(|error| Problem::from(callboard_engine::Error::from(error)))?;
    Ok(Answer::ok(Health { status: "ok" }))
}
