//! Connections: accepted within limits, served, and ended in order.
//!
//! This replaces axum's loop, which cannot limit the number of connections or the size and time of a request's head, and has
//! no TLS.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use axum::Router;
use callboard_engine::Board;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use crate::{Error, Settings, app::App, driving::Driving, openapi, router::guarded, tls, watch};

/// A server that is ready, and has accepted no connection yet.
pub struct Server {
    app: App,
    routes: Router,
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
    /// A task for each connection.
    tasks: TaskTracker,
    /// Cancelled when the remaining connections are to be cut.
    cut: CancellationToken,
    /// Stops the background tasks if this is dropped without being ended.
    _closing: DropGuard,
}

impl Server {
    /// A server of `board`, ready to accept connections on `listener`. Fails if the settings do not allow it: an address
    /// that other machines can reach needs user tokens.
    pub fn ready(board: Board, settings: Settings, listener: TcpListener) -> Result<Self, Error> {
        let address = listener.local_addr()?;
        let is_loopback = address.ip().is_loopback();
        if !is_loopback && settings.user_tokens.is_empty() {
            return Err(Error::NoTokens { address });
        }
        let tls = settings.tls.as_ref().map(tls::acceptor).transpose()?;
        let app = App::new(board, settings, Some(address), Driving::All, || openapi().to_string())?;
        let (tasks, cut) = (TaskTracker::new(), CancellationToken::new());
        let closing = app.closing.clone().drop_guard();
        Ok(Self { routes: guarded(&app), listener, address, tls, tasks, cut, app, _closing: closing })
    }

    /// Its URL: `http://ADDRESS` or `https://ADDRESS`.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves until `shutdown` completes.
    ///
    /// Then, in this order: it accepts no more connections; streams end, and models are asked no more (another server takes
    /// the runs over at once and repeats the turns that were under way); calls that have begun are answered, for up to
    /// [`Limits::grace`](crate::Limits::grace); what is left is cut.
    pub async fn serve(self, shutdown: impl Future<Output = ()> + Send) {
        self.app.drivers.keep();
        self.keep("project folder", watch::watch);
        self.keep("turns of programs", |app| async move { app.asking.keep().await });
        self.keep("pictures of pages", |app| async move {
            if let Some(browsers) = &app.browsers {
                browsers.sweep().await;
            }
        });
        tokio::select! {
            () = self.take() => {}
            () = shutdown => {}
        }
        self.end().await;
    }

    /// Keeps work up in the background until the server closes.
    fn keep<T>(&self, name: &'static str, work: fn(App) -> T)
    where
        T: Future<Output = ()> + Send + 'static,
    {
        let app = self.app.clone();
        self.tasks.spawn(self.app.supervisor().keep(name, move || {
            let (closing, work) = (app.closing.clone(), work(app.clone()));
            async move {
                closing.run_until_cancelled(work).await;
            }
        }));
    }

    /// Accepts connections for ever, up to the limit at the same time.
    async fn take(&self) {
        let places = Arc::new(Semaphore::new(self.app.settings.limits.connections));
        loop {
            // The semaphore is never closed.
            let Ok(place) = places.clone().acquire_owned().await else { return };
            match self.listener.accept().await {
                Ok((connection, _)) => self.begin(connection, place),
                Err(error) => wait_after(&error).await,
            }
        }
    }

    fn begin(&self, connection: TcpStream, place: OwnedSemaphorePermit) {
        // Small answers are sent at once. If that cannot be set, they only take a little longer.
        let _ = connection.set_nodelay(true);
        let (app, routes, tls, cut) = (self.app.clone(), self.routes.clone(), self.tls.clone(), self.cut.clone());
        self.tasks.spawn(async move {
            let _open = app.metrics.connections.open();
            let talking = cut.run_until_cancelled(open(&app, routes, tls, connection));
            app.supervisor().once("connection", talking).await;
            drop(place);
        });
    }

    async fn end(self) {
        let Self { app, listener, tasks, cut, .. } = self;
        // New connections are refused from here on.
        drop(listener);
        app.closing.cancel();
        let connections = async {
            tasks.close();
            let in_time = tokio::select! {
                ended = tokio::time::timeout(app.settings.limits.grace, tasks.wait()) => ended.is_ok(),
                // Turns that are under way are still this server's. This goes on for ever.
                () = app.asking.keep() => false,
            };
            if !in_time {
                tracing::warn!(connections = tasks.len(), "cutting the connections that have not ended in time");
                cut.cancel();
                tasks.wait().await;
            }
        };
        // At the same time, so that other servers need not wait for the last connection to take over the runs.
        let work = async {
            // Before leases are released, so that nobody else takes an execution for one that was left.
            app.executions.ended().await;
            app.drivers.ended().await;
        };
        tokio::join!(connections, work);
        // Last, since calls and runs may be using them.
        if let Some(browsers) = &app.browsers {
            browsers.ended().await;
        }
    }
}

async fn open(app: &App, routes: Router, tls: Option<TlsAcceptor>, connection: TcpStream) {
    let Some(tls) = tls else { return talk(app, routes, connection).await };
    match tokio::time::timeout(app.settings.limits.head_time, tls.accept(connection)).await {
        Ok(Ok(connection)) => talk(app, routes, connection).await,
        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
        Err(_) => tracing::debug!("a TLS handshake took too long"),
    }
}

/// Answers the requests of one connection, until it ends, or the server closes and no request is under way.
async fn talk(app: &App, routes: Router, connection: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
    let limits = &app.settings.limits;
    let mut http = hyper::server::conn::http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head_time).max_buf_size(limits.head_bytes.max(8192));
    let service = TowerToHyperService::new(routes);
    let connection = http.serve_connection(TokioIo::new(connection), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = app.closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection broke off");
    }
}

/// Waits after an error of the listener. An error of a single connection needs no wait; others may pass.
async fn wait_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        return;
    }
    tracing::error!(%error, "a connection could not be accepted");
    tokio::time::sleep(Duration::from_millis(200)).await;
}
