//! The only way out of Chromium: a forward proxy that resolves each name, checks each address and connects to that very address.
//!
//! It serves this Chromium alone, which has a random user and password. Those are better than checking which process a
//! connection comes from: they work on every system, and no other process of the machine can guess them. Chromium asks for
//! them once, by a DevTools event, and then sends them by itself, also for WebSockets and workers.

use std::{
    collections::VecDeque,
    convert::Infallible,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::{
    Method, Request, Response, StatusCode, Uri,
    body::Incoming,
    header::{self, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
    time::timeout,
};

use crate::{BrowserError, ReservedPorts, Rules, rules::plain_host};

/// A host that never exists; the proxy itself answers for it, so that Chromium is asked for its password at the start.
pub(crate) const OWN_HOST: &str = "callboard.invalid";
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const KEPT_FAILURES: usize = 200;

type Body = Either<Full<Bytes>, Incoming>;

/// A request that the proxy did not let through, or could not.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) number: u64,
    pub(crate) host: String,
    pub(crate) port: u16,
    /// By the rules; else the host could not be reached.
    pub(crate) refused: bool,
    pub(crate) reason: String,
}

/// A running proxy. It ends, with all of its connections, when it is dropped.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: String,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
    _open: watch::Sender<()>,
}

struct Shared {
    rules: Rules,
    /// What `Proxy-Authorization` has to be.
    credentials: String,
    reserved: ReservedPorts,
    /// Those of the reserved ports that go with this proxy: its own, and that of DevTools.
    own: Mutex<Vec<u16>>,
    failures: Mutex<VecDeque<Failure>>,
    on_refusal: Box<dyn Fn(&Failure) + Send + Sync>,
    closing: watch::Receiver<()>,
}

impl Proxy {
    pub(crate) async fn start(
        rules: Rules,
        reserved: ReservedPorts,
        on_refusal: impl Fn(&Failure) + Send + Sync + 'static,
    ) -> Result<Self, BrowserError> {
        let io = |source| BrowserError::Io { what: "open a port for the browser's proxy".into(), source };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(io)?;
        let address = listener.local_addr().map_err(io)?;
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|error| io(std::io::Error::other(error)))?;
        let (user, password) = ("callboard".to_owned(), BASE64_STANDARD.encode(random));
        let (open, closing) = watch::channel(());
        let shared = Arc::new(Shared {
            rules,
            credentials: format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))),
            reserved,
            own: Mutex::default(),
            failures: Mutex::default(),
            on_refusal: Box::new(on_refusal),
            closing,
        });
        let task = tokio::spawn(accept(listener, shared.clone()));
        let proxy = Self { port: address.port(), user, password, shared, task, _open: open };
        proxy.refuse_port(proxy.port);
        Ok(proxy)
    }

    /// Never lets anything through to this port of the machine.
    pub(crate) fn refuse_port(&self, port: u16) {
        self.shared.reserved.reserve(port);
        self.shared.own.lock().unwrap_or_else(PoisonError::into_inner).push(port);
    }

    /// The number of the last failure so far.
    pub(crate) fn last_failure(&self) -> u64 {
        self.shared.failures.lock().unwrap_or_else(PoisonError::into_inner).back().map_or(0, |failure| failure.number)
    }

    /// The newest failure after this number that fits.
    pub(crate) fn failure_since(&self, number: u64, fits: impl Fn(&Failure) -> bool) -> Option<Failure> {
        let failures = self.shared.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.iter().rev().take_while(|failure| failure.number > number).find(|failure| fits(failure)).cloned()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let own = std::mem::take(&mut *self.shared.own.lock().unwrap_or_else(PoisonError::into_inner));
        own.into_iter().for_each(|port| self.shared.reserved.release(port));
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(serve(stream, shared.clone()))),
            Err(error) => {
                // Such as too many open files: others close in the meantime.
                tracing::warn!(%error, "the browser's proxy cannot take a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Serves one connection of Chromium, until it or the proxy ends.
async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let mut closing = shared.closing.clone();
    let service = service_fn(move |request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(answer(request, shared).await) }
    });
    let connection =
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades();
    tokio::select! {
        served = connection => if let Err(error) = served { tracing::debug!(%error, "a connection of the browser broke") },
        _ = closing.changed() => {}
    }
}

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Response<Body> {
    let given = request.headers().get(header::PROXY_AUTHORIZATION).map(HeaderValue::as_bytes);
    if given != Some(shared.credentials.as_bytes()) {
        let mut response = text(StatusCode::PROXY_AUTHENTICATION_REQUIRED, String::new());
        response
            .headers_mut()
            .insert(header::PROXY_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"Callboard\""));
        return response;
    }
    let uri = request.uri();
    let tunnel = request.method() == Method::CONNECT;
    let Some(host) = uri.host().map(plain_host).filter(|_| tunnel || uri.scheme_str() == Some("http")) else {
        return text(StatusCode::BAD_REQUEST, "This is a forward proxy.".into());
    };
    let port = uri.port_u16().unwrap_or(if tunnel { 443 } else { 80 });
    if host == OWN_HOST {
        return text(StatusCode::NO_CONTENT, String::new());
    }
    let stream = match shared.connect(&host, port).await {
        Ok(stream) => stream,
        Err(failure) => {
            let status = if failure.refused { StatusCode::FORBIDDEN } else { StatusCode::BAD_GATEWAY };
            let reason = failure.reason.clone();
            shared.note(failure);
            return text(status, format!("Callboard: {reason}"));
        }
    };
    if tunnel {
        let closing = shared.closing.clone();
        drop(tokio::spawn(carry(request, stream, closing)));
        return text(StatusCode::OK, String::new());
    }
    match forward(request, stream, &shared).await {
        Ok(response) => response,
        Err(reason) => {
            shared.note(Failure { number: 0, host, port, refused: false, reason: reason.clone() });
            text(StatusCode::BAD_GATEWAY, format!("Callboard: {reason}"))
        }
    }
}

