//! The server itself.

use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};

use crate::{call::*, caller::AuthorizedOnServer, rights::ReadMetrics};

/// The calls on this resource.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(health))
        .routes(routes!(ready))
        .routes(routes!(metrics))
        .routes(routes!(openapi))
        .routes(routes!(page))
}

/// Check that the server runs
#[utoipa::path(get, path = "/healthz", tag = "server",
    responses((status = OK, description = "The server runs", body = api::Health)))]
async fn health() -> Answer<api::Health> {
    Answer::ok(api::Health { status: "ok".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() })
}

/// Check that the server can be used
///
/// It can if its store answers, its background tasks work, and it is not shutting down.
#[utoipa::path(get, path = "/readyz", tag = "server",
    responses((status = OK, description = "The server can be used", body = api::Ready),
        (status = SERVICE_UNAVAILABLE, description = "The server cannot be used now; `detail` says why", body = api::Problem,
            content_type = "application/problem+json")))]
async fn ready(State(app): State<App>) -> Result<Answer<api::Ready>, CallError> {
    if app.closing.is_cancelled() {
        return Err(CallError::closing());
    }
    let troubled = app.supervisor().troubled();
    if !troubled.is_empty() {
        let detail = format!("background tasks have panicked: {}", troubled.join(", "));
        return Err(CallError::new("task_panicked", detail).hint("the server's log says why"));
    }
    let store = app.board.store();
    store.sessions(None, 1).await.map_err(|error| CallError::from(callboard_engine::Error::from(error)))?;
    Ok(Answer::ok(api::Ready { status: "ok".to_owned(), durability: store.durability().name().to_owned() }))
}

/// Read the metrics of the server in the text format of Prometheus
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = OK, description = "The metrics", body = String, content_type = "text/plain")))]
async fn metrics(server: AuthorizedOnServer<ReadMetrics>) -> Response {
    let app = &server.app;
    let text = app.metrics.text(app.drivers.len(), app.board.recall_behind(), &app.supervisor().panics());
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}

/// Read the OpenAPI document of this server
#[utoipa::path(get, path = "/openapi.json", tag = "server",
    responses((status = OK, description = "The OpenAPI document", body = Object)))]
async fn openapi(State(app): State<App>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], app.document.clone()).into_response()
}

/// Show the page for people
#[utoipa::path(get, path = "/", tag = "server",
    responses((status = OK, description = "The page", body = String, content_type = "text/html")))]
async fn page(State(app): State<App>, headers: HeaderMap) -> Response {
    app.page.index(&headers)
}
