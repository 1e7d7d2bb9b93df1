//! The way of a call: guarded, counted, and sent to where it is answered.

use std::time::Instant;

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    http::{Method, StatusCode},
    middleware::{self, Next},
    response::Response,
};

use crate::{app::App, controllers, guard, problem::Problem};

/// All that can be called, by those whom the guard lets in.
pub(crate) fn guarded(app: &App) -> Router {
    let guard = middleware::from_fn_with_state(app.clone(), guard::guard);
    routes(app).layer(guard).layer(middleware::from_fn_with_state(app.clone(), count))
}

/// All that can be called.
pub(crate) fn routes(app: &App) -> Router {
    let (routes, _) = controllers::routes().split_for_parts();
    routes.fallback(no_route).method_not_allowed_fallback(no_method).with_state(app.clone())
}

async fn no_route(request: Request) -> Problem {
    let path = request.uri().path();
    Problem::not_found(format!("nothing is at {path}")).hint("see /openapi.json for all that can be called")
}

async fn no_method(method: Method) -> Problem {
    let detail = format!("{method} is not among what can be done here");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", detail)
        .hint("the header Allow names what can be done")
}

/// Counts each call under its route, never under an address that somebody made up.
async fn count(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"].contains(&request.method().as_str());
    let method = if known { request.method().to_string() } else { "other".to_owned() };
    let response = next.run(request).await;
    app.metrics.count((method, route, response.status().as_u16()), began.elapsed());
    response
}
