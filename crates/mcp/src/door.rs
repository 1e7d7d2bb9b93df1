//! The door for clients that come over HTTP: the protocol's Streamable HTTP.

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{Arc, PoisonError},
};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        SessionManager as _, StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use std::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{Api, Scope, server::Server};

/// The header that names a connection.
const CONNECTION: &str = "mcp-session-id";

/// Answers requests of the protocol over HTTP, with a server for each client.
pub struct Door<S = Server> {
    service: StreamableHttpService<S, LocalSessionManager>,
    connections: Arc<LocalSessionManager>,
    /// Whose each connection is. It is nobody else's, whoever knows its id.
    owners: Mutex<HashMap<String, Scope>>,
    most: usize,
}

impl Door {
    /// A door to `api` that takes bodies of at most `body` bytes and keeps at most `most` connections open, until `closing`.
    pub fn new(api: Arc<dyn Api>, body: usize, most: usize, closing: CancellationToken) -> Self {
        let token = closing.clone();
        Self::with(move || Server::new(api.clone(), Scope::default(), token.clone()), body, most, closing)
    }
}

impl<S: ServerHandler> Door<S> {
    /// The same, to the servers that `make` makes.
    pub fn with(
        make: impl Fn() -> S + Send + Sync + 'static,
        body: usize,
        most: usize,
        closing: CancellationToken,
    ) -> Self {
        let mut connections = LocalSessionManager::default();
        // Some clients take an event without a message at the beginning of a stream for a fault, and hang up.
        connections.session_config.sse_retry = None;
        let connections = Arc::new(connections);
        let config = StreamableHttpServerConfig::default()
            .with_sse_retry(None)
            // Hosts and origins are checked before.
            .disable_allowed_hosts()
            .with_max_request_body_bytes(body)
            .with_cancellation_token(closing);
        let service = StreamableHttpService::new(move || Ok(make()), connections.clone(), config);
        Self { service, connections, owners: Mutex::default(), most }
    }

    /// Answers a request of whoever `scope` says.
    pub async fn answer<B>(&self, mut request: Request<B>, scope: Scope) -> Response<BoxBody<Bytes, Infallible>>
    where
        B: Body + Send + 'static,
        B::Error: std::fmt::Display,
        B::Data: Send + 'static,
    {
        let named = connection(request.headers());
        match &named {
            Some(named) if self.owner(named).is_some_and(|owner| owner != scope) => {
                return refused(StatusCode::NOT_FOUND, "there is no such session of the protocol");
            }
            Some(_) => {}
            None => {
                if self.open().await >= self.most {
                    return refused(StatusCode::TOO_MANY_REQUESTS, "too many clients are connected: try again later");
                }
            }
        }
        request.extensions_mut().insert(scope.clone());
        let response = self.service.handle(request).await;
        if let (None, Some(new)) = (named, connection(response.headers())) {
            self.owners.lock().unwrap_or_else(PoisonError::into_inner).insert(new, scope);
        }
        response
    }

    fn owner(&self, connection: &str) -> Option<Scope> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner).get(connection).cloned()
    }

    /// How many connections are open. Those that have ended are forgotten.
    async fn open(&self) -> usize {
        let known: Vec<String> = self.owners.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
        let mut ended = Vec::new();
        for connection in known {
            if !self.connections.has_session(&connection.clone().into()).await.unwrap_or(false) {
                ended.push(connection);
            }
        }
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        ended.iter().for_each(|connection| drop(owners.remove(connection)));
        owners.len()
    }
}

fn connection(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(CONNECTION)?.to_str().ok()?.to_owned())
}

/// An error of JSON-RPC that answers no request in particular.
fn refused(status: StatusCode, message: &str) -> Response<BoxBody<Bytes, Infallible>> {
    let body = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": message}});
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if status == StatusCode::TOO_MANY_REQUESTS {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
    }
    response
}
