//! `GET /healthz` and `GET /readyz`

use axum::extract::State;
use callboard_store::Durability;
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
    /// The version of the server.
    version: &'static str,
}

/// That it can be used.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ready {
    /// `ok`
    status: &'static str,
    /// What a change has survived once it is answered: `process`, which is nothing beyond the server, `normal`, the end
    /// of the process by any means, or `full`, a loss of power too.
    #[schema(value_type = String)]
    durability: &'static str,
}

/// Say that the server lives
#[utoipa::path(get, path = "/healthz", tag = "server", operation_id = "health",
    responses((status = OK, description = "It lives", body = Health)))]
pub(crate) async fn health() -> Answer<Health> {
    Answer::ok(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Say whether the server can be used: its store answers, and it is not shutting down
#[utoipa::path(get, path = "/readyz", tag = "server", operation_id = "ready",
    responses((status = OK, description = "It can be used", body = Ready),
        (status = SERVICE_UNAVAILABLE, description = "It cannot be used now", body = ProblemBody,
            content_type = "application/problem+json")))]
pub(crate) async fn ready(State(app): State<App>) -> Result<Answer<Ready>, Problem> {
    if app.closing.is_cancelled() {
        return Err(Problem::closing());
    }
    let store = app.board.store();
    store.sessions(None, 1).await.map_err(|error| Problem::from(callboard_engine::Error::from(error)))?;
    let durability = match store.durability() {
        Durability::Process => "process",
        Durability::Normal => "normal",
        Durability::Full => "full",
    };
    Ok(Answer::ok(Ready { status: "ok", durability }))
}
