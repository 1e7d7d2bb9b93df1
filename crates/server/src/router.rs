//! Routes requests to their handlers, behind the guard, and counts them.

use std::{panic::AssertUnwindSafe, time::Instant};

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    http::{HeaderValue, Method, header},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use futures::FutureExt as _;

use crate::{app::App, call_error::CallError, gateway, guard, mcp, resources};

/// All routes behind the guard. It is one layer, since each layer wraps every route once more.
pub(crate) fn guarded(app: &App) -> Router {
    let routes = routes(app);
    let mcp = mcp::route(app, &routes);
    routes.merge(mcp).merge(gateway::routes(app)).layer(middleware::from_fn_with_state(app.clone(), enter))
}

/// All routes.
pub(crate) fn routes(app: &App) -> Router {
    let (routes, _) = resources::routes().split_for_parts();
    routes.fallback(no_route).method_not_allowed_fallback(no_method).with_state(app.clone())
}

/// A file or a view of the page, or nothing.
async fn no_route(State(app): State<App>, request: Request) -> Response {
    let path = request.uri().path();
    let read = [Method::GET, Method::HEAD].contains(request.method());
    let shown = read.then(|| app.page.at(path, request.headers())).flatten();
    shown.unwrap_or_else(|| {
        let detail = format!("there is nothing at {path}");
        CallError::new("not_found", detail).hint("`/openapi.json` lists all calls").into_response()
    })
}

async fn no_method(method: Method) -> CallError {
    let detail = format!("{method} is not supported here");
    CallError::new("method_not_allowed", detail).hint("the header Allow lists the supported methods")
}

/// Lets a request in or refuses it, and counts it under its route. Unknown URLs are counted together.
async fn enter(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let response = match guard::check(&app, &request) {
        Ok(()) => {
            let answer = AssertUnwindSafe(next.run(request)).catch_unwind().await;
            answer.unwrap_or_else(|panic| CallError::panicked(&*panic).into_response())
        }
        Err(problem) => problem.into_response(),
    };
    let route = route.as_ref().map_or("none", MatchedPath::as_str);
    app.metrics.count(route, &method, response.status(), began.elapsed());
    uncached(response)
}

/// Lets no cache keep the answer: what a caller may see can change at any time.
fn uncached(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
