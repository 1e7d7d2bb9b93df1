//! The door for clients of the Model Context Protocol, at `/mcp`. What they ask for are the calls of the API.

use std::sync::Arc;

use async_trait::async_trait;
use axum::{
    Router,
    body::Body,
    extract::{Query, Request},
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
    routing::any,
};
use callboard_core::id::{AgentName, SessionId};
use callboard_engine::Board;
use callboard_mcp::{Api, Connections, Door, Pieces, Scope};
use futures::{FutureExt as _, future::BoxFuture};
use serde::Deserialize;
use serde_json::Value;

use crate::{app::App, body, call_error::CallError, caller, direct::answered};

/// What a client may say in the address.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The session that all requests are about.
    session: Option<SessionId>,
    /// The agent as which they are made.
    r#as: Option<AgentName>,
    /// Which tools are offered: `all`, or names.
    tools: Option<String>,
}

/// Answers calls through the routes of this server.
pub(crate) struct Routes(pub(crate) Router);

impl Api for Routes {
    fn call(&self, request: http::Request<Pieces>) -> BoxFuture<'_, Result<http::Response<Pieces>, String>> {
        answered(self.0.clone(), request).map(Ok).boxed()
    }
}

/// Connections in the store: all servers on it go on with them.
struct StoredConnections(Board);

#[async_trait]
impl Connections for StoredConnections {
    async fn keep(&self, name: &str, said: Value) -> Result<(), String> {
        self.0.keep_connection(name, said).await.map_err(|error| error.to_string())
    }

    async fn is_kept(&self, name: &str) -> Result<bool, String> {
        self.0.use_connection(name).await.map_err(|error| error.to_string())
    }

    async fn said(&self, name: &str) -> Result<Option<Value>, String> {
        self.0.connection(name).await.map_err(|error| error.to_string())
    }

    async fn forget(&self, name: &str) -> Result<(), String> {
        self.0.forget_connection(name).await.map_err(|error| error.to_string())
    }
}

/// The route to the door, behind which `routes` answer.
pub(crate) fn route(app: &App, routes: &Router) -> Router {
    let limits = &app.settings.limits;
    let api = Arc::new(Routes(routes.clone()));
    let kept = Arc::new(StoredConnections(app.board.clone()));
    let door = Arc::new(Door::new(api, kept, limits.connections, app.closing.clone()));
    let app = app.clone();
    let answer = move |request: Request| {
        let (app, door) = (app.clone(), door.clone());
        async move { answer(&app, &door, request).await.unwrap_or_else(CallError::into_response) }
    };
    Router::new().route("/mcp", any(answer))
}

async fn answer(app: &App, door: &Door, request: Request) -> Result<Response, CallError> {
    let (parts, body) = request.into_parts();
    // Whoever is not let in is told so before anything is looked at.
    let me = caller::from_request::credentials(&parts, app)?.me(app).await?;
    let Query(wanted) = Query::<Wanted>::try_from_uri(&parts.uri).map_err(|error| {
        CallError::invalid("", format!("the query cannot be read: {error}"))
            .hint("it may have `session`, `as` and `tools`")
    })?;
    let offer = wanted.tools.as_deref().map_or_else(|| Ok(Default::default()), str::parse);
    let token = parts.headers.get(header::AUTHORIZATION).map(|token| (header::AUTHORIZATION, token.clone()));
    let headers = HeaderMap::from_iter(token);
    let scope = Scope {
        headers,
        session: wanted.session.or(me.session),
        acting_as: wanted.r#as,
        offer: offer.map_err(|why: String| CallError::invalid("/tools", why))?,
    };
    // The door may have others wait until a request is answered.
    let bytes = body::collect(&parts.headers, body, &app.settings.limits).await?;
    let response = door.answer(http::Request::from_parts(parts, bytes), scope).await;
    Ok(response.map(Body::new))
}