impl Shared {
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, Failure> {
        let failure = |refused, reason| Failure { number: 0, host: host.to_owned(), port, refused, reason };
        let own = self.reserved.addresses();
        // Unknown hosts are reported as refused by no rule.
        let addresses = self.rules.resolve(host, port, &own).await;
        let addresses = addresses.map_err(|reason| failure(!reason.contains(" is unknown: "), reason))?;
        match timeout(CONNECT_LIMIT, TcpStream::connect(addresses.as_slice())).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(failure(false, format!("cannot reach {host}:{port}: {error}"))),
            Err(_) => Err(failure(false, format!("{host}:{port} did not answer within {} s", CONNECT_LIMIT.as_secs()))),
        }
    }

    fn note(&self, mut failure: Failure) {
        {
            let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
            failure.number = failures.back().map_or(0, |last| last.number) + 1;
            failures.push_back(failure.clone());
            if failures.len() > KEPT_FAILURES {
                failures.pop_front();
            }
        }
        if failure.refused {
            (self.on_refusal)(&failure);
        }
    }
}

/// Carries bytes both ways, for TLS and WebSockets.
async fn carry(request: Request<Incoming>, mut stream: TcpStream, mut closing: watch::Receiver<()>) {
    let carried = async {
        let mut inner = TokioIo::new(hyper::upgrade::on(request).await.map_err(std::io::Error::other)?);
        tokio::io::copy_bidirectional(&mut inner, &mut stream).await
    };
    tokio::select! {
        ended = carried => if let Err(error) = ended { tracing::debug!(%error, "a tunnel of the browser broke") },
        _ = closing.changed() => {}
    }
}

/// Sends a plain request on, and its answer back.
async fn forward(mut request: Request<Incoming>, stream: TcpStream, shared: &Shared) -> Result<Response<Body>, String> {
    let says = |error: hyper::Error| error.to_string();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(says)?;
    let mut closing = shared.closing.clone();
    drop(tokio::spawn(async move {
        tokio::select! {
            ended = connection => if let Err(error) = ended { tracing::debug!(%error, "a server broke off") },
            _ = closing.changed() => {}
        }
    }));
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let path: Uri = path.parse().map_err(|_| "the address has no path".to_owned())?;
    *request.uri_mut() = path;
    *request.version_mut() = hyper::Version::HTTP_11;
    for own in [header::PROXY_AUTHORIZATION, header::CONNECTION, header::HeaderName::from_static("proxy-connection")] {
        request.headers_mut().remove(own);
    }
    let mut response = sender.send_request(request).await.map_err(says)?;
    response.headers_mut().remove(header::CONNECTION);
    Ok(response.map(Either::Right))
}

fn text(status: StatusCode, text: String) -> Response<Body> {
    let mut response = Response::new(Either::Left(Full::new(Bytes::from(text))));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
