//! The door for clients that come over HTTP: the protocol's Streamable HTTP.

use std::{
    collections::{HashMap, HashSet},
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use bytes::Bytes;
use futures::StreamExt as _;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, BodyStream, Full, StreamBody, combinators::UnsyncBoxBody};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{
        SessionManager as _, StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{
    Api, Connections, Scope,
    connections::{ASKING, ConnectionStore, name},
    server::Server,
};

/// The header that names a connection.
const CONNECTION: &str = "mcp-session-id";
/// The header that names the version of the protocol.
const VERSION: &str = "mcp-protocol-version";
/// The first version without connections. Versions are dates.
const NEWEST: &[u8] = b"2026-07-28";
/// The header that says where a stream broke.
const LAST_EVENT: &str = "last-event-id";
/// How often it is looked whether a connection whose client listens here was ended at another server.
const LOOK: Duration = Duration::from_secs(5);

/// Answers requests of the protocol over HTTP, with a server for each client.
pub struct Door<S = Server> {
    service: StreamableHttpService<S, LocalSessionManager>,
    /// The connections that are open here.
    open: Arc<LocalSessionManager>,
    /// All of them, open here or not.
    kept: Arc<dyn Connections>,
    /// Those that are being taken up here, or were: the numbers of their earlier streams mean nothing here.
    taken_up: Mutex<HashSet<String>>,
    /// Those of which requests are looking whether they are open.
    gates: Mutex<HashMap<String, Weak<Gate>>>,
    most: usize,
}

/// What a client is answered: its body need not be shared among threads.
type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// Whoever takes up a connection holds it: a request that came in between would be taken for the first of the connection.
type Gate = tokio::sync::Mutex<()>;

impl Door {
    /// A door to `api` that keeps at most `most` connections open, until `closing`. It goes on with all those in `kept`.
    pub fn new(api: Arc<dyn Api>, kept: Arc<dyn Connections>, most: usize, closing: CancellationToken) -> Self {
        let token = closing.clone();
        Self::with(move || Server::new(api.clone(), Scope::default(), token.clone()), kept, most, closing)
    }
}

impl<S: ServerHandler> Door<S> {
    /// The same, to the servers that `make` makes.
    pub fn with(
        make: impl Fn() -> S + Send + Sync + 'static,
        kept: Arc<dyn Connections>,
        most: usize,
        closing: CancellationToken,
    ) -> Self {
        let mut open = LocalSessionManager::default();
        // Some clients take an event without a message at the beginning of a stream for a fault, and hang up.
        open.session_config.sse_retry = None;
        let open = Arc::new(open);
        let mut config = StreamableHttpServerConfig::default()
            .with_sse_retry(None)
            // Hosts, origins and the size of bodies are checked before.
            .disable_allowed_hosts()
            .with_max_request_body_bytes(usize::MAX)
            .with_cancellation_token(closing);
        config.session_store = Some(Arc::new(ConnectionStore(kept.clone())));
        let service = StreamableHttpService::new(move || Ok(make()), open.clone(), config);
        Self { service, open, kept, taken_up: Mutex::default(), gates: Mutex::default(), most }
    }

    /// Answers a request of whoever `scope` says.
    pub async fn answer(&self, mut request: Request<Bytes>, scope: Scope) -> Answer {
        let Some(id) = connection(request.headers()) else { return self.without_connection(request, scope).await };
        let gate = self.gate(&id);
        let held = gate.lock().await;
        let is_open = self.is_open(&id).await;
        // Only requests that take the connection up wait for each other.
        let held = (!is_open).then_some(held);
        let kept_as = name(&id, &scope);
        match self.kept.is_kept(&kept_as).await {
            // It is another one's, or has ended. Whoever may take it up need not wait for this request.
            Ok(false) if is_open || !is_of_newest(request.headers()) => {
                return refused(StatusCode::NOT_FOUND, "there is no such session of the protocol");
            }
            Ok(false) => {
                // Clients of the newest version have no connection.
                request.headers_mut().remove(CONNECTION);
                drop(held);
                return self.without_connection(request, scope).await;
            }
            // To end it, it need not be taken up.
            Ok(true) if !is_open && request.method() != Method::DELETE => {
                if self.is_full().await {
                    return too_many();
                }
                self.note_taken_up(&id).await;
            }
            Ok(_) => {}
            Err(why) => return refused(StatusCode::SERVICE_UNAVAILABLE, &why),
        }
        if request.method() != Method::GET {
            let is_end = request.method() == Method::DELETE;
            let answer = self.pass(request, scope).await;
            return if is_end { ended(answer) } else { answer };
        }
        if !is_of_an_answer(last_event(request.headers())) {
            self.end_stream(&id).await;
        }
        if self.is_of_before(&id, request.headers(), is_open) {
            request.headers_mut().remove(LAST_EVENT);
        } else {
            begin_behind_last(request.headers_mut());
        }
        let answer = self.pass(request, scope).await;
        self.until_ended_elsewhere(answer, id, kept_as)
    }

    async fn without_connection(&self, request: Request<Bytes>, scope: Scope) -> Answer {
        if self.is_full().await { too_many() } else { self.pass(request, scope).await }
    }

    async fn pass(&self, mut request: Request<Bytes>, scope: Scope) -> Answer {
        request.extensions_mut().insert(scope.clone());
        ASKING.scope(scope, self.service.handle(request.map(Full::new))).await.map(|body| body.boxed_unsync())
    }

    async fn is_open(&self, id: &str) -> bool {
        self.open.has_session(&id.into()).await.unwrap_or(false)
    }

    async fn is_full(&self) -> bool {
        self.open.sessions.read().await.len() >= self.most
    }

    /// The gate of a connection. It exists as long as somebody has it.
    fn gate(&self, id: &str) -> Arc<Gate> {
        let mut gates = self.gates.lock().unwrap_or_else(PoisonError::into_inner);
        gates.retain(|_, gate| gate.strong_count() > 0);
        let there = gates.get(id).and_then(Weak::upgrade);
        there.unwrap_or_else(|| {
            let gate = Arc::default();
            gates.insert(id.to_owned(), Arc::downgrade(&gate));
            gate
        })
    }

    /// Notes that a connection is taken up here. Those that have ended are forgotten.
    async fn note_taken_up(&self, id: &str) {
        let open: HashSet<_> = self.open.sessions.read().await.keys().cloned().collect();
        let mut taken_up = self.taken_up.lock().unwrap_or_else(PoisonError::into_inner);
        taken_up.retain(|id| open.contains(&**id));
        taken_up.insert(id.to_owned());
    }

    /// Whether a request wants to go on with a stream that the connection had before it was taken up here. It gets a new one.
    fn is_of_before(&self, id: &str, headers: &HeaderMap, is_open: bool) -> bool {
        // The stream of an answer of before is not known, and closed.
        let taken_up = || self.taken_up.lock().unwrap_or_else(PoisonError::into_inner).contains(id);
        !is_open || (!is_of_an_answer(last_event(headers)) && taken_up())
    }

    /// Ends the stream in which the client of a connection is told what changes, if there is one. Where it broke and that is not
    /// known here, the library would tell it no more in a second one.
    async fn end_stream(&self, id: &str) {
        let open = self.open.sessions.read().await.get(id).cloned();
        if let Some(open) = open {
            // It fails where the connection has just ended.
            let _ = open.close_standalone_sse_stream(None).await;
        }
    }

    /// The same answer, a stream that ends soon after its connection was ended at another server.
    fn until_ended_elsewhere(&self, answer: Answer, id: String, kept_as: String) -> Answer {
        let (open, kept) = (self.open.clone(), self.kept.clone());
        let ended = async move {
            while !matches!(kept.is_kept(&kept_as).await, Ok(false)) {
                sleep(LOOK).await;
            }
            // It fails where the connection has ended here, too.
            let _ = open.close_session(&id.into()).await;
        };
        answer.map(|body| StreamBody::new(BodyStream::new(body).take_until(ended)).boxed_unsync())
    }
}

fn connection(headers: &HeaderMap) -> Option<String> {
    Some(headers.get(CONNECTION)?.to_str().ok()?.to_owned())
}

/// The last event that the client has of a stream that broke: its number, and after a slash of which answer the stream is.
fn last_event(headers: &HeaderMap) -> &str {
    headers.get(LAST_EVENT).and_then(|last| last.to_str().ok()).unwrap_or_default()
}

/// Whether an event is of the stream of one answer. Others tell what changes.
fn is_of_an_answer(event: &str) -> bool {
    event.contains('/')
}

/// Has a stream begin behind the last event that the client has: the library repeats the one that is named, too.
fn begin_behind_last(headers: &mut HeaderMap) {
    let last = last_event(headers);
    let (number, stream) = last.split_at(last.find('/').unwrap_or(last.len()));
    let Some(next) = number.parse::<usize>().ok().and_then(|number| number.checked_add(1)) else { return };
    if let Ok(next) = HeaderValue::try_from(format!("{next}{stream}")) {
        headers.insert(LAST_EVENT, next);
    }
}

/// Whether a request is of a version of the protocol that has no connections.
fn is_of_newest(headers: &HeaderMap) -> bool {
    headers.get(VERSION).is_some_and(|version| version.as_bytes() >= NEWEST)
}

/// The answer to a request that ends a connection. The library says that it was accepted, which clients take for a failure: it has
/// ended.
fn ended(mut answer: Answer) -> Answer {
    if answer.status() == StatusCode::ACCEPTED {
        *answer.status_mut() = StatusCode::NO_CONTENT;
    }
    answer
}

fn too_many() -> Answer {
    refused(StatusCode::TOO_MANY_REQUESTS, "too many clients are connected: try again later")
}

/// An error of JSON-RPC that answers no request in particular.
fn refused(status: StatusCode, message: &str) -> Answer {
    let body = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": message}});
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())).boxed_unsync());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("10"));
    }
    response
}
